// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/snapshot_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "analyze/base/address_text.hpp"
#include "analyze/results/pause_facts.hpp"
#include "analyze/store/keys.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t known(std::int64_t time_ns) noexcept {
  return time_ns == capture::no_time ? 0 : time_ns;
}

std::uint64_t positive(std::int64_t number) noexcept {
  return number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

constexpr EnumNames<dissect::Ecn, 4> ecn_keys({{dissect::Ecn::not_ect, "not_ect"},
                                               {dissect::Ecn::ect1, "ect1"},
                                               {dissect::Ecn::ect0, "ect0"},
                                               {dissect::Ecn::ce, "ce"}});

/// Its name, or what its chassis is called.
const std::string& system_of(const DcbxPort& port) {
  return port.system.empty() ? port.chassis : port.system;
}

}  // namespace

StoreTime store_time(std::int64_t time_ns) noexcept {
  const std::int64_t seconds = time_ns / second;
  return {time_ns < seconds * second ? seconds - 1 : seconds};
}

std::uint32_t milliseconds(std::int64_t first_ns, std::int64_t last_ns) noexcept {
  const std::int64_t ms = (last_ns - first_ns) / 1'000'000;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ms, 0, UINT32_MAX));
}

SnapshotRows::SnapshotRows(const Snapshot& snapshot, const StoreIdentity& identity, const StoreRun& run)
    : s_(snapshot), identity_(identity), run_(run) {
  if (s_.totals.any_time) {
    first_ns_ = s_.totals.first_time_ns;
    last_ns_ = s_.totals.last_time_ns;
  }
  senders_.resize(s_.flows.size());
  for (const Connection& connection : s_.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      const auto flow = connection.flow[side];
      if (const Flow* found = flow ? flow_of(*flow) : nullptr)
        senders_[static_cast<std::size_t>(found - s_.flows.data())] = {&connection, side};
    }
  }
  for (const Flow& flow : s_.flows) {
    const std::string src = flow.source_mac != 0 ? address_text(flow.key.src) : std::string();
    if (identity_.addresses.count(src) != 0) own_macs_.emplace(flow.source_mac, src);
  }
  for (const FlowAtPoint& at : s_.flow_points) points_of_flow_.insert(at.flow);
  for (const Incident& incident : s_.incidents) {
    const unsigned side = incident.of_responses ? 1U - incident.side : incident.side;
    lost_at_most_[{incident.connection, side}] += store_count(incident.lost_at_most);
  }
  if (s_.files.size() == 1) file_ = s_.files.front().path;
}

const Flow* SnapshotRows::flow_of(std::uint64_t id) const {
  const auto at = std::lower_bound(s_.flows.begin(), s_.flows.end(), id,
                                   [](const Flow& flow, std::uint64_t wanted) { return flow.id < wanted; });
  return at != s_.flows.end() && at->id == id ? &*at : nullptr;
}

const Connection* SnapshotRows::connection_of(std::uint32_t id) const {
  const auto at =
      std::lower_bound(s_.connections.begin(), s_.connections.end(), id,
                       [](const Connection& each, std::uint32_t wanted) { return each.id < wanted; });
  return at != s_.connections.end() && at->id == id ? &*at : nullptr;
}

std::string SnapshotRows::place_of(const std::string& src, const std::string& dst) const {
  if (identity_.addresses.count(src) != 0) return "sender";
  return identity_.addresses.count(dst) != 0 ? "receiver" : "between";
}

std::uint64_t SnapshotRows::key_of_pair(const std::optional<dissect::IpAddress>& a,
                                        const std::optional<dissect::IpAddress>& b) const {
  return a && b ? hash_of_pair(identity_.fabric, address_text(*a), address_text(*b)) : 0;
}

std::uint64_t SnapshotRows::key_of(const Connection& connection) const {
  const Endpoint &a = connection.ends[0], &b = connection.ends[1];
  return a.qp && b.qp ? hash_of_connection(identity_.fabric, address_text(a.address), *a.qp,
                                           address_text(b.address), *b.qp)
                      : 0;
}

