// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/chains.hpp"

namespace roce::analyze {
namespace {

/// Not a responder's answers to requests that were repeated.
bool asked_again(const Connection& connection, unsigned side) {
  return connection.requester[side].trouble->chains != 0 ||
         connection.requester[1 - side].trouble->chains == 0;
}

std::vector<Case> cases_of(const Snapshot& snapshot) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const Requester& requester = connection.requester[side];
    const Events& sent = connection.sent[side];
    if (!asked_again(connection, side)) return;
    // Given up: retries_exhausted tells it. Mostly needless: spurious_retransmission does.
    if (gave_up(snapshot, connection, side) && requester.trouble->chains <= 1) return;
    if (2 * sent.count(Event::spurious) >= sent.count(Event::retransmitted_timeout)) return;
    add_case(snapshot, cases, connection,
             {side, side, Event::retransmitted_timeout, all_packets(connection, side)});
  });
  return cases;
}

Shown repeats_after_silence() {
  Shown shown = shown_by_flag("roce.analysis.retransmission.cause == timeout", Event::retransmitted_timeout);
  shown.copies_pass = true;
  return shown;
}

}  // namespace

void find_timeouts(const Snapshot& snapshot, FindingSink& sink) {
  // Each costs the connection milliseconds to seconds of standstill, so few packets matter.
  constexpr Scale scale{.warning_from = 0.005, .error_from = 0.1, .error_at_least = 50};
  report_cases(sink, cases_of(snapshot), [&](const Group& group) {
    const std::uint64_t chains = group.sum([](const Case& c) { return c.requester().trouble->chains; });
    const std::uint64_t needless = group.sum([](const Case& c) { return c.sent().count(Event::spurious); });
    const Case* longest = &group.first();
    for (const Case& c : group.cases) {
      if (c.requester().trouble->worst_chain.resends > longest->requester().trouble->worst_chain.resends)
        longest = &c;
    }
    const std::string chain = chain_text(snapshot, *longest->connection, longest->side);
    Severity severity = severity_of(group.count(), group.of, scale);
    // One or two standstills in a connection that repeats nothing else are no reason to wake anybody.
    if (chains <= 2 && longest->requester().trouble->worst_chain.resends <= 1) severity = Severity::notice;
    std::string text = fmt::format("{}{} sent by {} {} something after silence, no NAK: {}.",
                                   scope_text(group), share_text(group.count(), group.of), from_text(group),
                                   verb(group.count(), "repeats", "repeat"),
                                   chains == 0 ? std::string("the timer ran out")
                                               : fmt::format("the timer ran out {}", times_text(chains)));
    if (needless != 0) {
      text += fmt::format(" {} of all its repeats {} needless: the first copy had already been acknowledged.",
                          needless, verb(needless, "was", "were"));
    }
    if (!chain.empty()) text += fmt::format(" Longest: {}.", chain);
    text += " Behind it is a lost last packet of a message, a lost acknowledgement, or a slow responder.";
    text += goodput_text(group) + worst_text(group);
    return Words{
        severity,
        std::move(text),
        fmt::format(
            "On {}: rdma statistic show (local_ack_timeout_err; Soft-RoCE: "
            "completer_retry_err). On {}: duplicate_request means that it had the data and its answers are "
            "lost or late, else look for drops: ethtool -S DEV | grep -iE 'drop|discard|pause'. Raise the "
            "timeout (ibv_modify_qp, NCCL_IB_TIMEOUT) only when nothing is lost. {}",
            from_text(group), to_text(group),
            show_command(snapshot, group, "The packets", repeats_after_silence())),
    };
  });
}

}  // namespace roce::analyze
