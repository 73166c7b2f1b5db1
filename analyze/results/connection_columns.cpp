// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/connection_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/loss_columns.hpp"
#include "dissect/cm.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {
namespace {

constexpr auto rnr = static_cast<std::size_t>(NakKind::rnr);
using R = const ConnectionRow&;

template <std::size_t side>
std::string address(R r) {
  return address_text(r->ends[side].address);
}
template <std::size_t side>
double qp_number(R r) {
  return r->ends[side].qp ? static_cast<double>(*r->ends[side].qp) : -1;
}
template <std::size_t side>
std::string qp_text(R r) {
  return r->ends[side].qp ? fmt::format("0x{:06x}", *r->ends[side].qp) : std::string("?");
}
template <std::size_t side>
std::string qp_exact(R r) {
  return r->ends[side].qp ? std::to_string(*r->ends[side].qp) : std::string();
}
template <std::size_t side>
std::string flow_number(R r) {
  return r->flow[side] ? std::to_string(*r->flow[side]) : std::string();
}
template <std::size_t side>
double flow_sort(R r) {
  return r->flow[side] ? static_cast<double>(*r->flow[side]) : -1;
}

std::string upper(R r) {
  for (std::size_t side = 0; side < 2; ++side) {
    if (r.flow(side) != nullptr && r.flow(side)->upper != dissect::Ulp::none)
      return std::string(dissect::ulp_name(r.flow(side)->upper));
  }
  return {};
}

std::string evidence(R r) {
  if (r->pairing.ambiguous) return "ambiguous";
  std::string text;
  for (std::size_t i = 0; i < evidence_count; ++i) {
    const auto kind = static_cast<Evidence>(i);
    if (!r->pairing.has(kind)) continue;
    if (!text.empty()) text += ' ';
    text += evidence_name(kind);
  }
  return text;
}

template <std::size_t percent>
double latency(R r) {
  return static_cast<double>(r.latency_ns().percentile(static_cast<double>(percent) / 100));
}
template <std::size_t percent>
std::string latency_text(R r) {
  const Histogram histogram = r.latency_ns();
  if (histogram.count() == 0) return {};
  return duration_text(static_cast<std::int64_t>(histogram.percentile(static_cast<double>(percent) / 100)));
}
template <std::size_t percent>
std::string latency_exact(R r) {
  const Histogram histogram = r.latency_ns();
  if (histogram.count() == 0) return {};
  return std::to_string(histogram.percentile(static_cast<double>(percent) / 100));
}

std::uint64_t operations(R r) {
  std::uint64_t sum = 0;
  for (const Requester& requester : r->requester) {
    for (const OperationStats& stats : requester.operations) sum += stats.count;
  }
  return sum;
}
std::uint64_t retransmitted(R r) {
  return r.sequence().retransmitted_packets();
}
template <Cause cause>
std::uint64_t repeated_after(R r) {
  return r.sequence().retransmitted[static_cast<std::size_t>(cause)];
}
template <Lost where>
std::uint64_t lost_at(R r) {
  return r.sequence().lost[static_cast<std::size_t>(where)];
}
template <std::uint64_t SequenceCounts::*member>
std::uint64_t sequence_count(R r) {
  return r.sequence().*member;
}
std::uint64_t lost_sum(R r) {
  return r.lost();
}
std::uint64_t packets(R r) {
  return r.packets();
}
std::uint64_t acks(R r) {
  return r.acks();
}
std::uint64_t cnps(R r) {
  return r.cnps();
}
std::uint64_t naks(R r) {
  const auto counts = r.naks();
  return std::accumulate(counts.begin(), counts.begin() + rnr, std::uint64_t{0});
}
std::uint64_t rnr_naks(R r) {
  return r.naks()[rnr];
}
std::uint64_t in_flight(R r) {
  return std::max(r->requester[0].in_flight_max, r->requester[1].in_flight_max);
}
std::uint64_t path_mtu(R r) {
  return r->pmtu;
}
bool has_times(R r) {
  return r->first_time_ns != capture::no_time;
}
std::int64_t duration(R r) {
  return span_ns(r->first_time_ns, r->last_time_ns);
}

constexpr ConnectionColumn columns_of_connections[] = {
    {"id", "conn", "number of the connection", true, 0, [](R r) { return -static_cast<double>(r->id); },
     [](R r) { return std::to_string(r->id); }, nullptr},
    {"a", "a", "address of the side that sent the first packet captured", false, 0, nullptr, address<0>,
     nullptr},
    {"a_qp", "QP", "queue pair of a", true, 0, qp_number<0>, qp_text<0>, qp_exact<0>},
    {"b", "b", "address of the peer", false, 0, nullptr, address<1>, nullptr},
    {"b_qp", "QP", "queue pair of b", true, 0, qp_number<1>, qp_text<1>, qp_exact<1>},
    {"service", "type", "transport service", false, 2, nullptr,
     [](R r) { return std::string(dissect::service_name(r->service)); }, nullptr},
    {"upper", "ULP", "upper-layer protocol, by the CM exchange or by its own header", false, 2, nullptr,
     upper, nullptr},
    {"version", "version", "RoCE version, or native InfiniBand", false, hidden_column, nullptr,
     [](R r) { return std::string(version_name(r->transport)); }, nullptr},
    {"state", "state", "open until the end of the capture, closed, failed, or half_seen: only one direction",
     false, 1, nullptr, [](R r) { return std::string(connection_state_name(r->state)); }, nullptr},
    {"evidence", "paired by", "evidence that the two directions are one connection", false, 6, nullptr,
     evidence, nullptr},
    {"confidence", "confidence", "confidence of the pairing, 0 to 1", true, hidden_column,
     [](R r) { return r->pairing.confidence; },
     [](R r) { return r->paired() ? fmt::format("{:.0f} %", 100 * r->pairing.confidence) : std::string(); },
     [](R r) { return fmt::format("{:.4g}", r->pairing.confidence); }, CellType::real},
    count_column<ConnectionRow, packets>("packets", "packets", "packets of both directions", 3),
    {"bytes", "bytes", "bytes on the wire, both directions", true, 5,
     [](R r) { return static_cast<double>(r.bytes()); }, [](R r) { return bytes_text(r.bytes()); },
     [](R r) { return std::to_string(r.bytes()); }},
    {"goodput_bytes", "data", "message bytes without retransmissions", true, 3,
     [](R r) { return static_cast<double>(r.goodput_bytes()); },
     [](R r) { return r.goodput_bytes() != 0 ? bytes_text(r.goodput_bytes()) : std::string(); },
     [](R r) { return std::to_string(r.goodput_bytes()); }},
    {"goodput_bps", "goodput", "goodput from first to last packet", true, 1,
     [](R r) { return r.goodput_bps(); },
     [](R r) { return r.goodput_bps() > 0 ? rate_text(r.goodput_bps()) : std::string(); },
     [](R r) { return fmt::format("{:.0f}", r.goodput_bps()); }},
    {"throughput_bps", "throughput", "rate on the wire, both directions", true, 5,
     [](R r) { return r.throughput_bps(); },
     [](R r) { return r.throughput_bps() > 0 ? rate_text(r.throughput_bps()) : std::string(); },
     [](R r) { return fmt::format("{:.0f}", r.throughput_bps()); }},
    count_column<ConnectionRow, retransmitted>("retransmitted", "retrans", "retransmitted packets", 0),
    count_column<ConnectionRow, repeated_after<Cause::nak>>(
        "retransmitted_nak", "after NAK", "packets retransmitted after a PSN sequence NAK", hidden_column),
    count_column<ConnectionRow, repeated_after<Cause::timeout>>(
        "retransmitted_timeout", "by timeout", "packets retransmitted after an ACK timeout", 2),
    count_column<ConnectionRow, repeated_after<Cause::rnr>>(
        "retransmitted_rnr", "after RNR", "packets retransmitted after an RNR NAK", hidden_column),
    count_column<ConnectionRow, repeated_after<Cause::read_retry>>(
        "retransmitted_read_retry", "READ retries", "retransmitted READ requests and the responses to them",
        hidden_column),
    count_column<ConnectionRow, repeated_after<Cause::unknown>>(
        "retransmitted_unknown", "unknown cause", "packets retransmitted for a cause that was not captured",
        hidden_column),
    count_column<ConnectionRow, sequence_count<&SequenceCounts::spurious>>(
        "spurious", "spurious", "retransmissions of what had already been acknowledged", 4),
    count_column<ConnectionRow, lost_sum>("lost", "lost", "lost transmissions", 0),
    loss_column<ConnectionRow, lost_at<Lost::before_capture>>(Lost::before_capture),
    loss_column<ConnectionRow, lost_at<Lost::after_capture>>(Lost::after_capture),
    loss_column<ConnectionRow, lost_at<Lost::by_capture>>(Lost::by_capture),
    loss_column<ConnectionRow, lost_at<Lost::trimmed>>(Lost::trimmed),
    loss_column<ConnectionRow, lost_at<Lost::undecided>>(Lost::undecided),
    count_column<ConnectionRow, sequence_count<&SequenceCounts::out_of_order>>(
        "out_of_order", "reordered", "packets out of order that are not retransmissions", 3),
    count_column<ConnectionRow, sequence_count<&SequenceCounts::duplicate_captures>>(
        "duplicate_captures", "copies", "transmissions captured more than once; in no other count", 6),
    count_column<ConnectionRow, sequence_count<&SequenceCounts::wasted_bytes>>(
        "wasted_bytes", "wasted bytes", "bytes delivered out of sequence, discarded and retransmitted",
        hidden_column),
    count_column<ConnectionRow, naks>("naks", "NAKs", "NAKs other than RNR NAKs", 1),
    count_column<ConnectionRow, rnr_naks>("rnr_naks", "RNRs", "RNR NAKs (receiver not ready)", 1),
    count_column<ConnectionRow, acks>("acks", "ACKs", "positive acknowledgements, without READ responses",
                                      hidden_column),
    count_column<ConnectionRow, cnps>("cnps", "CNPs", "congestion notification packets", 4),
    count_column<ConnectionRow, operations>("operations", "operations",
                                            "SENDs, WRITEs, READs ... completed in the capture", 4),
    {"latency_p50_ns", "p50",
     "median latency of operations: first request packet to acknowledgement or "
     "last response",
     true, 4, latency<50>, latency_text<50>, latency_exact<50>},
    {"latency_p99_ns", "p99", "99th percentile of the latency of operations", true, 4, latency<99>,
     latency_text<99>, latency_exact<99>},
    count_column<ConnectionRow, in_flight>("in_flight_max", "in flight",
                                           "maximum of PSNs sent and not yet acknowledged", 6),
    count_column<ConnectionRow, path_mtu>("pmtu", "PMTU", "path MTU in bytes", 6),
    {"cm_service", "service", "service of the connection's CM exchange", false, hidden_column, nullptr,
     [](R r) {
       if (r.cm() == nullptr || r.cm()->service_id == 0) return std::string();
       const std::string_view name = dissect::service_name_of(r.cm()->service_id);
       return name.empty() ? fmt::format("0x{:016x}", r.cm()->service_id) : std::string(name);
     },
     nullptr},
    {"a_flow", "a's flow", "flow from a to b", true, hidden_column, flow_sort<0>, flow_number<0>, nullptr},
    {"b_flow", "b's flow", "flow from b to a", true, hidden_column, flow_sort<1>, flow_number<1>, nullptr},
    {"first_time", "first", "time of the first packet, ns since the epoch", true, hidden_column,
     [](R r) { return static_cast<double>(r->first_time_ns); },
     [](R r) { return has_times(r) ? time_text(r->first_time_ns) : std::string(); },
     [](R r) { return has_times(r) ? std::to_string(r->first_time_ns) : std::string(); }},
    {"last_time", "last", "time of the last packet, ns since the epoch", true, hidden_column,
     [](R r) { return static_cast<double>(r->last_time_ns); },
     [](R r) { return has_times(r) ? time_text(r->last_time_ns) : std::string(); },
     [](R r) { return has_times(r) ? std::to_string(r->last_time_ns) : std::string(); }},
    {"duration_ns", "duration", "from first to last packet", true, 6,
     [](R r) { return static_cast<double>(duration(r)); },
     [](R r) { return has_times(r) ? duration_text(duration(r)) : std::string(); },
     [](R r) { return has_times(r) ? std::to_string(duration(r)) : std::string(); }},
};

const Flow* find_flow(const Snapshot& snapshot, std::optional<std::uint64_t> id) noexcept {
  if (!id) return nullptr;
  const auto at = std::lower_bound(snapshot.flows.begin(), snapshot.flows.end(), *id,
                                   [](const Flow& flow, std::uint64_t wanted) { return flow.id < wanted; });
  return at != snapshot.flows.end() && at->id == *id ? &*at : nullptr;
}

}  // namespace

