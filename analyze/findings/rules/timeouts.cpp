// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/incident_counts.hpp"
#include "analyze/findings/shared/retry_chains.hpp"

namespace roce::analyze {
namespace {

/// False for a responder's answers to retransmitted requests.
bool asked_again(const Connection& connection, unsigned side) {
  return connection.requester[side].trouble->chains != 0 ||
         connection.requester[1 - side].trouble->chains == 0;
}

/// Whether the timer expired only for READs, which are retried for a reason of their own.
bool only_reads(const Connection& connection, unsigned side) {
  const Events& sent = connection.sent[side];
  return connection.requester[side].trouble->read_timeouts != 0 &&
         sent.count(Event::retransmitted_timeout) == 0 &&
         2 * sent.count(Event::spurious) < sent.count(Event::retransmitted_read_retry);
}

/// Retransmissions of what had been acknowledged, whose timer need not have expired.
std::uint64_t in_vain(const Connection& connection, unsigned side) {
  const std::uint64_t needless = connection.sent[side].count(Event::spurious);
  const auto unheard = static_cast<std::size_t>(SpuriousReason::unheard_nak);
  return needless - std::min(needless, connection.requester[side].trouble->needless[unheard]);
}

std::vector<Case> timeout_cases(const Snapshot& snapshot) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const Requester& requester = connection.requester[side];
    const Events& sent = connection.sent[side];
    if (!asked_again(connection, side)) return;
    // Retries exhausted: retries_exhausted reports it. Mostly spurious: spurious_retransmission does.
    if (gave_up(connection, side) && requester.trouble->chains <= 1) return;
    const std::uint64_t all = all_packets(connection, side);
    // Retried because an answer after the missing one came: no timer expired, as far as the answers show.
    if (requester.trouble->timeouts == 0 && requester.trouble->chains != 0 && requester.acks != 0) return;
    if (2 * in_vain(connection, side) < sent.count(Event::retransmitted_timeout)) {
      add_case(snapshot, cases, connection, {side, side, Event::retransmitted_timeout, all});
    } else if (only_reads(connection, side) &&
               add_case(snapshot, cases, connection, {side, side, Event::retransmitted_read_retry, all})) {
      cases.back().proof.count = requester.trouble->read_timeouts;
    }
  });
  return cases;
}

Shown repeats_after_silence(const Group& group) {
  const std::uint64_t count =
      group.sum([](const Case& c) { return only_reads(*c.connection, c.side) ? 1 : 0; });
  constexpr std::string_view timeout = "roce.analysis.retransmission.cause == timeout";
  constexpr std::string_view read_retry = "roce.analysis.retransmission.cause == read_retry";
  Shown shown = count == 0                    ? shown_by_flag(timeout, Event::retransmitted_timeout)
                : count == group.cases.size() ? shown_by_flag(read_retry, Event::retransmitted_read_retry)
                                              : Shown{};
  if (shown.test.empty()) {
    shown.test = fmt::format("{} || {}", timeout, read_retry);
    shown.packets = [](const Connection& c, unsigned sender) {
      return c.sent[sender].count(Event::retransmitted_timeout) +
             c.sent[sender].count(Event::retransmitted_read_retry);
    };
  }
  shown.copies_pass = true;
  return shown;
}

/// "the timer expired 12 times, 3 of them for a READ".
std::string expiries_text(const Group& group) {
  const std::uint64_t times = group.sum([](const Case& c) { return c.requester().trouble->timeouts; });
  const std::uint64_t reads = group.sum([](const Case& c) { return c.requester().trouble->read_timeouts; });
  std::string text = "the timer expired";
  if (times == 0) return text;
  text += " " + times_text(times);
  if (reads != 0) text += reads == times ? " for a READ" : fmt::format(", {} of them for a READ", reads);
  return text;
}

/// Retransmissions of what a NAK that did not arrive had acknowledged.
std::uint64_t unheard_naks(const Group& group) {
  return group.sum([](const Case& c) {
    const RequesterTrouble& trouble = *c.requester().trouble;
    return trouble.needless[static_cast<std::size_t>(SpuriousReason::unheard_nak)] +
           (trouble.worst_chain.unheard_nak != 0 ? 1 : 0);
  });
}

/// Whether the CM's retry count was used up and a DREQ came when the timer expired once more: then the
/// capture ends too early for retries_exhausted.
bool disconnected_in_vain(const Snapshot& snapshot, const Case& c) {
  const RetryChain& chain = c.requester().trouble->worst_chain;
  const CmExchange* cm = exchange_of(snapshot, *c.connection);
  if (cm == nullptr || !cm->retry_count || !cm->dreq || *cm->retry_count == 0) return false;
  if (chain.answered || chain.needless || chain.resends < *cm->retry_count) return false;
  const Flow* flow = flow_of(snapshot, *c.connection, c.side);
  if (flow == nullptr || !flow->any_time || flow->last_time_ns > chain.last_time_ns) return false;
  if (cm->dreq.frame < chain.last_frame || cm->dreq.time_ns == capture::no_time) return false;
  const auto waited = static_cast<std::uint64_t>(span_ns(chain.last_time_ns, cm->dreq.time_ns));
  return chain.min_spacing_ns != 0 && waited >= chain.min_spacing_ns;
}

