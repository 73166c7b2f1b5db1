// SPDX-License-Identifier: Apache-2.0
#include "capture/files/same_traffic.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace roce::capture {
namespace {

constexpr std::size_t shared_at_least = 4;
constexpr std::size_t share_at_least = 8;  // one in so many of the file with fewer
constexpr std::size_t beginning = shared_at_least * share_at_least;

/// Whether the first bytes hold the UDP port of RoCE v2 or the EtherType of v1. Other traffic is left out:
/// periodic packets are equal to the last byte without being copies.
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

std::size_t shared_by(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::vector<std::uint64_t> shared;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
  return shared.size();
}

}  // namespace

Marks marks_of(const std::vector<Frame>& frames) {
  Marks marks;
  if (!frames.empty()) marks.first_time = frames.front().time_ns;
  for (const Frame& frame : frames) {
    if (!may_be_roce(frame)) continue;
    const std::uint64_t mark = mark_of(frame);
    marks.all.push_back(mark);
    if (marks.first.size() < beginning &&
        std::find(marks.first.begin(), marks.first.end(), mark) == marks.first.end()) {
      marks.first.push_back(mark);
    }
  }
  std::sort(marks.first.begin(), marks.first.end());
  std::sort(marks.all.begin(), marks.all.end());
  marks.all.erase(std::unique(marks.all.begin(), marks.all.end()), marks.all.end());
  return marks;
}

std::vector<bool> show_the_same(const std::vector<Marks>& marks) {
  const std::size_t count = std::min(marks.size(), same_traffic_files);
  std::vector<bool> same(marks.size());
  std::vector<std::size_t> goes_on;                   // pieces of a capture that holds every packet twice
  std::vector<std::vector<std::size_t>> like(count);  // files that share enough with it
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      const bool in_order = marks[a].first_time <= marks[b].first_time;
      const Marks& earlier = marks[in_order ? a : b];
      const Marks& later = marks[in_order ? b : a];
      const std::size_t fewer = std::min(earlier.all.size(), later.all.size());
      const std::size_t shared = shared_by(earlier.all, later.all);
      if (shared < shared_at_least || shared * share_at_least < fewer) continue;
      like[a].push_back(b);
      like[b].push_back(a);
      same[a] = same[b] = true;
      if (shared_by(earlier.all, later.first) < shared_at_least) goes_on.push_back(b);
    }
  }
  // If one file is such a piece, so are all that share packets with it.
  while (!goes_on.empty()) {
    const std::size_t piece = goes_on.back();
    goes_on.pop_back();
    if (!same[piece]) continue;
    same[piece] = false;
    goes_on.insert(goes_on.end(), like[piece].begin(), like[piece].end());
  }
  return same;
}

}  // namespace roce::capture
