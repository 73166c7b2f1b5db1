// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/host_columns.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/results/connection_columns.hpp"

namespace roce::analyze {
namespace {

using H = const HostRow&;

template <std::uint64_t HostRow::*member>
std::uint64_t count(H h) {
  return h.*member;
}

constexpr HostColumn columns_of_hosts[] = {
    {"address", "host", "address", false, 0, nullptr, [](H h) { return h.address; }, nullptr},
    count_column<HostRow, count<&HostRow::connections>>("connections", "conns", "connections of this address",
                                                        0),
    count_column<HostRow, count<&HostRow::sent_packets>>("packets", "packets", "packets it sent", 0),
    {"bytes", "sent", "bytes it sent, on the wire", true, 0,
     [](H h) { return static_cast<double>(h.sent_bytes); }, [](H h) { return bytes_text(h.sent_bytes); },
     [](H h) { return std::to_string(h.sent_bytes); }},
    count_column<HostRow, count<&HostRow::resent>>("resent", "retrans", "packets it retransmitted", 0),
    count_column<HostRow, count<&HostRow::lost>>("lost", "lost", "packets it sent that were lost", 0),
    count_column<HostRow, count<&HostRow::naks>>("naks", "NAKs", "NAKs and RNR NAKs it received", 0),
    {"diagnosis", "diagnosis", "cause of the worst diagnosis on the side of this host", false, 0, nullptr,
     [](H h) { return std::string(h.cause); }, nullptr},
};

std::uint64_t trouble(H h) {
  return h.resent + h.lost + h.naks;
}

}  // namespace

std::vector<std::optional<Severity>> connection_severities(const Snapshot& snapshot) {
  std::vector<std::optional<Severity>> worst(snapshot.connections.size());
  // Ids are row numbers as long as no connection was evicted.
  const auto place = [&](std::uint32_t id) {
    const auto at = std::lower_bound(snapshot.connections.begin(), snapshot.connections.end(), id,
                                     [](const Connection& c, std::uint32_t wanted) { return c.id < wanted; });
    const bool found = at != snapshot.connections.end() && at->id == id;
    return found ? static_cast<std::size_t>(at - snapshot.connections.begin()) : worst.size();
  };
  for (const Finding& finding : snapshot.findings) {
    for (const std::uint32_t id : finding.connections) {
      const std::size_t i = place(id);
      if (i < worst.size()) worst[i] = std::max(worst[i].value_or(finding.severity), finding.severity);
    }
  }
  for (std::size_t i = 0; i < worst.size(); ++i) {
    if (snapshot.connections[i].state == Connection::State::failed) worst[i] = Severity::error;
  }
  return worst;
}

std::vector<HostRow> host_rows(const Snapshot& snapshot) {
  std::vector<HostRow> hosts;
  std::unordered_map<std::string, std::size_t> at;
  const std::vector<std::optional<Severity>> severities = connection_severities(snapshot);
  const std::vector<ConnectionRow> rows = connection_rows(snapshot);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ConnectionRow& row = rows[i];
    for (std::size_t side = 0; side < 2; ++side) {
      std::string address = address_text(row->ends[side].address);
      const auto [found, fresh] = at.emplace(address, hosts.size());
      if (fresh) hosts.emplace_back().address = std::move(address);
      HostRow& host = hosts[found->second];
      // Both ends on one host are one connection.
      if (side == 0 || row->ends[0].address != row->ends[1].address) ++host.connections;
      host.sent_packets += row->packets[side];
      host.sent_bytes += row->bytes[side];
      if (const Flow* flow = row.flow(side)) {
        const SequenceCounts& counts = flow->sequence();
        host.resent += counts.retransmitted_packets();
        host.lost += counts.lost_packets();
      }
      const auto& naks = row->requester[side].trouble->naks;
      host.naks = std::accumulate(naks.begin(), naks.end(), host.naks);
      if (severities[i]) host.worst = std::max(host.worst.value_or(*severities[i]), *severities[i]);
    }
  }
  // Diagnoses are worst first, and so are hosts: who suffers from a trouble has most errors of all, often.
  for (std::size_t i = 0; i < snapshot.diagnoses.size(); ++i) {
    const auto blamed = blamed_host(snapshot.diagnoses[i]);
    const auto found = blamed ? at.find(address_text(*blamed)) : at.end();
    if (found == at.end() || hosts[found->second].diagnosis) continue;
    hosts[found->second].diagnosis = i;
    hosts[found->second].cause = snapshot.diagnoses[i].cause;
  }
  std::stable_sort(hosts.begin(), hosts.end(), [](H a, H b) {
    const std::size_t last = std::numeric_limits<std::size_t>::max();
    const std::size_t of_a = a.diagnosis.value_or(last);
    const std::size_t of_b = b.diagnosis.value_or(last);
    if (of_a != of_b) return of_a < of_b;
    return trouble(a) != trouble(b) ? trouble(a) > trouble(b) : a.sent_bytes > b.sent_bytes;
  });
  return hosts;
}

std::span<const HostColumn> host_columns() noexcept {
  return columns_of_hosts;
}

}  // namespace roce::analyze
