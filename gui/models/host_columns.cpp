// SPDX-License-Identifier: Apache-2.0
#include "gui/models/host_columns.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "analyze/connection_columns.hpp"
#include "analyze/flow_columns.hpp"
#include "analyze/units.hpp"
#include "gui/models/tables.hpp"

namespace roce::gui {
namespace {

using analyze::Column;
using H = const Host&;

template <std::uint64_t Host::*member>
std::uint64_t count(H h) {
  return h.*member;
}

constexpr Column<Host> columns[] = {
    {"address", "host", "address", false, 0, nullptr, [](H h) { return h.address; }, nullptr},
    analyze::count_column<Host, count<&Host::connections>>("connections", "conns",
                                                           "connections that end here", 0),
    analyze::count_column<Host, count<&Host::sent_packets>>("packets", "packets", "packets it sent", 0),
    {"bytes", "sent", "bytes it sent, on the wire", true, 0,
     [](H h) { return static_cast<double>(h.sent_bytes); },
     [](H h) { return analyze::bytes_text(h.sent_bytes); }, [](H h) { return std::to_string(h.sent_bytes); }},
    analyze::count_column<Host, count<&Host::resent>>("resent", "resent", "packets it sent again", 0),
    analyze::count_column<Host, count<&Host::lost>>("lost", "lost", "packets it sent that were lost", 0),
    analyze::count_column<Host, count<&Host::naks>>("naks", "NAKs", "NAKs and RNR NAKs it received", 0),
};

std::uint64_t trouble(H h) {
  return h.resent + h.lost + h.naks;
}

}  // namespace

std::vector<Host> hosts_of(const analyze::Snapshot& snapshot) {
  std::vector<Host> hosts;
  std::unordered_map<std::string, std::size_t> at;
  const std::vector<std::optional<analyze::Severity>> severities = connection_severities(snapshot);
  const std::vector<analyze::ConnectionRow> rows = analyze::connection_rows(snapshot);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const analyze::ConnectionRow& row = rows[i];
    for (std::size_t side = 0; side < 2; ++side) {
      std::string address = analyze::address_of(row->ends[side].address);
      const auto [found, fresh] = at.emplace(address, hosts.size());
      if (fresh) hosts.emplace_back().address = std::move(address);
      Host& host = hosts[found->second];
      // Both ends on one host are one connection.
      if (side == 0 || row->ends[0].address != row->ends[1].address) ++host.connections;
      host.sent_packets += row->packets[side];
      host.sent_bytes += row->bytes[side];
      if (const analyze::Flow* flow = row.flow(side)) {
        const analyze::SequenceCounts& counts = flow->sequence();
        host.resent += counts.retransmitted_packets();
        host.lost = std::accumulate(counts.lost.begin(), counts.lost.end(), host.lost);
      }
      const auto& naks = row->requester[side].trouble->naks;
      host.naks = std::accumulate(naks.begin(), naks.end(), host.naks);
      if (severities[i]) host.worst = std::max(host.worst.value_or(*severities[i]), *severities[i]);
    }
  }
  std::stable_sort(hosts.begin(), hosts.end(), [](H a, H b) {
    return trouble(a) != trouble(b) ? trouble(a) > trouble(b) : a.sent_bytes > b.sent_bytes;
  });
  return hosts;
}

std::span<const Column<Host>> host_columns() noexcept {
  return columns;
}

}  // namespace roce::gui