ConnectionRow::ConnectionRow(const Snapshot& snapshot, const Connection& connection) noexcept
    : connection_(&connection),
      flows_{find_flow(snapshot, connection.flow[0]), find_flow(snapshot, connection.flow[1])} {
  if (connection.cm && *connection.cm < snapshot.exchanges.size()) cm_ = &snapshot.exchanges[*connection.cm];
}

std::uint64_t ConnectionRow::packets() const noexcept {
  return connection_->packets[0] + connection_->packets[1];
}

std::uint64_t ConnectionRow::bytes() const noexcept {
  return connection_->bytes[0] + connection_->bytes[1];
}

std::uint64_t ConnectionRow::goodput_bytes() const noexcept {
  return connection_->requester[0].new_bytes + connection_->requester[1].new_bytes;
}

std::uint64_t ConnectionRow::acks() const noexcept {
  return connection_->requester[0].acks + connection_->requester[1].acks;
}

std::uint64_t ConnectionRow::cnps() const noexcept {
  return connection_->cnps[0] + connection_->cnps[1];
}

NakCounts ConnectionRow::naks() const noexcept {
  NakCounts sum = connection_->requester[0].trouble->naks;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += connection_->requester[1].trouble->naks[i];
  return sum;
}

SequenceCounts ConnectionRow::sequence() const noexcept {
  SequenceCounts sum;
  for (const Flow* flow : flows_) {
    if (flow == nullptr) continue;
    const SequenceCounts& s = flow->sequence();
    for (std::size_t i = 0; i < cause_count; ++i) sum.retransmitted[i] += s.retransmitted[i];
    for (std::size_t i = 0; i < lost_count; ++i) sum.lost[i] += s.lost[i];
    for (std::uint64_t SequenceCounts::*member :
         {&SequenceCounts::retransmitted_bytes, &SequenceCounts::spurious, &SequenceCounts::out_of_order,
          &SequenceCounts::duplicate_captures, &SequenceCounts::duplicate_network,
          &SequenceCounts::wasted_packets, &SequenceCounts::wasted_bytes, &SequenceCounts::gaps})
      sum.*member += s.*member;
  }
  return sum;
}

