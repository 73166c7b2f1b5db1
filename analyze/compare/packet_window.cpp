// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/packet_window.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace roce::analyze {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 4;

/// Whether the bytes after the BTH are consistent with one packet. A damaged packet may have any ICRC.
bool may_be_one(const PacketSeen& x, const PacketSeen& y) noexcept {
  if (!same_extended(x, y)) return false;
  if (!x.has(PointPacket::icrc_known) || !y.has(PointPacket::icrc_known) || x.icrc == y.icrc) return true;
  return x.has(PointPacket::damaged) != y.has(PointPacket::damaged);
}

/// Whether one is damaged and the other one is not; the ICRC of truncated packets is unknown.
bool damage_differs(const PacketSeen& x, const PacketSeen& y) noexcept {
  if (x.has(PointPacket::damaged) == y.has(PointPacket::damaged)) return false;
  const PacketSeen& whole = x.has(PointPacket::damaged) ? y : x;
  const PacketSeen& broken = x.has(PointPacket::damaged) ? x : y;
  return whole.has(PointPacket::icrc_known) || !broken.has(PointPacket::icrc_known);
}

std::int64_t distance(std::int64_t a_ns, std::int64_t b_ns, std::int64_t expected_ns) noexcept {
  return std::min(std::abs(b_ns - a_ns - expected_ns), never / 64);
}

}  // namespace

CompareWindow::CompareWindow(std::size_t capacity)
    : mask_(capacity - 1),
      bucket_mask_(capacity * 2 - 1),
      slots_(static_cast<PacketSeen*>(std::malloc(capacity * sizeof(PacketSeen)))),
      buckets_(static_cast<std::uint64_t*>(std::calloc(capacity * 2, sizeof(std::uint64_t)))) {
  if (slots_ == nullptr || buckets_ == nullptr) throw std::bad_alloc();
}

std::uint64_t CompareWindow::push(const PacketSeen& seen) {
  PacketSeen& slot = at(end_);
  slot = seen;
  std::uint64_t& bucket = buckets_[bucket_of(seen.sign)];
  const std::uint64_t back = end_ + 1 - bucket;
  slot.older = bucket == 0 || back > mask_ ? 0 : static_cast<std::uint32_t>(back);
  bucket = end_ + 1;
  return end_++;
}

void CompareWindow::join(std::uint64_t one, std::uint64_t other, bool corrupted) noexcept {
  const auto between = static_cast<std::int32_t>(static_cast<std::int64_t>(other - one));
  PacketSeen& x = at(one);
  PacketSeen& y = at(other);
  x.fellow = between;
  y.fellow = -between;
  for (PacketSeen* seen : {&x, &y}) {
    seen->set(PacketSeen::resolved);
    if (corrupted) seen->set(PacketSeen::corrupted);
  }
}

void CompareWindow::resolve(std::uint64_t place, std::int64_t expected_ns) {
  for (std::vector<std::uint64_t>& side : alike_) side.clear();
  const PacketSeen& self = at(place);
  for_sign(self.sign, [&](const PacketSeen& seen, std::uint64_t found) {
    std::vector<std::uint64_t>& side = alike_[seen.point];
    if (!seen.is(PacketSeen::resolved) && !seen.is(PacketSeen::doubled) && side.size() < most_alike &&
        (seen.point == self.point || same_extended(seen, self)))
      side.push_back(found);
    return true;
  });
  // Packets of its own point that are candidates for the same counterpart.
  if (std::vector<std::uint64_t>& own = alike_[self.point]; own.size() > 1) {
    const std::vector<std::uint64_t>& others = alike_[1U - self.point];
    std::erase_if(own, [&](std::uint64_t mine) {
      return std::none_of(others.begin(), others.end(),
                          [&](std::uint64_t other) { return same_extended(at(mine), at(other)); });
    });
  }
  for (std::vector<std::uint64_t>& side : alike_) std::reverse(side.begin(), side.end());
  const auto& [a, b] = alike_;
  if (a.size() == 1 && b.size() == 1) {
    const PacketSeen& x = at(a.front());
    const PacketSeen& y = at(b.front());
    if (may_be_one(x, y)) join(a.front(), b.front(), damage_differs(x, y));
  } else if (!a.empty() && !b.empty()) {
    resolve_many(a, b, expected_ns);
  }
  at(place).set(PacketSeen::resolved);
}

void CompareWindow::resolve_many(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b,
                                 std::int64_t expected_ns) {
  const bool fewer_in_a = a.size() <= b.size();
  const std::vector<std::uint64_t>& few = fewer_in_a ? a : b;
  const std::vector<std::uint64_t>& many = fewer_in_a ? b : a;
  // least[i][j]: minimum cost of matching the first i of the few with the first j of the many, in order.
  const std::size_t width = many.size() + 1;
  std::vector<std::int64_t> least((few.size() + 1) * width, never);
  std::fill_n(least.begin(), width, 0);
  const auto cost = [&](std::size_t i, std::size_t j) {
    const PacketSeen& x = at(fewer_in_a ? few[i] : many[j]);
    const PacketSeen& y = at(fewer_in_a ? many[j] : few[i]);
    return may_be_one(x, y) ? distance(x.time_ns, y.time_ns, expected_ns) : never / 64;
  };
  for (std::size_t i = 1; i <= few.size(); ++i) {
    for (std::size_t j = i; j < width; ++j) {
      const std::int64_t with = least[(i - 1) * width + j - 1];
      least[i * width + j] =
          std::min(least[i * width + j - 1], with >= never ? never : with + cost(i - 1, j - 1));
    }
  }
  std::size_t j = many.size();
  for (std::size_t i = few.size(); i > 0; --i) {
    while (j > i && least[i * width + j] == least[i * width + j - 1]) --j;
    const PacketSeen& x = at(few[i - 1]);
    const PacketSeen& y = at(many[j - 1]);
    if (may_be_one(x, y)) join(few[i - 1], many[j - 1], damage_differs(x, y));
    --j;
  }
}

}  // namespace roce::analyze
