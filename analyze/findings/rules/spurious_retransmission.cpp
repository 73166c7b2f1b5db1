// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/findings/shared/retry_chains.hpp"

namespace roce::analyze {
namespace {

/// The kind of operation that the requester used most.
const OperationStats* main_operation(const Requester& requester) noexcept {
  const OperationStats* most = nullptr;
  for (const OperationStats& operation : requester.operations) {
    if (operation.latency_ns.count() == 0) continue;
    if (most == nullptr || operation.latency_ns.count() > most->latency_ns.count()) most = &operation;
  }
  return most;
}

std::string latency_text(const Case& c) {
  const OperationStats* operation = main_operation(c.requester());
  if (operation == nullptr) return {};
  const Histogram& answers = operation->latency_ns;
  constexpr std::uint64_t enough_for_percents = 100;
  const std::string usual = wait_text(answers.percentile(0.5));
  const std::string most = wait_text(answers.max());
  if (usual == most) return fmt::format(" Answers take {}.", most);
  return answers.count() < enough_for_percents
             ? fmt::format(" Answers usually take {}, {} at most.", usual, most)
             : fmt::format(" Answers usually take {}, the slowest 1 % more than {}.", usual,
                           wait_text(answers.percentile(0.99)));
}

/// Why acknowledged packets were retransmitted, by what made the sender go back.
struct Reason {
  SpuriousReason by;
  std::string_view why;  ///< {}: who sent it
  std::string_view advice;
};
constexpr std::string_view answers_advice =
    "Check whether acknowledgements are dropped on the return path: they often use another priority than the "
    "data, so compare DSCP and PCP of both directions and the drops of that queue. On {0}: ethtool -S DEV | "
    "grep -iE 'drop|discard|prio'; on {1}: rdma statistic show (duplicate_request). If none is lost, raise "
    "the timeout (ibv_modify_qp timeout, NCCL_IB_TIMEOUT).";
constexpr std::string_view lost_answer_advice =
    "Look for drops of what {1} sends, on the way to {0} and there: ethtool -S DEV | grep -iE "
    "'drop|discard|prio'. A longer timeout (ibv_modify_qp timeout, NCCL_IB_TIMEOUT) helps only if nothing is "
    "lost.";
constexpr Reason reasons[] = {
    {SpuriousReason::timer,
     "the acknowledgement was lost or late on its way to {}, or the sender's timer is too short",
     answers_advice},
    {SpuriousReason::unheard_nak,
     "a NAK that requested a later packet was lost or late on its way to {}, whose timer then expired",
     "Find what drops the NAK: answers often use another priority than the data, so compare DSCP and PCP of "
     "both directions and the drops of that queue. On {0}: ethtool -S DEV | grep -iE 'drop|discard|prio'. "
     "Finding loss_before_capture or loss_after_capture covers the packet that the NAK requested."},
    {SpuriousReason::nak,
     "a NAK requested a packet that came a little later, or {} went back further than requested",
     "Fix the reordering or the loss, not the timeout: see findings reordering and loss_after_capture. {1} "
     "may be able to accept packets out of order (mlx5: adaptive routing with selective repeat or "
     "out-of-order placement)."},
    {SpuriousReason::read_answer,
     "{} retried a READ because of a missing response, and retransmitted everything after it",
     lost_answer_advice},
    {SpuriousReason::atomic_answer,
     "{} retried an ATOMIC because of a missing response, and retransmitted everything after it",
     lost_answer_advice},
    {SpuriousReason::rnr, "{} had to wait (RNR NAK) and retransmitted everything after it",
     "See finding rnr."},
};

std::uint64_t needless(const Group& group, const Reason& reason) {
  const auto by = [&](SpuriousReason why) {
    return group.sum(
        [&](const Case& c) { return c.requester().trouble->needless[static_cast<std::size_t>(why)]; });
  };
  if (reason.by != SpuriousReason::timer) return by(reason.by);
  // All without another known reason.
  std::uint64_t others = 0;
  for (const Reason& other : reasons) others += other.by == SpuriousReason::timer ? 0 : by(other.by);
  return group.count() - std::min(group.count(), others);
}

/// "the acknowledgement was lost ...", or "10 times the acknowledgement ...; 5 times ...".
std::string reasons_text(const Group& group) {
  std::vector<std::pair<std::string_view, std::uint64_t>> told;
  for (const Reason& reason : reasons) {
    const std::uint64_t count = needless(group, reason);
    if (count == 0) continue;
    if (!told.empty() && told.back().first == reason.why) {
      told.back().second += count;
    } else {
      told.emplace_back(reason.why, count);
    }
  }
  std::string text;
  for (const auto& [why, count] : told) {
    if (!text.empty()) text += "; ";
    if (told.size() > 1) text += times_text(count) + " ";
    text += fmt::format(fmt::runtime(why), from_text(group));
  }
  return text;
}

std::string reasons_advice(const Group& group) {
  std::string text;
  std::string_view before;
  for (const Reason& reason : reasons) {
    if (reason.advice == before || needless(group, reason) == 0) continue;
    before = reason.advice;
    std::string advice = fmt::format(fmt::runtime(reason.advice), from_text(group), to_text(group)) + " ";
    // A sentence may begin with "the receivers".
    for (std::size_t at = advice.find(". the "); at != std::string::npos; at = advice.find(". the ", at))
      advice[at + 2] = 'T';
    text += advice;
  }
  return text;
}

}  // namespace

void find_spurious_retransmission(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection, {side, side, Event::spurious, all_packets(connection, side)});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    constexpr Scale scale{.warning_from = 0.05, .warning_at_least = 20};
    const Case& worst = group.worst();
    // The longest series may be of requests that were never answered.
    const std::string chain = worst.requester().trouble->worst_chain.needless
                                  ? chain_text(snapshot, *worst.connection, worst.side)
                                  : std::string();
    return Words{
        severity_of(group.count(), group.of, scale),
        fmt::format("{}{} sent by {} {} of what had already been acknowledged at the capture point: "
                    "{}.{}{}{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "is a retransmission", "are retransmissions"), reasons_text(group),
                    latency_text(worst),
                    chain.empty() ? std::string() : fmt::format(" Longest series: {}.", chain),
                    worst_text(group)),
        reasons_advice(group) + show_command(snapshot, group, "The packets",
                                             shown_by_flag("roce.analysis.spurious", Event::spurious)),
    };
  });
}

}  // namespace roce::analyze
