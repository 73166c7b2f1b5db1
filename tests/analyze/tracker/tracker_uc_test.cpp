// SPDX-License-Identifier: Apache-2.0
// Unreliable connections: messages that a gap destroys.
#include <algorithm>
#include <vector>

#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_uc_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::uint8_t uc_send_first = 0x20, uc_send_middle = 0x21, uc_send_last = 0x22;
constexpr std::uint32_t packets = 5;  // of a message

/// Messages of five packets.
class Messages {
 public:
  explicit Messages(Wire& wire) : wire_(wire) {}

  /// One without the packets of `missing`, a bit each.
  void send(unsigned missing = 0) {
    for (std::uint32_t i = 0; i < packets; ++i) {
      if ((missing >> i & 1U) == 0) send_one(i);
      if ((missing >> i & 1U) != 0) static_cast<void>(make(i));
    }
    psn_ += packets;
  }
  /// One whose second packet comes behind the third.
  void send_late() {
    for (const std::uint32_t i : {0U, 2U, 1U, 3U, 4U}) {
      if (i == 2) late_ = make(1);
      i == 1 ? static_cast<void>(wire_.send(late_)) : send_one(i);
    }
    psn_ += packets;
  }
  /// One of which a switch trimmed packet `cut`. Returns the number of its frame.
  std::uint32_t send_trimmed(std::uint32_t cut, bool overtakes) {
    std::uint32_t frame = 0;
    std::vector<PacketRecord> sent;
    for (std::uint32_t i = 0; i < packets; ++i) sent.push_back(make(i));
    sent[cut].icrc = PacketRecord::trimmed_away;
    sent[cut].wire = 128;
    if (overtakes) std::rotate(sent.begin(), sent.begin() + cut, sent.begin() + cut + 1);
    for (const PacketRecord& r : sent) {
      const std::uint32_t number = wire_.send(r);
      if (r.trimmed()) frame = number;
    }
    psn_ += packets;
    return frame;
  }
  void send_well(unsigned times) {
    for (unsigned i = 0; i < times; ++i) send();
  }

 private:
  PacketRecord make(std::uint32_t i) {
    const std::uint8_t opcode = i == 0 ? uc_send_first : i == packets - 1 ? uc_send_last : uc_send_middle;
    PacketRecord r = wire_.make(a, b, opcode, psn_ + i);
    r.payload = 1024;
    return r;
  }
  void send_one(std::uint32_t i) { wire_.send(make(i)); }

  Wire& wire_;
  PacketRecord late_;
  std::uint32_t psn_ = 100;
};

std::uint64_t destroyed(const Wire& wire) {
  return wire.connection().sent[0].count(Event::uc_message_lost);
}
std::uint64_t complete(const Wire& wire) {
  const OperationStats* const sends = wire.connection().requester[0].operation(OperationKind::send);
  return sends == nullptr ? 0 : sends->count;
}

TEST(TrackerUc, AMessageWithAHoleIsCountedOnceAndNotWithTheOthers) {
  Wire wire;
  Messages messages(wire);
  messages.send_well(6);
  messages.send(0b00100);
  messages.send_well(3);
  messages.send(0b01010);  // two holes, one message
  messages.send_well(3);
  wire.finish();
  EXPECT_EQ(destroyed(wire), 2U);
  EXPECT_EQ(complete(wire), 12U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 3U);
}

TEST(TrackerUc, OfAWholeMessageOrItsEndNothingMoreIsCounted) {
  Wire wire;
  Messages messages(wire);
  messages.send_well(3);
  messages.send(0b11111);
  messages.send_well(3);
  messages.send(0b10000);
  messages.send_well(3);
  messages.send(0b00001);
  messages.send_well(3);
  wire.finish();
  EXPECT_EQ(destroyed(wire), 3U);
  EXPECT_EQ(complete(wire), 12U);
}

