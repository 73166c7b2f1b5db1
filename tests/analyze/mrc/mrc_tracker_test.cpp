// SPDX-License-Identifier: Apache-2.0
#include "analyze/mrc/mrc_tracker.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "dissect/icrc.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t us = 1000, begin = 1'790'000'000'000'000'000;
constexpr std::uint32_t data_qp = 0x111, answer_qp = 0x222;
constexpr std::uint8_t write_middle = 0xc7, sack = 0xdc, nack = 0xdd, probe = 0xde;
constexpr std::uint16_t ports[] = {50000, 50001, 50002, 50003};

FlowKey key_of(std::uint8_t from, std::uint8_t to, std::uint32_t qp) {
  FlowKey key;
  key.src.bytes[15] = from;
  key.dst.bytes[15] = to;
  key.dst_qp = qp;
  key.transport = dissect::Transport::roce_v2_ipv4;
  return key;
}

/// A capture between host 1, which sends data, and host 2. Numbers and times as they come.
struct Play {
  MrcTracker tracker;
  std::uint64_t number = 0;
  std::int64_t now = begin + 100'000 * us;
  std::uint32_t qp = data_qp;

  std::uint64_t send(std::uint32_t psn, unsigned path, bool rtx = false) {
    MrcPacket packet;
    packet.key = key_of(1, 2, qp);
    packet.time_ns = now += us;
    packet.opcode = write_middle;
    packet.psn = psn;
    packet.udp_source = ports[path];
    packet.rtx = rtx;
    packet.payload = 1024;
    packet.wire = 1100;
    packet.whole = true;
    tracker.see(packet, ++number, begin);
    return number;
  }
  /// All up to `cack` was received, and of the 64 from `first_bit` on those of `bitmap`; `psn` on `path`
  /// caused it.
  void report(std::uint32_t cack, std::uint32_t psn, unsigned path, std::uint32_t first_bit = 0,
              std::uint64_t bitmap = 0, std::int64_t later = 10 * us) {
    MrcPacket packet;
    packet.key = key_of(2, 1, answer_qp);
    packet.time_ns = now += later;
    packet.opcode = sack;
    packet.cack = cack;
    packet.ack_psn = psn;
    packet.ev = ports[path];
    packet.first_bit = first_bit;
    packet.bitmap = bitmap;
    packet.whole = true;
    tracker.see(packet, ++number, begin);
  }
  void refuse(std::uint32_t psn, unsigned path, std::uint8_t reason) {
    MrcPacket packet;
    packet.key = key_of(2, 1, answer_qp);
    packet.time_ns = now += 10 * us;
    packet.opcode = nack;
    packet.ack_psn = psn;
    packet.ev = std::uint32_t{ports[path]} << 16U;  // the other half
    packet.reason = reason;
    packet.whole = true;
    tracker.see(packet, ++number, begin);
  }
  /// PSNs 0 to 3, each on its path, each confirmed.
  void start() {
    for (std::uint32_t psn = 0; psn < 4; ++psn) {
      send(psn, psn);
      report(psn, psn, psn);
    }
  }
  Mrc end() { return std::move(tracker).finish(); }
};

std::uint64_t lost(const MrcStream& stream, MrcPlace place) {
  return stream.lost[static_cast<std::size_t>(place)];
}

TEST(MrcTracker, one_stream_whatever_the_port) {
  Play play;
  play.start();
  const Mrc mrc = play.end();
  ASSERT_EQ(mrc.streams.size(), 1U);
  const MrcStream& stream = mrc.streams[0];
  EXPECT_EQ(stream.packets, 4U);
  EXPECT_EQ(stream.payload, 4096U);
  EXPECT_EQ(stream.paths.size(), 4U);
  EXPECT_EQ(stream.answer_qp, answer_qp);
  EXPECT_EQ(stream.rtt_ns.min(), 10U * us);
  EXPECT_EQ(stream.paths[2].answers, 1U);
  EXPECT_EQ(stream.losses(), 0U);
  EXPECT_EQ(mrc.unmatched, 0U);
}

/// SACKs name packets that never came, on paths of which others did. Of few packets two are enough.
TEST(MrcTracker, a_sample_is_told_by_what_sacks_name) {
  Play play;
  for (std::uint32_t psn = 0; psn < 48; psn += 16) {
    play.send(psn, psn / 16 % 2);
    play.report(psn, psn, psn / 16 % 2);
    if (psn >= 16) play.report(psn + 5, psn + 5, 0);
  }
  const std::optional<double> one_in = sampled_one_in(play.end());
  ASSERT_TRUE(one_in.has_value());
  EXPECT_DOUBLE_EQ(*one_in, 11);
}

