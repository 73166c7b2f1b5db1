// SPDX-License-Identifier: Apache-2.0
// The JSON of connections and CM exchanges.
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/report/json/json_columns.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "dissect/aeth.hpp"
#include "dissect/cm.hpp"

namespace roce::analyze {
namespace {

using C = const CmExchange&;
using R = const ConnectionRow&;

const JsonObject<Pairing>& pairing_object() {
  static const auto object = [] {
    std::vector<std::string_view> evidences;
    for (std::size_t i = 0; i < evidence_count; ++i)
      evidences.push_back(evidence_name(static_cast<Evidence>(i)));
    JsonObject<Pairing> o("pairing");
    o.key("evidence", "what shows that the two flows belong together", [](const Pairing& p) {
       std::vector<std::string_view> names;
       for (std::size_t i = 0; i < evidence_count; ++i) {
         const auto evidence = static_cast<Evidence>(i);
         if (p.has(evidence)) names.push_back(evidence_name(evidence));
       }
       return names;
     }).of(evidences);
    o.key("confidence", "0 to 1; 0 with one direction only", &Pairing::confidence);
    o.key("ambiguous", "more than one flow could be the other direction: left unpaired", &Pairing::ambiguous);
    o.key("answered", "responses that match requests of the other direction", &Pairing::answered);
    o.key("unfitting", "responses that do not", &Pairing::unfitting);
    return o;
  }();
  return object;
}

std::optional<std::uint64_t> ack_timeout_ns(C cm) {
  if (!cm.ack_timeout_code) return std::nullopt;
  return *cm.ack_timeout_code == 0 ? 0 : dissect::cm_timeout_ns(*cm.ack_timeout_code);
}

/// What both `cm` of a connection and an exchange begin with.
const JsonObject<CmExchange>& cm_service_keys() {
  static const auto object = [] {
    JsonObject<CmExchange> o("cm_service");
    o.key("service_id", "service id of the request", &CmExchange::service_id);
    o.key("service_name", "what is known of that service; null: nothing",
          [](C cm) { return unless_empty(dissect::service_name_of(cm.service_id)); });
    return o;
  }();
  return object;
}

/// Negotiated parameters, of both as well.
const JsonObject<CmExchange>& cm_parameter_keys() {
  static const auto object = [] {
    JsonObject<CmExchange> o("cm_parameters");
    o.key("pmtu", "path MTU; null: not known", [](C cm) { return unless_zero(cm.pmtu); }).in("byte");
    o.key("retry_count", "how often a timeout may be retried", &CmExchange::retry_count);
    o.key("rnr_retry", "how often an RNR NAK may be retried; 7: unlimited", &CmExchange::rnr_retry);
    o.key("ack_timeout_ns", "local ACK timeout; 0: never", ack_timeout_ns);
    // These are only in the REQ.
    o.key("traffic_class", "traffic class; null without the REQ",
          [](C cm) { return cm.req ? std::optional(cm.traffic_class) : std::nullopt; });
    o.key("sl", "service level; null without the REQ",
          [](C cm) { return cm.req ? std::optional(cm.sl) : std::nullopt; });
    o.key("reject_reason", "reason of the REJ; null without one", &CmExchange::reject_reason);
    return o;
  }();
  return object;
}

const CmExchange& cm_of_row(R row) {
  return *row.cm();
}

/// Of a row that has an exchange.
const JsonObject<ConnectionRow>& connection_cm_object() {
  static const auto object = [] {
    JsonObject<ConnectionRow> o("connection_cm");
    o.include(cm_service_keys(), cm_of_row);
    o.key("a_psn", "first PSN of the requests of a",
          [](R r) { return r->client_is_a ? r.cm()->client_psn : r.cm()->server_psn; });
    o.key("b_psn", "first PSN of the requests of b",
          [](R r) { return r->client_is_a ? r.cm()->server_psn : r.cm()->client_psn; });
    o.include(cm_parameter_keys(), cm_of_row);
    o.key("client", "which side asked", [](R r) {
       return json_side_names[r->client_is_a ? 0 : 1];
     }).of(json_side_names);
    o.key("exchange", "its id in cm_exchanges", [](R r) { return std::uint64_t{*r->cm}; });
    o.key("connect_ns", "from REQ to RTU; null: not captured", [](R r) { return connect_time_ns(*r.cm()); });
    return o;
  }();
  return object;
}

/// The histograms of both requesters, merged.
auto merged(Histogram RequesterTrouble::*member) {
  return [member](R row) {
    Histogram sum = (*row->requester[0].trouble).*member;
    sum.merge((*row->requester[1].trouble).*member);
    return sum;
  };
}

OperationStats operations_of(R row, OperationKind kind) {
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
  return sum;
}

const JsonObject<OperationStats>& operation_object() {
  static const auto object = [] {
    JsonObject<OperationStats> o("operation");
    o.key("count", "operations", &OperationStats::count);
    o.key("bytes", "bytes of their messages", &OperationStats::bytes);
    o.key("packets", "first transmissions of their packets", &OperationStats::packets);
    o.key("retried", "operations of which something was sent again", &OperationStats::retried);
    o.object("latency_ns", "from the first request packet to the acknowledgement or the last response",
             quantiles_object(), &OperationStats::latency_ns);
    o.object("size_bytes", "size of those that were captured completely", size_quantiles_object(),
             &OperationStats::size_bytes);
    return o;
  }();
  return object;
}

const JsonObject<ConnectionRow>& operations_object() {
  static const auto object = [] {
    JsonObject<ConnectionRow> o("operations");
    for (std::size_t i = 0; i < operation_kind_count; ++i) {
      const auto kind = static_cast<OperationKind>(i);
      o.object(std::string(operation_kind_name(kind)), "operations of this kind, of both sides",
               operation_object(), [kind](R row) { return operations_of(row, kind); });
    }
    return o;
  }();
  return object;
}

const JsonObject<OperationStats>& side_operation_object() {
  static const auto object = [] {
    JsonObject<OperationStats> o("side_operation");
    o.key("count", "operations", &OperationStats::count);
    o.key("bytes", "bytes of their messages", &OperationStats::bytes);
    return o;
  }();
  return object;
}

const JsonObject<RetryChain>& retry_chain_object() {
  using X = const RetryChain&;
  static const auto object = [] {
    JsonObject<RetryChain> o("retry_chain");
    o.key("psn", "PSN that was sent again", &RetryChain::psn);
    o.key("opcode", "opcode of that packet", [](X c) { return dissect::opcode_name(c.opcode); });
    o.key("resends", "how often it was sent again", &RetryChain::resends);
    o.key("answered", "it was answered in the end", &RetryChain::answered);
    o.key("first_packet", "number of its first packet; null: not captured",
          [](X c) { return unless_zero(c.first_frame); });
    o.key("last_packet", "number of its last packet; null: not captured",
          [](X c) { return unless_zero(c.last_frame); });
    o.key("first_time", "time of its first packet", [](X c) { return json_time(c.first_time_ns); });
    o.key("last_time", "time of its last packet", [](X c) { return json_time(c.last_time_ns); });
    o.key("min_spacing_ns", "shortest time between two of them", &RetryChain::min_spacing_ns);
    o.key("max_spacing_ns", "longest time between two of them", &RetryChain::max_spacing_ns);
    return o;
  }();
  return object;
}

const JsonObject<RnrStats>& rnr_object() {
  static const auto object = [] {
    JsonObject<RnrStats> o("rnr");
    o.key("naks", "RNR NAKs", &RnrStats::naks);
    o.key("longest_chain", "most RNR NAKs of one request in a row", &RnrStats::longest_chain);
    o.key("coded_wait_ns", "how long the last RNR NAK asked to wait", &RnrStats::coded_wait_ns);
    o.object("wait_ns", "from an RNR NAK to the repeated request", quantiles_object(), &RnrStats::wait_ns);
    return o;
  }();
  return object;
}

const JsonObject<RefusedRequest>& refused_object() {
  using X = const RefusedRequest&;
  static const auto object = [] {
    JsonObject<RefusedRequest> o("refused_request");
    o.key("why", "the NAK in words", [](X r) { return dissect::syndrome_text(r.syndrome); });
    o.key("syndrome", "syndrome of the AETH", &RefusedRequest::syndrome);
    o.key("opcode", "opcode of the packet with the PSN of the NAK",
          [](X r) { return dissect::opcode_name(r.opcode); });
    o.key("psn", "PSN of the NAK", &RefusedRequest::psn);
    o.key("virtual_address", "of the RETH of its message; null without",
          [](X r) { return r.has_reth ? std::optional(r.virtual_address) : std::nullopt; });
    o.key("r_key", "R_Key of its message; null without RETH",
          [](X r) { return r.has_reth ? std::optional(r.r_key) : std::nullopt; });
    o.key("length", "DMA length of its message; null without RETH", [](X r) {
       return r.has_reth ? std::optional(r.length) : std::nullopt;
     }).in("byte");
    o.key("nak_packet", "number of the NAK; null: not captured",
          [](X r) { return unless_zero(r.nak_frame); });
    o.key("request_packet", "number of the packet that was refused; null: not captured",
          [](X r) { return unless_zero(r.request_frame); });
    return o;
  }();
  return object;
}

const JsonObject<EventLog>& event_log_object() {
  using X = const EventLog&;
  static const auto object = [] {
    JsonObject<EventLog> o("event");
    o.key("count", "how often", &EventLog::count);
    o.key("first_time", "time of the first", [](X log) { return json_time(log.first_time_ns); });
    o.key("last_time", "time of the last", [](X log) { return json_time(log.last_time_ns); });
    o.key("packets", "numbers of the first eight packets", &EventLog::frames);
    return o;
  }();
  return object;
}

std::vector<std::pair<std::string_view, const EventLog&>> logs_of(const Events& events) {
  std::vector<std::pair<std::string_view, const EventLog&>> logs;
  for (std::size_t i = 0; i < event_count && !events.empty(); ++i) {
    const auto event = static_cast<Event>(i);
    if (const EventLog* log = events.find(event)) logs.emplace_back(event_name(event), *log);
  }
  return logs;
}

/// One side of a connection.
struct SideIn {
  const Connection& c;
  std::size_t side;
  [[nodiscard]] const Requester& requester() const { return c.requester[side]; }
};

std::vector<std::pair<std::string_view, const OperationStats&>> side_operations(const SideIn& in) {
  std::vector<std::pair<std::string_view, const OperationStats&>> all;
  for (const OperationStats& stats : in.requester().operations)
    all.emplace_back(operation_kind_name(stats.kind), stats);
  return all;
}

/// One side: the packets it sent, its requests and the responses to them.
const JsonObject<SideIn>& connection_side_object() {
  using S = const SideIn&;
  static const auto object = [] {
    JsonObject<SideIn> o("connection_side");
    o.key("side", "a or b", [](S s) { return json_side_names[s.side]; }).of(json_side_names);
    o.key("packets", "packets that it sent", [](S s) { return s.c.packets[s.side]; });
    o.key("bytes", "their bytes on the wire", [](S s) { return s.c.bytes[s.side]; });
    o.key("cnps", "CNPs that it sent", [](S s) { return s.c.cnps[s.side]; });
    o.key("left_out", "packets that it sent in the time range and that the filter rejected",
          [](S s) { return s.c.left_out[s.side]; });
    o.key("first_psn", "first PSN of its requests; null without any",
          [](S s) { return s.requester().seen ? std::optional(s.requester().first_psn) : std::nullopt; });
    o.key("next_psn", "PSN that follows on its requests; null without any",
          [](S s) { return s.requester().seen ? std::optional(s.requester().next_psn) : std::nullopt; });
    o.key("requests", "its request packets, retransmissions included",
          [](S s) { return s.requester().requests; });
    o.key("acks", "positive acknowledgements that it got", [](S s) { return s.requester().acks; });
    o.key("goodput_bytes", "message bytes without retransmissions",
          [](S s) { return s.requester().new_bytes; });
    o.key("refused_bytes", "message bytes that the responder never took, because the queue pair ended before",
          [](S s) { return s.requester().trouble->refused_bytes; });
    o.key("in_flight_max", "most PSNs that were sent and not yet acknowledged",
          [](S s) { return s.requester().in_flight_max; });
    o.key("credits_used", "the peer grants credits", [](S s) { return s.requester().credits_used; });
    o.key("idle_ns", "longest time without a packet of its requests or of the responses to them",
          [](S s) { return s.requester().idle_ns; });
    o.key("idle_from_packet", "number of the packet before that time; null: none",
          [](S s) { return unless_zero(s.requester().idle_from_frame); });
    o.map("operations", "its operations by kind", side_operation_object(), side_operations);
    o.key("retry_chains", "timeout retransmissions of one PSN in a row, times",
          [](S s) { return s.requester().trouble->chains; });
    o.object("worst_retry_chain", "the worst of them; null without any", retry_chain_object(), [](S s) {
      const RetryChain& chain = s.requester().trouble->worst_chain;
      return chain.resends == 0 ? nullptr : &chain;
    });
    o.object("rnr", "RNR NAKs that it got; null without any", rnr_object(),
             [](S s) { return s.requester().trouble->rnr.get(); });
    o.list(
        "refused", "the first four requests that were refused", refused_object(),
        [](S s) -> const auto& { return s.requester().trouble->refused; });
    o.key("retries_exhausted", "its requests ended without an answer",
          [](S s) { return s.requester().retries_exhausted; });
    o.key("rnr_exhausted", "its requests ended by RNR NAKs", [](S s) { return s.requester().rnr_exhausted; });
    o.key("refused_fatally", "its requests ended by a fatal NAK",
          [](S s) { return s.requester().refused_fatally; });
    o.map("events", "events of packets that it sent, by name", event_log_object(),
          [](S s) { return logs_of(s.c.sent[s.side]); });
    return o;
  }();
  return object;
}

const JsonObject<CmSeen>& cm_message_object() {
  using X = const CmSeen&;
  static const auto object = [] {
    JsonObject<CmSeen> o("cm_message");
    o.key("packet", "number of the first", &CmSeen::frame);
    o.key("time", "time of the first", [](X seen) { return json_time(seen.time_ns); });
    o.key("last_time", "time of the last", [](X seen) { return json_time(seen.last_time_ns); });
    o.key("count", "how often it was captured", &CmSeen::count);
    return o;
  }();
  return object;
}

const JsonObject<CmExchange>& cm_client_object() {
  static const auto object = [] {
    JsonObject<CmExchange> o("cm_client");
    o.key("address", "address", [](C cm) { return address_text(cm.client); });
    o.key("comm_id", "its communication id", &CmExchange::client_comm_id);
    o.key("qp", "its queue pair; null: not captured", &CmExchange::client_qpn);
    o.key("psn", "its first PSN; null: not captured", &CmExchange::client_psn);
    return o;
  }();
  return object;
}

const JsonObject<CmExchange>& cm_server_object() {
  static const auto object = [] {
    JsonObject<CmExchange> o("cm_server");
    o.key("address", "address", [](C cm) { return address_text(cm.server); });
    o.key("comm_id", "its communication id", &CmExchange::server_comm_id);
    o.key("qp", "its queue pair; null: not captured", &CmExchange::server_qpn);
    o.key("psn", "its first PSN; null: not captured", &CmExchange::server_psn);
    return o;
  }();
  return object;
}

const JsonObject<CmExchange>& cm_messages_object() {
  static const auto object = [] {
    JsonObject<CmExchange> o("cm_messages");
    const auto message = [&o](std::string name, CmSeen CmExchange::*member) {
      o.object(std::move(name), "this message; null: not captured", cm_message_object(),
               [member](C cm) { return cm.*member ? &(cm.*member) : nullptr; });
    };
    message("req", &CmExchange::req);
    message("mra", &CmExchange::mra);
    message("rep", &CmExchange::rep);
    message("rtu", &CmExchange::rtu);
    message("rej", &CmExchange::rej);
    message("dreq", &CmExchange::dreq);
    message("drep", &CmExchange::drep);
    return o;
  }();
  return object;
}

/// An exchange with its place and the connections that it made.
struct ExchangeIn {
  const CmExchange& cm;
  std::size_t id;
  std::vector<std::uint32_t> connections;
};

const CmExchange& exchange_in(const ExchangeIn& in) {
  return in.cm;
}

const JsonObject<ExchangeIn>& cm_exchange_object() {
  using X = const ExchangeIn&;
  static const auto object = [] {
    JsonObject<ExchangeIn> o("cm_exchange");
    o.key("id", "from 0, by first message", &ExchangeIn::id);
    o.key("state", "how far it came", [](X x) { return cm_state_name(x.cm.state); });
    o.key("sidr", "a UD lookup", [](X x) { return x.cm.sidr; });
    o.key("version", "RoCE version, or native InfiniBand", [](X x) { return version_name(x.cm.transport); });
    o.key("service", "transport service asked for",
          [](X x) { return dissect::cm_transport_name(x.cm.service); });
    o.object("client", "who asked", cm_client_object(), exchange_in);
    o.object("server", "who was asked", cm_server_object(), exchange_in);
    o.include(cm_service_keys(), exchange_in);
    o.include(cm_parameter_keys(), exchange_in);
    o.key("reject_reason_name", "the same in words; null without one", [](X x) {
      return unless_empty(x.cm.reject_reason ? dissect::reject_reason_name(*x.cm.reject_reason) : "");
    });
    o.key("rejected_by_server", "the REJ came from the server", [](X x) { return x.cm.rejected_by_server; });
    o.key("sidr_status", "status of the answer to a UD lookup; null without one",
          [](X x) { return x.cm.sidr_status; });
    o.key("connect_ns", "from REQ to RTU; null: not captured", [](X x) { return connect_time_ns(x.cm); });
    o.key("answer_ns", "from REQ to REP or REJ; null: not captured",
          [](X x) { return answer_time_ns(x.cm); });
    o.key("ready_ns", "from REP to RTU; null: not captured", [](X x) { return ready_time_ns(x.cm); });
    o.key("connections", "ids of connections that it made", &ExchangeIn::connections);
    o.object("messages", "its messages", cm_messages_object(), exchange_in);
    return o;
  }();
  return object;
}

const JsonObject<NakCounts>& naks_object() {
  static const auto object = [] {
    JsonObject<NakCounts> o("naks");
    for (std::size_t i = 0; i < NakCounts{}.size(); ++i) {
      o.key(std::string(nak_kind_name(static_cast<NakKind>(i))), "NAKs of this kind",
            [i](const NakCounts& naks) { return naks[i]; });
    }
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<Endpoint>& endpoint_object() {
  static const auto object = [] {
    JsonObject<Endpoint> o("endpoint");
    o.key("address", "address", [](const Endpoint& end) { return address_text(end.address); });
    o.key("qp", "queue pair; null: not known", &Endpoint::qp);
    return o;
  }();
  return object;
}

const JsonObject<ConnectionRow>& connection_object() {
  static const auto object = [] {
    JsonObject<ConnectionRow> o("connection");
    const auto columns = [&o](std::initializer_list<std::string_view> names) {
      add_columns(o, connection_columns(), names);
    };
    columns({"id", "service", "version"});
    o.object("a", "the side that sent the first packet captured", endpoint_object(),
             [](R r) -> const Endpoint& { return r->ends[0]; });
    o.object("b", "the other side", endpoint_object(), [](R r) -> const Endpoint& { return r->ends[1]; });
    o.object("pairing", "why its two flows are taken for one connection", pairing_object(),
             [](R r) -> const Pairing& { return r->pairing; });
    o.object("cm", "what was negotiated; null without a captured exchange", connection_cm_object(),
             [](R r) { return r.cm() != nullptr ? &r : nullptr; });
    o.key("pmtu", "path MTU, by the CM or else by the packets; null: not known", [](R r) {
       return unless_zero(r->pmtu);
     }).in("byte");
    o.key("pmtu_by_cm", "the CM negotiated it", [](R r) { return r->pmtu_by_cm; });
    o.key("flows", "ids of its flows, that of a first", [](R r) {
      std::vector<std::uint64_t> ids;
      for (const std::optional<std::uint64_t>& flow : r->flow) {
        if (flow) ids.push_back(*flow);
      }
      return ids;
    });
    columns({"packets", "bytes", "first_time", "last_time"});
    o.key("first_packet", "number of its first packet; null: none",
          [](R r) { return unless_zero(r->first_frame); });
    o.object("naks", "NAKs by kind", naks_object(), [](R r) { return r.naks(); });
    columns({"acks", "cnps"});
    o.include(connection_congestion_keys(), [](R r) -> const Connection& { return *r; });
    o.include(sequence_keys(), [](R r) { return r.sequence(); });
    o.object("operations", "operations of both sides by kind", operations_object(), std::identity());
    o.object("nak_generation_ns", "from the packet after a gap to the NAK, at the capture point",
             quantiles_object(), merged(&RequesterTrouble::nak_generation_ns));
    o.object("nak_reaction_ns", "from a NAK to the first retransmitted packet", quantiles_object(),
             merged(&RequesterTrouble::nak_reaction_ns));
    o.object("read_rerequest_ns", "from the response after a gap to the retransmitted READ request",
             quantiles_object(), merged(&RequesterTrouble::read_rerequest_ns));
    columns({"in_flight_max", "goodput_bytes", "goodput_bps", "throughput_bps", "state"});
    o.list("sides", "a and b", connection_side_object(), [](R r) {
      return std::array{SideIn{*r, 0}, SideIn{*r, 1}};
    });
    add_other_columns(o, connection_columns(),
                      {"a_qp",
                       "a_flow",
                       "b_qp",
                       "b_flow",
                       "upper",
                       "evidence",
                       "confidence",
                       "retransmitted_nak",
                       "retransmitted_timeout",
                       "retransmitted_rnr",
                       "retransmitted_read_retry",
                       "retransmitted_unknown",
                       "lost_before_capture",
                       "lost_after_capture",
                       "lost_by_capture",
                       "lost_trimmed",
                       "lost_undecided",
                       "wasted_bytes",
                       "rnr_naks",
                       "latency_p50_ns",
                       "latency_p99_ns",
                       "cm_service",
                       "duration_ns"});
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& cm_exchange_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("cm_exchanges");
    o.list("cm_exchanges", "attempts to connect, in order of their first message", cm_exchange_object(),
           [](const ReportPage& page) {
             std::vector<ExchangeIn> all;
             for (std::size_t i = 0; i < page.s.exchanges.size(); ++i)
               all.push_back({page.s.exchanges[i], i, {}});
             for (const Connection& c : page.s.connections) {
               if (c.cm && *c.cm < all.size()) all[*c.cm].connections.push_back(c.id);
             }
             return all;
           });
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