/// What a switch trimmed is the one that is missing; what else is missing beside it is lost upstream as
/// before.
TEST(TrackerUc, APacketThatWasTrimmedIsLostWithItsPlace) {
  for (const bool overtakes : {false, true}) {
    Wire wire;
    Messages messages(wire);
    messages.send_well(6);
    const std::uint32_t one = messages.send_trimmed(2, overtakes);
    messages.send_well(3);
    messages.send(0b01010);
    const std::uint32_t last = messages.send_trimmed(4, false);
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::trimmed), 2U);
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 2U);
    EXPECT_EQ(wire.flow(a, b).sequence().trimmed, 2U);
    EXPECT_EQ(wire.connection().sent[0].count(Event::lost_trimmed), 2U);
    EXPECT_EQ(complete(wire), 9U);
    for (const std::uint32_t frame : {one, last}) EXPECT_EQ(wire.verdict(frame).trimmed, 1U);
  }
}

/// Before its sender's first whole packet as well; not far from it, nor where none comes at all: then whoever
/// shows them cuts them.
TEST(TrackerUc, WhatWasTrimmedBeforeTheFirstWholePacketIsLost) {
  for (const bool whole : {true, false}) {
    Wire wire;
    std::uint32_t frame = 0;
    for (const std::uint32_t psn : {100U, 101U, 5000U}) {
      PacketRecord r = wire.make(a, b, uc_send_only, psn);
      r.icrc = PacketRecord::trimmed_away;
      r.wire = 128;
      frame = wire.send(r);
      if (psn == 101) wire.request(b, a, 7, uc_send_only);
    }
    for (std::uint32_t psn = 102; whole && psn < 120; ++psn) wire.request(a, b, psn, uc_send_only);
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::trimmed), whole ? 2U : 0U);
    EXPECT_EQ(wire.verdict(frame).trimmed, 0U);
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 0U);
  }
}

/// A queue that stays full trims all that comes, up to the end.
TEST(TrackerUc, AllThatIsTrimmedAtTheEndIsLost) {
  Wire wire;
  for (std::uint32_t psn = 100; psn < 900; ++psn) {
    PacketRecord r = wire.make(a, b, uc_send_only, psn);
    if (psn < 300 || psn >= 400) {
      r.icrc = PacketRecord::trimmed_away;
      r.wire = 128;
    }
    wire.send(r);
  }
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::trimmed), 700U);
}

/// However many there are, each counts.
TEST(TrackerUc, OfManyHolesNoneIsForgotten) {
  constexpr unsigned times = 1000;
  Wire wire;
  Messages messages(wire);
  messages.send_well(3);
  for (unsigned i = 0; i < times; ++i) {
    messages.send(0b01010);
    messages.send_trimmed(2, false);
  }
  messages.send_well(3);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 2U * times);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::trimmed), std::uint64_t{times});
  EXPECT_EQ(destroyed(wire), 2U * times);
}

/// Its receiver does not wait for a late packet.
TEST(TrackerUc, ALatePacketDestroysItsMessageAndIsNotLost) {
  Wire wire;
  Messages messages(wire);
  messages.send_well(3);
  messages.send_late();
  messages.send_well(3);
  wire.finish();
  EXPECT_EQ(destroyed(wire), 1U);
  EXPECT_EQ(complete(wire), 6U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 0U);
  EXPECT_EQ(wire.connection().sent[0].count(Event::out_of_order), 1U);
}

/// UC repeats nothing: who goes back after silence is another.
TEST(TrackerUc, NumbersInUseAgain) {
  for (const std::uint32_t first : {100U, 70U, 110U}) {
    Wire wire;
    const auto life = [&](std::uint32_t psn) {
      for (std::uint32_t i = 0; i < 30; ++i) wire.request(a, b, psn + i, uc_send_only);
    };
    life(100);
    wire.now_ns += 1'000'000'000;
    life(first);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 2U) << first;
    for (const Connection& c : wire.result.connections) {
      EXPECT_EQ(c.requester[0].operation(OperationKind::send)->count, 30U) << first;
      EXPECT_EQ(c.requester[0].new_bytes, 30U * 64U) << first;
    }
    wire.expect_all_counted();
  }
}

}  // namespace
}  // namespace tracker_uc_test
}  // namespace roce::analyze
