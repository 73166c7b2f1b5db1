// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/pair_columns.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/flow/flow.hpp"
#include "analyze/results/loss_columns.hpp"
#include "analyze/results/path_columns.hpp"

namespace roce::analyze {
namespace {

class PairTable {
 public:
  void add(const PathRow& path) {
    HostPairRow& row = at(path.src, path.dst);
    row.packets += path.packets;
    row.bytes += path.bytes;
    row.ce += path.ce;
    row.late += path.late;
    row.retransmitted += path.retransmitted;
    for (std::size_t i = 0; i < row.lost.size(); ++i) row.lost[i] += path.lost[i];
  }

  void add_marks(const Snapshot& snapshot, const Flow& flow) {
    for (const MarkRow& marks : flow.marks()) {
      const Marking* marking = snapshot.markings.find(flow, marks);
      if (marking != nullptr && marking->verdict == "violation")
        at(flow.key.src, flow.key.dst).wrong_marks += marks.packets;
    }
  }

  void add(const Connection& connection) {
    for (std::size_t side = 0; side < 2; ++side) {
      const auto& from = connection.ends[side].address;
      const auto& to = connection.ends[1 - side].address;
      // A side that was captured only as the other one's peer sent nothing that a row could show.
      const auto found = rows_.find({from, to});
      if (found == rows_.end()) continue;
      HostPairRow& row = found->second;
      // Both queue pairs of one host are one connection.
      if (side == 0 || from != to) ++row.connections;
      const Requester& requester = connection.requester[side];
      row.goodput_bytes += requester.new_bytes;
      row.cnps += connection.cnps[1 - side];
      row.naks = std::accumulate(requester.trouble->naks.begin(), requester.trouble->naks.end(), row.naks);
      for (const OperationStats& operation : requester.operations) row.latency_ns.merge(operation.latency_ns);
    }
  }

  std::vector<HostPairRow> take() {
    std::vector<HostPairRow> all;
    all.reserve(rows_.size());
    for (auto& [key, row] : rows_) all.push_back(std::move(row));
    return all;
  }