/// Half of the paths pass elsewhere; of those that pass here two packets are missing.
TEST(MrcTracker, some_of_the_paths_are_no_sample) {
  Play play;
  for (std::uint32_t psn = 0; psn < 64; ++psn) {
    const unsigned path = psn % 4;
    if (path < 2 && psn != 20 && psn != 40) play.send(psn, path);
    play.report(psn, psn, path);
  }
  EXPECT_FALSE(sampled_one_in(play.end()).has_value());
}

TEST(MrcTracker, order_is_no_loss) {
  Play play;
  play.start();
  for (const std::uint32_t psn : {8U, 4U, 7U, 5U, 6U}) play.send(psn, psn % 4);
  play.report(8, 6, 2);
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].losses(), 0U);
  EXPECT_EQ(mrc.streams[0].not_captured, 0U);
  EXPECT_EQ(mrc.streams[0].reordered, 4U);
}

TEST(MrcTracker, a_hole_behind_a_later_packet_of_the_same_path_is_a_loss_once_it_is_sent_again) {
  Play play;
  play.start();
  const std::uint64_t gone = play.send(4, 0);
  play.send(5, 0);
  play.report(3, 5, 0, 4, 0b10);
  play.send(4, 2, true);
  play.report(5, 4, 2);
  const Mrc mrc = play.end();
  const MrcStream& stream = mrc.streams[0];
  EXPECT_EQ(lost(stream, MrcPlace::after_capture), 1U);
  EXPECT_EQ(stream.needed, 1U);
  EXPECT_EQ(stream.paths[0].lost, 1U);
  ASSERT_EQ(mrc.losses.size(), 1U);
  EXPECT_EQ(mrc.losses[0].packet, gone);
  EXPECT_EQ(mrc.losses[0].psn, 4U);
  EXPECT_EQ(mrc.losses[0].path, 0U);
}

TEST(MrcTracker, a_hole_behind_packets_of_other_paths_is_none) {
  Play play;
  play.start();
  play.send(4, 0);
  play.send(5, 1);
  play.report(3, 5, 1, 4, 0b10);
  play.send(4, 2, true);
  play.report(5, 4, 0, 0, 0, us);  // the first one came late
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].losses(), 0U);
  EXPECT_EQ(mrc.streams[0].needless, 1U);
}

TEST(MrcTracker, what_had_been_confirmed_is_sent_again_needlessly) {
  Play play;
  play.start();
  play.send(4, 0);
  play.report(4, 4, 0);
  play.send(4, 1, true);
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].needless, 1U);
  EXPECT_EQ(mrc.streams[0].losses(), 0U);
}

TEST(MrcTracker, what_the_capture_shows_twice_was_sent_once) {
  Play play;
  play.start();
  play.send(4, 0);
  play.send(4, 0);
  play.send(5, 0);
  play.report(3, 5, 0, 4, 0b10);
  play.send(4, 2, true);
  play.send(4, 2, true);
  play.report(5, 4, 2);
  const Mrc mrc = play.end();
  const MrcStream& stream = mrc.streams[0];
  EXPECT_EQ(stream.copies, 2U);
  EXPECT_EQ(stream.packets, 7U);
  EXPECT_EQ(stream.repeats, 1U);
  EXPECT_EQ(stream.needless, 0U);
  EXPECT_EQ(stream.losses(), 1U);
}

TEST(MrcTracker, what_shows_nothing_is_left_open) {
  Play play;
  play.start();
  play.send(4, 0);
  play.send(4, 1, true);
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].undecided, 1U);
  EXPECT_EQ(mrc.streams[0].losses(), 0U);
}

TEST(MrcTracker, one_of_which_only_the_repeat_came_was_lost_before) {
  Play play;
  play.start();
  play.send(5, 1);
  play.send(4, 2, true);
  play.report(5, 4, 2);
  const Mrc mrc = play.end();
  EXPECT_EQ(lost(mrc.streams[0], MrcPlace::before_capture), 1U);
  EXPECT_EQ(mrc.streams[0].needed, 1U);
}

TEST(MrcTracker, losses_are_given_to_those_that_switches_tell_of) {
  Mrc mrc;
  MrcStream stream;
  stream.key = key_of(1, 2, data_qp);
  mrc.streams.push_back(stream);
  mrc.losses.push_back({0, 77, MrcPlace::after_capture, std::nullopt, 5, begin});
  std::vector<LostTransmission> losses;
  add_losses(mrc, losses);
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].key.dst_qp, data_qp);
  EXPECT_EQ(losses[0].psn, 77U);
  EXPECT_EQ(losses[0].shown_by, 5U);
  EXPECT_EQ(losses[0].connection, LostTransmission::no_connection);
}