std::uint64_t SnapshotRows::key_of(const Flow& flow) const {
  return hash_of_flow(identity_.fabric, address_text(flow.key.src), address_text(flow.key.dst),
                      flow.key.dst_qp);
}

/// Hash of what is unique in the run.
std::uint64_t SnapshotRows::key_in_run(std::string_view what, std::string_view which) const {
  return store_key(fmt::format("{}|{}|{}", run_.number, what, which));
}

std::uint64_t SnapshotRows::key_of(const Finding& finding) const {
  return key_in_run(finding.id, finding.subject);
}

RunStoreRow SnapshotRows::run_row() const {
  RunStoreRow row;
  row.time = begin();
  row.fabric = identity_.fabric;
  row.site = identity_.site;
  row.rack = identity_.rack;
  row.point = run_.point;
  row.program = run_.program;
  row.options = run_.options;
  row.interval_ms = run_.interval_ms;
  row.policy = s_.policy ? s_.policy->name() : std::string();
  row.complete = s_.complete() ? 1 : 0;
  for (const capture::InterfaceInfo& interface : s_.interfaces) {
    row.link_bps = std::max(row.link_bps, interface.speed_bps);
    if (row.kernel.empty()) row.kernel = interface.operating_system;
    if (row.driver.empty()) row.driver = interface.hardware;
  }
  for (const capture::FileInfo& file : s_.files) {
    row.recording += (row.recording.empty() ? "" : " ") + file.path;
    if (row.kernel.empty()) row.kernel = file.operating_system;
  }
  return row;
}

std::vector<FileStoreRow> SnapshotRows::file_rows() const {
  std::vector<FileStoreRow> rows;
  for (const capture::FileInfo& file : s_.files) {
    FileStoreRow& row = rows.emplace_back();
    row.time = begin();
    row.file = file.path;
    row.state = "written";
    row.packets = file.packets;
    row.bytes = file.bytes;
    if (s_.files.size() != 1) continue;
    row.first_ns = first_ns_;
    row.last_ns = last_ns_;
  }
  return rows;
}

std::vector<FactStoreRow> SnapshotRows::label_rows() const {
  std::vector<FactStoreRow> rows;
  for (const auto& [name, value] : identity_.labels) {
    FactStoreRow& row = rows.emplace_back();
    row.time = begin();
    row.kind = "label";
    row.name = name;
    row.value = value;
  }
  return rows;
}

const DcbxPort* SnapshotRows::uplink() const {
  const DcbxPort* found = nullptr;
  for (const DcbxPort& port : s_.dcbx.ports) {
    // A host that forwards packets of containers says that it is a router.
    const bool is_own = own_macs_.count(port.mac) != 0 || port.system == identity_.host;
    if (is_own || !port.forwards() || port.withdrawn()) continue;
    if (found != nullptr) return nullptr;
    found = &port;
  }
  return found;
}

const DcbxPort* SnapshotRows::announced(const PausePort& port) const {
  const auto at = std::find_if(s_.dcbx.ports.begin(), s_.dcbx.ports.end(), [&](const DcbxPort& each) {
    return each.mac == port.mac && each.point == port.point;
  });
  return at == s_.dcbx.ports.end() ? nullptr : &*at;
}

std::vector<NodeStoreRow> SnapshotRows::node_rows() const {
  const DcbxPort* const uplink_port = uplink();
  std::vector<NodeStoreRow> rows;
  for (const std::string& address : identity_.addresses) {
    NodeStoreRow& row = rows.emplace_back();
    row.time = begin();
    row.address = address;
    row.host = identity_.host;
    row.device = identity_.device;
    row.rack = identity_.rack;
    if (uplink_port == nullptr) continue;
    row.tor = system_of(*uplink_port);
    row.tor_port = uplink_port->port;
  }
  return rows;
}

