// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/tunnels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "dissect/dissect.hpp"

namespace roce::analyze {
namespace {

/// "roce.outer.src == A && roce.outer.dst == B && roce.tunnel == vxlan": packets of a way.
std::string way_test(const TunnelWay& way) {
  return fmt::format("roce.outer.src == {} && roce.outer.dst == {} && roce.tunnel == {}",
                     address_text(way.from), address_text(way.to), dissect::tunnel_name(way.tunnel));
}

Finding tunnel_finding(const Snapshot& snapshot, const TunnelCase& each, Words words) {
  Finding finding;
  finding.severity = words.severity;
  finding.subject = each.ends();
  if (each.way->hosts.size() == 1) std::tie(finding.from, finding.to) = *each.way->hosts.begin();
  finding.count = each.proof.count;
  finding.packets = each.proof.frames;
  finding.first_time_ns = each.proof.first_time_ns;
  finding.last_time_ns = each.proof.last_time_ns;
  constexpr std::size_t named = 8;
  for (const Flow* flow : each.flows) {
    if (flow->connection && finding.connections.size() < named)
      finding.connections.push_back(*flow->connection);
  }
  finding.explanation = std::move(words.explanation);
  finding.advice = fmt::format("{} {}", words.advice,
                               show_command(snapshot, "The packets", each.proof.count, each.proof.count,
                                            way_test(*each.way) + " && " + each.test));
  return finding;
}

}  // namespace

std::vector<TunnelWay> tunnel_ways(const Snapshot& snapshot) {
  std::map<std::tuple<dissect::IpAddress, dissect::IpAddress, dissect::Tunnel>, TunnelWay> ways;
  for (const Flow& flow : snapshot.flows) {
    for (const OuterRow& row : flow.outer()) {
      TunnelWay& way = ways[{row.outer.from, row.outer.to, row.outer.tunnel}];
      way.from = row.outer.from;
      way.to = row.outer.to;
      way.tunnel = row.outer.tunnel;
      way.rows.emplace_back(&flow, &row);
      way.hosts.emplace(flow.key.src, flow.key.dst);
    }
  }
  std::vector<TunnelWay> all;
  for (auto& [ends, way] : ways) {
    const bool mirror =
        std::any_of(way.hosts.begin(), way.hosts.end(), [&hosts = way.hosts](const auto& pair) {
          return hosts.contains({pair.second, pair.first});
        });
    if (!mirror) all.push_back(std::move(way));
  }
  return all;
}

void TunnelCase::add(const Flow& flow, const OuterRow& row) {
  if (flows.empty() || flows.back() != &flow) flows.push_back(&flow);
  inner.insert(row.inner_dscp());
  outer.insert(row.outer.dscp());
  proof.count += row.packets;
  proof.add_frame(row.first_packet);
  proof.add_time(row.first_time_ns);
  proof.add_time(row.last_time_ns);
}

std::string TunnelCase::ends() const {
  return fmt::format("{} to {} ({})", address_text(way->from), address_text(way->to),
                     tunnel_title(way->tunnel));
}

void report_tunnels(FindingSink& sink, const Snapshot& snapshot, const std::vector<TunnelCase>& cases,
                    const std::function<Words(const TunnelCase&)>& describe) {
  if (cases.empty()) return;
  if (cases.size() <= told_apart) {
    for (const TunnelCase& each : cases) sink.add(tunnel_finding(snapshot, each, describe(each)));
    return;
  }
  const TunnelCase* worst = &cases.front();
  std::uint64_t packets = 0;
  for (const TunnelCase& each : cases) {
    packets += each.proof.count;
    if (each.proof.count > worst->proof.count) worst = &each;
  }
  const Words words = describe(*worst);
  Finding finding = tunnel_finding(snapshot, *worst, words);
  finding.subject = fmt::format("{} tunnels", cases.size());
  finding.from.reset();
  finding.to.reset();
  finding.count = packets;
  finding.explanation = fmt::format("{} in {} tunnels, by direction. Most in one: {}", packets_text(packets),
                                    cases.size(), words.explanation);
  finding.advice = fmt::format("{} {}", words.advice,
                               show_command(snapshot, "Those", worst->proof.count, packets,
                                            way_test(*worst->way) + " && " + worst->test));
  sink.add(std::move(finding));
}

std::string_view tunnel_title(dissect::Tunnel tunnel) noexcept {
  switch (tunnel) {
    case dissect::Tunnel::vxlan:
      return "VXLAN";
    case dissect::Tunnel::geneve:
      return "Geneve";
    case dissect::Tunnel::gre:
      return "GRE";
    default:
      return "IP in IP";
  }
}

}  // namespace roce::analyze
