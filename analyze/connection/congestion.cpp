// SPDX-License-Identifier: Apache-2.0
#include "analyze/connection/congestion.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analyze/connection/connection.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/flow/flow.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint64_t enough = 20;
constexpr double few = 0.05;

/// Whether hardly any interval is much shorter than the average (without the longest ones), which indicates a
/// rate limit.
bool kept_apart(const Histogram& spacing) noexcept {
  constexpr double step = 0.1, most = 0.96;
  double sum = 0;
  unsigned parts = 0;
  for (double part = few; part < most; part += step) {
    sum += static_cast<double>(spacing.percentile(part));
    ++parts;
  }
  return spacing.count() >= enough && sum > 0 &&
         static_cast<double>(spacing.percentile(few)) * 2 * parts >= sum;
}

/// Time of the flow's last CNP, as far as it is known.
std::int64_t last_cnp_of(const Flow& flow, const std::vector<Connection>& connections) {
  if (flow.opcodes.of(dissect::opcode_cnp) == flow.packets)
    return flow.any_time ? flow.last_time_ns : capture::no_time;
  if (!flow.connection) return capture::no_time;
  const Connection* const at = find_connection(connections, *flow.connection);
  if (at == nullptr) return capture::no_time;
  const EventLog* log = at->sent[at->flow[1] == flow.id ? 1 : 0].find(Event::cnp);
  return log != nullptr ? log->last_time_ns : capture::no_time;
}

void add_cnps(CnpPair& pair, const Flow& flow, const std::vector<Connection>& connections) {
  pair.from = flow.key.src;
  pair.to = flow.key.dst;
  pair.cnps += flow.opcodes.of(dissect::opcode_cnp);
  ++pair.queue_pairs;
  for (const MarkRow& row : flow.marks()) {
    if (row.traffic_class != TrafficClass::cnp) continue;
    if (pair.first_packet == 0 || row.first_packet < pair.first_packet) pair.first_packet = row.first_packet;
    if (row.first_time_ns == capture::no_time) continue;
    if (pair.first_time_ns == capture::no_time || row.first_time_ns < pair.first_time_ns)
      pair.first_time_ns = row.first_time_ns;
  }
  const std::int64_t last = last_cnp_of(flow, connections);
  if (last != capture::no_time && (pair.last_time_ns == capture::no_time || last > pair.last_time_ns))
    pair.last_time_ns = last;
}

/// The tracker does not see CNPs that belong to no connection.
void add_senders(Congestion& congestion) {
  constexpr std::size_t sender_limit = 256;
  std::map<dissect::IpAddress, CnpSender> all;
  for (const CnpPair& pair : congestion.pairs) {
    CnpSender& sender = all[pair.from];
    sender.cnps += pair.cnps;
    ++sender.pairs;
    sender.flows += pair.queue_pairs;
  }
  for (CnpSender& known : congestion.senders) {
    const auto at = all.find(known.address);
    if (at == all.end()) continue;
    known.cnps = std::max(known.cnps, at->second.cnps);
    all.erase(at);
  }
  for (auto& [address, sender] : all) {
    if (congestion.senders.size() >= sender_limit) {
      congestion.senders_dropped += sender.cnps;
      continue;
    }
    sender.address = address;
    congestion.senders.push_back(std::move(sender));
  }
  std::sort(congestion.senders.begin(), congestion.senders.end(),
            [](const CnpSender& a, const CnpSender& b) { return a.address < b.address; });
}

}  // namespace

std::optional<std::int64_t> CnpPair::mean_spacing_ns() const noexcept {
  if (cnps < 2 || first_time_ns == capture::no_time || last_time_ns == capture::no_time ||
      last_time_ns < first_time_ns) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(
      (static_cast<std::uint64_t>(last_time_ns) - static_cast<std::uint64_t>(first_time_ns)) / (cnps - 1));
}

// If the NIC limits CNPs per scope, the intervals of narrower scopes are longer still, and those of wider
// scopes have no minimum if several take part. So the limited scope is the widest one with a minimum.
CnpSender::Limit CnpSender::limited_by() const noexcept {
  if (flows < 2 || port_spacing_ns.count() < enough) return Limit::unknown;
  if (kept_apart(port_spacing_ns)) return pairs > 1 ? Limit::port : Limit::address_pair;
  if (pairs > 1 && flows > pairs && kept_apart(pair_spacing_ns)) return Limit::address_pair;
  if (kept_apart(flow_spacing_ns)) return Limit::flow;
  // If CE marks are rarer than the limit allows CNPs, the CNPs follow the marks and show no limit. Only CNPs
  // closer together than any limit in use prove that there is none.
  constexpr std::uint64_t shortest_limit_ns = 4'000;  // shortest default of NICs
  return flow_spacing_ns.count() >= enough && flow_spacing_ns.percentile(few) < shortest_limit_ns
             ? Limit::none
             : Limit::unknown;
}

std::string_view limit_name(CnpSender::Limit limit) noexcept {
  using enum CnpSender::Limit;
  static constexpr EnumNames<CnpSender::Limit, 5> names(
      {{unknown, ""}, {none, "none"}, {flow, "flow"}, {address_pair, "address_pair"}, {port, "port"}});
  return names[limit];
}

Histogram Congestion::spacing(Histogram CnpSender::*scope) const {
  Histogram all;
  for (const CnpSender& sender : senders) all.merge(sender.*scope);
  return all;
}

void sum_up(Congestion& congestion, const std::vector<Flow>& flows,
            const std::vector<Connection>& connections) {
  using dissect::Ecn;
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, CnpPair> pairs;
  for (const Flow& flow : flows) {
    const auto of = [&flow](Ecn ecn) { return flow.ecn[static_cast<std::size_t>(ecn)]; };
    congestion.ce_packets += of(Ecn::ce);
    congestion.ect_packets += of(Ecn::ect0) + of(Ecn::ect1) + of(Ecn::ce);
    const std::uint64_t cnps = flow.opcodes.of(dissect::opcode_cnp);
    congestion.cnp_packets += cnps;
    if (cnps != 0) add_cnps(pairs[{flow.key.src, flow.key.dst}], flow, connections);
  }
  for (auto& [ends, pair] : pairs) congestion.pairs.push_back(pair);
  add_senders(congestion);
  std::stable_sort(congestion.pairs.begin(), congestion.pairs.end(),
                   [](const CnpPair& a, const CnpPair& b) { return a.cnps > b.cnps; });
  if (congestion.pairs.size() > Congestion::pairs_kept) {
    congestion.pairs_dropped = congestion.pairs.size() - Congestion::pairs_kept;
    congestion.pairs.resize(Congestion::pairs_kept);
  }
  for (const Connection& connection : connections) {
    for (const auto& side : connection.congestion) {
      if (side.there()) congestion.cnps_without_ce += (*side).cnps_without_ce;
    }
  }
}

}  // namespace roce::analyze