StoreCounts SnapshotRows::counts(std::size_t index) const {
  const Flow& flow = s_.flows[index];
  const Sender& sender = senders_[index];
  StoreCounts c;
  const SequenceCounts& sequence = flow.sequence();
  const auto lost = [&](Lost where) { return store_count(sequence.lost[static_cast<std::size_t>(where)]); };
  const auto repeated = [&](Cause cause) {
    return store_count(sequence.retransmitted[static_cast<std::size_t>(cause)]);
  };
  c.packets = store_count(flow.packets);
  c.bytes = store_count(flow.bytes);
  c.retransmitted = store_count(sequence.retransmitted_packets());
  c.retransmitted_nak = repeated(Cause::nak);
  c.retransmitted_timeout = repeated(Cause::timeout);
  c.lost_before = lost(Lost::before_capture);
  c.lost_after = lost(Lost::after_capture);
  c.lost_capture = lost(Lost::by_capture);
  c.lost_at_least = c.lost_before + c.lost_after + lost(Lost::trimmed);
  c.lost_at_most = c.lost_at_least;
  c.out_of_order = store_count(sequence.out_of_order);
  c.wasted_bytes = store_count(sequence.wasted_bytes);
  c.ce = store_count(flow.ecn[static_cast<std::size_t>(dissect::Ecn::ce)]);
  c.icrc_mismatches = store_count(flow.icrc_mismatches);
  if (sender.connection == nullptr) return c;
  const Connection& connection = *sender.connection;
  const Events& sent = connection.sent[sender.side];
  for (const Event nak :
       {Event::nak_sequence_error, Event::nak_invalid_request, Event::nak_remote_access_error,
        Event::nak_remote_operational_error, Event::nak_invalid_rd_request})
    c.naks += store_count(sent.count(nak));
  c.rnr_naks = store_count(sent.count(Event::rnr_nak));
  c.cnps = store_count(connection.cnps[sender.side]);
  c.acks = store_count(connection.requester[1U - sender.side].acks);
  const Requester& requester = connection.requester[sender.side];
  c.goodput_bytes = store_count(requester.new_bytes);
  for (const OperationStats& operation : requester.operations) c.operations += store_count(operation.count);
  if (const auto at = lost_at_most_.find({connection.id, sender.side}); at != lost_at_most_.end())
    c.lost_at_most = std::max(c.lost_at_most, at->second);
  return c;
}

Histogram SnapshotRows::latencies(std::size_t flow) const {
  Histogram all;
  const Sender& sender = senders_[flow];
  if (sender.connection == nullptr) return all;
  for (const OperationStats& operation : sender.connection->requester[sender.side].operations)
    all.merge(operation.latency_ns);
  return all;
}

bool SnapshotRows::is_counted_once(std::size_t flow) const {
  return s_.flows[flow].sequence().duplicate_captures == 0 && points_of_flow_.count(s_.flows[flow].id) == 0;
}

IntervalRow SnapshotRows::interval_row(std::size_t index) const {
  const Flow& flow = s_.flows[index];
  const Sender& sender = senders_[index];
  IntervalRow row;
  row.src = address_text(flow.key.src);
  row.dst = address_text(flow.key.dst);
  row.pair_key = hash_of_pair(identity_.fabric, row.src, row.dst);
  row.flow_key = key_of(flow);
  row.dst_qp = flow.key.dst_qp;
  if (flow.service_known) row.service = dissect::service_name(flow.service);
  row.place = place_of(row.src, row.dst);
  row.start_ns = flow.any_time ? flow.first_time_ns : first_ns_;
  row.time = store_time(row.start_ns);
  if (flow.any_time) row.span_ms = milliseconds(flow.first_time_ns, flow.last_time_ns);
  if (sender.connection != nullptr) {
    const Connection& connection = *sender.connection;
    row.conn_key = key_of(connection);
    row.src_qp = connection.ends[sender.side].qp.value_or(0);
    row.state = connection_state_name(connection.state);
    const Requester& requester = connection.requester[sender.side];
    row.in_flight_max = requester.in_flight_max;
    if (requester.seen) {
      row.psn_first = requester.first_psn;
      row.psn_next = requester.next_psn;
    }
    const Histogram latency = latencies(index);
    row.lat_p50_ns = latency.percentile(0.5);
    row.lat_p99_ns = latency.percentile(0.99);
    row.lat_max_ns = latency.max();
  }
  static_cast<StoreCounts&>(row) = counts(index);
  return row;
}

