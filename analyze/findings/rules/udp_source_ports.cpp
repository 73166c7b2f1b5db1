// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/hosts_seen.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t kept = 64;           // flows that a finding may name
constexpr std::uint64_t enough_connections = 8;  // flows that should use several ports
constexpr std::uint64_t flows_a_port = 4;        // more per port on average: no spread
constexpr std::size_t many_ports = 64;           // more ports: spread enough, whatever the flows

/// Queue pairs of one address pair, and the UDP source ports that spread them over equal paths.
struct SourcePorts {
  std::uint64_t flows = 0;
  std::uint64_t zero = 0;            ///< packets with port 0
  std::vector<std::uint16_t> ports;  ///< distinct ones, many_ports + 1 at most
  [[nodiscard]] bool narrow() const noexcept {
    return flows >= enough_connections && ports.size() <= many_ports && ports.size() * flows_a_port <= flows;
  }
};

struct Hash {
  std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
};
/// By flow key of which only the addresses are there.
using AllPorts = tsl::robin_map<FlowKey, SourcePorts, Hash>;

FlowKey hosts_of(const Flow& flow) noexcept {
  FlowKey key;
  key.src = flow.key.src;
  key.dst = flow.key.dst;
  return key;
}

/// Acknowledgements are small: which path they take matters little.
bool services_looked_at(const Flow& flow) noexcept {
  return is_v2(flow.key.transport) && flow.payload_bytes != 0 && flow.key.dst_qp > 1;
}

AllPorts count(const Snapshot& snapshot) {
  AllPorts all;
  for (const Flow& flow : snapshot.flows) {
    if (!services_looked_at(flow)) continue;
    SourcePorts& ports = all[hosts_of(flow)];
    ++ports.flows;
    if (ports.ports.size() > many_ports && flow.udp_sports.of(0) == 0) continue;
    for (const auto& entry : flow.udp_sports.sorted()) {
      if (entry.key == 0) ports.zero += entry.count;
      const bool known = std::find(ports.ports.begin(), ports.ports.end(), entry.key) != ports.ports.end();
      if (!known && ports.ports.size() <= many_ports) ports.ports.push_back(entry.key);
    }
  }
  return all;
}

/// Bytes of a pair of addresses that is reported.
struct Bytes {
  std::uint64_t all = 0;
  std::map<std::uint16_t, std::uint64_t> of_port;  ///< of flows by their lowest port
  std::vector<const Flow*> flows;                  ///< the first ones
};
using AllBytes = std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, Bytes>;

/// All packets of a flow, whatever their markings.
void add_all(const Flow& flow, Marked& marked, std::string test) {
  MarkRow all;
  all.packets = flow.packets;
  all.first_packet = flow.first_packet();
  all.first_time_ns = flow.any_time ? flow.first_time_ns : capture::no_time;
  marked.add(flow, all, std::move(test));
}

}  // namespace

void find_udp_source_ports(const Snapshot& snapshot, FindingSink& sink) {
  const AllPorts all = count(snapshot);
  const bool any = std::any_of(all.begin(), all.end(), [](const auto& entry) {
    return entry.second.zero != 0 || entry.second.narrow();
  });
  if (!any) return;
  AllBytes bytes;
  for (const Flow& flow : snapshot.flows) {
    if (!services_looked_at(flow)) continue;
    const SourcePorts& ports = all.at(hosts_of(flow));
    if (!ports.narrow() && (ports.zero == 0 || flow.udp_sports.of(0) == 0)) continue;
    Bytes& of_pair = bytes[{flow.key.src, flow.key.dst}];
    of_pair.all += flow.bytes;
    const auto used = flow.udp_sports.sorted();
    if (!used.empty()) of_pair.of_port[used.front().key] += flow.bytes;
    if (of_pair.flows.size() < kept) of_pair.flows.push_back(&flow);
  }
  MarkedPairs pairs;
  for (const auto& [ends, of_pair] : bytes) {
    const SourcePorts& ports = all.at(hosts_of(*of_pair.flows.front()));
    const auto most = std::max_element(of_pair.of_port.begin(), of_pair.of_port.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string note = fmt::format("packets to {} use {}", plural(ports.flows, "queue pair", "queue pairs"),
                                   ports.ports.size() > many_ports
                                       ? fmt::format("more than {} UDP source ports", many_ports)
                                       : plural(ports.ports.size(), "UDP source port", "UDP source ports"));
    if (ports.zero != 0) note += fmt::format(" (port 0: {})", packets_text(ports.zero));
    if (ports.narrow() && most != of_pair.of_port.end()) {
      note += fmt::format(", the busiest port ({}) carries {} of the bytes", most->first,
                          percent_text(most->second, of_pair.all));
    }
    for (const Flow* flow : of_pair.flows) {
      Marked& marked = marked_of(pairs, *flow);
      marked.note = note;
      add_all(*flow, marked, "infiniband.bth");
    }
  }
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        Severity::notice,
        fmt::format("From {} to {}: {}. ECMP and LAG choose the path by a hash of addresses and ports, so "
                    "flows with the same source port share one path, however many there are.",
                    address_text(marked.src), address_text(marked.dst), marked.note),
        fmt::format(
            "Make sure that the source port depends on the queue pairs on {} (rdma_cm and drivers derive it "
            "from the flow label: kernel 5.7 and rdma-core 30 or newer), or use more queue pairs; "
            "ib_write_bw --flow_label, UCX_IB_ROCE_PATH_FACTOR, NCCL_IB_QPS_PER_CONNECTION.",
            address_text(marked.src)),
    };
  });
}

}  // namespace roce::analyze
