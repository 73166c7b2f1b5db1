// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

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

StoreTime store_time(std::int64_t time_ns) noexcept {
  const std::int64_t seconds = time_ns / second;
  return {time_ns < seconds * second ? seconds - 1 : seconds};
}

std::uint32_t milliseconds(std::int64_t first_ns, std::int64_t last_ns) noexcept {
  const std::int64_t ms = (last_ns - first_ns) / 1'000'000;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ms, 0, UINT32_MAX));
}

std::uint64_t positive(std::int64_t number) noexcept {
  return number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

constexpr EnumNames<dissect::Ecn, 4> ecn_keys({{dissect::Ecn::not_ect, "not_ect"},
                                               {dissect::Ecn::ect1, "ect1"},
                                               {dissect::Ecn::ect0, "ect0"},
                                               {dissect::Ecn::ce, "ce"}});

/// What a flow is in its connection: the side that sends it.
struct Sender {
  const Connection* connection = nullptr;
  unsigned side = 0;
};

/// All rows of a whole capture.
class CaptureRows {
 public:
  CaptureRows(const Snapshot& snapshot, const PsnMarks* marks, const StoreIdentity& identity,
              const StoreRun& run)
      : s_(snapshot),
        marks_(marks),
        identity_(identity),
        run_(run),
        maker_(identity.host, identity.device, run.number) {
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
    for (const FlowAtPoint& at : s_.flow_points) points_of_flow_.insert(at.flow);
    for (const Incident& incident : s_.incidents) {
      const unsigned side = incident.of_responses ? 1U - incident.side : incident.side;
      lost_at_most_[{incident.connection, side}] += incident.lost_at_most;
    }
    if (s_.files.size() == 1) file_ = s_.files.front().path;
  }

  std::vector<StoreBatch> make() {
    add_run();
    add_flows();
    add_pairs();
    add_incidents();
    add_findings();
    add_diagnoses();
    add_drops();
    add_pauses();
    add_markings();
    return maker_.take(heartbeat());
  }

 private:
  [[nodiscard]] const Flow* flow_of(std::uint64_t id) const {
    const auto at = std::lower_bound(s_.flows.begin(), s_.flows.end(), id,
                                     [](const Flow& flow, std::uint64_t wanted) { return flow.id < wanted; });
    return at != s_.flows.end() && at->id == id ? &*at : nullptr;
  }
  [[nodiscard]] const Connection* connection_of(std::uint32_t id) const {
    const auto at =
        std::lower_bound(s_.connections.begin(), s_.connections.end(), id,
                         [](const Connection& each, std::uint32_t wanted) { return each.id < wanted; });
    return at != s_.connections.end() && at->id == id ? &*at : nullptr;
  }
  [[nodiscard]] std::string place_of(const std::string& src, const std::string& dst) const {
    if (identity_.addresses.count(src) != 0) return "sender";
    return identity_.addresses.count(dst) != 0 ? "receiver" : "between";
  }
  [[nodiscard]] std::uint64_t key_of_pair(const std::optional<dissect::IpAddress>& a,
                                          const std::optional<dissect::IpAddress>& b) const {
    return a && b ? pair_key(identity_.fabric, address_text(*a), address_text(*b)) : 0;
  }
  [[nodiscard]] std::uint64_t key_of(const Connection& connection) const {
    const Endpoint &a = connection.ends[0], &b = connection.ends[1];
    return a.qp && b.qp
               ? conn_key(identity_.fabric, address_text(a.address), *a.qp, address_text(b.address), *b.qp)
               : 0;
  }
  [[nodiscard]] std::uint64_t key_of(const Flow& flow) const {
    return flow_key(identity_.fabric, address_text(flow.key.src), address_text(flow.key.dst),
                    flow.key.dst_qp);
  }
  /// Hash of what is unique in the run.
  [[nodiscard]] std::uint64_t key_in_run(std::string_view what, std::string_view which) const {
    return store_key(fmt::format("{}|{}|{}", run_.number, what, which));
  }
  [[nodiscard]] std::uint64_t key_of(const Finding& finding) const {
    return key_in_run(finding.id, finding.subject);
  }
  [[nodiscard]] StoreTime begin() const { return store_time(first_ns_); }
  [[nodiscard]] std::uint32_t whole_span() const { return milliseconds(first_ns_, last_ns_); }

  void add_run() {
    RunStoreRow row;
    row.time = begin();
    row.fabric = identity_.fabric;
    row.site = identity_.site;
    row.rack = identity_.rack;
    row.point = run_.point;
    row.program = run_.program;
    row.options = run_.options;
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
      FileStoreRow written;
      written.time = begin();
      written.file = file.path;
      written.state = "written";
      written.packets = file.packets;
      written.bytes = file.bytes;
      if (s_.files.size() == 1) {
        written.first_ns = first_ns_;
        written.last_ns = last_ns_;
      }
      maker_.add(std::move(written));
    }
    maker_.add(std::move(row));
    for (const auto& [name, value] : identity_.labels) {
      FactStoreRow label;
      label.time = begin();
      label.kind = "label";
      label.name = name;
      label.value = value;
      maker_.add(std::move(label));
    }
    for (const std::string& address : identity_.addresses) {
      NodeStoreRow node;
      node.time = begin();
      node.address = address;
      node.host = identity_.host;
      node.device = identity_.device;
      node.rack = identity_.rack;
      maker_.add(std::move(node));
    }
  }

  [[nodiscard]] StoreCounts counts_of(const Flow& flow, const Sender& sender) const {
    StoreCounts c;
    const SequenceCounts& sequence = flow.sequence();
    const auto lost = [&](Lost where) { return sequence.lost[static_cast<std::size_t>(where)]; };
    const auto repeated = [&](Cause cause) {
      return sequence.retransmitted[static_cast<std::size_t>(cause)];
    };
    c.packets = flow.packets;
    c.bytes = flow.bytes;
    c.retransmitted = sequence.retransmitted_packets();
    c.retransmitted_nak = repeated(Cause::nak);
    c.retransmitted_timeout = repeated(Cause::timeout);
    c.lost_before = lost(Lost::before_capture);
    c.lost_after = lost(Lost::after_capture);
    c.lost_capture = lost(Lost::by_capture);
    c.lost_at_least = c.lost_before + c.lost_after + lost(Lost::trimmed);
    c.lost_at_most = c.lost_at_least;
    c.out_of_order = sequence.out_of_order;
    c.wasted_bytes = sequence.wasted_bytes;
    c.ce = flow.ecn[static_cast<std::size_t>(dissect::Ecn::ce)];
    c.icrc_mismatches = flow.icrc_mismatches;
    if (sender.connection == nullptr) return c;
    const Connection& connection = *sender.connection;
    const Events& sent = connection.sent[sender.side];
    for (const Event nak :
         {Event::nak_sequence_error, Event::nak_invalid_request, Event::nak_remote_access_error,
          Event::nak_remote_operational_error, Event::nak_invalid_rd_request})
      c.naks += sent.count(nak);
    c.rnr_naks = sent.count(Event::rnr_nak);
    c.cnps = connection.cnps[sender.side];
    c.acks = connection.requester[1U - sender.side].acks;
    const Requester& requester = connection.requester[sender.side];
    c.goodput_bytes = requester.new_bytes;
    for (const OperationStats& operation : requester.operations) c.operations += operation.count;
    if (const auto at = lost_at_most_.find({connection.id, sender.side}); at != lost_at_most_.end())
      c.lost_at_most = std::max(c.lost_at_most, at->second);
    return c;
  }

  static Histogram latencies_of(const Sender& sender) {
    Histogram all;
    if (sender.connection == nullptr) return all;
    for (const OperationStats& operation : sender.connection->requester[sender.side].operations)
      all.merge(operation.latency_ns);
    return all;
  }

  void add_flows() {
    std::map<std::uint64_t, std::uint32_t> epochs, of_all;  // by flow_key
    for (const Flow& flow : s_.flows) ++of_all[key_of(flow)];
    for (std::size_t i = 0; i < s_.flows.size(); ++i) {
      const Flow& flow = s_.flows[i];
      const Sender& sender = senders_[i];
      IntervalRow row;
      row.src = address_text(flow.key.src);
      row.dst = address_text(flow.key.dst);
      row.pair_key = pair_key(identity_.fabric, row.src, row.dst);
      row.flow_key = key_of(flow);
      row.dst_qp = flow.key.dst_qp;
      if (flow.service_known) row.service = dissect::service_name(flow.service);
      row.place = place_of(row.src, row.dst);
      row.epoch = epochs[row.flow_key]++;
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
        const Histogram latency = latencies_of(sender);
        row.lat_p50_ns = latency.percentile(0.5);
        row.lat_p99_ns = latency.percentile(0.99);
        row.lat_max_ns = latency.max();
      }
      static_cast<StoreCounts&>(row) = counts_of(flow, sender);
      // Marks are those of the last flow of a key.
      add_with_marks(std::move(row), flow, epochs[row.flow_key] == of_all[row.flow_key]);
    }
  }

  /// The row with the counts, then one for each mark, without counts.
  void add_with_marks(IntervalRow row, const Flow& flow, bool last) {
    // Where the capture has packets twice, or at several points, only the analysis knows which ones to count.
    const bool counted_once = flow.sequence().duplicate_captures == 0 && points_of_flow_.count(flow.id) == 0;
    const std::optional<PsnMarks::Spaces> spaces =
        marks_ != nullptr && counted_once && last ? marks_->find(flow.key, last_ns_) : std::nullopt;
    if (spaces) row.psn_new = spaces->requests.psns;
    IntervalRow mark = row;
    static_cast<StoreCounts&>(mark) = {};
    mark.span_ms = 0;
    mark.in_flight_max = 0;
    mark.psn_new = 0;
    mark.lat_p50_ns = mark.lat_p99_ns = mark.lat_max_ns = 0;
    maker_.add(std::move(row));
    if (!spaces) return;
    const std::vector<PsnMark> requests = all_marks(spaces->requests);
    const std::vector<PsnMark> responses = all_marks(spaces->responses);
    for (std::size_t i = 0; i < std::max(requests.size(), responses.size()); ++i) {
      IntervalRow next = mark;
      std::int64_t time_ns = 0;
      if (i < requests.size()) {
        next.epoch = spaces->requests.epoch;
        next.mark_psn = requests[i].psn;
        next.mark_ns = time_ns = requests[i].time_ns;
        next.mark_packets = requests[i].packets;
      }
      if (i < responses.size()) {
        if (time_ns == 0) next.epoch = spaces->responses.epoch;
        next.rmark_psn = responses[i].psn;
        next.rmark_ns = responses[i].time_ns;
        next.rmark_packets = responses[i].packets;
        if (time_ns == 0) time_ns = next.rmark_ns;
      }
      next.time = store_time(time_ns);
      maker_.add(std::move(next));
    }
  }

  /// With its end, if the capture went on without more of it.
  [[nodiscard]] std::vector<PsnMark> all_marks(const PsnSpaceMarks& space) const {
    std::vector<PsnMark> all = space.marks;
    if (!all.empty() && last_ns_ - space.last_ns >= PsnMarks::settle_ns) all.push_back(space.end());
    return all;
  }

  void add_pairs() {
    struct Sum {
      PairRow row;
      Histogram latency;
    };
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (std::size_t i = 0; i < s_.flows.size(); ++i) {
      const Flow& flow = s_.flows[i];
      const std::string src = address_text(flow.key.src), dst = address_text(flow.key.dst);
      Sum& sum = sums[{src, dst}];
      sum.row.add(counts_of(flow, senders_[i]));
      ++sum.row.flows;
      sum.latency.merge(latencies_of(senders_[i]));
    }
    for (auto& [ends, sum] : sums) {
      PairRow& row = sum.row;
      row.time = begin();
      row.src = ends.first;
      row.dst = ends.second;
      row.pair_key = pair_key(identity_.fabric, row.src, row.dst);
      row.place = place_of(row.src, row.dst);
      row.span_ms = whole_span();
      row.lat_max_ns = sum.latency.max();
      for (const Histogram::Bucket& bucket : sum.latency.buckets()) {
        const std::uint16_t place = latency_bucket(bucket.from);
        if (row.lat_bucket.empty() || row.lat_bucket.back() != place) {
          row.lat_bucket.push_back(place);
          row.lat_count.push_back(0);
        }
        row.lat_count.back() += static_cast<std::uint32_t>(bucket.count);
      }
      maker_.add(std::move(row));
    }
  }

  void add_incidents() {
    for (const Incident& incident : s_.incidents) {
      const Connection* connection = connection_of(incident.connection);
      if (connection == nullptr) continue;
      const Endpoint& requester = connection->ends[incident.side];
      const Endpoint& responder = connection->ends[1U - incident.side];
      IncidentStoreRow row;
      row.start_ns = known(incident.start_ns);
      row.end_ns = known(incident.end_ns);
      row.time = store_time(row.start_ns != 0 ? row.start_ns : first_ns_);
      row.incident = key_in_run("incident", std::to_string(incident.id));
      row.src = address_text(requester.address);
      row.dst = address_text(responder.address);
      row.src_qp = requester.qp.value_or(0);
      row.dst_qp = responder.qp.value_or(0);
      row.pair_key = pair_key(identity_.fabric, row.src, row.dst);
      row.conn_key = key_of(*connection);
      if (responder.qp) row.flow_key = flow_key(identity_.fabric, row.src, row.dst, *responder.qp);
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
      maker_.add(std::move(row));
    }
  }

  void add_findings() {
    for (const Finding& finding : s_.findings) {
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
      EvidenceStoreRow proof;
      proof.time = row.time;
      proof.finding = row.finding;
      proof.id = row.id;
      proof.file = file_;
      if (row.flow_keys.size() == 1) proof.flow_key = row.flow_keys.front();
      for (std::size_t i = 0; i < finding.packets.size(); ++i) {
        EvidenceStoreRow each = proof;
        each.packet = finding.packets[i];
        if (i == 0) each.packet_ns = row.first_ns;
        maker_.add(std::move(each));
      }
      maker_.add(std::move(row));
    }
  }

  void add_diagnoses() {
    for (const Diagnosis& diagnosis : s_.diagnoses) {
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
      maker_.add(std::move(row));
    }
  }

  void add_drops() {
    for (const ExportDropGroup& group : drop_groups(s_.exports)) {
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
      row.packets = group.packets;
      row.roce = group.roce;
      row.matched = group.matched;
      maker_.add(std::move(row));
    }
  }

  void add_pauses() {
    for (const PausePort& port : s_.pauses.ports) {
      for (unsigned lane = 0; lane < PausePort::lane_count; ++lane) {
        const PauseLane* counts = port.lanes[lane].get();
        if (counts == nullptr) continue;
        PauseStoreRow row;
        row.port = mac_text(port.mac);
        row.kind = lane == PausePort::global ? "pause" : "pfc";
        row.priority = lane == PausePort::global ? std::uint8_t{0} : static_cast<std::uint8_t>(lane);
        row.link_bps = port.speed_bps;
        row.span_ms = whole_span();
        row.xoff = counts->xoff.count;
        row.xon = counts->xon.count;
        row.pauses = counts->pauses;
        row.paused_ns = positive(counts->paused_ns);
        row.longest_ns = positive(counts->longest_ns);
        row.first_ns = known(counts->xoff.first_time_ns);
        row.longest_start_ns = counts->longest_packet != 0 ? counts->longest_from_ns : 0;
        row.storms = counts->storms.count;
        row.storm_ns = known(counts->storms.first_time_ns);
        row.while_paused = counts->overrun.count;
        row.time = store_time(row.first_ns != 0 ? row.first_ns : first_ns_);
        maker_.add(std::move(row));
      }
    }
  }

  void add_markings() {
    for (const Marking& marking : s_.markings.rows) {
      MarkingStoreRow row;
      row.time = begin();
      row.traffic_class = traffic_class_name(marking.traffic_class);
      if (marking.src) row.src = address_text(*marking.src);
      if (marking.dst) row.dst = address_text(*marking.dst);
      row.dscp = marking.dscp;
      row.pcp = marking.pcp ? static_cast<std::int16_t>(*marking.pcp) : std::int16_t{-1};
      row.ecn = ecn_keys[static_cast<dissect::Ecn>(marking.ecn & 3U)];
      row.span_ms = whole_span();
      row.packets = marking.packets;
      row.flows = static_cast<std::uint32_t>(marking.flows);
      row.policy = s_.policy ? s_.policy->name() : std::string();
      row.expected = marking.expected;
      row.verdict = marking.verdict;
      maker_.add(std::move(row));
    }
  }

  [[nodiscard]] HeartbeatRow heartbeat() const {
    HeartbeatRow row;
    row.time = begin();
    row.span_ms = whole_span();
    row.packets = s_.totals.packets;
    row.bytes = s_.totals.bytes;
    for (const Flow& flow : s_.flows) {
      row.roce_packets += flow.packets;
      row.roce_bytes += flow.bytes;
    }
    row.roce_packets += s_.departed.packets;
    row.roce_bytes += s_.departed.bytes;
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

  const Snapshot& s_;
  const PsnMarks* marks_;
  const StoreIdentity& identity_;
  const StoreRun& run_;
  BatchMaker maker_;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::vector<Sender> senders_;  ///< by index in Snapshot::flows
  std::set<std::uint64_t> points_of_flow_;
  std::map<std::pair<std::uint32_t, unsigned>, std::uint64_t> lost_at_most_;  ///< by connection and sender
  std::string file_;  ///< with all packets; empty: there are several
};

}  // namespace

std::uint16_t latency_bucket(std::uint64_t ns) noexcept {
  if (ns < 16) return static_cast<std::uint16_t>(ns);
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 4U;
  return static_cast<std::uint16_t>(shift * 8U + static_cast<unsigned>(ns >> shift));
}

std::vector<StoreBatch> capture_batches(const Snapshot& snapshot, const PsnMarks* marks,
                                        const StoreIdentity& identity, const StoreRun& run) {
  return CaptureRows(snapshot, marks, identity, run).make();
}

}  // namespace roce::analyze
