// SPDX-License-Identifier: Apache-2.0
// Packets that a switch trimmed: lost, with a PSN that is known.
#include <algorithm>

#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_trimmed_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::uint8_t nothing = PacketRecord::trimmed_away;

class Trimming {
 public:
  PacketRecord make(std::uint32_t psn, std::uint8_t icrc = 0) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    if (icrc != 0) {
      r.icrc = icrc;
      r.traffic_class = 11 << 2;
      r.payload = 1024 + psn % 5;
      r.wire = 128;
    } else {
      r.payload = 1024;
      r.wire = 62 + 1024;
    }
    if (!ids) r.more = 0;
    return r;
  }
  std::uint32_t send(std::uint32_t psn, std::uint8_t icrc = 0) { return wire.send(make(psn, icrc)); }
  void ack(std::uint32_t psn, std::uint8_t syndrome = 0x1f) { wire.answer(b, a, psn, syndrome); }
  void talk(std::uint32_t psn, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      send(psn + i);
      ack(psn + i);
    }
  }
  void expect_lost(std::uint64_t trimmed) {
    const Flow& flow = wire.flow(a, b);
    EXPECT_EQ(Wire::lost(flow, Lost::trimmed), trimmed);
    for (const Lost where : {Lost::before_capture, Lost::after_capture, Lost::by_capture})
      EXPECT_EQ(Wire::lost(flow, where), 0U) << lost_name(where);
    EXPECT_EQ(flow.icrc_mismatches, 0U);
    EXPECT_EQ(flow.sequence().spurious, 0U);
    EXPECT_EQ(flow.sequence().out_of_order, 0U);
    wire.expect_all_counted();
  }
  Wire wire;
  bool ids = true;
};

TEST(TrackerTrimmed, one_is_lost_and_asked_for_by_a_nak) {
  Trimming t;
  t.talk(100, 20);
  t.send(120);
  const std::uint32_t trimmed = t.send(121, nothing);
  t.send(122);
  t.ack(120);
  t.ack(121, nak_sequence);
  const std::uint32_t again = t.send(121);
  t.send(122);
  t.ack(122);
  t.talk(123, 40);
  t.wire.finish();
  t.expect_lost(1);
  EXPECT_EQ(t.wire.verdict(trimmed).lost(Lost::trimmed), 1U);
  EXPECT_FALSE(t.wire.verdict(trimmed).has(Verdict::retransmission));
  EXPECT_EQ(t.wire.verdict(again).cause, Cause::nak);
  EXPECT_EQ(t.wire.verdict(again).original, trimmed);
  EXPECT_EQ(t.wire.flow(a, b).sequence().trimmed, 1U);
  EXPECT_EQ(t.wire.flow(a, b).payload_bytes, (20U + 1 + 1 + 2 + 40) * 1024);
  // The repeat brings what the first had not.
  EXPECT_EQ(t.wire.connection().requester[0].new_bytes, 63U * 1024);
  ASSERT_EQ(t.wire.result.incidents.size(), 1U);
  const Incident& incident = t.wire.result.incidents.front();
  EXPECT_EQ(incident.what, IncidentKind::loss);
  EXPECT_EQ(incident.place, IncidentPlace::before_capture);
  EXPECT_TRUE(incident.is_known_by(PlaceEvidence::trimmed));
  EXPECT_EQ(incident.learned, LearnedBy::sequence_nak);
}

TEST(TrackerTrimmed, the_last_of_a_burst_is_sent_again_by_the_timer) {
  Trimming t;
  t.talk(100, 20);
  t.send(120, nothing);
  t.wire.now_ns += 2'000'000;
  const std::uint32_t again = t.send(120);
  t.ack(120);
  t.talk(121, 40);
  t.wire.finish();
  t.expect_lost(1);
  EXPECT_EQ(t.wire.verdict(again).cause, Cause::timeout);
}

