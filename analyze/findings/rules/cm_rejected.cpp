// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/failed_exchanges.hpp"
#include "dissect/cm.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint32_t sidr_bit = 0x1'0000;
constexpr std::uint32_t by_client_bit = 0x2'0000;
constexpr std::uint32_t reason_bits = 0xffff;

constexpr struct {
  std::uint32_t kind;
  std::string_view means;
  std::string_view advice;
} reasons[] = {
    {1, "the server is out of queue pairs", "check its limits: rdma resource, ibv_devinfo -v | grep max_qp"},
    {3, "the server is out of resources",
     "check its memory and limits: ulimit -l, rdma resource, ibv_devinfo -v"},
    {4, "an answer took too long",
     "check whether messages between the two are lost or the server is overloaded"},
    {8, "nothing is listening there",
     "is the server program running and bound to this address and port: rdma resource show cm_id"},
    {10, "the server still has an older connection with the same queue pair",
     "the client died or rebooted without a disconnect; wait for the server's timeout or close the old one: "
     "rdma resource show qp, rdma resource show cm_id"},
    {12, "the address belongs to another port or GID",
     "compare show_gids (or rdma link and ip addr) of both hosts with the requested address"},
    {26, "the path MTU is not accepted", "compare ip link show DEV of both hosts"},
    {27, "more outstanding READs requested than the server supports", "lower initiator_depth of the client"},
    {28, "the application itself refused",
     "its log shows why; its own reason code is in the private data of the REJ"},
    {29, "the RNR retry count was rejected", "compare the programs' rnr_retry_count"},
    {sidr_bit | 1, "nothing is listening there",
     "is the server program running and bound to this address and port: rdma resource show cm_id"},
    {sidr_bit | 2, "the application itself refused", "its log shows why"},
};

std::vector<ExchangeCase> rejected_cases(const Snapshot& snapshot) {
  std::vector<ExchangeCase> cases;
  for (const CmExchange& e : snapshot.exchanges) {
    ExchangeCase found;
    found.exchange = &e;
    if (e.reject_reason) {
      // A client that gives up waiting sends a REJ of its own: cm_unanswered reports it.
      if (!e.rejected_by_server && !e.rep) continue;
      found.kind = *e.reject_reason | (e.rejected_by_server ? 0 : by_client_bit);
    } else if (e.sidr && e.sidr_status.value_or(0) != 0) {
      found.kind = sidr_bit | *e.sidr_status;
    } else {
      continue;
    }
    found.proof.count = 1;
    found.add(&CmExchange::req);
    found.add(e.sidr ? &CmExchange::rep : &CmExchange::rej);
    cases.push_back(std::move(found));
  }
  return cases;
}

std::string reason_text(std::uint32_t kind) {
  const bool sidr = (kind & sidr_bit) != 0;
  const std::uint32_t reason = kind & reason_bits;
  const std::string_view name = sidr ? dissect::sidr_status_name(static_cast<std::uint8_t>(reason))
                                     : dissect::reject_reason_name(static_cast<std::uint16_t>(reason));
  return fmt::format("{} {}{}{}", sidr ? "status" : "reason", reason, name.empty() ? "" : ", ", name);
}

/// How often each kind, the most frequent first.
std::vector<std::pair<std::uint64_t, std::uint32_t>> kinds_of(const ExchangeGroup& group) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const ExchangeCase* c : group.cases) ++counts[c->kind];
  std::vector<std::pair<std::uint64_t, std::uint32_t>> kinds;
  for (const auto& [kind, count] : counts) kinds.emplace_back(count, kind);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  return kinds;
}

/// "with reason 8, invalid service ID: nothing is listening there.", or the counts of several reasons.
std::string given_text(const std::vector<std::pair<std::uint64_t, std::uint32_t>>& kinds,
                       std::string_view means) {
  if (kinds.size() == 1) {
    const std::string reason = reason_text(kinds.front().second);
    return means.empty() ? fmt::format("with {}.", reason) : fmt::format("with {}: {}.", reason, means);
  }
  constexpr std::size_t told = 8;
  std::string text = "for different reasons:";
  for (std::size_t i = 0; i < std::min(kinds.size(), told); ++i) {
    const auto& [count, kind] = kinds[i];
    text += fmt::format("{} {}{}", i == 0 ? "" : ";", reason_text(kind),
                        (kind & by_client_bit) != 0 ? " (by the client)" : "");
    if (count > 1) text += fmt::format(", {} times", count);
  }
  return text + (kinds.size() > told ? fmt::format("; and {} more.", kinds.size() - told) : ".");
}

}  // namespace

void find_cm_rejected(const Snapshot& snapshot, FindingSink& sink) {
  const std::vector<ExchangeCase> cases = rejected_cases(snapshot);
  for (const ExchangeGroup& group : group_exchanges(cases)) {
    const auto kinds = kinds_of(group);
    std::string_view means;
    std::string_view advice = "check the logs of both programs";
    for (const auto& row : reasons) {
      if (kinds.size() != 1 || row.kind != (kinds.front().second & ~by_client_bit)) continue;
      means = row.means;
      advice = row.advice;
    }
    const bool by_client = std::all_of(kinds.begin(), kinds.end(),
                                       [](const auto& kind) { return (kind.second & by_client_bit) != 0; });
    const std::string who = by_client ? group.client_text() : group.server_text();
    Finding finding = finding_of(group);
    finding.severity = Severity::warning;
    finding.explanation = fmt::format(
        "{} rejected {} of {} to {} {}", who,
        by_client ? plural(finding.count, "reply", "replies") : plural(finding.count, "request", "requests"),
        by_client ? group.server_text() : group.client_text(), group.service_text(),
        given_text(kinds, means));
    finding.advice = fmt::format("On {}: {}. {}", who, advice,
                                 messages_command(snapshot, group,
                                                  "infiniband.cm.req or infiniband.cm.rej or "
                                                  "infiniband.cm.sidrreq or infiniband.cm.sidrrep"));
    sink.add(std::move(finding));
  }
}

}  // namespace roce::analyze