TEST(MrcTracker, but_not_where_others_arrive_that_never_come) {
  Play play;
  play.start();
  play.send(5, 1);
  play.send(4, 2, true);
  play.send(7, 3);  // 6 takes another way
  play.report(7, 7, 3);
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].not_captured, 1U);
  EXPECT_EQ(mrc.streams[0].losses(), 0U);
  EXPECT_EQ(mrc.streams[0].undecided, 1U);
}

TEST(MrcTracker, a_nack_names_what_was_trimmed_and_by_whom) {
  Play play;
  play.start();
  play.send(4, 0);
  play.send(5, 1);
  play.refuse(4, 0, 1);
  play.refuse(5, 1, 2);
  play.send(4, 2, true);
  play.report(4, 4, 2);
  const Mrc mrc = play.end();
  const MrcStream& stream = mrc.streams[0];
  EXPECT_EQ(lost(stream, MrcPlace::trimmed_after), 1U);
  EXPECT_EQ(lost(stream, MrcPlace::trimmed_last_hop), 1U);
  EXPECT_EQ(stream.trimmed(), 2U);
  EXPECT_EQ(stream.needed, 1U);
  EXPECT_EQ(mrc_nacks_text(stream), "trimmed 1, trimmed at the last hop 1");
}

TEST(MrcTracker, one_that_was_refused_is_no_loss_though_its_repeat_was_needed) {
  Play play;
  play.start();
  play.send(4, 0);
  play.refuse(4, 0, 0x0a);
  play.send(4, 2, true);
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].refused, 1U);
  EXPECT_EQ(mrc.streams[0].needed, 1U);
  EXPECT_EQ(mrc.streams[0].losses(), 0U);
}

TEST(MrcTracker, what_the_receiver_refuses_has_a_reason_and_packets) {
  Play play;
  play.start();
  play.send(4, 0);
  play.refuse(4, 0, 0x07);
  play.refuse(4, 0, 0x07);
  play.refuse(4, 0, 0x19);
  const Mrc mrc = play.end();
  const std::vector<MrcRefusal>& refusals = mrc.streams[0].refusals;
  ASSERT_EQ(refusals.size(), 2U);
  EXPECT_EQ(refusals[0].text(), "NACK no packet buffer");
  EXPECT_FALSE(refusals[0].fatal());
  EXPECT_EQ(refusals[0].seen.packets, (std::vector<std::uint64_t>{10, 11}));
  EXPECT_EQ(refusals[1].text(), "NACK unexpected event");
  EXPECT_TRUE(refusals[1].fatal());
}

TEST(MrcTracker, what_is_sent_again_and_again_after_the_last_answer_is_in_vain) {
  Play play;
  play.start();
  play.send(4, 0);
  for (unsigned i = 0; i < 5; ++i) {
    play.now += 100 * us;
    play.send(4, i % 4, true);
  }
  EXPECT_EQ(play.end().streams[0].unanswered.count, 1U);
}

TEST(MrcTracker, what_is_answered_at_last_is_not_in_vain) {
  Play play;
  play.start();
  play.send(4, 0);
  for (unsigned i = 0; i < 5; ++i) {
    play.now += 100 * us;
    play.send(4, i % 4, true);
  }
  play.report(4, 4, 0);
  EXPECT_EQ(play.end().streams[0].unanswered.count, 0U);
}

TEST(MrcTracker, of_all_that_were_sent_of_a_packet_that_arrived_one_was_not_lost) {
  Play play;
  for (std::uint32_t psn = 0; psn < 20; ++psn) {
    play.send(psn, psn % 4);
    play.report(psn, psn, psn % 4);
  }
  play.send(20, 0);
  play.send(21, 0);
  play.report(19, 21, 0, 21, 0b1);
  play.send(20, 2, true);
  play.now += 100 * us;
  play.report(19, 21, 0, 20, 0b10);  // overdue, too
  play.report(21, 21, 0);
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].losses(), 1U);
  EXPECT_EQ(mrc.streams[0].needed, 1U);
}

TEST(MrcTracker, two_queue_pairs_of_equal_psns_are_told_apart_by_their_paths) {
  Play play;
  for (std::uint32_t psn = 0; psn < 4; ++psn) {
    play.qp = data_qp;
    play.send(psn, psn);
    play.qp = 0x333;
    play.send(psn, psn ^ 1U);
  }
  for (std::uint32_t psn = 0; psn < 4; ++psn) play.report(psn, psn, psn ^ 1U);
  const Mrc mrc = play.end();
  ASSERT_EQ(mrc.streams.size(), 2U);
  EXPECT_FALSE(mrc.streams[0].answer_qp);
  EXPECT_EQ(mrc.streams[1].answer_qp, answer_qp);
}