TEST(TrackerTrimmed, in_its_short_queue_it_overtakes) {
  for (const bool ids : {false, true}) {
    const bool first = !ids;
    Trimming t;
    t.ids = ids;
    if (!first) t.talk(100, 20);
    if (first) t.send(119);
    std::vector<PacketRecord> sent;
    for (std::uint32_t psn = 120; psn < 125; ++psn) sent.push_back(t.make(psn, psn == 123 ? nothing : 0));
    std::rotate(sent.begin(), sent.begin() + 3, sent.begin() + 4);  // captured before the three before it
    for (PacketRecord& r : sent) {
      r.time_ns = t.wire.now_ns += 1000;
      if (!ids) r.more = 0;
      t.wire.send(r);
    }
    t.ack(122);
    t.ack(123, nak_sequence);
    t.send(123);
    t.send(124);
    t.ack(124);
    t.talk(125, 40);
    t.wire.finish();
    EXPECT_EQ(t.wire.flow(a, b).sequence().out_of_order, 0U) << first;
    EXPECT_EQ(t.wire.flow(a, b).sequence().gaps, 0U) << first;
    EXPECT_EQ(Wire::lost(t.wire.flow(a, b), Lost::trimmed), 1U) << first;
    EXPECT_EQ(Wire::lost(t.wire.flow(a, b), Lost::before_capture), 0U) << first;
    EXPECT_EQ(t.wire.connection().sent[0].count(Event::out_of_order), 0U) << first;
  }
}

/// It overtakes the pass of which it was the end: what comes behind it there was not lost before it.
TEST(TrackerTrimmed, it_overtakes_a_pass_that_goes_back) {
  for (const bool sent_before : {false, true}) {
    Trimming t;
    t.ids = false;
    t.talk(100, 20);
    std::vector<PacketRecord> sent{t.make(120, nothing), t.make(121), t.make(122)};
    const std::size_t overtakes = sent.size();
    if (sent_before) sent.push_back(t.make(123));
    // The requester goes back to 120; nothing of it was captured before but 124.
    for (std::uint32_t psn = 120; psn < 127; ++psn) {
      if (psn != 124 || sent_before) sent.push_back(t.make(psn));
    }
    sent.insert(sent.begin() + static_cast<std::ptrdiff_t>(overtakes), t.make(124, nothing));
    for (std::size_t i = 0; i < sent.size(); ++i) {
      sent[i].time_ns = t.wire.now_ns += 1000;
      sent[i].more = 0;
      t.wire.send(sent[i]);
      if (i == 2) t.ack(120, nak_sequence);
    }
    if (!sent_before) {
      t.ack(123);
      t.ack(124, nak_sequence);
      for (std::uint32_t psn = 124; psn < 127; ++psn) t.send(psn);
    }
    t.ack(126);
    t.talk(127, 40);
    t.wire.finish();
    const Flow& flow = t.wire.flow(a, b);
    EXPECT_EQ(Wire::lost(flow, Lost::trimmed), 2U) << sent_before;
    EXPECT_EQ(Wire::lost(flow, Lost::before_capture), 0U) << sent_before;
    EXPECT_EQ(flow.sequence().retransmitted_packets(), sent_before ? 5U : 6U) << sent_before;
  }
}

/// What was left whole went through the shorter queue as well: of a pass that it overtakes nothing is
/// missing.
TEST(TrackerTrimmed, what_is_whole_and_marked_anew_overtakes) {
  constexpr std::uint8_t dscp = 11;
  Wire wire(FlowTable::default_limit, false, std::uint64_t{1} << dscp);
  const auto send = [&](std::uint32_t psn, bool marked_anew = false) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.traffic_class = static_cast<std::uint8_t>((marked_anew ? dscp : 26) << 2U);
    r.more = 0;  // no IPv4 ID
    return wire.send(r);
  };
  for (std::uint32_t psn = 100; psn < 120; ++psn) {
    send(psn);
    wire.answer(b, a, psn);
  }
  send(120);
  send(122, true);
  const std::uint32_t overtaken = send(121);
  for (std::uint32_t psn = 123; psn < 127; ++psn) send(psn);
  wire.answer(b, a, 121, nak_sequence);
  wire.answer(b, a, 122, nak_sequence);
  // It goes back to 121, and by the second NAK to 122: 123 overtakes that.
  send(121);
  const std::uint32_t early = send(123, true);
  for (const std::uint32_t psn : {122U, 124U, 125U, 126U}) send(psn);
  wire.answer(b, a, 121);
  wire.answer(b, a, 123, nak_sequence);
  for (std::uint32_t psn = 123; psn < 127; ++psn) send(psn);
  wire.answer(b, a, 126);
  for (std::uint32_t psn = 127; psn < 170; ++psn) {
    send(psn);
    wire.answer(b, a, psn);
  }
  wire.finish();
  const Flow& flow = wire.flow(a, b);
  EXPECT_EQ(Wire::lost(flow, Lost::before_capture), 0U);
  EXPECT_EQ(Wire::lost(flow, Lost::by_capture), 0U);
  EXPECT_EQ(flow.sequence().retransmitted_packets(), 10U);
  EXPECT_EQ(wire.verdict(early).cause, Cause::nak);
  EXPECT_TRUE(wire.verdict(overtaken).has(Verdict::out_of_order));
}

