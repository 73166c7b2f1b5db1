// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/json_shape.hpp"

#include <algorithm>
#include <array>

namespace roce::analyze {
namespace {

struct Unit {
  std::string_view ending;  ///< of the name, or all of it
  std::string_view unit;
};
constexpr std::array<Unit, 9> units{{{"_ns", "ns"},
                                     {"_us", "µs"},
                                     {"_bps", "bit/s"},
                                     {"_ppm", "ppm"},
                                     {"_quanta", "pause quanta"},
                                     {"bytes", "byte"},
                                     {"_time", "ns since 1970"},
                                     {"packets", "packets"},
                                     {"mtu", "byte"}}};

/// Whether it is a number, or a list or map of numbers.
bool counts_something(const JsonShape& shape) {
  using Kind = JsonShape::Kind;
  if (shape.kind == Kind::list || shape.kind == Kind::map) return counts_something(*shape.item);
  return shape.kind == Kind::integer || shape.kind == Kind::number;
}

}  // namespace

std::string_view json_unit_of(std::string_view name, const JsonShape& shape) noexcept {
  if (!counts_something(shape)) return {};
  const auto at = std::find_if(units.begin(), units.end(), [&](const Unit& unit) {
    return name.ends_with(unit.ending) || name == unit.ending.substr(unit.ending.front() == '_' ? 1 : 0);
  });
  return at == units.end() ? std::string_view{} : at->unit;
}

}  // namespace roce::analyze
