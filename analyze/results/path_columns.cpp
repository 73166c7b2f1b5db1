// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/path_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/mrc/mrc.hpp"
#include "analyze/results/loss_columns.hpp"
#include "analyze/results/pause_facts.hpp"

namespace roce::analyze {
namespace {

using Segment = std::optional<dissect::IpAddress>;
using Pair = std::pair<dissect::IpAddress, dissect::IpAddress>;
/// Those that are not told apart come last.
using PathKey = std::tuple<dissect::IpAddress, dissect::IpAddress, bool, FlowPath, Segment>;

/// Packets of a flow that a tunnel took to one end.
struct SegmentSum {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ce = 0;
};
using Segments = std::map<dissect::IpAddress, SegmentSum>;

class PathTable {
 public:
  explicit PathTable(const Snapshot& snapshot) : snapshot_(snapshot) {
    if (snapshot.mrc == nullptr) return;
    for (const MrcStream& stream : snapshot.mrc->streams) streams_.emplace(stream.key, &stream);
  }

  void add(const Flow& flow) {
    const std::vector<PathShare> shares = flow.path_shares();
    if (const auto stream = streams_.find(flow.key); stream != streams_.end()) {
      add_stream(flow, shares, *stream->second);
      return;
    }
    const Segments segments = segments_of(flow);
    const SequenceCounts& all = flow.sequence();
    if (shares.size() > 1) {
      add_shares(flow, shares);
      return;
    }
    if (segments.size() > 1) {
      add_segments(flow, shares.front(), segments);
      return;
    }
    PathRow& row =
        at(flow, shares.front().path, segments.empty() ? Segment() : Segment(segments.begin()->first), true);
    add_counts(row, shares.front());
    for (std::size_t i = 0; i < row.lost.size(); ++i) row.lost[i] += all.lost[i];
    row.retransmitted += all.retransmitted_packets();
    add_latencies(row, flow);
  }

  std::vector<PathRow> take() {
    std::map<Pair, std::pair<std::uint64_t, std::uint64_t>> sums;
    for (const auto& [key, row] : rows_) {
      auto& [bytes, paths] = sums[{row.src, row.dst}];
      bytes += row.bytes;
      paths += row.told ? 1U : 0U;
    }
    std::vector<PathRow> all;
    all.reserve(rows_.size());
    for (auto& [key, row] : rows_) {
      std::tie(row.pair_bytes, row.pair_paths) = sums[{row.src, row.dst}];
      all.push_back(std::move(row));
    }
    return all;
  }

 private:
  PathRow& at(const Flow& flow, const FlowPath& path, const Segment& segment, bool told) {
    PathRow& row = rows_[{flow.key.src, flow.key.dst, !told, path, segment}];
    row.src = flow.key.src;
    row.dst = flow.key.dst;
    row.path = path;
    row.segment = segment;
    row.told = told;
    ++row.flows;
    return row;
  }
  static void add_counts(PathRow& row, const PathShare& share) {
    row.packets += share.packets;
    row.bytes += share.bytes;
    row.ce += share.ce;
    row.late += share.late;
  }

  /// MRC, which is no connection, knows its paths by port and flow label. What never came by has none; what
  /// passed with several source addresses has no row of its own.
  void add_stream(const Flow& flow, const std::vector<PathShare>& shares, const MrcStream& stream) {
    const auto add_lost = [](std::array<std::uint64_t, lost_count>& lost, const MrcPath& path) {
      lost[static_cast<std::size_t>(Lost::trimmed)] += path.trimmed_here;
      lost[static_cast<std::size_t>(Lost::after_capture)] += path.lost - path.trimmed_here;
    };
    const auto is_of = [](const PathShare& share, const MrcPath& path) {
      constexpr std::uint32_t of_label = 0xffff;
      return !share.others && share.path.udp_source == path.udp_source &&
             (share.path.flow_label & of_label) == path.flow_label;
    };
    std::array<std::uint64_t, lost_count> rest{};
    rest[static_cast<std::size_t>(Lost::before_capture)] =
        stream.lost[static_cast<std::size_t>(MrcPlace::before_capture)];
    std::uint64_t repeats = stream.repeats;
    std::vector<PathRow*> rows;
    for (const PathShare& share : shares) {
      rows.push_back(&at(flow, share.others ? FlowPath() : share.path, {}, !share.others));
      add_counts(*rows.back(), share);
    }
    for (const MrcPath& path : stream.paths) {
      PathRow* row = nullptr;
      std::size_t several = 0;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        if (!is_of(shares[i], path)) continue;
        row = rows[i];
        ++several;
      }
      if (several != 1) {
        add_lost(rest, path);
        continue;
      }
      add_lost(row->lost, path);
      row->retransmitted += path.repeats;
      repeats -= path.repeats;
    }
    add_rest(flow, rest, repeats);
  }