PairRow SnapshotRows::pair_row(const std::string& src, const std::string& dst) const {
  PairRow row;
  row.time = begin();
  row.src = src;
  row.dst = dst;
  row.pair_key = hash_of_pair(identity_.fabric, src, dst);
  row.place = place_of(src, dst);
  row.span_ms = whole_span();
  return row;
}

bool SnapshotRows::incident_row(const Incident& incident, IncidentStoreRow& row) const {
  const Connection* connection = connection_of(incident.connection);
  if (connection == nullptr) return false;
  const Endpoint& requester = connection->ends[incident.side];
  const Endpoint& responder = connection->ends[1U - incident.side];
  row.start_ns = known(incident.start_ns);
  row.end_ns = known(incident.end_ns);
  row.time = store_time(row.start_ns != 0 ? row.start_ns : first_ns_);
  row.incident = key_in_run(
      "incident", fmt::format("{}|{}|{}", incident.connection, incident.side, incident.first_frame));
  row.src = address_text(requester.address);
  row.dst = address_text(responder.address);
  row.src_qp = requester.qp.value_or(0);
  row.dst_qp = responder.qp.value_or(0);
  row.pair_key = hash_of_pair(identity_.fabric, row.src, row.dst);
  row.conn_key = key_of(*connection);
  if (responder.qp) row.flow_key = hash_of_flow(identity_.fabric, row.src, row.dst, *responder.qp);
  row.what = incident_kind_names[incident.what];
  row.place = incident_place_names[incident.place];
  row.learned_by = learned_by_names[incident.learned];
  row.cause = cause_name(incident.cause);
  row.carried = incident.of_responses ? "responses" : "requests";
  row.lost_at_least = incident.lost_at_least();
  row.lost_at_most = std::max<std::uint64_t>(incident.lost_at_most, row.lost_at_least);
  row.repeated_packets = incident.repeated_packets;
  row.repeated_bytes = incident.repeated_bytes;
  row.discarded_packets = incident.discarded_packets;
  row.stalled_ns = incident.stalled_ns;
  row.recovery_ns = incident.recovery_ns;
  row.over = incident.over ? 1 : 0;
  row.confidence = static_cast<double>(incident.confidence);
  row.file = file_;
  row.number = incident.id;
  row.first_packet = incident.first_frame;
  row.last_packet = incident.last_frame;
  return true;
}

FindingStoreRow SnapshotRows::finding_row(const Finding& finding) const {
  FindingStoreRow row;
  row.first_ns = finding.first_time_ns.value_or(0);
  row.last_ns = finding.last_time_ns.value_or(0);
  row.time = store_time(row.first_ns != 0 ? row.first_ns : first_ns_);
  row.finding = key_of(finding);
  row.id = finding.id;
  row.severity = severity_name(finding.severity);
  row.news = "new";
  row.title = finding.title;
  row.subject = finding.subject;
  row.count = finding.count;
  row.confidence = finding.confidence;
  row.explanation = finding.explanation;
  row.advice = finding.advice;
  if (finding.from) row.src = address_text(*finding.from);
  if (finding.to) row.dst = address_text(*finding.to);
  row.pair_key = key_of_pair(finding.from, finding.to);
  for (const std::uint32_t id : finding.connections) {
    const Connection* connection = connection_of(id);
    for (unsigned side = 0; connection != nullptr && side < 2; ++side) {
      const Flow* flow = connection->flow[side] ? flow_of(*connection->flow[side]) : nullptr;
      if (flow != nullptr) row.flow_keys.push_back(key_of(*flow));
    }
  }
  return row;
}

