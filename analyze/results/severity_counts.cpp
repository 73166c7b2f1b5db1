// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/severity_counts.hpp"

#include <iterator>
#include <string_view>

#include "analyze/base/units.hpp"

namespace roce::analyze {
namespace {

struct SeverityWords {
  std::string_view one, many;
};
constexpr SeverityWords words[] = {
    {"info", "infos"}, {"notice", "notices"}, {"warning", "warnings"}, {"error", "errors"}};
static_assert(std::size(words) == std::tuple_size_v<SeverityCounts>);

}  // namespace

std::string severities_text(const SeverityCounts& counts) {
  std::string text;
  for (std::size_t i = counts.size(); i-- > 0;) {
    if (counts[i] != 0) text += (text.empty() ? "" : ", ") + plural(counts[i], words[i].one, words[i].many);
  }
  return text;
}

}  // namespace roce::analyze