  /// Where a tunnel of IP in IPv6 takes it.
  static Segments segments_of(const Flow& flow) {
    Segments segments;
    for (const OuterRow& row : flow.outer()) {
      if (row.outer.tunnel != dissect::Tunnel::ip_in_ip || row.outer.to.is_v4_mapped()) continue;
      SegmentSum& sum = segments[row.outer.to];
      sum.packets += row.packets;
      sum.bytes += row.bytes;
      if (row.inner_ecn() == static_cast<unsigned>(dissect::Ecn::ce)) sum.ce += row.packets;
    }
    return segments;
  }

  void add_shares(const Flow& flow, const std::vector<PathShare>& shares) {
    LossCounts lost = flow.sequence().lost;
    std::uint64_t repeats = flow.sequence().retransmitted_packets();
    for (const PathShare& share : shares) {
      PathRow& row = at(flow, share.others ? FlowPath() : share.path, {}, !share.others);
      add_counts(row, share);
      row.retransmitted += share.retransmitted;
      repeats -= std::min(repeats, share.retransmitted);
      for (std::size_t i = 0; i < lost.size(); ++i) {
        row.lost[i] += share.lost[i];
        lost[i] -= std::min(lost[i], share.lost[i]);
      }
    }
    add_rest(flow, lost, repeats);
  }

  void add_segments(const Flow& flow, const PathShare& share, const Segments& segments) {
    for (const auto& [segment, sum] : segments) {
      PathRow& row = at(flow, share.path, segment, true);
      row.packets += sum.packets;
      row.bytes += sum.bytes;
      row.ce += sum.ce;
    }
    add_rest(flow, flow.sequence().lost, flow.sequence().retransmitted_packets());
  }

  /// What of a flow of several paths is known of the flow only.
  void add_rest(const Flow& flow, const LossCounts& lost, std::uint64_t repeats) {
    const bool any = repeats != 0 || std::any_of(lost.begin(), lost.end(), [](auto n) { return n != 0; });
    if (!any) return;
    PathRow& row = at(flow, {}, {}, false);
    row.retransmitted += repeats;
    for (std::size_t i = 0; i < lost.size(); ++i) row.lost[i] += lost[i];
  }

  void add_latencies(PathRow& row, const Flow& flow) const {
    if (!flow.connection) return;
    const Connection* connection = find_connection(snapshot_.connections, *flow.connection);
    if (connection == nullptr) return;
    const unsigned side = connection->flow[0] == flow.id ? 0 : 1;
    const Requester& requester = connection->requester[side];
    for (const OperationStats& operation : requester.operations) row.latency_ns.merge(operation.latency_ns);
    const std::uint64_t fastest = requester.fastest_answer_ns;
    if (fastest != 0) row.fastest_ns = row.fastest_ns == 0 ? fastest : std::min(row.fastest_ns, fastest);
  }

