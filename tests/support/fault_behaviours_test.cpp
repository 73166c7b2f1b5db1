// SPDX-License-Identifier: Apache-2.0
// What NICs and networks may do otherwise, one at a time.
#include <algorithm>
#include <map>
#include <set>

#include "tests/support/fault_collector.hpp"
#include "tests/support/fault_opcodes.hpp"

namespace roce::support {
namespace {

bool begins_message(const Packet& packet) {
  return packet.opcode == write_opcodes.first || packet.opcode == write_opcodes.only ||
         packet.opcode == send_opcodes.first || packet.opcode == send_opcodes.only;
}

TEST(FaultBehaviours, WholeMessagesAreSentAgain) {
  FaultOptions options = small("loss_after1");
  options.mix = {1, 1, 0, 0};
  options.recovery = Recovery::go_back_message;
  const Outcome run(options);
  std::map<SpaceId, std::uint32_t> last_run;
  std::size_t passes = 0;
  for (const Seen& seen : run.collector.seen) {
    if (is_response(seen.packet.kind)) {
      continue;
    }
    if (last_run[seen.packet.space] != seen.packet.run) {
      last_run[seen.packet.space] = seen.packet.run;
      EXPECT_TRUE(begins_message(seen.packet)) << seen.packet.frame;
      ++passes;
    }
  }
  EXPECT_GT(passes, 50U);
}

TEST(FaultBehaviours, ANakMayAnswerEveryEarlyPacket) {
  FaultOptions options = small("loss_after1");
  options.mix = {1, 0, 0, 0};
  const auto naks = [](const FaultOptions& chosen) {
    const Outcome run(chosen);
    for (const ConnectionTruth& connection : run.collector.connections) {
      EXPECT_EQ(connection.completed, connection.posted);
    }
    return std::count_if(run.collector.seen.begin(), run.collector.seen.end(),
                         [](const Seen& seen) { return seen.packet.kind == Kind::sequence_nak; });
  };
  const auto once = naks(options);
  options.nak_every = true;
  EXPECT_GT(naks(options), 3 * once);
}

TEST(FaultBehaviours, ATimerMayRepeatOnePacket) {
  FaultOptions options = small("loss_after1");
  options.mix = {1, 0, 0, 0};
  options.recovery = Recovery::in_any_order;
  options.timer_sends_oldest = true;
  const Outcome run(options);
  std::size_t repeats = 0;
  for (const auto& [frame, truth] : run.collector.truths) {
    if (truth.repeat.repeated) {
      EXPECT_TRUE(truth.repeat.alone && truth.repeat.cause == Cause::timeout) << frame;
      ++repeats;
    }
  }
  EXPECT_GT(repeats, 50U);
}

TEST(FaultBehaviours, QueuedResponsesMayBeDropped) {
  FaultOptions options = small("slow");
  options.mix = {0, 0, 1, 0};
  options.rates.slow = 0.02;
  const auto repeated_responses = [](const FaultOptions& chosen) {
    const Outcome run(chosen);
    std::map<SpaceId, std::set<std::uint32_t>> answered;
    std::size_t again = 0;
    for (const Seen& seen : run.collector.seen) {
      if (seen.packet.kind == Kind::read_response) {
        again += answered[seen.packet.space].insert(seen.packet.psn).second ? 0U : 1U;
      }
    }
    for (const ConnectionTruth& connection : run.collector.connections) {
      EXPECT_EQ(connection.completed, connection.posted);
    }
    return again;
  };
  const std::size_t kept = repeated_responses(options);
  options.drop_queued = true;
  EXPECT_GT(kept, 20U);
  EXPECT_LT(repeated_responses(options), kept / 2);
}

TEST(FaultBehaviours, LossesAndMissesComeInRows) {
  FaultOptions options = small("clean");
  options.rates.loss_after = 0.001;
  options.rates.capture_drop = 0.001;
  options.loss_row = options.capture_row = 20;
  const Outcome run(options);
  EXPECT_GT(run.totals.lost_after, run.totals.at_capture / 200);
  EXPECT_GT(run.totals.capture_dropped, run.totals.at_capture / 200);
}

TEST(FaultBehaviours, FlowletsReorderAndLoseNothing) {
  FaultOptions options = small("clean");
  options.rates.flowlet_before = 0.01;
  options.recovery = Recovery::in_any_order;
  const Outcome run(options);
  EXPECT_TRUE(run.collector.losses.empty());
  std::size_t late = 0;
  for (const auto& [frame, truth] : run.collector.truths) {
    EXPECT_FALSE(truth.repeat.repeated) << frame;
    late += truth.out_of_order ? 1 : 0;
  }
  EXPECT_GT(late, 100U);
}

TEST(FaultBehaviours, QueuePairsAreUsedAgain) {
  FaultOptions options = small("clean");
  options.generations = 4;
  options.life = 20'000;
  options.first_psn = PsnChoice::zero;
  const Outcome run(options);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> uses;
  for (const ConnectionTruth& connection : run.collector.connections) {
    const Endpoints& ends = connection.endpoints;
    uses[{ends.host[0], ends.qp[0]}] += connection.posted[0] > 0 ? 1U : 0U;
    EXPECT_EQ(connection.completed, connection.posted);
  }
  EXPECT_EQ(uses.size(), 4U);
  for (const auto& [pair, count] : uses) {
    EXPECT_GT(count, 1U);
  }
  EXPECT_TRUE(run.collector.truths.empty());
}

TEST(FaultBehaviours, IdsMayCountByFlow) {
  FaultOptions options = small("loss_after1");
  options.ip_id = IdChoice::flow;
  const Outcome run(options);
  std::map<std::pair<std::uint32_t, End>, std::uint16_t> last;
  for (const Seen& seen : run.collector.seen) {
    const auto [found, first] =
        last.try_emplace({seen.packet.space / 2, sender_of(seen.packet)}, seen.packet.ip_id);
    if (!first) {
      EXPECT_EQ(seen.packet.ip_id, static_cast<std::uint16_t>(found->second + 1));
      found->second = seen.packet.ip_id;
    }
  }
}

TEST(FaultBehaviours, ASampleDecidesNoLossesOfItsOwn) {
  FaultOptions options = small("clean");
  options.rates.capture_drop = 0.9;
  const Outcome run(options);
  for (const LossTruth& loss : run.collector.losses) {
    EXPECT_FALSE(loss.decidable);
  }
}

}  // namespace
}  // namespace roce::support
