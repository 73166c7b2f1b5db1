// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/capture_views.hpp"

#include <algorithm>
#include <bit>

#include "dissect/opcode.hpp"

namespace roce::analyze {

void Crossing::add(std::uint64_t frame, std::uint64_t there, std::int64_t took_ns) noexcept {
  const bool any = matched++ != 0;
  first = any ? std::min(first, frame) : frame;
  last = std::max(last, frame);
  first_there = any ? std::min(first_there, there) : there;
  if (there >= last_there) {
    last_there = there;
    last_there_is = frame;
  }
  sum_ns += static_cast<double>(took_ns);
  least_ns = any ? std::min(least_ns, took_ns) : took_ns;
  most_ns = any ? std::max(most_ns, took_ns) : took_ns;
}

std::optional<unsigned> PointOfView::behind() const noexcept {
  if (crossed[0].matched == 0 || crossed[1].matched == 0) return std::nullopt;
  const auto mean = [](const Crossing& c) { return c.sum_ns / static_cast<double>(c.matched); };
  const double difference = mean(crossed[0]) - mean(crossed[1]);
  if (difference == 0) return std::nullopt;
  return difference > 0 ? 0U : 1U;
}

std::optional<unsigned> CaptureViews::behind(unsigned side, unsigned at, bool one_way) const {
  const PointOfView& point = points[at];
  if (const auto known = point.behind()) return known;
  const Crossing& crossed = point.crossed[side];
  if (!one_way || crossed.matched == 0 || point.crossed[side ^ 1U].matched != 0) return std::nullopt;
  const bool lacks = point.lacked[side] != 0 || passed[side].any([&](const Sighting& here) {
    return !here.copy && (here.seen_at >> at & 1U) == 0 && crossed.within(here.frame);
  });
  const bool alone = point.was_alone[side] != 0 || waiting[side].any([&](const Sighting& there) {
    return there.view == at && there.seen_at == 0 && crossed.within_there(there.frame);
  });
  if (lacks == alone) return std::nullopt;
  return lacks ? side : side ^ 1U;
}

unsigned CaptureViews::index_of(std::uint16_t point) {
  for (unsigned i = 0; i < points.size(); ++i) {
    if (points[i].number == point) return i;
  }
  if (points.size() >= points_at_most) return points_at_most - 1;
  points.emplace_back().number = point;
  return static_cast<unsigned>(points.size() - 1);
}

std::uint8_t CaptureViews::shown(unsigned side) const noexcept {
  unsigned bits = 0;
  for (unsigned i = 0; i < points.size(); ++i) bits |= (points[i].shown[side] ? 1U : 0U) << i;
  return static_cast<std::uint8_t>(bits);
}

void CaptureViews::relate(unsigned a, unsigned b) noexcept {
  related[a] = static_cast<std::uint8_t>(related[a] | 1U << b);
  related[b] = static_cast<std::uint8_t>(related[b] | 1U << a);
}

std::uint8_t CaptureViews::group_of(unsigned at) const noexcept {
  unsigned group = 1U << at;
  for (unsigned before = 0; before != group;) {
    before = group;
    for (unsigned i = 0; i < points_at_most; ++i) {
      if ((group >> i & 1U) != 0) group |= related[i];
    }
  }
  return static_cast<std::uint8_t>(group);
}

bool CaptureViews::settled(bool paired) const noexcept {
  const auto any_followed = static_cast<std::uint8_t>(followed[0] | followed[1]);
  const auto all = static_cast<std::uint8_t>((1U << points.size()) - 1);
  for (unsigned i = 0; i < points.size(); ++i) {
    if (!points[i].known && related[i] == 0) return false;
  }
  for (unsigned side = 0; side < 2; ++side) {
    const std::uint8_t here = shown(side);
    if (here == 0 && fresh && paired) return false;
    if (here == 0 || followed[side] != 0) continue;
    if (fresh ? here != all || !copied[side] : (here & any_followed) == 0) return false;
  }
  return true;
}

bool CaptureViews::nearer(unsigned a, unsigned b) const {
  // By sender of the first request: how much later b shows what both show. What b shows later by more than
  // its clock is ahead went from a to b.
  std::optional<dissect::IpAddress> requester;
  tsl::robin_map<std::uint64_t, std::int64_t> shown_by_a;
  for (const Packet& packet : held) {
    if (!requester && dissect::opcode_info(packet.record.opcode).request) requester = packet.record.key.src;
    if (packet.record.point == points[a].number) {
      shown_by_a.try_emplace(key_of(packet.record), packet.record.time_ns);
    }
  }
  if (!requester) return false;
  std::array<std::optional<std::int64_t>, 2> later;  // of requests' sender, of the other
  for (const Packet& packet : held) {
    const PacketRecord& r = packet.record;
    if (r.point != points[b].number || r.time_ns == capture::no_time) continue;
    const auto same = shown_by_a.find(key_of(r));
    if (same == shown_by_a.end() || same->second == capture::no_time) continue;
    auto& of_sender = later[r.key.src == *requester ? 0 : 1];
    if (!of_sender) of_sender = r.time_ns - same->second;
  }
  return later[0] && later[1] && *later[0] > *later[1];
}

unsigned CaptureViews::best_of(std::uint8_t group) const {
  const auto sides = [&](unsigned i) { return (points[i].shown[0] ? 1 : 0) + (points[i].shown[1] ? 1 : 0); };
  auto best = static_cast<unsigned>(std::countr_zero(group));
  for (unsigned i = best + 1; i < points.size(); ++i) {
    if ((unsigned{group} >> i & 1U) == 0 || sides(i) < sides(best)) continue;
    const bool lower = points[i].number < points[best].number;
    if (sides(i) > sides(best) || nearer(i, best) || (lower && !nearer(best, i))) best = i;
  }
  return best;
}

void PointClocks::add(std::uint16_t of, std::uint16_t ahead, std::int64_t least_ns, std::int64_t most_ns,
                      std::uint64_t copies) {
  if (of > ahead) {
    std::swap(of, ahead);
    least_ns = -std::exchange(most_ns, -least_ns);
  }
  const std::int64_t middle = least_ns + (most_ns - least_ns) / 2;
  for (Pair& pair : pairs_) {
    if (pair.a != of || pair.b != ahead) continue;
    pair.least_ns = std::max(pair.least_ns, least_ns);
    pair.most_ns = std::min(pair.most_ns, most_ns);
    pair.lowest_ns = std::min(pair.lowest_ns, middle);
    pair.highest_ns = std::max(pair.highest_ns, middle);
    pair.copies += copies;
    return;
  }
  if (pairs_.size() < limit) pairs_.push_back({of, ahead, least_ns, most_ns, middle, middle, copies});
}

std::vector<ClockOffset> PointClocks::result() const {
  std::vector<ClockOffset> offsets;
  for (const Pair& pair : pairs_) {
    // Clocks that drift agree on nothing: then it lies somewhere between what was said.
    const bool agreed = pair.least_ns <= pair.most_ns;
    const std::int64_t from = agreed ? pair.least_ns : std::min(pair.lowest_ns, pair.most_ns);
    const std::int64_t to = agreed ? pair.most_ns : std::max(pair.highest_ns, pair.least_ns);
    offsets.push_back({pair.a, pair.b, from + (to - from) / 2, (to - from + 1) / 2, pair.copies});
  }
  std::sort(offsets.begin(), offsets.end(), [](const ClockOffset& a, const ClockOffset& b) {
    return a.of != b.of ? a.of < b.of : a.ahead < b.ahead;
  });
  return offsets;
}

}  // namespace roce::analyze
