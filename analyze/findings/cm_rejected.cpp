// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/exchanges.hpp"
#include "analyze/units.hpp"
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
    {1, "the server is out of queue pairs", "see its limits: rdma resource, ibv_devinfo -v | grep max_qp"},
    {3, "the server is out of resources",
     "see its memory and limits: ulimit -l, rdma resource, ibv_devinfo -v"},
    {4, "an answer took too long",
     "see whether messages between the two are lost or the server is overloaded"},
    {8, "nobody listens there",
     "is the server program running and bound to this address and port: rdma resource show cm_id"},
    {10, "the server still knows an older connection with the same queue pair",
     "the client died or rebooted without a disconnect; wait for the server's timeout or end the old one: "
     "rdma resource show qp, rdma resource show cm_id"},
    {12, "the address leads to another port or GID",
     "compare show_gids (or rdma link and ip addr) of both hosts with the address that was asked for"},
    {26, "the path MTU does not fit", "compare ip link show DEV of both hosts"},
    {27, "more READs at a time asked for than the server can serve", "lower initiator_depth of the client"},
    {28, "the application itself said no", "its log says why; its reason is in the private data of the REJ"},
    {29, "the RNR retry count was refused", "compare the programs' rnr_retry_count"},
    {sidr_bit | 1, "nobody listens there",
     "is the server program running and bound to this address and port: rdma resource show cm_id"},
    {sidr_bit | 2, "the application itself said no", "its log says why"},
};

std::vector<ExchangeCase> cases_of(const Snapshot& snapshot) {
  std::vector<ExchangeCase> cases;
  for (const CmExchange& e : snapshot.exchanges) {
    ExchangeCase found;
    found.exchange = &e;
    if (e.reject_reason) {
      // A client that gives up waiting says so with a REJ: cm_unanswered tells it.
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

}  // namespace

void find_cm_rejected(const Snapshot& snapshot, FindingSink& sink) {
  const std::vector<ExchangeCase> cases = cases_of(snapshot);
  for (const ExchangeGroup& group : group_exchanges(cases)) {
    const std::uint32_t reason = group.kind & ~by_client_bit;
    std::string_view means;
    std::string_view advice = "see the logs of both programs";
    for (const auto& row : reasons) {
      if (row.kind != reason) continue;
      means = row.means;
      advice = row.advice;
    }
    Finding finding = finding_of(group);
    finding.severity = Severity::warning;
    const bool by_client = (group.kind & by_client_bit) != 0;
    finding.explanation = by_client
                              ? fmt::format("{} rejected {} of {} to {} with {}", group.client_text(),
                                            plural(finding.count, "reply", "replies"), group.server_text(),
                                            group.service_text(), reason_text(group.kind))
                              : fmt::format("{} rejected {} of {} to {} with {}", group.server_text(),
                                            plural(finding.count, "request", "requests"), group.client_text(),
                                            group.service_text(), reason_text(group.kind));
    finding.explanation += means.empty() ? std::string(".") : fmt::format(": {}.", means);
    finding.advice =
        fmt::format("On {}: {}. {}", by_client ? group.client_text() : group.server_text(), advice,
                    messages_command(snapshot, group,
                                     "infiniband.cm.req or infiniband.cm.rej or infiniband.cm.sidrreq or "
                                     "infiniband.cm.sidrrep"));
    sink.add(std::move(finding));
  }
}

}  // namespace roce::analyze