 private:
  HostPairRow& at(const dissect::IpAddress& src, const dissect::IpAddress& dst) {
    HostPairRow& row = rows_[{src, dst}];
    row.src = src;
    row.dst = dst;
    return row;
  }

  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, HostPairRow> rows_;
};

using PairIn = const HostPairRow&;

template <std::uint64_t HostPairRow::*member>
std::uint64_t pair_count(PairIn row) {
  return row.*member;
}
template <Lost where>
std::uint64_t pair_lost_at(PairIn row) {
  return row.lost[static_cast<std::size_t>(where)];
}
std::uint64_t pair_lost(PairIn row) {
  return lost_in_network(row.lost);
}
std::uint64_t pair_sent(PairIn row) {
  return row.sent();
}
/// Empty where there is nothing to have a share in.
template <std::uint64_t (*part)(PairIn), std::uint64_t (*whole)(PairIn)>
constexpr HostPairColumn pair_share_column(std::string_view name, std::string_view heading,
                                           std::string_view help) {
  return {name,
          heading,
          help,
          true,
          2,
          [](PairIn r) {
            return whole(r) == 0 ? -1.0 : static_cast<double>(part(r)) / static_cast<double>(whole(r));
          },
          [](PairIn r) {
            return part(r) == 0 || whole(r) == 0 ? std::string() : percent_text(part(r), whole(r));
          },
          [](PairIn r) {
            return whole(r) == 0
                       ? std::string()
                       : fmt::format("{:.6f}", static_cast<double>(part(r)) / static_cast<double>(whole(r)));
          },
          CellType::real};
}
template <unsigned percent>
double pair_latency(PairIn row) {
  return static_cast<double>(row.latency_ns.percentile(percent / 100.0));
}
template <unsigned percent>
std::string pair_latency_text(PairIn row) {
  if (row.latency_ns.count() == 0) return {};
  return duration_text(static_cast<std::int64_t>(row.latency_ns.percentile(percent / 100.0)));
}
template <unsigned percent>
std::string pair_latency_exact(PairIn row) {
  if (row.latency_ns.count() == 0) return {};
  return std::to_string(row.latency_ns.percentile(percent / 100.0));
}

constexpr HostPairColumn columns_of_pairs[] = {
    {"src", "source", "source address", false, 0, nullptr, [](PairIn r) { return address_text(r.src); },
     nullptr},
    {"dst", "destination", "destination address", false, 0, nullptr,
     [](PairIn r) { return address_text(r.dst); }, nullptr},
    count_column<HostPairRow, pair_count<&HostPairRow::connections>>("connections", "conns",
                                                                     "connections between the two", 1),
    count_column<HostPairRow, pair_count<&HostPairRow::packets>>("packets", "packets",
                                                                 "packets sent this way", 0),
    {"bytes", "bytes", "bytes on the wire", true, 0, [](PairIn r) { return static_cast<double>(r.bytes); },
     [](PairIn r) { return bytes_text(r.bytes); }, [](PairIn r) { return std::to_string(r.bytes); }},
    {"goodput_bytes", "data", "bytes of messages requested by the source, repeats counted once", true, 3,
     [](PairIn r) { return static_cast<double>(r.goodput_bytes); },
     [](PairIn r) { return r.goodput_bytes == 0 ? std::string() : bytes_text(r.goodput_bytes); },
     [](PairIn r) { return std::to_string(r.goodput_bytes); }},
    count_column<HostPairRow, pair_lost>("lost", "lost", "transmissions that the network lost", 0),
    pair_share_column<pair_lost, pair_sent>("lost_share", "lost %",
                                            "of the transmissions, those that were lost"),
    loss_column<HostPairRow, pair_lost_at<Lost::before_capture>>(Lost::before_capture),
    loss_column<HostPairRow, pair_lost_at<Lost::after_capture>>(Lost::after_capture),
    loss_column<HostPairRow, pair_lost_at<Lost::by_capture>>(Lost::by_capture),
    loss_column<HostPairRow, pair_lost_at<Lost::trimmed>>(Lost::trimmed),
    loss_column<HostPairRow, pair_lost_at<Lost::undecided>>(Lost::undecided),
    count_column<HostPairRow, pair_count<&HostPairRow::retransmitted>>("retransmitted", "retrans",
                                                                       "retransmitted packets", 0),
    pair_share_column<pair_count<&HostPairRow::retransmitted>, pair_count<&HostPairRow::packets>>(
        "retransmitted_share", "retrans %", "of the packets, those that are retransmissions"),
    count_column<HostPairRow, pair_count<&HostPairRow::late>>(
        "out_of_order", "reordered", "packets out of order that are not retransmissions", 3),
    count_column<HostPairRow, pair_count<&HostPairRow::naks>>(
        "naks", "NAKs", "NAKs and RNR NAKs that the source received", 1),
    count_column<HostPairRow, pair_count<&HostPairRow::ce>>("ce", "CE", "packets with a CE mark", 1),
    pair_share_column<pair_count<&HostPairRow::ce>, pair_count<&HostPairRow::packets>>(
        "ce_share", "CE %", "of the packets, those with a CE mark"),
    count_column<HostPairRow, pair_count<&HostPairRow::cnps>>("cnps", "CNPs", "CNPs that the source received",
                                                              1),
    count_column<HostPairRow, pair_count<&HostPairRow::wrong_marks>>(
        "wrong_marks", "wrong marks", "packets with markings that the policy forbids", 2),
    {"latency_p50_ns", "p50", "median latency of operations that the source requested", true, 2,
     pair_latency<50>, pair_latency_text<50>, pair_latency_exact<50>},
    {"latency_p99_ns", "p99", "latency that 99 % of them stay below", true, 1, pair_latency<99>,
     pair_latency_text<99>, pair_latency_exact<99>},
};

}  // namespace

std::vector<HostPairRow> host_pair_rows(const Snapshot& snapshot) {
  PairTable table;
  for (const PathRow& path : path_rows(snapshot)) table.add(path);
  for (const Flow& flow : snapshot.flows) table.add_marks(snapshot, flow);
  for (const Connection& connection : snapshot.connections) table.add(connection);
  return table.take();
}

std::span<const HostPairColumn> host_pair_columns() noexcept {
  return columns_of_pairs;
}

std::string host_pair_filter(const HostPairRow& row) {
  return fmt::format("roce.src == {} && roce.dst == {} && roce.flow", address_text(row.src),
                     address_text(row.dst));
}

}  // namespace roce::analyze