/// " 10.0.0.1 QP 0x000011 gave up: ...", or nothing.
std::string end_text(const Snapshot& snapshot, const Group& group) {
  const auto gave_up_first = std::find_if(group.cases.begin(), group.cases.end(),
                                          [&](const Case& c) { return disconnected_in_vain(snapshot, c); });
  if (gave_up_first == group.cases.end()) return {};
  const CmExchange& cm = *exchange_of(snapshot, *gave_up_first->connection);
  return fmt::format(
      " {} apparently gave up: {} retransmissions are all that the CM's retry count allows, none was "
      "answered, nothing was sent after them, and packet {} disconnects (DREQ) when the timer had expired "
      "once more.",
      endpoint_text(gave_up_first->from()), gave_up_first->requester().trouble->worst_chain.resends,
      cm.dreq.frame);
}

}  // namespace

void find_timeouts(const Snapshot& snapshot, FindingSink& sink) {
  // Each stalls the connection for milliseconds to seconds, so few packets matter.
  constexpr Scale scale{.warning_from = 0.005, .error_from = 0.1, .error_at_least = 50};
  report_cases(sink, timeout_cases(snapshot), [&](const Group& group) {
    const std::uint64_t times = group.sum([](const Case& c) { return c.requester().trouble->timeouts; });
    const std::uint64_t needless = group.sum([](const Case& c) { return in_vain(*c.connection, c.side); });
    const Case* longest = &group.first();
    for (const Case& c : group.cases) {
      if (c.requester().trouble->worst_chain.longer_than(longest->requester().trouble->worst_chain))
        longest = &c;
    }
    const std::string chain = chain_text(snapshot, *longest->connection, longest->side);
    Severity severity = severity_of(group.count(), group.of, scale);
    // One or two stalls in a connection without other retransmissions are no reason to wake anybody.
    if (times <= 2 && longest->requester().trouble->worst_chain.resends <= 1) severity = Severity::notice;
    std::string text = fmt::format(
        "{}{} sent by {} {} after a timeout, {}: {}.", scope_text(group), share_text(group.count(), group.of),
        from_text(group), verb(group.count(), "is a retransmission", "are retransmissions"),
        unheard_naks(group) == 0 ? "without a NAK" : "without a NAK or with one that did not arrive",
        expiries_text(group));
    if (needless != 0) {
      text += fmt::format(
          " {} of all its retransmissions {} spurious: the first copy had already been acknowledged.",
          needless, verb(needless, "was", "were"));
    }
    if (!chain.empty()) text += fmt::format(" Longest series: {}.", chain);
    const std::string incidents = incidents_text(
        snapshot, group, false, [](const Incident& each) { return each.learned == LearnedBy::timer; });
    if (!incidents.empty()) text += fmt::format(" {}.", incidents);
    if (const std::uint64_t again = lost_again(snapshot, group); again != 0) {
      text += fmt::format(
          " At least {} it ran out because a repeat was lost, too: a responder sends one NAK for a gap (IBTA "
          "9.7.5.2.8), so only the timer helps.",
          times_text(again));
    }
    const std::string missing = missing_text(*longest->connection, longest->side);
    const RetryChain& worst = longest->requester().trouble->worst_chain;
    const std::uint64_t unheard = worst.unheard_nak;
    // So many in vain are more than one packet that was lost, or late.
    constexpr std::uint32_t in_a_row = 3;
    const bool silent = !worst.answered && worst.resends >= in_a_row;
    text +=
        !missing.empty() ? missing
        : unheard != 0
            ? fmt::format(
                  " Before that, a NAK (packet {}) had requested what is missing: it was lost or late on its "
                  "way to {}.",
                  unheard, from_text(group))
        : silent ? std::string()
                 : " Either the last packet of a message was lost, or an acknowledgement, or the responder "
                   "was slow.";
    const std::string end = end_text(snapshot, group);
    if (!end.empty()) severity = Severity::error;
    text += end + goodput_text(group) + worst_text(group);
    return Words{
        severity,
        std::move(text),
        fmt::format(
            "On {}: rdma statistic show (local_ack_timeout_err; Soft-RoCE: completer_retry_err). On {}: "
            "duplicate_request means that it had the data and its answers are lost or late, otherwise look "
            "for drops: ethtool -S DEV | grep -iE 'drop|discard|pause'. Raise the timeout (ibv_modify_qp, "
            "NCCL_IB_TIMEOUT) only when nothing is lost. {}",
            from_text(group), to_text(group),
            show_command(snapshot, group, "The packets", repeats_after_silence(group))),
    };
  });
}

}  // namespace roce::analyze
