// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/exchanges.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "dissect/cm.hpp"

namespace roce::analyze {
namespace {

using Key = std::tuple<std::uint32_t, dissect::IpAddress, dissect::IpAddress, std::uint64_t>;

/// What still counts at each level of coarseness.
constexpr struct {
  bool kind, client, server, service;
} levels[] = {
    {true, true, true, true},    {true, false, true, true},    {true, false, true, false},
    {true, false, false, false}, {false, false, false, false},
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
  finding.count = group.proof.count;
  finding.packets = group.proof.frames;
  finding.first_time_ns = group.proof.first_time_ns;
  finding.last_time_ns = group.proof.last_time_ns;
  return finding;
}

void add_seen(Proof& proof, const CmSeen& seen) {
  if (!seen) return;
  proof.add_frame(seen.frame);
  proof.add_time(seen.time_ns);
}

}  // namespace roce::analyze
