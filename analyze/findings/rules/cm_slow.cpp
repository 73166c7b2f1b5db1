// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/failed_exchanges.hpp"

namespace roce::analyze {
namespace {

enum SlowKind : std::uint32_t {
  req_again,   ///< the REQ was sent again, and answered in the end
  rep_again,   ///< the REP was sent again, and an RTU or data came in the end
  late_reply,  ///< nothing was sent again, but the server took long for its REP
  late_ready,  ///< or the client for its RTU
};

/// Set-up through the kernel's CM takes milliseconds: beyond this somebody waits for it.
constexpr std::uint64_t late_ns_from = 1'000'000'000;

std::vector<ExchangeCase> slow_cases(const Snapshot& snapshot) {
  std::vector<ExchangeCase> cases;
  for (const CmExchange& e : snapshot.exchanges) {
    const auto add = [&](SlowKind kind, std::initializer_list<CmSeen CmExchange::*> messages) {
      ExchangeCase found;
      found.exchange = &e;
      found.kind = kind;
      found.proof.count = 1;
      for (const auto message : messages) {
        found.add(message);
        found.proof.add_frame((e.*message).last_frame);
      }
      cases.push_back(std::move(found));
    };
    // Without an answer, or refused: cm_unanswered and cm_rejected.
    if (!e.req || !e.rep || e.rej || (e.sidr && e.sidr_status.value_or(0) != 0)) continue;
    if (e.req.count > 1) add(req_again, {&CmExchange::req, &CmExchange::rep});
    if (e.sidr) continue;
    if (e.rep.count > 1 && e.rtu) add(rep_again, {&CmExchange::rep, &CmExchange::rtu});
    if (e.req.count == 1 && answer_time_ns(e).value_or(0) >= late_ns_from)
      add(late_reply, {&CmExchange::req, &CmExchange::rep});
    if (e.rep.count == 1 && ready_time_ns(e).value_or(0) >= late_ns_from)
      add(late_ready, {&CmExchange::rep, &CmExchange::rtu});
  }
  return cases;
}

std::uint64_t longest(const ExchangeGroup& group, std::uint64_t (*wait)(const CmExchange&)) {
  std::uint64_t most = 0;
  for (const ExchangeCase* c : group.cases) most = std::max(most, wait(*c->exchange));
  return most;
}

std::uint32_t most_often(const ExchangeGroup& group, CmSeen CmExchange::*message) {
  std::uint32_t most = 0;
  for (const ExchangeCase* c : group.cases) most = std::max(most, (c->exchange->*message).count);
  return most;
}

/// Of so many the answer had passed the capture before the message was sent again.
std::size_t answered_before(const ExchangeGroup& group, CmSeen CmExchange::*message,
                            CmSeen CmExchange::*answer) {
  return static_cast<std::size_t>(
      std::count_if(group.cases.begin(), group.cases.end(), [&](const ExchangeCase* c) {
        const CmSeen& again = c->exchange->*message;
        const CmSeen& first = c->exchange->*answer;
        return first.time_ns != capture::no_time && first.time_ns < again.last_time_ns;
      }));
}

/// What became of the messages that had to be sent again.
std::string why_again(const ExchangeGroup& group, std::string_view message, std::string_view answer,
                      std::size_t answered, const std::string& sender, const std::string& peer) {
  const std::size_t all = group.cases.size();
  std::string text;
  if (answered != 0) {
    text += fmt::format(
        " {}the {} had passed this capture before: it was lost on its way to {}, or {} was slow "
        "to take it.",
        answered == all ? "Each time " : fmt::format("In {} of them ", answered), answer, sender, sender);
  }
  if (answered != all) {
    text += fmt::format(
        " {}no {} had been captured before: the {} was lost on its way to {}, or {} was slow to "
        "answer.",
        answered == 0 ? "Each time " : fmt::format("In {} ", all - answered), answer, message, peer, peer);
  }
  return text;
}

std::string slow_text(const ExchangeGroup& group) {
  const std::string client = group.client_text();
  const std::string server = group.server_text();
  const std::string set_ups = plural(group.cases.size(), "set-up", "set-ups");
  const auto connect = [](const CmExchange& e) { return connect_time_ns(e).value_or(0); };
  const std::string took = wait_text(longest(group, connect));
  const auto of_kind = [&](std::uint32_t kind) {
    return std::count_if(group.cases.begin(), group.cases.end(),
                         [&](const ExchangeCase* c) { return c->kind == kind; });
  };
  if (of_kind(group.kind) != static_cast<std::ptrdiff_t>(group.cases.size())) {
    return fmt::format(
        "{} to {} connected late in {}, up to {}: the REQ was sent again in {}, the REP in {}, the server "
        "took a "
        "second or more in {}, the client in {}.",
        client, server, set_ups, took, of_kind(req_again), of_kind(rep_again), of_kind(late_reply),
        of_kind(late_ready));
  }
  switch (group.kind) {
    case req_again:
      return fmt::format("{} sent its REQ to {} for {} again in {}, {} at most; it took up to {} to connect.",
                         client, server, group.service_text(), set_ups,
                         times_text(most_often(group, &CmExchange::req)), took) +
             why_again(group, "REQ", "REP", answered_before(group, &CmExchange::req, &CmExchange::rep),
                       client, server);
    case rep_again:
      return fmt::format("{} sent its REP to {} for {} again in {}, {} at most; it took up to {} to connect.",
                         server, client, group.service_text(), set_ups,
                         times_text(most_often(group, &CmExchange::rep)), took) +
             why_again(group, "REP", "RTU", answered_before(group, &CmExchange::rep, &CmExchange::rtu),
                       server, client);
    case late_reply:
      return fmt::format(
          "{} took up to {} to answer the REQ of {} for {} in {}; nothing was sent again.", server,
          wait_text(longest(group, [](const CmExchange& e) { return answer_time_ns(e).value_or(0); })),
          client, group.service_text(), set_ups);
    default:
      return fmt::format(
          "{} took up to {} to answer the REP of {} for {} in {}; nothing was sent again.", client,
          wait_text(longest(group, [](const CmExchange& e) { return ready_time_ns(e).value_or(0); })), server,
          group.service_text(), set_ups);
  }
}

std::string slow_advice(const ExchangeGroup& group) {
  switch (group.kind) {
    case req_again:
    case rep_again:
      return fmt::format(
          "On {0} and {1}: cm_tx_retries and cm_rx_duplicates in "
          "/sys/class/infiniband/DEV/ports/N: a duplicate says that the message had arrived, and its "
          "answer was lost or late. Look for drops of the class that CM messages use; they go to QP 1, "
          "often with another DSCP than the data.",
          group.client_text(), group.server_text());
    case late_reply:
      return fmt::format(
          "On {}: what its program does between RDMA_CM_EVENT_CONNECT_REQUEST and rdma_accept (a "
          "busy event loop, memory registration, queue pairs created one by one).",
          group.server_text());
    default:
      return fmt::format("On {}: what its program does before rdma_establish, or how busy its CM is.",
                         group.client_text());
  }
}

}  // namespace

void find_cm_slow(const Snapshot& snapshot, FindingSink& sink) {
  const std::vector<ExchangeCase> cases = slow_cases(snapshot);
  for (const ExchangeGroup& group : group_exchanges(cases)) {
    Finding finding = finding_of(group);
    const bool again = group.kind == req_again || group.kind == rep_again;
    finding.severity = again && group.cases.size() > 1 ? Severity::warning : Severity::notice;
    finding.explanation = slow_text(group);
    finding.advice = fmt::format("{} {}", slow_advice(group),
                                 messages_command(snapshot, group,
                                                  "infiniband.cm.req or infiniband.cm.rep or "
                                                  "infiniband.cm.sidrreq or infiniband.cm.sidrrep"));
    constexpr std::size_t named = 8;
    for (const Connection& c : snapshot.connections) {
      if (!c.cm || *c.cm >= snapshot.exchanges.size() || finding.connections.size() == named) continue;
      const CmExchange* const of = &snapshot.exchanges[*c.cm];
      if (std::any_of(group.cases.begin(), group.cases.end(),
                      [&](const ExchangeCase* each) { return each->exchange == of; }))
        finding.connections.push_back(c.id);
    }
    sink.add(std::move(finding));
  }
}

}  // namespace roce::analyze
