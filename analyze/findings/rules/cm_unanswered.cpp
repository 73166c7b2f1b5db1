// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/failed_exchanges.hpp"
#include "analyze/findings/shared/hosts_seen.hpp"
#include "dissect/cm.hpp"
#include "dissect/headers/infiniband.hpp"

namespace roce::analyze {
namespace {

enum Kind : std::uint32_t {
  request,        ///< REQ or SIDR_REQ without an answer
  request_to_v1,  ///< the same, by RoCE v2 to a host that sends RoCE v1 only
  reply,          ///< REP without RTU or data
  disconnect,     ///< DREQ without an answer
};

constexpr std::uint16_t reject_timeout = 4;

/// Retransmitted, given up, or older than the client's timeout.
bool is_overdue(const Snapshot& snapshot, const CmExchange& e) {
  if (e.req.count >= 2) return true;
  if (e.reject_reason == reject_timeout && !e.rejected_by_server) return true;
  if (e.req.time_ns == capture::no_time || !snapshot.totals.any_time) return false;
  const std::int64_t waited = span_ns(e.req.time_ns, snapshot.totals.last_time_ns);
  return static_cast<std::uint64_t>(waited) > dissect::cm_timeout_ns(e.response_timeout_code);
}

/// Exchanges whose client sends on the connection: it received the REP, with or without an RTU.
std::vector<bool> used_exchanges(const Snapshot& snapshot) {
  std::vector<bool> used(snapshot.exchanges.size(), false);
  for (const Connection& c : snapshot.connections) {
    if (!c.cm || *c.cm >= used.size()) continue;
    if (c.packets[c.client_is_a ? 0 : 1] != 0) used[*c.cm] = true;
  }
  return used;
}

std::vector<ExchangeCase> unanswered_cases(const Snapshot& snapshot, const HostsSeen& hosts) {
  const std::vector<bool> used = used_exchanges(snapshot);
  std::vector<ExchangeCase> cases;
  for (std::size_t i = 0; i < snapshot.exchanges.size(); ++i) {
    const CmExchange& e = snapshot.exchanges[i];
    if (snapshot.completeness.unheard.contains({e.server, e.client})) continue;  // answers pass elsewhere
    const bool gave_up = e.reject_reason && !e.rejected_by_server;
    ExchangeCase found;
    found.exchange = &e;
    if (e.req && !e.rep && !e.mra && (!e.rej || gave_up) && is_overdue(snapshot, e)) {
      const auto server = hosts.find(e.server);
      const bool only_v1 = server != hosts.end() && server->second.v1 && !server->second.v2;
      found.kind = only_v1 && is_v2(e.transport) ? request_to_v1 : request;
      found.add(&CmExchange::req);
      found.add(&CmExchange::rej);
    } else if (!e.sidr && e.rep && e.rep.count >= 2 && !e.rtu && !e.rej && !e.dreq && !used[i]) {
      found.kind = reply;
      found.add(&CmExchange::req);
      found.add(&CmExchange::rep);
    } else if (e.dreq && e.dreq.count >= 2 && !e.drep) {
      found.kind = disconnect;
      found.add(&CmExchange::dreq);
    } else {
      continue;
    }
    found.proof.count = 1;
    cases.push_back(std::move(found));
  }
  return cases;
}

constexpr std::string_view mode_table =
    " RDMA-CM connects v1 to v1, v1 to v2 and v2 to v2, but not a v2 client to a v1 server (client to "
    "server).";

/// Until when the client of a REQ waited for the answer: at most until the last packet it sent to that CM.
std::int64_t waited_until(const Snapshot& snapshot, const CmExchange& e) {
  std::int64_t until = snapshot.totals.last_time_ns;
  for (const Flow& flow : snapshot.flows) {
    const bool to_its_cm =
        flow.key.src == e.client && flow.key.dst == e.server && flow.key.dst_qp == dissect::gsi_qpn;
    if (to_its_cm && flow.any_time) until = std::min(until, flow.last_time_ns);
  }
  const std::uint64_t patience = dissect::cm_timeout_ns(e.response_timeout_code);
  const auto room = static_cast<std::uint64_t>(span_ns(e.req.time_ns, until));
  return e.req.time_ns +
         static_cast<std::int64_t>(std::min(room, patience * std::max<std::uint64_t>(e.req.count, 1)));
}

/// Whether the server sent anything while the client waited. True where there are no timestamps to tell.
bool sent_meanwhile(const Snapshot& snapshot, const CmExchange& e) {
  if (e.req.time_ns == capture::no_time || !snapshot.totals.any_time) return true;
  const std::int64_t until = waited_until(snapshot, e);
  return std::any_of(snapshot.flows.begin(), snapshot.flows.end(), [&](const Flow& flow) {
    if (flow.key.src != e.server) return false;
    return !flow.any_time || (flow.first_time_ns <= until && flow.last_time_ns >= e.req.time_ns);
  });
}

/// ", of 16 times at most (Max CM Retries 15)", after how often the REQ was sent.
std::string attempts_text(const CmExchange& e) {
  if (e.sidr) return {};
  return retries_exhausted(e)
             ? fmt::format(", as often as it allows (Max CM Retries {}): its retries are exhausted",
                           e.max_cm_retries)
             : fmt::format(", of {} at most (Max CM Retries {})", times_text(e.max_cm_retries + 1U),
                           e.max_cm_retries);
}

std::string seen_text(const Snapshot& snapshot, const ExchangeGroup& group, const HostsSeen& hosts) {
  const CmExchange& e = *group.first;
  const std::string server = address_text(e.server);
  if (hosts.count(e.server) == 0) {
    return fmt::format(
        " No RoCE packet from {} was captured at all: the host or its RDMA port is down, something drops UDP "
        "4791, or its direction is missing from the capture.",
        server);
  }
  if (!sent_meanwhile(snapshot, e)) {
    return fmt::format(
        " {} sent RoCE packets at other times, but none while the client waited: the host or its RDMA port "
        "was down then, or something dropped UDP 4791.",
        server);
  }
  return fmt::format(
      " {} did send RoCE packets while the client waited: the request did not reach its CM, or the answer "
      "took another path.",
      server);
}

}  // namespace

void find_cm_unanswered(const Snapshot& snapshot, FindingSink& sink) {
  if (snapshot.exchanges.empty()) return;
  const HostsSeen hosts = hosts_seen(snapshot);
  const std::vector<ExchangeCase> cases = unanswered_cases(snapshot, hosts);
  for (const ExchangeGroup& group : group_exchanges(cases)) {
    Finding finding = finding_of(group);
    finding.severity = group.kind == disconnect ? Severity::notice : Severity::warning;
    const CmExchange& e = *group.first;
    const std::string who = fmt::format("{} of {} to {} at {}", plural(finding.count, "request", "requests"),
                                        group.client_text(), group.service_text(), group.server_text());
    const std::string server = group.server_text();
    finding.confidence = hosts.count(e.server) != 0 ? 0.9 : 0.6;
    switch (group.kind) {
      case request:
        finding.explanation =
            fmt::format("{} got no answer; the first was sent {}{}.{}", who, times_text(e.req.count),
                        attempts_text(e), seen_text(snapshot, group, hosts));
        finding.advice = fmt::format(
            "On {}: ibv_devinfo (port active?), show_gids (is there a RoCE v2 GID for this address?), "
            "tcpdump or a mirror of its port: does the REQ arrive? Check firewalls and ACLs for UDP 4791, "
            "and the default RoCE mode on both sides: cma_roce_mode -d DEV. {}",
            server,
            messages_command(snapshot, group,
                             "infiniband.cm.req or infiniband.cm.rej or infiniband.cm.sidrreq"));
        break;
      case request_to_v1:
        finding.explanation =
            fmt::format("{} used RoCE v2 and got no answer, and {} sends only RoCE v1 in this capture.{}",
                        who, server, mode_table);
        finding.advice = fmt::format(
            "Set the default mode of {} to RoCE v2 and restart its service: cma_roce_mode -d DEV -m 2, or "
            "echo 'RoCE v2' > /sys/kernel/config/rdma_cm/DEV/ports/1/default_roce_mode. {}",
            server, messages_command(snapshot, group, "infiniband.cm.req or infiniband.cm.rej"));
        break;
      case reply:
        finding.explanation = fmt::format(
            "{} {} retransmitted: neither an RTU nor data came. The REP is lost on the way to {}, or the "
            "client is gone.",
            who, verb(finding.count, "was answered, but the REP was", "were answered, but the REPs were"),
            group.client_text());
        finding.advice = fmt::format(
            "On {}: is the client still running; do packets from {} arrive (mirror of its port, rdma "
            "statistic show)? {}",
            group.client_text(), server,
            messages_command(snapshot, group, "infiniband.cm.req or infiniband.cm.rep"));
        break;
      default:
        finding.title = "disconnect request unanswered";
        finding.explanation = fmt::format(
            "{} between {} and {} got no answer, although the DREQ was retransmitted: the peer is gone, or "
            "its answers are lost.",
            plural(finding.count, "disconnect request", "disconnect requests"), group.client_text(), server);
        finding.advice = fmt::format("Did a host or program stop at that moment (dmesg, journalctl)? {}",
                                     messages_command(snapshot, group, "infiniband.cm.dreq"));
        break;
    }
    sink.add(std::move(finding));
  }
}

}  // namespace roce::analyze