  struct OfKey {
    std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
  };
  const Snapshot& snapshot_;
  std::unordered_map<FlowKey, const MrcStream*, OfKey> streams_;  ///< of MRC
  std::map<PathKey, PathRow> rows_;
};

using PathIn = const PathRow&;

template <std::uint64_t PathRow::*member>
std::uint64_t path_count(PathIn row) {
  return row.*member;
}
template <Lost where>
std::uint64_t path_lost(PathIn row) {
  return row.lost[static_cast<std::size_t>(where)];
}
std::uint64_t path_lost_in_network(PathIn row) {
  return lost_in_network(row.lost);
}
std::string path_latency_text(PathIn row, double fraction) {
  if (row.latency_ns.count() == 0) return {};
  return duration_text(static_cast<std::int64_t>(row.latency_ns.percentile(fraction)));
}
std::string path_latency_exact(PathIn row, double fraction) {
  return row.latency_ns.count() == 0 ? std::string() : std::to_string(row.latency_ns.percentile(fraction));
}
std::string path_port_text(PathIn row) {
  if (!row.told) return "several";
  return row.path.has_port ? std::to_string(row.path.udp_source) : std::string();
}

constexpr PathColumn columns_of_paths[] = {
    {"src", "source", "source address", false, 0, nullptr, [](PathIn r) { return address_text(r.src); },
     nullptr},
    {"dst", "destination", "destination address", false, 0, nullptr,
     [](PathIn r) { return address_text(r.dst); }, nullptr},
    {"udp_sport", "UDP source port",
     "UDP source port; \"several\": what flows of several paths had, of which it is not known on which", true,
     0, [](PathIn r) { return r.told && r.path.has_port ? static_cast<double>(r.path.udp_source) : -1; },
     path_port_text, nullptr, CellType::text},
    {"flow_label", "flow label", "flow label of IPv6; empty: none", true, 3,
     [](PathIn r) { return static_cast<double>(r.path.flow_label); },
     [](PathIn r) {
       return r.path.flow_label == 0 ? std::string() : fmt::format("0x{:05x}", r.path.flow_label);
     },
     [](PathIn r) { return r.path.flow_label == 0 ? std::string() : std::to_string(r.path.flow_label); }},
    {"segment", "segment", "outer IPv6 destination: the SRv6 segment, or the end of the tunnel", false, 3,
     nullptr, [](PathIn r) { return r.segment ? address_text(*r.segment) : std::string(); }, nullptr},
    {"source_mac", "source MAC", "source MAC address: of the member of a LAG, or of the router before", false,
     6, nullptr,
     [](PathIn r) { return r.path.source_mac == 0 ? std::string() : mac_text(r.path.source_mac); }, nullptr},
    {"flows", "flows", "flows with packets on it", true, 2,
     [](PathIn r) { return static_cast<double>(r.flows); }, [](PathIn r) { return std::to_string(r.flows); },
     nullptr},
    {"packets", "packets", "packets", true, 0, [](PathIn r) { return static_cast<double>(r.packets); },
     [](PathIn r) { return std::to_string(r.packets); }, nullptr},
    {"bytes", "bytes", "bytes on the wire", true, 1, [](PathIn r) { return static_cast<double>(r.bytes); },
     [](PathIn r) { return bytes_text(r.bytes); }, [](PathIn r) { return std::to_string(r.bytes); }},
    {"share", "share", "share of the bytes from source to destination", true, 1,
     [](PathIn r) { return static_cast<double>(r.bytes); },
     [](PathIn r) { return r.pair_bytes == 0 ? std::string() : percent_text(r.bytes, r.pair_bytes); },
     [](PathIn r) {
       return r.pair_bytes == 0
                  ? std::string()
                  : fmt::format("{:.4f}", static_cast<double>(r.bytes) / static_cast<double>(r.pair_bytes));
     },
     CellType::real},
    {"load", "load", "bytes as a multiple of the mean of all paths from source to destination: 1 is even",
     true, 2, [](PathIn r) { return r.load(); },
     [](PathIn r) { return r.load() == 0 ? std::string() : fmt::format("{:.2f}", r.load()); }, nullptr,
     CellType::real},
    count_column<PathRow, path_count<&PathRow::ce>>("ce", "CE", "packets with a CE mark", 1),
    count_column<PathRow, path_lost_in_network>("lost", "lost", "transmissions that the network lost", 0),
    loss_column<PathRow, path_lost<Lost::before_capture>>(Lost::before_capture),
    loss_column<PathRow, path_lost<Lost::after_capture>>(Lost::after_capture),
    loss_column<PathRow, path_lost<Lost::by_capture>>(Lost::by_capture),
    loss_column<PathRow, path_lost<Lost::trimmed>>(Lost::trimmed),
    loss_column<PathRow, path_lost<Lost::undecided>>(Lost::undecided),
    count_column<PathRow, path_count<&PathRow::retransmitted>>("retransmitted", "retrans",
                                                               "retransmitted packets", 2),
    count_column<PathRow, path_count<&PathRow::late>>("out_of_order", "reordered",
                                                      "packets out of order that are not retransmissions", 1),
    {"latency_ns", "latency", "median latency of operations requested on it", true, 1,
     [](PathIn r) { return static_cast<double>(r.latency_ns.percentile(0.5)); },
     [](PathIn r) { return path_latency_text(r, 0.5); }, [](PathIn r) { return path_latency_exact(r, 0.5); }},
    {"latency_p99_ns", "99 %", "latency that 99 % of them stay below", true, 4,
     [](PathIn r) { return static_cast<double>(r.latency_ns.percentile(0.99)); },
     [](PathIn r) { return path_latency_text(r, 0.99); },
     [](PathIn r) { return path_latency_exact(r, 0.99); }},
    {"fastest_ns", "fastest", "shortest time from a request to its response", true, 5,
     [](PathIn r) { return static_cast<double>(r.fastest_ns); },
     [](PathIn r) {
       return r.fastest_ns == 0 ? std::string() : duration_text(static_cast<std::int64_t>(r.fastest_ns));
     },
     [](PathIn r) { return r.fastest_ns == 0 ? std::string() : std::to_string(r.fastest_ns); }},
};

}  // namespace

std::vector<PathRow> path_rows(const Snapshot& snapshot) {
  PathTable table(snapshot);
  for (const Flow& flow : snapshot.flows) table.add(flow);
  return table.take();
}

std::span<const PathColumn> path_columns() noexcept {
  return columns_of_paths;
}

std::string path_filter(const PathRow& row) {
  std::string filter =
      fmt::format("roce.src == {} && roce.dst == {}", address_text(row.src), address_text(row.dst));
  if (!row.told) return filter;
  if (row.path.has_port) filter += fmt::format(" && udp.srcport == {}", row.path.udp_source);
  if (row.path.flow_label != 0) filter += fmt::format(" && ipv6.flow == 0x{:05x}", row.path.flow_label);
  if (row.segment) filter += " && ipv6.dst == " + address_text(*row.segment);
  if (row.path.source_mac != 0) filter += " && eth.src == " + mac_text(row.path.source_mac);
  return filter;
}

std::string path_text(const PathRow& row) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (row.path.has_port) add(fmt::format("UDP source port {}", row.path.udp_source));
  if (row.path.flow_label != 0) add(fmt::format("flow label 0x{:05x}", row.path.flow_label));
  if (row.segment) add("segment " + address_text(*row.segment));
  return text;
}

}  // namespace roce::analyze
