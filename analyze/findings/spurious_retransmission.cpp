// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/chains.hpp"

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
             : fmt::format(" Answers usually take {}, the slowest percent more than {}.", usual,
                           wait_text(answers.percentile(0.99)));
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
    // The longest row may be of requests that nobody had answered.
    const std::string chain = worst.requester().trouble->worst_chain.needless
                                  ? chain_text(snapshot, *worst.connection, worst.side)
                                  : std::string();
    return Words{
        severity_of(group.count(), group.of, scale),
        fmt::format("{}{} sent by {} {} what had already been acknowledged, as captured here: the "
                    "acknowledgement was lost or late on its way to {}, or its timer is too short.{}{}{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "repeats", "repeat"), from_text(group), latency_text(worst),
                    chain.empty() ? std::string() : fmt::format(" Longest row: {}.", chain),
                    worst_text(group)),
        fmt::format(
            "Are acknowledgements dropped on the way back: they often use another priority than the data, so "
            "compare DSCP and PCP of both directions and the drops of that queue. On {}: ethtool -S DEV | "
            "grep -iE 'drop|discard|prio'; on {}: rdma statistic show (duplicate_request). If none is lost, "
            "raise the timeout (ibv_modify_qp timeout, NCCL_IB_TIMEOUT). {}",
            from_text(group), to_text(group),
            show_command(snapshot, group, "The packets",
                         shown_by_flag("roce.analysis.spurious", Event::spurious))),
    };
  });
}

}  // namespace roce::analyze
