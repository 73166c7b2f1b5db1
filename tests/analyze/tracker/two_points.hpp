// SPDX-License-Identifier: Apache-2.0
// One traffic captured at two points.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tracker_support.hpp"

namespace roce::analyze::tracker_points_test {

inline constexpr End a{1, 0x11}, b{2, 0x22};
inline constexpr std::int64_t ms = 1'000'000;

/// What two capture points show of one traffic: the first stands at a, the second at b, on the way between
/// them for a while.
class TwoPoints {
 public:
  explicit TwoPoints(std::int64_t ahead_ns, bool copies_expected = true)
      : wire(FlowTable::default_limit, copies_expected), ahead_ns_(ahead_ns) {}

  /// A packet passes both points, or gets lost between them, or held back there.
  std::size_t pass(PacketRecord record, bool lost = false, std::int64_t held_ns = 0) {
    const bool from_a = record.key.src == tracker_host(a.host);
    constexpr std::int64_t way_ns = 5'000;
    const std::int64_t sent = record.time_ns;
    if (from_a || !lost) show(record, 0, from_a ? sent : sent + way_ns + held_ns);
    if (!from_a || !lost) show(record, 1, (from_a ? sent + way_ns + held_ns : sent) + ahead_ns_);
    wire.now_ns = std::max(wire.now_ns, sent + 2 * way_ns);
    return packets_++;
  }
  /// A packet that arrives, though the capture at its sender does not hold it.
  std::size_t missed_at_sender(const PacketRecord& record) {
    constexpr std::int64_t way_ns = 5'000;
    const bool from_a = record.key.src == tracker_host(a.host);
    show(record, from_a ? 1 : 0, record.time_ns + way_ns + (from_a ? ahead_ns_ : 0));
    wire.now_ns = std::max(wire.now_ns, record.time_ns + 2 * way_ns);
    return packets_++;
  }
  std::size_t request(std::uint32_t psn, bool lost = false, std::int64_t held_ns = 0) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    return pass(r, lost, held_ns);
  }
  /// One that the capture at a holds twice.
  std::size_t request_twice(std::uint32_t psn, bool lost = false) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    r.time_ns += 1;
    show(r, 0, r.time_ns);
    return pass(r, lost);
  }
  /// One with a bit flipped on the way.
  std::size_t damaged(PacketRecord record) {
    constexpr std::int64_t way_ns = 5'000;
    record.icrc = static_cast<std::uint8_t>(dissect::CrcStatus::match);
    show(record, 0, record.time_ns);
    record.icrc = static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
    show(record, 1, record.time_ns + way_ns + ahead_ns_);
    wire.now_ns = std::max(wire.now_ns, record.time_ns + 2 * way_ns);
    return packets_++;
  }
  std::size_t answer(std::uint32_t psn, std::uint32_t msn, std::uint8_t syndrome = 0x1f, bool lost = false) {
    PacketRecord r = wire.make(b, a, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = std::uint32_t{syndrome} << 24U | msn;
    return pass(r, lost);
  }
  /// One that the capture at b holds twice.
  std::size_t answer_twice(std::uint32_t psn, std::uint32_t msn, bool lost = false) {
    PacketRecord r = wire.make(b, a, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1fU << 24U | msn;
    r.time_ns += 1;
    show(r, 1, r.time_ns + ahead_ns_);
    return pass(r, lost);
  }
  void talk(std::uint32_t from, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      request(from + i);
      answer(from + i, from + i + 1);
    }
  }
  /// Feeds all of it as files of both points are merged: by time.
  void finish() {
    std::stable_sort(shown_.begin(), shown_.end(),
                     [](const Shown& x, const Shown& y) { return x.record.time_ns < y.record.time_ns; });
    for (const Shown& one : shown_) frames_[{one.packet, one.record.point}] = wire.send(one.record);
    wire.finish(100 * ms);
  }
  /// Frame number of a packet at a point; 0 if it was not seen there.
  [[nodiscard]] std::uint32_t frame(std::size_t packet, std::uint32_t point) const {
    const auto found = frames_.find({packet, point});
    return found == frames_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::size_t packets() const { return packets_; }

  Wire wire;

 private:
  struct Shown {
    PacketRecord record;
    std::size_t packet = 0;
  };
  void show(PacketRecord record, std::uint32_t point, std::int64_t time_ns) {
    record.point = point;
    record.path = 7 + point;
    record.time_ns = time_ns;
    shown_.push_back({record, packets_});
  }
  std::int64_t ahead_ns_;
  std::size_t packets_ = 0;
  std::vector<Shown> shown_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> frames_;
};

inline void expect_nothing_wrong(const Wire& wire) {
  for (const Flow& flow : wire.result.flows) {
    EXPECT_EQ(flow.sequence().retransmitted_packets(), 0U);
    EXPECT_EQ(flow.sequence().out_of_order, 0U);
    EXPECT_EQ(flow.sequence().gaps, 0U);
    EXPECT_EQ(flow.sequence().duplicate_network, 0U);
    for (const Lost where : {Lost::before_capture, Lost::after_capture, Lost::by_capture}) {
      EXPECT_EQ(Wire::lost(flow, where), 0U);
    }
  }
}

inline constexpr std::int64_t offsets[] = {0, 3 * ms, -3 * ms, 2000 * ms, -2000 * ms};

}  // namespace roce::analyze::tracker_points_test
