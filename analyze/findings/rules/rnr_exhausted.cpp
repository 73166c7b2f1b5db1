// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {
namespace {

std::vector<Case> rnr_exhausted_cases(const Snapshot& snapshot) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!connection.requester[side].rnr_exhausted) return;
    // The packet where it gave up or, without one, the NAKs before it.
    const bool added = add_case(snapshot, cases, connection, {side, side, Event::rnr_exhausted, 0}) ||
                       add_case(snapshot, cases, connection, {side, 1 - side, Event::rnr_exhausted, 0}) ||
                       add_case(snapshot, cases, connection, {side, 1 - side, Event::rnr_nak, 0});
    if (!added) return;
    const EventLog* naks = connection.sent[1 - side].find(Event::rnr_nak);
    Proof& proof = cases.back().proof;
    if (naks != nullptr) {
      for (const std::uint64_t frame : naks->frames) proof.add_frame(frame);
    }
    proof.count = 1;
  });
  return cases;
}

std::string one_wait_text(const Snapshot& snapshot, const Case& c) {
  std::string text =
      fmt::format("{} gave up: {} had no receive posted", endpoint_text(c.from()), endpoint_text(c.to()));
  if (const RnrStats* rnr = c.requester().trouble->rnr.get()) {
    text += fmt::format(
        " and refused one request {} in a row ({} RNR NAKs in total, each requesting a wait of {})",
        times_text(rnr->longest_chain), rnr->naks, wait_text(rnr->coded_wait_ns));
  }
  text += '.';
  const CmExchange* cm = exchange_of(snapshot, *c.connection);
  if (cm != nullptr && cm->rnr_retry)
    text += fmt::format(" RNR retry count set by the CM: {}.", *cm->rnr_retry);
  return text;
}

}  // namespace

void find_rnr_exhausted(const Snapshot& snapshot, FindingSink& sink) {
  report_cases(sink, rnr_exhausted_cases(snapshot), [&](const Group& group) {
    std::string text = one_wait_text(snapshot, group.first());
    if (!group.single()) {
      text = fmt::format("{}{} gave up because no receive was posted. The first: {}", scope_text(group),
                         plural(group.connections, "queue pair", "queue pairs"), text);
    }
    return Words{
        Severity::error,
        std::move(text),
        fmt::format(
            "The application on the sending side sees IBV_WC_RNR_RETRY_EXC_ERR. On {}: post receives before "
            "the peer may send, and again in time (is its progress thread stuck: top -H, gdb -p PID). "
            "rnr_retry 7 (ibv_modify_qp, rdma_conn_param.rnr_retry_count) retries forever instead of "
            "failing. {}",
            to_text(group),
            show_command(snapshot, group, "The NAKs",
                         shown_by_answers("infiniband.aeth.syndrome.opcode == \"RNR NAK\"", Event::rnr_nak))),
    };
  });
}

}  // namespace roce::analyze
