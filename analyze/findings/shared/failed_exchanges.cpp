// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/failed_exchanges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "dissect/cm.hpp"

namespace roce::analyze {
namespace {

using Key = std::tuple<std::uint32_t, dissect::IpAddress, dissect::IpAddress, std::uint64_t>;

/// What separates groups at each level, finest first.
constexpr struct {
  bool kind, client, server, service;
} levels[] = {
    {true, true, true, true},    {true, false, true, true},    {true, false, true, false},
    {true, false, false, false}, {false, false, false, false},
};

/// The filter field with the communication ID that the client chose for the exchange.
struct IdField {
  bool sidr;
  CmSeen CmExchange::*message;
  std::string_view field;
  bool by_client = true;  ///< sent by this side
  bool by_server = true;
};
constexpr IdField id_fields[] = {
    {false, &CmExchange::req, "infiniband.cm.req"},
    {false, &CmExchange::rep, "infiniband.cm.rep.remotecommid"},
    {false, &CmExchange::rtu, "infiniband.cm.rtu.localcommid"},
    {false, &CmExchange::rej, "infiniband.cm.rej.remotecommid", false, true},
    {false, &CmExchange::rej, "infiniband.cm.rej.localcommid", true, false},
    // Either side may disconnect, or both.
    {false, &CmExchange::dreq, "infiniband.cm.dreq.remotecommid"},
    {false, &CmExchange::dreq, "infiniband.cm.dreq.localcommid"},
    {true, &CmExchange::req, "infiniband.cm.sidrreq.requestid"},
    {true, &CmExchange::rep, "infiniband.cm.sidrrep.requestid"},
};

std::string hosts_text(const std::set<dissect::IpAddress>& hosts) {
  return hosts.size() == 1 ? address_text(*hosts.begin()) : fmt::format("{} hosts", hosts.size());
}

}  // namespace

std::string ExchangeGroup::client_text() const {
  return hosts_text(clients);
}
std::string ExchangeGroup::server_text() const {
  return hosts_text(servers);
}

std::string ExchangeGroup::service_text() const {
  if (services.size() != 1) return fmt::format("{} services", services.size());
  const std::uint64_t id = *services.begin();
  std::string text = fmt::format("service 0x{:016x}", id);
  const dissect::ServicePort port = dissect::service_port(id);
  if (port.space == dissect::PortSpace::none) return text;
  const std::string_view name = dissect::service_name_of(id);
  return text + fmt::format(" ({}{}port {})", name, name.empty() ? "" : ", ", port.port);
}

std::vector<ExchangeGroup> group_exchanges(const std::vector<ExchangeCase>& cases) {
  std::map<Key, ExchangeGroup> groups;
  for (const auto& level : levels) {
    groups.clear();
    for (const ExchangeCase& c : cases) {
      const CmExchange& e = *c.exchange;
      ExchangeGroup& group =
          groups[{level.kind ? c.kind : 0, level.client ? e.client : dissect::IpAddress{},
                  level.server ? e.server : dissect::IpAddress{}, level.service ? e.service_id : 0}];
      if (group.first == nullptr) {
        group.first = &e;
        group.kind = c.kind;
      }
      group.proof.add(c.proof);
      group.cases.push_back(&c);
      group.clients.insert(e.client);
      group.servers.insert(e.server);
      group.services.insert(e.service_id);
    }
    if (groups.size() <= findings_a_rule) break;
  }
  std::vector<ExchangeGroup> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

Finding finding_of(const ExchangeGroup& group) {
  Finding finding;
  finding.subject = fmt::format("{} > {}", group.client_text(), group.server_text());
  if (group.clients.size() == 1) finding.from = *group.clients.begin();
  if (group.servers.size() == 1) finding.to = *group.servers.begin();
  finding.count = group.proof.count;
  finding.packets = group.proof.frames;
  finding.first_time_ns = group.proof.first_time_ns;
  finding.last_time_ns = group.proof.last_time_ns;
  return finding;
}

void ExchangeCase::add(CmSeen CmExchange::*message) {
  const CmSeen& seen = exchange->*message;
  if (!seen) return;
  proof.add_frame(seen.frame);
  proof.add_time(seen.time_ns);
  messages.push_back(message);
}

std::string messages_command(const Snapshot& snapshot, const ExchangeGroup& group, std::string_view all) {
  constexpr std::size_t listed = 8;
  const std::string rest = "All such messages: " + packets_command(snapshot, all);
  if (group.cases.size() > listed) return rest;
  std::map<std::string_view, std::set<std::uint32_t>> ids;  // by field
  std::uint64_t packets = 0;
  for (const ExchangeCase* c : group.cases) {
    for (const auto message : c->messages) {
      const CmSeen& seen = (*c->exchange).*message;
      packets += seen.count;
      if (message == &CmExchange::dreq) packets += seen.of_other_side;
      for (const IdField& row : id_fields) {
        const bool of_side =
            message != &CmExchange::rej || (c->exchange->rejected_by_server ? row.by_server : row.by_client);
        if (row.sidr == c->exchange->sidr && row.message == message && of_side)
          ids[row.field].insert(c->exchange->client_comm_id);
      }
    }
  }
  // The ID is the client's: another client may use the same.
  for (const CmExchange& e : snapshot.exchanges) {
    const bool ours = std::any_of(group.cases.begin(), group.cases.end(),
                                  [&e](const ExchangeCase* c) { return c->exchange == &e; });
    const bool alike = std::any_of(ids.begin(), ids.end(), [&e](const auto& entry) {
      return entry.second.count(e.client_comm_id) != 0;
    });
    if (!ours && alike) return rest;
  }
  std::string test;
  for (const auto& [field, numbers] : ids) {
    std::string list;
    for (const std::uint32_t number : numbers)
      list += fmt::format("{}0x{:x}", list.empty() ? "" : ", ", number);
    if (!test.empty()) test += " or ";
    test +=
        numbers.size() == 1 ? fmt::format("{} == {}", field, list) : fmt::format("{} in {{{}}}", field, list);
  }
  if (ids.size() > 1 && without_copies(snapshot, {}).size() != 0) test = "(" + test + ")";
  return show_command(snapshot, "The messages", packets, group.proof.count, without_copies(snapshot, test));
}

}  // namespace roce::analyze