TEST(TrackerTrimmed, a_repeat_may_be_trimmed_too) {
  Trimming t;
  t.talk(100, 20);
  t.send(120, nothing);
  t.send(121);
  t.ack(120, nak_sequence);
  const std::uint32_t again = t.send(120, nothing);
  t.send(121);
  t.wire.now_ns += 2'000'000;
  t.send(120);
  t.send(121);
  t.ack(121);
  t.talk(122, 40);
  t.wire.finish();
  t.expect_lost(2);
  EXPECT_TRUE(t.wire.verdict(again).has(Verdict::retransmission));
}

TEST(TrackerTrimmed, what_arrived_all_the_same_was_cut_elsewhere) {
  Trimming t;
  t.talk(100, 20);
  for (std::uint32_t psn = 120; psn < 140; ++psn) {
    t.send(psn, nothing);
    t.ack(psn);
  }
  t.talk(140, 40);
  t.wire.finish();
  t.expect_lost(0);
  EXPECT_TRUE(t.wire.result.incidents.empty());
  EXPECT_EQ(t.wire.flow(a, b).sequence().trimmed, 20U);
}

TEST(TrackerTrimmed, frames_of_one_size_tell_where_no_dscp_does) {
  for (const bool longer_pass : {false, true}) {
    Trimming t;
    if (longer_pass) t.talk(100, 20);
    std::uint32_t psn = 120;
    for (int i = 0; i < 8; ++i) {
      t.send(psn, PacketRecord::cut_away);
      t.send(psn + 1, longer_pass ? std::uint8_t{0} : std::uint8_t{PacketRecord::cut_away});
      t.ack(psn, nak_sequence);
      t.send(psn, longer_pass ? std::uint8_t{0} : std::uint8_t{PacketRecord::cut_away});
      t.send(psn + 1, longer_pass ? std::uint8_t{0} : std::uint8_t{PacketRecord::cut_away});
      t.ack(psn + 1);
      psn += 2;
    }
    t.wire.finish();
    // The first three cannot be told yet.
    EXPECT_EQ(Wire::lost(t.wire.flow(a, b), Lost::trimmed), longer_pass ? 5U : 0U);
    std::uint64_t told = 0;
    for (const std::uint64_t packets : t.wire.result.trimmed) told += packets;
    EXPECT_EQ(told, longer_pass ? 8U : 0U);
  }
}

TEST(TrackerTrimmed, its_marks_are_those_of_the_switch) {
  Trimming t;
  t.talk(100, 20);
  t.send(120, nothing);
  t.send(121);
  t.ack(120, nak_sequence);
  t.send(120);
  t.send(121);
  t.ack(121);
  t.talk(122, 40);
  t.wire.finish();
  for (const MarkRow& row : t.wire.flow(a, b).marks()) EXPECT_NE(row.marks.dscp, 11);
  EXPECT_EQ(t.wire.connection().sent[0].count(Event::repeat_marked_otherwise), 0U);
}

/// Nobody sends them again: they are lost where longer ones of their flow pass whole.
TEST(TrackerTrimmed, of_datagrams_they_are_lost_where_longer_ones_pass) {
  for (const bool longer_pass : {false, true}) {
    Wire wire;
    std::uint32_t frame = 0;
    for (std::uint32_t psn = 0; psn < 6; ++psn) {
      PacketRecord r = wire.make(a, b, ud_send_only, psn);
      r.wire = longer_pass ? 1082 : 128;
      if (psn == 3) {
        r.icrc = nothing;
        r.wire = 128;
      }
      const std::uint32_t number = wire.send(r);
      if (psn == 3) frame = number;
    }
    wire.finish();
    EXPECT_EQ(wire.flow(a, b).sequence().trimmed, 1U);
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::trimmed), longer_pass ? 1U : 0U);
    EXPECT_EQ(wire.verdict(frame).trimmed, longer_pass ? 1U : 0U);
    EXPECT_EQ(wire.flow(a, b).sequence().first_trimmed, longer_pass ? frame : 0U);
  }
}

TEST(TrackerTrimmed, a_datagram_that_is_shown_twice_is_lost_once) {
  Wire wire;
  for (std::uint32_t psn = 0; psn < 20; ++psn) {
    PacketRecord r = wire.make(a, b, ud_send_only, psn);
    r.wire = psn >= 10 ? 128 : 1082;
    if (psn >= 10) r.icrc = nothing;
    wire.send(r);
    wire.send(r);
  }
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::trimmed), 10U);
}

}  // namespace
}  // namespace tracker_trimmed_test
}  // namespace roce::analyze