std::vector<EvidenceStoreRow> SnapshotRows::evidence_rows(const Finding& finding,
                                                          const FindingStoreRow& row) const {
  std::vector<EvidenceStoreRow> rows;
  for (const std::uint64_t packet : finding.packets) {
    EvidenceStoreRow& proof = rows.emplace_back();
    proof.time = row.time;
    proof.finding = row.finding;
    proof.id = row.id;
    proof.file = file_;
    if (row.flow_keys.size() == 1) proof.flow_key = row.flow_keys.front();
    proof.packet = packet;
    if (rows.size() == 1) proof.packet_ns = row.first_ns;
  }
  return rows;
}

DiagnosisStoreRow SnapshotRows::diagnosis_row(const Diagnosis& diagnosis) const {
  DiagnosisStoreRow row;
  row.since_ns = diagnosis.since_ns.value_or(0);
  row.until_ns = diagnosis.until_ns.value_or(0);
  row.time = store_time(row.since_ns != 0 ? row.since_ns : first_ns_);
  row.diagnosis = key_in_run(diagnosis.cause, diagnosis.subject);
  row.cause = diagnosis.cause;
  row.severity = consequence_names[diagnosis.severity];
  row.sentence = diagnosis.sentence;
  row.level = level_names[diagnosis.level];
  row.seen = whereabouts_names[diagnosis.seen];
  row.pattern = pattern_names[diagnosis.pattern];
  row.subject = diagnosis.subject;
  if (diagnosis.from) row.src = address_text(*diagnosis.from);
  if (diagnosis.to) row.dst = address_text(*diagnosis.to);
  row.pair_key = key_of_pair(diagnosis.from, diagnosis.to);
  row.at_least = diagnosis.at_least;
  row.at_most = std::max(diagnosis.at_most.value_or(diagnosis.at_least), diagnosis.at_least);
  row.of_packets = diagnosis.of;
  row.repeated_packets = diagnosis.cost.repeated_packets;
  row.discarded_packets = diagnosis.cost.discarded_packets;
  row.stalled_ns = diagnosis.cost.stalled_ns;
  row.failed = diagnosis.cost.failed;
  row.confidence = diagnosis.confidence;
  row.not_excluded = not_excluded_text(diagnosis);
  row.would_decide = diagnosis.would_decide;
  row.advice = diagnosis.advice;
  for (const std::size_t index : diagnosis.findings) {
    if (index < s_.findings.size()) row.findings.push_back(key_of(s_.findings[index]));
  }
  return row;
}

DropStoreRow SnapshotRows::drop_row(const ExportDropGroup& group) const {
  DropStoreRow row;
  for (const std::size_t index : group.drops) {
    const std::int64_t time = s_.exports.drops[index].time_ns;
    if (time == capture::no_time) continue;
    row.first_ns = row.first_ns == 0 ? time : std::min(row.first_ns, time);
    row.last_ns = std::max(row.last_ns, time);
  }
  row.time = store_time(row.first_ns != 0 ? row.first_ns : first_ns_);
  row.span_ms = milliseconds(row.first_ns, row.last_ns);
  if (group.agent < s_.exports.agents.size())
    row.agent = address_text(s_.exports.agents[group.agent].address);
  row.port = std::to_string(group.output != 0 ? group.output : group.input);
  if (group.queue) row.queue = std::to_string(*group.queue);
  row.reason = drop_reason_text(group.reason);
  row.packets = store_count(group.packets);
  row.roce = store_count(group.roce);
  row.matched = store_count(group.matched);
  return row;
}

