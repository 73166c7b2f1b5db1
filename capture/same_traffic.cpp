// SPDX-License-Identifier: Apache-2.0
#include "capture/same_traffic.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace roce::capture {
namespace {

/// The UDP port of RoCE v2, or the EtherType of v1, where they may stand: no other traffic repeats itself to
/// the last byte but what is periodic, and that is not meant.
bool may_be_roce(const Frame& frame) noexcept {
  constexpr std::array<std::array<std::uint8_t, 2>, 2> signs{{{0x12, 0xb7}, {0x89, 0x15}}};
  constexpr std::size_t looked_at = 160;
  const std::uint8_t* const end = frame.data + std::min<std::size_t>(frame.captured, looked_at);
  return std::any_of(signs.begin(), signs.end(), [&](const auto& sign) {
    return std::search(frame.data, end, sign.begin(), sign.end()) != end;
  });
}

std::uint64_t mark_of(const Frame& frame) noexcept {
  constexpr std::size_t last_bytes = 24;
  std::uint64_t h = 0xcbf29ce484222325U ^ frame.wire;
  const std::uint8_t* const end = frame.data + frame.captured;
  for (const std::uint8_t* p = end - std::min<std::size_t>(frame.captured, last_bytes); p != end; ++p) {
    h = (h ^ *p) * 0x100000001b3U;
  }
  return h;
}

}  // namespace

std::vector<std::uint64_t> marks_of(const std::vector<Frame>& frames) {
  std::vector<std::uint64_t> marks;
  for (const Frame& frame : frames) {
    if (may_be_roce(frame)) marks.push_back(mark_of(frame));
  }
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  return marks;
}

std::vector<bool> show_the_same(const std::vector<std::vector<std::uint64_t>>& marks) {
  constexpr std::size_t shared_at_least = 4;
  constexpr std::size_t share_at_least = 8;  // one in so many of the file with fewer
  std::vector<bool> same(marks.size());
  for (std::size_t a = 0; a < std::min(marks.size(), same_traffic_files); ++a) {
    for (std::size_t b = a + 1; b < std::min(marks.size(), same_traffic_files); ++b) {
      std::vector<std::uint64_t> shared;
      std::set_intersection(marks[a].begin(), marks[a].end(), marks[b].begin(), marks[b].end(),
                            std::back_inserter(shared));
      const std::size_t fewer = std::min(marks[a].size(), marks[b].size());
      if (shared.size() >= shared_at_least && shared.size() * share_at_least >= fewer) {
        same[a] = same[b] = true;
      }
    }
  }
  return same;
}

}  // namespace roce::capture
