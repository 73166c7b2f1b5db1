// SPDX-License-Identifier: Apache-2.0
// The JSON of connections and CM exchanges.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/report/json/json_columns.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "dissect/aeth.hpp"
#include "dissect/cm.hpp"

namespace roce::analyze {
namespace {

constexpr std::string_view side_names[] = {"a", "b"};

/// The packet's number, or null for 0.
void write_packet(JsonWriter& json, std::string_view key, std::uint64_t number) {
  number != 0 ? json.field(key, number) : json.null_field(key);
}

void write_endpoint(JsonWriter& json, std::string_view key, const Endpoint& end) {
  json.key(key).begin_object().field("address", address_text(end.address));
  write_optional(json, "qp", end.qp);
  json.end_object();
}

void write_pairing(JsonWriter& json, const Pairing& pairing) {
  json.key("pairing").begin_object().key("evidence").begin_row();
  for (std::size_t i = 0; i < evidence_count; ++i) {
    const auto evidence = static_cast<Evidence>(i);
    if (pairing.has(evidence)) json.value(evidence_name(evidence));
  }
  json.end_row().field("confidence", pairing.confidence).field("ambiguous", pairing.ambiguous);
  json.field("answered", pairing.answered).field("unfitting", pairing.unfitting).end_object();
}

std::optional<std::uint64_t> ack_timeout_ns(const CmExchange& cm) {
  if (!cm.ack_timeout_code) return std::nullopt;
  return *cm.ack_timeout_code == 0 ? 0 : dissect::cm_timeout_ns(*cm.ack_timeout_code);
}

void write_service(JsonWriter& json, const CmExchange& cm) {
  json.field("service_id", cm.service_id);
  const std::string_view name = dissect::service_name_of(cm.service_id);
  name.empty() ? json.null_field("service_name") : json.field("service_name", name);
}

/// Negotiated parameters: keys of both `cm` of a connection and an exchange.
void write_parameters(JsonWriter& json, const CmExchange& cm) {
  cm.pmtu != 0 ? json.field("pmtu", cm.pmtu) : json.null_field("pmtu");
  write_optional(json, "retry_count", cm.retry_count);
  write_optional(json, "rnr_retry", cm.rnr_retry);
  write_optional(json, "ack_timeout_ns", ack_timeout_ns(cm));
  if (cm.req) {
    json.field("traffic_class", cm.traffic_class).field("sl", cm.sl);
  } else {
    json.null_field("traffic_class").null_field("sl");  // they are only in the REQ
  }
  write_optional(json, "reject_reason", cm.reject_reason);
}

void write_cm(JsonWriter& json, const ConnectionRow& row) {
  const CmExchange* cm = row.cm();
  if (cm == nullptr) {
    json.null_field("cm");
    return;
  }
  json.key("cm").begin_object();
  write_service(json, *cm);
  write_optional(json, "a_psn", row->client_is_a ? cm->client_psn : cm->server_psn);
  write_optional(json, "b_psn", row->client_is_a ? cm->server_psn : cm->client_psn);
  write_parameters(json, *cm);
  json.field("client", side_names[row->client_is_a ? 0 : 1]).field("exchange", *row->cm);
  write_optional(json, "connect_ns", connect_time_ns(*cm));
  json.end_object();
}

/// The histograms of both requesters, merged.
void write_merged(JsonWriter& json, std::string_view key, const Connection& c,
                  Histogram RequesterTrouble::*member) {
  Histogram sum = (*c.requester[0].trouble).*member;
  sum.merge((*c.requester[1].trouble).*member);
  write_quantiles(json, key, sum);
}

void write_operations(JsonWriter& json, const ConnectionRow& row) {
  json.key("operations").begin_object();
  for (std::size_t i = 0; i < operation_kind_count; ++i) {
    const auto kind = static_cast<OperationKind>(i);
    OperationStats sum;
    for (const Requester& requester : row->requester) {
      const OperationStats* stats = requester.operation(kind);
      if (stats == nullptr) continue;
      sum.count += stats->count;
      sum.bytes += stats->bytes;
      sum.packets += stats->packets;
      sum.retried += stats->retried;
      sum.latency_ns.merge(stats->latency_ns);
      sum.size_bytes.merge(stats->size_bytes);
    }
    json.key(operation_kind_name(kind)).begin_object();
    json.field("count", sum.count).field("bytes", sum.bytes).field("packets", sum.packets);
    json.field("retried", sum.retried);
    write_quantiles(json, "latency_ns", sum.latency_ns);
    write_quantiles(json, "size_bytes", sum.size_bytes);
    json.end_object();
  }
  json.end_object();
}

void write_retry_chain(JsonWriter& json, const RetryChain& chain) {
  if (chain.resends == 0) {
    json.null_field("worst_retry_chain");
    return;
  }
  json.key("worst_retry_chain").begin_object();
  json.field("psn", chain.psn).field("opcode", dissect::opcode_name(chain.opcode));
  json.field("resends", chain.resends).field("answered", chain.answered);
  write_packet(json, "first_packet", chain.first_frame);
  write_packet(json, "last_packet", chain.last_frame);
  write_time(json, "first_time", chain.first_time_ns);
  write_time(json, "last_time", chain.last_time_ns);
  json.field("min_spacing_ns", chain.min_spacing_ns).field("max_spacing_ns", chain.max_spacing_ns);
  json.end_object();
}

void write_rnr(JsonWriter& json, const RnrStats* rnr) {
  if (rnr == nullptr) {
    json.null_field("rnr");
    return;
  }
  json.key("rnr").begin_object().field("naks", rnr->naks).field("longest_chain", rnr->longest_chain);
  json.field("coded_wait_ns", rnr->coded_wait_ns);
  write_quantiles(json, "wait_ns", rnr->wait_ns);
  json.end_object();
}

void write_refused(JsonWriter& json, const Requester& requester) {
  json.key("refused").begin_array();
  for (const RefusedRequest& r : requester.trouble->refused) {
    json.begin_object().field("why", dissect::syndrome_text(r.syndrome)).field("syndrome", r.syndrome);
    json.field("opcode", dissect::opcode_name(r.opcode)).field("psn", r.psn);
    if (r.has_reth) {
      json.field("virtual_address", r.virtual_address).field("r_key", r.r_key).field("length", r.length);
    } else {
      json.null_field("virtual_address").null_field("r_key").null_field("length");
    }
    write_packet(json, "nak_packet", r.nak_frame);
    write_packet(json, "request_packet", r.request_frame);
    json.end_object();
  }
  json.end_array();
}

void write_events(JsonWriter& json, const Events& events) {
  json.key("events").begin_object();
  for (std::size_t i = 0; i < event_count && !events.empty(); ++i) {
    const auto event = static_cast<Event>(i);
    const EventLog* log = events.find(event);
    if (log == nullptr) continue;
    json.key(event_name(event)).begin_object().field("count", log->count);
    write_time(json, "first_time", log->first_time_ns);
    write_time(json, "last_time", log->last_time_ns);
    json.key("packets").begin_row();
    for (const std::uint64_t frame : log->frames) json.value(frame);
    json.end_row().end_object();
  }
  json.end_object();
}

/// One side: the packets it sent, its requests and the responses to them.
void write_side(JsonWriter& json, const ConnectionRow& row, std::size_t side) {
  const Connection& c = *row;
  const Requester& r = c.requester[side];
  json.begin_object().field("side", side_names[side]);
  json.field("packets", c.packets[side]).field("bytes", c.bytes[side]).field("cnps", c.cnps[side]);
  json.field("left_out", c.left_out[side]);
  r.seen ? json.field("first_psn", r.first_psn) : json.null_field("first_psn");
  r.seen ? json.field("next_psn", r.next_psn) : json.null_field("next_psn");
  json.field("requests", r.requests).field("acks", r.acks).field("goodput_bytes", r.new_bytes);
  json.field("refused_bytes", r.trouble->refused_bytes);
  json.field("in_flight_max", r.in_flight_max).field("credits_used", r.credits_used);
  json.field("idle_ns", r.idle_ns);
  write_packet(json, "idle_from_packet", r.idle_from_frame);
  json.key("operations").begin_object();
  for (const OperationStats& stats : r.operations) {
    json.key(operation_kind_name(stats.kind)).begin_object();
    json.field("count", stats.count).field("bytes", stats.bytes).end_object();
  }
  json.end_object();
  json.field("retry_chains", r.trouble->chains);
  write_retry_chain(json, r.trouble->worst_chain);
  write_rnr(json, r.trouble->rnr.get());
  write_refused(json, r);
  json.field("retries_exhausted", r.retries_exhausted).field("rnr_exhausted", r.rnr_exhausted);
  json.field("refused_fatally", r.refused_fatally);
  write_events(json, c.sent[side]);
  json.end_object();
}

void write_seen(JsonWriter& json, std::string_view key, const CmSeen& seen) {
  if (!seen) {
    json.null_field(key);
    return;
  }
  json.key(key).begin_object().field("packet", seen.frame);
  write_time(json, "time", seen.time_ns);
  write_time(json, "last_time", seen.last_time_ns);
  json.field("count", seen.count).end_object();
}

void write_exchange(JsonWriter& json, const CmExchange& cm, std::size_t id,
                    const std::vector<std::uint32_t>& connections) {
  json.begin_object().field("id", id).field("state", cm_state_name(cm.state)).field("sidr", cm.sidr);
  json.field("version", version_name(cm.transport));
  json.field("service", dissect::cm_transport_name(cm.service));
  json.key("client").begin_object().field("address", address_text(cm.client));
  json.field("comm_id", cm.client_comm_id);
  write_optional(json, "qp", cm.client_qpn);
  write_optional(json, "psn", cm.client_psn);
  json.end_object();
  json.key("server").begin_object().field("address", address_text(cm.server));
  json.field("comm_id", cm.server_comm_id);
  write_optional(json, "qp", cm.server_qpn);
  write_optional(json, "psn", cm.server_psn);
  json.end_object();
  write_service(json, cm);
  write_parameters(json, cm);
  const std::string_view reason = cm.reject_reason ? dissect::reject_reason_name(*cm.reject_reason) : "";
  reason.empty() ? json.null_field("reject_reason_name") : json.field("reject_reason_name", reason);
  json.field("rejected_by_server", cm.rejected_by_server);
  write_optional(json, "sidr_status", cm.sidr_status);
  write_optional(json, "connect_ns", connect_time_ns(cm));
  write_optional(json, "answer_ns", answer_time_ns(cm));
  write_optional(json, "ready_ns", ready_time_ns(cm));
  json.key("connections").begin_row();
  for (const std::uint32_t connection : connections) json.value(connection);
  json.end_row();
  json.key("messages").begin_object();
  const std::pair<std::string_view, const CmSeen*> messages[] = {
      {"req", &cm.req}, {"mra", &cm.mra},   {"rep", &cm.rep},  {"rtu", &cm.rtu},
      {"rej", &cm.rej}, {"dreq", &cm.dreq}, {"drep", &cm.drep}};
  for (const auto& [key, seen] : messages) write_seen(json, key, *seen);
  json.end_object().end_object();
}

/// What the columns tell of a connection; the keys of the rest are older than its columns.
JsonColumns<ConnectionRow> connection_keys() {
  return {connection_columns(),
          {{"id", "service", "version"},
           {"packets", "bytes", "first_time", "last_time"},
           {"acks", "cnps"},
           {"in_flight_max", "goodput_bytes", "goodput_bps", "throughput_bps", "state"}},
          {"a",
           "a_qp",
           "a_flow",
           "b",
           "b_qp",
           "b_flow",
           "upper",
           "evidence",
           "confidence",
           "pmtu",
           "retransmitted",
           "retransmitted_nak",
           "retransmitted_timeout",
           "retransmitted_rnr",
           "retransmitted_read_retry",
           "retransmitted_unknown",
           "spurious",
           "lost",
           "lost_before_capture",
           "lost_after_capture",
           "lost_by_capture",
           "lost_trimmed",
           "lost_undecided",
           "out_of_order",
           "duplicate_captures",
           "wasted_bytes",
           "naks",
           "rnr_naks",
           "operations",
           "latency_p50_ns",
           "latency_p99_ns",
           "cm_service",
           "duration_ns"}};
}

}  // namespace

void write_connection(JsonWriter& json, const ConnectionRow& row) {
  static const JsonColumns<ConnectionRow> columns = connection_keys();
  const Connection& c = *row;
  json.begin_object();
  columns.write(json, row, 0);
  write_endpoint(json, "a", c.ends[0]);
  write_endpoint(json, "b", c.ends[1]);
  write_pairing(json, c.pairing);
  write_cm(json, row);
  c.pmtu != 0 ? json.field("pmtu", c.pmtu) : json.null_field("pmtu");
  json.field("pmtu_by_cm", c.pmtu_by_cm);
  json.key("flows").begin_row();
  for (const std::optional<std::uint64_t>& flow : c.flow) {
    if (flow) json.value(*flow);
  }
  json.end_row();
  columns.write(json, row, 1);
  write_packet(json, "first_packet", c.first_frame);
  json.key("naks").begin_object();
  const auto naks = row.naks();
  for (std::size_t i = 0; i < naks.size(); ++i) json.field(nak_kind_name(static_cast<NakKind>(i)), naks[i]);
  json.end_object();
  columns.write(json, row, 2);
  write_congestion(json, c);
  write_sequence(json, row.sequence());
  write_operations(json, row);
  write_merged(json, "nak_generation_ns", c, &RequesterTrouble::nak_generation_ns);
  write_merged(json, "nak_reaction_ns", c, &RequesterTrouble::nak_reaction_ns);
  write_merged(json, "read_rerequest_ns", c, &RequesterTrouble::read_rerequest_ns);
  columns.write(json, row, 3);
  json.key("sides").begin_array();
  for (std::size_t side = 0; side < 2; ++side) write_side(json, row, side);
  json.end_array();
  columns.write_rest(json, row);
  json.end_object();
}

void write_cm_exchanges(JsonWriter& json, const Snapshot& snapshot, const ReportSink& sink) {
  std::vector<std::vector<std::uint32_t>> connections(snapshot.exchanges.size());
  for (const Connection& c : snapshot.connections) {
    if (c.cm && *c.cm < connections.size()) connections[*c.cm].push_back(c.id);
  }
  json.key("cm_exchanges").begin_array();
  for (std::size_t i = 0; i < snapshot.exchanges.size(); ++i) {
    write_exchange(json, snapshot.exchanges[i], i, connections[i]);
    sink.step();
  }
  json.end_array();
}

}  // namespace roce::analyze