std::uint64_t ConnectionRow::lost() const noexcept {
  return sequence().lost_packets();
}

double ConnectionRow::goodput_bps() const noexcept {
  return mean_rate_bps(goodput_bytes(), connection_->first_time_ns, connection_->last_time_ns);
}

double ConnectionRow::throughput_bps() const noexcept {
  return mean_rate_bps(bytes(), connection_->first_time_ns, connection_->last_time_ns);
}

Histogram ConnectionRow::latency_ns(OperationKind kind) const {
  Histogram sum;
  for (const Requester& requester : connection_->requester) {
    for (const OperationStats& stats : requester.operations) {
      if (kind == OperationKind::count_ || stats.kind == kind) sum.merge(stats.latency_ns);
    }
  }
  return sum;
}

std::uint64_t ConnectionRow::trouble() const noexcept {
  const SequenceCounts counts = sequence();
  std::uint64_t sum = counts.retransmitted_packets() + lost();
  for (const std::uint64_t count : naks()) sum += count;
  return sum + (connection_->state == Connection::State::failed ? 1U : 0U);
}

std::vector<ConnectionRow> connection_rows(const Snapshot& snapshot) {
  std::vector<ConnectionRow> rows;
  rows.reserve(snapshot.connections.size());
  for (const Connection& connection : snapshot.connections) rows.emplace_back(snapshot, connection);
  return rows;
}

std::span<const ConnectionColumn> connection_columns() noexcept {
  return columns_of_connections;
}

const ConnectionColumn* find_connection_column(std::string_view name) noexcept {
  return find_column(connection_columns(), name);
}

}  // namespace roce::analyze