PauseStoreRow SnapshotRows::pause_row(const PausePort& port, unsigned lane, const PauseLane& counts) const {
  PauseStoreRow row;
  row.port = mac_text(port.mac);
  if (const auto own = own_macs_.find(port.mac); own != own_macs_.end()) {
    row.peer = own->second;
  } else if (const DcbxPort* of_switch = announced(port); of_switch != nullptr && of_switch->forwards()) {
    row.switch_name = system_of(*of_switch);
    row.switch_port = of_switch->port;
  }
  row.kind = lane == PausePort::global ? "pause" : "pfc";
  row.priority = lane == PausePort::global ? std::uint8_t{0} : static_cast<std::uint8_t>(lane);
  row.link_bps = port.speed_bps;
  row.span_ms = whole_span();
  row.xoff = counts.xoff.count;
  row.xon = counts.xon.count;
  row.pauses = counts.pauses;
  row.paused_ns = positive(counts.paused_ns);
  row.longest_ns = positive(counts.longest_ns);
  row.first_ns = known(counts.xoff.first_time_ns);
  row.longest_start_ns = counts.longest_packet != 0 ? counts.longest_from_ns : 0;
  row.storms = counts.storms.count;
  row.storm_ns = known(counts.storms.first_time_ns);
  row.while_paused = counts.overrun.count;
  row.time = store_time(row.first_ns != 0 ? row.first_ns : first_ns_);
  return row;
}

MarkingStoreRow SnapshotRows::marking_row(const Marking& marking) const {
  MarkingStoreRow row;
  row.time = begin();
  row.traffic_class = traffic_class_name(marking.traffic_class);
  if (marking.src) row.src = address_text(*marking.src);
  if (marking.dst) row.dst = address_text(*marking.dst);
  row.dscp = marking.dscp;
  row.pcp = marking.pcp ? static_cast<std::int16_t>(*marking.pcp) : std::int16_t{-1};
  row.ecn = ecn_keys[static_cast<dissect::Ecn>(marking.ecn & 3U)];
  row.span_ms = whole_span();
  row.packets = store_count(marking.packets);
  row.flows = static_cast<std::uint32_t>(marking.flows);
  row.policy = s_.policy ? s_.policy->name() : std::string();
  row.expected = marking.expected;
  row.verdict = marking.verdict;
  return row;
}

HeartbeatRow SnapshotRows::heartbeat() const {
  HeartbeatRow row;
  row.time = begin();
  row.span_ms = whole_span();
  row.packets = store_count(s_.totals.packets);
  row.bytes = store_count(s_.totals.bytes);
  for (const Flow& flow : s_.flows) {
    row.roce_packets += store_count(flow.packets);
    row.roce_bytes += store_count(flow.bytes);
  }
  row.roce_packets += store_count(s_.departed.packets);
  row.roce_bytes += store_count(s_.departed.bytes);
  row.rows_folded = static_cast<std::uint32_t>(s_.departed.flows);
  row.dropped = s_.dropped().value_or(0);
  for (const Connection& connection : s_.connections) {
    using enum Connection::State;
    row.half_seen += connection.state == half_seen ? 1U : 0U;
    row.open += connection.state == open ? 1U : 0U;
    row.closed += connection.state == closed ? 1U : 0U;
    row.failed += connection.state == failed ? 1U : 0U;
  }
  return row;
}

std::uint16_t latency_bucket(std::uint64_t ns) noexcept {
  if (ns < 16) return static_cast<std::uint16_t>(ns);
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 4U;
  return static_cast<std::uint16_t>(shift * 8U + static_cast<unsigned>(ns >> shift));
}

void add_latencies(PairRow& row, const std::vector<Histogram::Bucket>& buckets) {
  std::map<std::uint16_t, std::uint32_t> sums;
  for (std::size_t i = 0; i < row.lat_bucket.size(); ++i) sums[row.lat_bucket[i]] = row.lat_count[i];
  for (const Histogram::Bucket& bucket : buckets)
    sums[latency_bucket(bucket.from)] += static_cast<std::uint32_t>(bucket.count);
  row.lat_bucket.clear();
  row.lat_count.clear();
  for (const auto& [bucket, count] : sums) {
    row.lat_bucket.push_back(bucket);
    row.lat_count.push_back(count);
  }
}

}  // namespace roce::analyze
