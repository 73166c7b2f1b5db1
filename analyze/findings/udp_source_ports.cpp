// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/findings/hosts.hpp"
#include "analyze/findings/marked.hpp"

namespace roce::analyze {
namespace {

/// Queue pairs of one address pair, and the UDP source ports that spread them over equal paths.
struct Ports {
  std::map<std::uint16_t, std::uint64_t> bytes;  ///< by port: of flows that begin with it
  std::uint64_t all_bytes = 0;
  std::uint64_t flows = 0;
  std::uint64_t zero = 0;  ///< packets with port 0
  std::vector<const Flow*> seen;
};

constexpr std::size_t kept = 64;            // flows that a finding may name
constexpr std::uint64_t enough = 8;         // flows that should spread
constexpr std::uint64_t flows_a_port = 4;   // more than these on average are no spread
constexpr std::size_t ports_a_pair = 4096;  // no more are counted

void count(const Flow& flow, Ports& spread) {
  const auto ports = flow.udp_sports.sorted();
  if (ports.empty()) return;
  ++spread.flows;
  spread.all_bytes += flow.bytes;
  for (const auto& entry : ports) {
    if (entry.key == 0) spread.zero += entry.count;
    if (spread.bytes.size() < ports_a_pair || spread.bytes.count(entry.key) != 0)
      spread.bytes[entry.key] += entry.key == ports.front().key ? flow.bytes : 0;
  }
  if (spread.seen.size() < kept) spread.seen.push_back(&flow);
}

/// All packets of a flow, whatever their marks.
void add_all(const Flow& flow, Marked& marked, std::string test) {
  MarkRow all;
  all.packets = flow.packets;
  all.first_packet = flow.first_packet();
  all.first_time_ns = flow.any_time ? flow.first_time_ns : capture::no_time;
  marked.add(flow, all, std::move(test));
}

}  // namespace

void find_udp_source_ports(const Snapshot& snapshot, FindingSink& sink) {
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, Ports> spreads;
  for (const Flow& flow : snapshot.flows) {
    // Acknowledgements are small: where they go matters little.
    if (!is_v2(flow.key.transport) || flow.payload_bytes == 0 || flow.key.dst_qp <= 1) continue;
    count(flow, spreads[{flow.key.src, flow.key.dst}]);
  }
  MarkedPairs pairs;
  for (const auto& [ends, spread] : spreads) {
    const bool narrow = spread.flows >= enough && spread.bytes.size() * flows_a_port <= spread.flows;
    if (!narrow && spread.zero == 0) continue;
    const auto most = std::max_element(spread.bytes.begin(), spread.bytes.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const Flow* flow : spread.seen) {
      if (!narrow && flow->udp_sports.of(0) == 0) continue;
      Marked& marked = marked_of(pairs, *flow);
      marked.note =
          fmt::format("{} to {} queue pairs {} {}{}, the port with most ({}) carries {} of the bytes",
                      narrow ? "packets" : "packets with source port 0", spread.flows, "leave from",
                      plural(spread.bytes.size(), "UDP source port", "UDP source ports"),
                      spread.zero != 0 ? fmt::format(" (port 0: {})", packets_text(spread.zero)) : "",
                      most->first, percent_text(most->second, std::max<std::uint64_t>(1, spread.all_bytes)));
      add_all(*flow, marked, "infiniband.bth");
    }
  }
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        Severity::notice,
        fmt::format("From {} to {}: {}. Switches choose among equal paths by a hash of addresses and ports, "
                    "so what shares a port shares a path, however many there are.",
                    address_text(marked.src), address_text(marked.dst), marked.note),
        fmt::format(
            "See that the source port follows from the queue pairs on {} (rdma_cm and drivers make it "
            "of the flow label: kernel 5.7 and rdma-core 30 or newer), or use more queue pairs; "
            "ib_write_bw --flow_label, UCX_IB_ROCE_PATH_FACTOR, NCCL_IB_QPS_PER_CONNECTION.",
            address_text(marked.src)),
    };
  });
}

}  // namespace roce::analyze
