// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/counter_meaning.hpp"

#include <array>

#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

bool fits(std::string_view pattern, std::string_view name) noexcept {
  if (pattern.size() != name.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool digit = name[i] >= '0' && name[i] <= '9';
    if (pattern[i] == '#' ? !digit : pattern[i] != name[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view counter_source_name(CounterSource source) noexcept {
  using enum CounterSource;
  static constexpr EnumNames<CounterSource, 4> names(
      {{port, "counters"}, {hardware, "hw_counters"}, {ethtool, "ethtool"}, {kernel, "statistics"}});
  return names[source];
}

std::string_view counter_nature_name(CounterNature nature) noexcept {
  using enum CounterNature;
  static constexpr EnumNames<CounterNature, 4> names(
      {{traffic, "traffic"}, {event, "event"}, {fault, "fault"}, {gauge, "gauge"}});
  return names[nature];
}

const CounterMeaning* meaning_of(CounterSource source, std::string_view driver,
                                 std::string_view name) noexcept {
  const bool rdma = source == CounterSource::port || source == CounterSource::hardware;
  for (const CounterMeaning& row : rdma ? counters_of_rdma() : counters_of_netdevs()) {
    if (row.source == source && (row.driver.empty() || row.driver == driver) && fits(row.name, name))
      return &row;
  }
  return nullptr;
}

std::optional<unsigned> priority_of(const CounterMeaning& meaning, std::string_view name) noexcept {
  const std::size_t place = meaning.name.find('#');
  if (place == std::string_view::npos || place >= name.size()) return std::nullopt;
  return static_cast<unsigned>(name[place] - '0');
}

}  // namespace roce::analyze