TEST(MrcTracker, psns_wrap) {
  Play play;
  const std::uint32_t last = 0xffffff;
  for (std::uint32_t i = 0; i < 4; ++i) {
    play.send((last - 1 + i) & last, i);
    play.report((last - 1 + i) & last, (last - 1 + i) & last, i);
  }
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].restarts, 0U);
  EXPECT_EQ(mrc.streams[0].not_captured, 0U);
  EXPECT_EQ(mrc.streams[0].rtt_ns.count(), 4U);
}

TEST(MrcTracker, another_use_of_the_queue_pair_begins_anew) {
  Play play;
  play.start();
  play.send(0x800000, 0);
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].restarts, 1U);
  EXPECT_EQ(mrc.streams[0].losses(), 0U);
}

MrcPacket data_of(std::uint32_t queue_pair, std::uint32_t psn, std::uint16_t port, std::int64_t time_ns) {
  MrcPacket packet;
  packet.key = key_of(1, 2, queue_pair);
  packet.time_ns = time_ns;
  packet.opcode = write_middle;
  packet.psn = psn;
  packet.udp_source = port;
  return packet;
}

TEST(MrcTracker, what_nobody_confirms_takes_no_more_and_no_more_memory) {
  MrcTracker tracker;
  constexpr std::uint32_t many = 300'000;
  for (std::uint32_t psn = 0; psn < many; ++psn) {
    if (psn == 100'000) continue;  // on another path: whoever goes on for so long was told that it arrived
    tracker.see(data_of(data_qp, psn, static_cast<std::uint16_t>(psn), begin + psn), psn + 1, begin);
  }
  const Mrc mrc = std::move(tracker).finish();
  const MrcStream& stream = mrc.streams[0];
  EXPECT_EQ(stream.packets, many - 1);
  EXPECT_EQ(stream.not_captured, 1U);
  EXPECT_EQ(stream.paths.size(), 4096U);
  EXPECT_GT(stream.paths_dropped, 0U);
}

TEST(MrcTracker, streams_beyond_the_limit_are_counted) {
  MrcTracker tracker;
  for (std::uint32_t i = 0; i < MrcTracker::directions_at_most + 10; ++i)
    tracker.see(data_of(i, 7, 50000, begin + i), i + 1, begin);
  const Mrc mrc = std::move(tracker).finish();
  EXPECT_EQ(mrc.streams.size(), MrcTracker::directions_at_most);
  EXPECT_EQ(mrc.dropped, 10U);
}

TEST(MrcTracker, a_damaged_packet_is_none_where_others_are_right) {
  Play play;
  play.start();
  MrcTracker tracker = play.tracker;
  MrcPacket right = data_of(data_qp, 4, ports[0], play.now + us);
  right.icrc = static_cast<std::uint8_t>(dissect::CrcStatus::match);
  tracker.see(right, 100, begin);
  MrcPacket wrong = data_of(data_qp, 5, ports[0], play.now + 2 * us);
  wrong.icrc = static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
  tracker.see(wrong, 101, begin);
  const Mrc mrc = std::move(tracker).finish();
  EXPECT_EQ(mrc.streams[0].damaged, 1U);
  EXPECT_EQ(mrc.streams[0].restarts, 0U);
}

TEST(MrcTracker, probes_are_answered_by_number) {
  Play play;
  play.start();
  MrcPacket asked = data_of(data_qp, 0, ports[0], play.now += us);
  asked.opcode = probe;
  asked.probe_id = 77;
  play.tracker.see(asked, 50, begin);
  MrcPacket answer;
  answer.key = key_of(2, 1, answer_qp);
  answer.time_ns = play.now += us;
  answer.opcode = sack;
  answer.of_probe = answer.whole = true;
  answer.probe_id = 77;
  answer.cack = 3;
  play.tracker.see(answer, 51, begin);
  const Mrc mrc = play.end();
  EXPECT_EQ(mrc.streams[0].probes, 1U);
  EXPECT_EQ(mrc.streams[0].probes_answered, 1U);
}

TEST(MrcTracker, a_path_that_loses_stands_out) {
  Mrc mrc;
  MrcStream stream;
  stream.paths.resize(32);
  for (MrcPath& path : stream.paths) path.packets = 100;
  stream.paths[7].lost = 20;
  stream.paths[3].lost = 1;
  mrc.streams.push_back(stream);
  const std::vector<MrcBadPath> bad = bad_paths(mrc);
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].path, 7U);
  for (MrcPath& path : mrc.streams[0].paths) path.lost = 20;
  EXPECT_TRUE(bad_paths(mrc).empty());
}

}  // namespace
}  // namespace roce::analyze
