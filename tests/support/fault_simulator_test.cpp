// SPDX-License-Identifier: Apache-2.0
// The fault simulator keeps its own rules: packets are conserved, operations complete, and what it calls
// a retransmission agrees with a naive model of PSNs seen wherever such a model can know it.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/fault_collector.hpp"
#include "tests/support/fault_opcodes.hpp"

namespace roce::support {
namespace {

TEST(FaultSimulator, KeepsCountInEveryPreset) {
  for (const std::string_view preset : preset_names()) {
    SCOPED_TRACE(std::string(preset));
    const Outcome run(small(preset));
    const SimulatorTotals& t = run.totals;
    EXPECT_GE(t.frames, 15'000U);
    EXPECT_EQ(t.frames, run.collector.seen.size());
    EXPECT_EQ(t.at_capture, t.sent + t.doubled_before - t.lost_before + t.damaged);
    EXPECT_EQ(t.frames, t.at_capture - t.out_of_scope - t.capture_dropped + t.capture_copies);
    EXPECT_EQ(t.delivered, t.at_capture - t.damaged + t.doubled_after - t.lost_after);
    EXPECT_EQ(t.lost_before, run.collector.count_lost(LostWhere::before_capture));
    EXPECT_EQ(t.lost_after, run.collector.count_lost(LostWhere::after_capture));
    EXPECT_LE(run.collector.count_lost(LostWhere::by_capture), t.capture_dropped);
    EXPECT_TRUE(std::is_sorted(run.collector.seen.begin(), run.collector.seen.end(),
                               [](const Seen& a, const Seen& b) { return a.time < b.time; }));
    ASSERT_EQ(run.collector.connections.size(), 16U);
    for (const ConnectionTruth& connection : run.collector.connections) {
      for (unsigned end = 0; end < 2; ++end) {
        EXPECT_LE(connection.completed[end], connection.posted[end]);
        EXPECT_LE(connection.answered[end], connection.posted[end]);
        if (connection.state[0] == EndState::working && connection.state[1] == EndState::working) {
          EXPECT_EQ(connection.completed[end], connection.posted[end]);
          EXPECT_GE(connection.completed[end], connection.answered[end]);
        }
      }
    }
  }
}

TEST(FaultSimulator, CleanTrafficHasNothingToTell) {
  const Outcome run(small("clean"));
  EXPECT_TRUE(run.collector.truths.empty());
  EXPECT_TRUE(run.collector.losses.empty());
  EXPECT_EQ(run.totals.sent, run.totals.delivered);
  for (const ConnectionTruth& connection : run.collector.connections) {
    EXPECT_GT(connection.completed[0], 20U);
    EXPECT_EQ(connection.answered, connection.completed);
  }
}

// Beyond a loss behind the capture, everything that is sent is captured: a PSN seen again is a repeat and
// nothing else is.
TEST(FaultSimulator, RepeatsAreThePsnsSeenBefore) {
  for (const char* const preset : {"loss_after1", "rnr", "slow"}) {
    SCOPED_TRACE(preset);
    const Outcome run(small(preset));
    std::map<SpaceId, std::set<std::uint32_t>> requested, answered;
    std::size_t repeats = 0;
    for (std::size_t i = 0; i < run.collector.seen.size(); ++i) {
      const Packet& p = run.collector.seen[i].packet;
      if (p.kind == Kind::read_response || p.kind == Kind::atomic_response) {
        const bool again = !answered[p.space].insert(p.psn).second;
        EXPECT_EQ(again, run.collector.is_retransmission(i)) << i;
      } else if (!is_response(p.kind)) {
        bool again = false;
        for (std::uint32_t k = 0; k < p.psn_count; ++k) {
          again |= !requested[p.space].insert(psn_add(p.psn, k)).second;
        }
        EXPECT_EQ(again, run.collector.is_retransmission(i)) << i;
        repeats += again ? 1 : 0;
      } else {
        EXPECT_FALSE(run.collector.is_retransmission(i)) << i;
      }
    }
    EXPECT_GT(repeats, 50U);
    for (const auto& [frame, truth] : run.collector.truths) {
      EXPECT_TRUE(truth.decidable && truth.cause_decidable) << frame;
      if (truth.repeat.repeated && !is_response(truth.kind)) {
        EXPECT_GT(truth.original, 0U) << frame;
        EXPECT_LE(truth.original, truth.previous) << frame;
        EXPECT_LT(truth.previous, frame);
        EXPECT_EQ(run.collector.seen[truth.previous - 1].packet.space, truth.space);
      }
    }
  }
}

// A loss ahead of the capture leaves repeats whose PSN the capture never held: they are decidable exactly
// if something later was seen.
TEST(FaultSimulator, LostTailsLookLikeFirstTransmissions) {
  FaultOptions options = small("loss_before1");
  options.mix = {1, 0, 0, 0};
  const Outcome run(options);
  std::map<SpaceId, std::uint32_t> end;
  std::size_t undecidable = 0;
  for (std::size_t i = 0; i < run.collector.seen.size(); ++i) {
    const Packet& p = run.collector.seen[i].packet;
    const auto known = end.find(p.space);
    if (run.collector.is_retransmission(i)) {
      const FrameTruth& truth = *run.collector.truth_of(i);
      EXPECT_EQ(truth.decidable, known != end.end() && psn_before(p.psn, known->second)) << i;
      undecidable += truth.decidable ? 0 : 1;
    }
    const std::uint32_t behind = psn_add(p.psn, 1);
    if (known == end.end() || psn_before(known->second, behind)) {
      end[p.space] = behind;
    }
  }
  EXPECT_GT(undecidable, 0U);
}

TEST(FaultSimulator, CausesHaveTheirEvidence) {
  const FaultOptions options = small("loss_after1");
  const Outcome run(options);
  std::map<SpaceId, std::vector<std::pair<Time, std::uint32_t>>> naks;
  std::map<Cause, std::size_t> causes;
  for (std::size_t i = 0; i < run.collector.seen.size(); ++i) {
    const auto& seen = run.collector.seen[i];
    const auto& p = seen.packet;
    const auto& time = seen.time;
    if (p.kind == Kind::sequence_nak) {
      naks[p.space].emplace_back(time, p.psn);
    }
    if (is_response(p.kind)) {
      continue;
    }
    if (run.collector.is_retransmission(i)) {
      const FrameTruth& truth = *run.collector.truth_of(i);
      ++causes[truth.repeat.cause];
      if (truth.repeat.cause == Cause::nak) {
        const auto& before = naks[p.space];
        EXPECT_TRUE(std::any_of(before.begin(), before.end(), [&](const auto& nak) {
          return nak.first + options.latency_a < time && !psn_before(p.psn, nak.second);
        })) << i;
      }
      EXPECT_EQ(truth.repeat.cause == Cause::read_retry,
                p.kind == Kind::read_request && truth.repeat.cause != Cause::nak)
          << i;
    }
  }
  EXPECT_GT(causes[Cause::nak], 100U);
  EXPECT_GT(causes[Cause::timeout], 10U);
  EXPECT_GT(causes[Cause::read_retry], 10U);
}

TEST(FaultSimulator, TimeoutsComeAfterSilence) {
  FaultOptions options = small("request_loss1");
  options.mix = {1, 1, 0, 0};
  const Outcome run(options);
  std::map<SpaceId, Time> progress;
  std::map<SpaceId, Cause> cause;
  std::size_t timeouts = 0;
  for (std::size_t i = 0; i < run.collector.seen.size(); ++i) {
    const auto& [p, time, copy, bytes] = run.collector.seen[i];
    const FrameTruth* const truth = run.collector.truth_of(i);
    const Cause now = truth != nullptr ? truth->repeat.cause : Cause::none;
    if (!is_response(p.kind) && now == Cause::timeout && cause[p.space] != Cause::timeout) {
      EXPECT_GE(time - progress[p.space], (Time{4096} << options.timeout) * 9 / 10) << i;
      ++timeouts;
    }
    if (!is_response(p.kind)) {
      cause[p.space] = now;
    }
    progress[p.space] = time;
  }
  EXPECT_GT(timeouts, 3U);
}

// One NAK for a hole; the next with that PSN only after the PSN was sent again.
TEST(FaultSimulator, NaksAreSuppressed) {
  FaultOptions options = small("loss_after1");
  const Outcome run(options);
  std::map<SpaceId, std::uint32_t> open;
  for (const auto& [p, time, copy, bytes] : run.collector.seen) {
    const auto found = open.find(p.space);
    if (p.kind == Kind::sequence_nak) {
      EXPECT_TRUE(found == open.end() || found->second != p.psn);
      open[p.space] = p.psn;
    } else if (!is_response(p.kind) && found != open.end() && found->second == p.psn) {
      open.erase(found);
    }
  }
}

TEST(FaultSimulator, MsnNeverRunsBackwards) {
  for (const char* const preset : {"clean", "loss1", "rnr", "slow"}) {
    const Outcome run(small(preset));
    std::map<SpaceId, std::uint32_t> msn;
    for (const auto& [p, time, copy, bytes] : run.collector.seen) {
      if (is_response(p.kind)) {
        EXPECT_FALSE(psn_before(p.msn, msn[p.space]));
        msn[p.space] = p.msn;
      }
    }
  }
}

TEST(FaultSimulator, CopiesAreOneTransmission) {
  for (const char* const preset : {"mirror", "duplicate", "all1"}) {
    SCOPED_TRACE(preset);
    const Outcome run(small(preset));
    std::size_t copies = 0;
    for (const auto& [frame, truth] : run.collector.truths) {
      if (truth.duplicate_of != 0) {
        EXPECT_LT(truth.duplicate_of, frame);
        EXPECT_EQ(run.collector.seen[frame - 1].bytes, run.collector.seen[truth.duplicate_of - 1].bytes)
            << frame;
        ++copies;
      }
    }
    EXPECT_GT(copies, 50U);
  }
}

// A retransmission has the bytes of its original, save the IPv4 identification and header checksum.
TEST(FaultSimulator, RepeatsHaveTheirOriginalsBytes) {
  FaultOptions options = small("request_loss1");
  options.ipv6 = true;
  options.mix = {2, 2, 0, 1};
  const Outcome run(options);
  std::size_t compared = 0;
  for (const auto& [frame, truth] : run.collector.truths) {
    if (truth.original != 0 && truth.kind != Kind::read_request && !is_response(truth.kind)) {
      std::vector<std::uint8_t> a = run.collector.seen[frame - 1].bytes;
      std::vector<std::uint8_t> b = run.collector.seen[truth.original - 1].bytes;
      const std::size_t ack_request = 14 + 40 + 8 + 8;
      a[ack_request] &= 0x7f;  // may be asked for later than at first, which changes the ICRC
      b[ack_request] &= 0x7f;
      a.resize(a.size() - 4);
      b.resize(b.size() - 4);
      EXPECT_EQ(a, b) << frame;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100U);
}

TEST(FaultSimulator, ReorderingAloneRepeatsNothing) {
  for (const char* const preset : {"reorder", "adaptive_routing"}) {
    const Outcome run(small(preset));
    std::size_t late = 0;
    for (const auto& [frame, truth] : run.collector.truths) {
      EXPECT_FALSE(truth.repeat.repeated) << frame;
      late += truth.out_of_order ? 1 : 0;
    }
    EXPECT_GT(late, 100U);
    EXPECT_TRUE(run.collector.losses.empty());
  }
}

TEST(FaultSimulator, LossesSayWhereAndWhetherThatShows) {
  const Outcome before(small("loss_before1"));
  const Outcome after(small("loss_after1"));
  const Outcome dropped(small("capture_drop"));
  const auto decidable = [](const Outcome& run) {
    return std::count_if(run.collector.losses.begin(), run.collector.losses.end(),
                         [](const LossTruth& l) { return l.decidable; });
  };
  EXPECT_GT(decidable(before), 100);
  EXPECT_GT(decidable(after), 40);
  EXPECT_GT(decidable(dropped), 100);
  for (const auto& [frame, truth] : dropped.collector.truths) {
    EXPECT_FALSE(truth.repeat.repeated) << frame;
  }
  for (const LossTruth& loss : after.collector.losses) {
    EXPECT_GT(loss.frame, 0U);
    EXPECT_EQ(after.collector.seen[loss.frame - 1].packet.psn, loss.psn);
  }
}

TEST(FaultSimulator, DeadLinksExhaustRetries) {
  FaultOptions options = small("blackout");
  options.rates.blackout = 1;
  const Outcome run(options);
  std::size_t exhausted = 0;
  for (const ConnectionTruth& connection : run.collector.connections) {
    exhausted += connection.state[0] == EndState::retries_exceeded ? 1U : 0U;
  }
  EXPECT_GT(exhausted, 10U);
}

TEST(FaultSimulator, PsnsWrap) {
  FaultOptions options = small("loss1");
  options.first_psn = PsnChoice::wrap;
  const Outcome run(options);
  std::size_t low = 0, high = 0;
  for (const Seen& seen : run.collector.seen) {
    ++(seen.packet.psn < 0x800000 ? low : high);
  }
  EXPECT_GT(low, 1000U);
  EXPECT_GT(high, 1000U);
}

TEST(FaultSimulator, TheCaptureMayMissOneDirectionOrTheBeginning) {
  FaultOptions options = small("loss1");
  options.captured = Captured::b_to_a;
  const Outcome half(options);
  for (const Seen& seen : half.collector.seen) {
    EXPECT_EQ(sender_of(seen.packet), End::b);
  }
  options.captured = Captured::both;
  options.skip = 500'000;
  const Outcome late(options);
  EXPECT_GE(late.collector.seen.front().time, options.skip);
}

TEST(FaultSimulator, TheConnectionManagerFramesTheData) {
  FaultOptions options = small("clean");
  options.connection_manager = true;
  const Outcome run(options);
  EXPECT_EQ(run.totals.cm_messages, 5U * options.connections);
  EXPECT_EQ(run.totals.frames, run.collector.seen.size() + run.collector.managed.size());
  EXPECT_LT(run.collector.managed.front().time, run.collector.seen.front().time);
  EXPECT_GT(run.collector.managed.back().time, run.collector.seen.back().time);
  for (const Seen& message : run.collector.managed) {
    EXPECT_EQ(message.bytes.size(), 14U + 20 + 8 + 12 + 8 + 256 + 4);
  }
}

TEST(FaultSimulator, TheSameSeedGivesTheSameCapture) {
  FaultOptions options = small("all1");
  options.packets = 5'000;
  const Outcome one(options), two(options);
  options.seed = 2;
  const Outcome other(options);
  const auto bytes = [](const Outcome& run) {
    std::vector<std::vector<std::uint8_t>> all;
    for (const Seen& seen : run.collector.seen) {
      all.push_back(seen.bytes);
    }
    return all;
  };
  EXPECT_EQ(bytes(one), bytes(two));
  EXPECT_NE(bytes(one), bytes(other));
}

}  // namespace
}  // namespace roce::support
