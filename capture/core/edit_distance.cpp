// SPDX-License-Identifier: Apache-2.0
#include "capture/core/edit_distance.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "capture/core/lower_case.hpp"

namespace roce::capture {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string_view nearest_word(std::string_view typed, std::span<const std::string_view> words) {
  constexpr std::size_t longest = 64;  // a longer one is no typing error
  if (typed.empty() || typed.size() > longest) return {};
  const std::string wanted = lower_case(typed);
  std::string_view nearest;
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const std::string_view word : words) {
    std::size_t distance = edit_distance(wanted, lower_case(word));
    // "addr" begins "addresses", "vlan_id" begins with "vlan".
    const bool begins = word.size() >= 3 && wanted.size() >= 3 &&
                        (lower_case(word).starts_with(wanted) || wanted.starts_with(lower_case(word)));
    if (begins) distance = std::min<std::size_t>(distance, 2);
    // As many changes as the longer word has letters: the two have nothing in common.
    if (distance >= least || distance >= std::max(word.size(), wanted.size())) continue;
    least = distance;
    nearest = word;
  }
  return nearest;
}

}  // namespace roce::capture
