// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/report/json/json_parts.hpp"

namespace roce::analyze {
namespace {

/// One of several things that the exports have.
template <class What>
struct ExportIn {
  const Exports& e;
  const What& it;
  [[nodiscard]] const What* operator->() const { return &it; }
};
template <class What>
std::vector<ExportIn<What>> all_in(const Exports& e, const std::vector<What>& all) {
  std::vector<ExportIn<What>> rows;
  rows.reserve(all.size());
  for (const What& each : all) rows.push_back({e, each});
  return rows;
}
template <class What>
std::string agent_of(const ExportIn<What>& in) {
  return address_text(in.e.agents[in->agent].address);
}
template <class What>
auto sub_agent_of(const ExportIn<What>& in) {
  return in.e.agents[in->agent].sub_agent;
}

const JsonObject<Estimate>& estimate_object() {
  using E = const Estimate&;
  static const auto object = [] {
    JsonObject<Estimate> o("estimate");
    o.key("value", "estimated from the samples",
          [](E e) { return JsonDigits{fmt::format("{:.0f}", e.value)}; });
    o.key("error", "its error, 95 % of cases",
          [](E e) { return JsonDigits{fmt::format("{:.0f}", e.error)}; });
    return o;
  }();
  return object;
}
/// null where there are too few samples for a figure
std::optional<Estimate> told(const Estimate& estimate) {
  return estimate.told() ? std::optional(estimate) : std::nullopt;
}

const JsonObject<ExportAgent>& export_agent_object() {
  using A = const ExportAgent&;
  static const auto object = [] {
    JsonObject<ExportAgent> o("export_agent");
    o.key("protocol", "sFlow, IPFIX or NetFlow", [](A a) { return protocol_name(a.protocol); });
    o.key("address", "address of the switch", [](A a) { return address_text(a.address); });
    o.key("sub_agent", "number of its sub-agent or observation domain", [](A a) { return a.sub_agent; });
    o.key("datagrams", "datagrams", [](A a) { return a.datagrams; });
    o.key("missing", "datagrams that did not come, by their numbers", [](A a) { return a.missing; });
    o.key("duplicates", "datagrams that came twice", [](A a) { return a.duplicates; });
    o.key("restarts", "times that its numbers began anew", [](A a) { return a.restarts; });
    o.key("first_time", "time of the first datagram", [](A a) { return json_time(a.first_ns); });
    o.key("last_time", "time of the last datagram", [](A a) { return json_time(a.last_ns); });
    return o;
  }();
  return object;
}

const JsonObject<ExportIn<ExportSource>>& export_source_object() {
  using S = const ExportIn<ExportSource>&;
  static const auto object = [] {
    JsonObject<ExportIn<ExportSource>> o("export_source");
    o.key("agent", "address of the switch", agent_of<ExportSource>);
    o.key("sub_agent", "number of its sub-agent or observation domain", sub_agent_of<ExportSource>);
    o.key("class", "class of the data source", [](S s) { return s->source_class; });
    o.key("index", "index of the data source", [](S s) { return s->index; });
    o.key("rate", "sampling rate that it announces: one of so many",
          [](S s) { return std::llround(static_cast<double>(s->rate) / s->per); });
    o.key("one_in", "sampling rate by its counts: one of so many",
          [](S s) { return JsonDigits{fmt::format("{:.2f}", s->one_in())}; });
    o.key("samples", "samples", [](S s) { return s->samples; });
    o.key("roce", "samples of RoCE", [](S s) { return s->roce; });
    o.key("unread", "samples that could not be read", [](S s) { return s->unread; });
    o.key("missing", "samples that did not come, by their numbers", [](S s) { return s->missing; });
    o.key("dropped", "samples that the switch dropped", [](S s) { return s->dropped; });
    o.key("pool", "packets that could have been sampled", [](S s) { return s->pool; });
    o.key("ingress", "samples taken at the ingress", [](S s) { return s->ingress; });
    o.key("egress", "samples taken at the egress", [](S s) { return s->egress; });
    o.object("packets", "RoCE packets; null: too few samples", estimate_object(),
             [](S s) { return told(s->packets()); });
    return o;
  }();
  return object;
}

const JsonObject<SampleCounts>& sampled_ecn_object() {
  using C = const SampleCounts&;
  static const auto object = [] {
    JsonObject<SampleCounts> o("sampled_ecn");
    o.key("not_ect", "Not-ECT", [](C c) { return c.ecn[0]; });
    o.key("ect0", "ECT(0)", [](C c) { return c.ecn[2]; });
    o.key("ect1", "ECT(1)", [](C c) { return c.ecn[1]; });
    o.key("ce", "CE", [](C c) { return c.ecn[3]; });
    return o;
  }();
  return object;
}

const JsonObject<ExportIn<ExportFlow>>& sampled_flow_object() {
  using F = const ExportIn<ExportFlow>&;
  static const auto object = [] {
    JsonObject<ExportIn<ExportFlow>> o("export_flow");
    o.key("agent", "address of the switch", agent_of<ExportFlow>);
    o.key("sub_agent", "number of its sub-agent or observation domain", sub_agent_of<ExportFlow>);
    o.key("src", "source address", [](F f) { return address_text(f->key.src); });
    o.key("dst", "destination address", [](F f) { return address_text(f->key.dst); });
    o.key("dst_qp", "destination queue pair", [](F f) { return f->key.dst_qp; });
    o.key("at", "where the switch took the samples", [](F f) {
       return f->egress ? "egress" : "ingress";
     }).of({"egress", "ingress"});
    o.key("samples", "samples", [](F f) { return f->counts.samples; });
    o.object("packets", "packets; null: too few samples", estimate_object(),
             [](F f) { return told(f->packets); });
    o.object("bytes", "bytes on the wire; null: too few samples", estimate_object(),
             [](F f) { return told(f->bytes); });
    o.key("opcodes", "samples by opcode", [](F f) { return counts_by(f->opcodes, json_opcode_key); });
    o.key("dscp", "samples by DSCP", [](F f) { return counts_by(f->dscp, json_number_key); });
    o.object(
        "ecn", "samples by ECN codepoint", sampled_ecn_object(),
        [](F f) -> const auto& { return f->counts; });
    o.key("cnps", "samples of CNPs", [](F f) { return f->counts.cnps; });
    o.key("naks", "samples of NAKs", [](F f) { return f->counts.naks; });
    o.key("rnr_naks", "samples of RNR NAKs", [](F f) { return f->counts.rnr_naks; });
    o.key("first_time", "time of the first sample", [](F f) { return json_time(f->first_ns); });
    o.key("last_time", "time of the last sample", [](F f) { return json_time(f->last_ns); });
    o.key("first_packet", "number of the first sample's packet", [](F f) { return f->first_packet; });
    return o;
  }();
  return object;
}

const JsonObject<ExportIn<ExportQueue>>& export_queue_object() {
  using Q = const ExportIn<ExportQueue>&;
  static const auto object = [] {
    JsonObject<ExportIn<ExportQueue>> o("export_queue");
    o.key("agent", "address of the switch", agent_of<ExportQueue>);
    o.key("port", "its port", [](Q q) { return q->port; });
    o.key("queue", "its queue; null: not told", [](Q q) { return q->queue; });
    o.key("samples", "samples that tell of it", [](Q q) { return q->samples; });
    o.object(
        "depth_bytes", "how full it was", size_quantiles_object(),
        [](Q q) -> const auto& { return q->depth; });
    o.object(
        "delay_ns", "how long packets stayed in the switch", quantiles_object(),
        [](Q q) -> const auto& { return q->delay_ns; });
    o.key("longer", "delays beyond what can be told", [](Q q) { return q->longer; });
    return o;
  }();
  return object;
}

const JsonObject<ExportPort>& export_port_pfc_object() {
  using P = const ExportPort&;
  static const auto object = [] {
    JsonObject<ExportPort> o("export_port_pfc");
    o.key("requests", "PFC frames sent", [](P p) { return p.pfc_requests; });
    o.key("indications", "PFC frames received", [](P p) { return p.pfc_indications; });
    o.key("pause_us", "time paused", [](P p) { return p.pause_us; });
    o.key("storms", "pause storms", [](P p) { return p.storms; });
    return o;
  }();
  return object;
}

const JsonObject<ExportIn<ExportPort>>& exported_port_object() {
  using P = const ExportIn<ExportPort>&;
  static const auto object = [] {
    JsonObject<ExportIn<ExportPort>> o("export_port");
    o.key("agent", "address of the switch", agent_of<ExportPort>);
    o.key("port", "index of the port", [](P p) { return p->index; });
    o.key("samples", "samples of its counters", [](P p) { return p->samples; });
    o.key("speed_bps", "its speed", [](P p) { return p->speed_bps; });
    o.key("in_bytes", "received, by its counters", [](P p) { return p->in_octets; });
    o.key("out_bytes", "sent, by its counters", [](P p) { return p->out_octets; });
    o.key("in_discards", "received packets that it discarded", [](P p) { return p->in_discards; });
    o.key("out_discards", "packets that it discarded instead of sending them",
          [](P p) { return p->out_discards; });
    o.key("in_errors", "received packets with errors", [](P p) { return p->in_errors; });
    o.key("out_errors", "errors in sending", [](P p) { return p->out_errors; });
    o.object("pfc", "its PFC counters; null: not told", export_port_pfc_object(),
             [](P p) { return p->pfc ? &p.it : nullptr; });
    return o;
  }();
  return object;
}

std::optional<std::uint32_t> known_port(std::uint32_t port) {
  return port == dissect::sflow::Port::unknown ? std::nullopt : std::optional(port);
}

const JsonObject<ExportIn<ExportDrop>>& export_drop_object() {
  using D = const ExportIn<ExportDrop>&;
  static const auto object = [] {
    JsonObject<ExportIn<ExportDrop>> o("export_drop");
    const auto of_roce = [&o](std::string name, std::string_view help, auto get) {
      o.key(std::move(name), help, [get](D d) { return d->roce ? std::optional(get(d.it)) : std::nullopt; });
    };
    o.key("agent", "address of the switch", agent_of<ExportDrop>);
    o.key("in_port", "port that it came in by; null: not told", [](D d) { return known_port(d->input); });
    o.key("port", "port that it was to leave by; null: not told", [](D d) { return known_port(d->output); });
    o.key("queue", "queue; null: not told", [](D d) { return d->queue; });
    o.key("reason", "reason in words", [](D d) { return drop_reason_text(d->reason); });
    o.key("reason_code", "reason as a number", [](D d) { return d->reason.code; });
    o.key("reason_list", "which list the number is from",
          [](D d) { return drop_reasons_name(d->reason.list); });
    o.key("packet", "number of the packet that tells of it", [](D d) { return d->packet; });
    o.key("time", "its time", [](D d) { return json_time(d->time_ns); });
    of_roce("src", "source address; null: not RoCE",
            [](const ExportDrop& d) { return address_text(d.key.src); });
    of_roce("dst", "destination address; null: not RoCE",
            [](const ExportDrop& d) { return address_text(d.key.dst); });
    of_roce("dst_qp", "destination queue pair; null: not RoCE",
            [](const ExportDrop& d) { return d.key.dst_qp; });
    of_roce("psn", "PSN; null: not RoCE", [](const ExportDrop& d) { return d.psn; });
    of_roce("opcode", "opcode; null: not RoCE",
            [](const ExportDrop& d) { return json_opcode_key(d.opcode); });
    o.key("loss_shown_by", "number of the packet that shows this loss on the wire; null: none",
          [](D d) { return unless_zero(d->loss_shown_by); });
    return o;
  }();
  return object;
}

struct DropGroupIn {
  const Exports& e;
  ExportDropGroup group;
  [[nodiscard]] const ExportDropGroup* operator->() const { return &group; }
};

const JsonObject<DropGroupIn>& drop_group_object() {
  using G = const DropGroupIn&;
  static const auto object = [] {
    JsonObject<DropGroupIn> o("drop");
    o.key("agent", "address of the switch", [](G g) { return address_text(g.e.agents[g->agent].address); });
    o.key("port", "port that they were to leave by; null: not told",
          [](G g) { return known_port(g->output); });
    o.key("queue", "queue; null: not told", [](G g) { return g->queue; });
    o.key("reason", "reason in words", [](G g) { return drop_reason_text(g->reason); });
    o.key("packets", "packets that it dropped", [](G g) { return g->packets; });
    o.key("roce", "RoCE packets of these", [](G g) { return g->roce; });
    o.key("matched", "losses on the wire that they explain", [](G g) { return g->matched; });
    return o;
  }();
  return object;
}

/// The exports of a report, which is handed on in pieces.
struct ExportsPage {
  const Exports& e;
  const ReportSink& sink;
  void step() const { sink.step(); }
};

const JsonObject<ExportsPage>& exports_object() {
  using X = const ExportsPage&;
  static const auto object = [] {
    JsonObject<ExportsPage> o("exports");
    o.key("datagrams", "datagrams of sFlow, IPFIX and NetFlow", [](X x) { return x.e.datagrams; });
    o.key("switches", "switches that sent them", [](X x) { return x.e.switches(); });
    o.key("samples", "samples of packets", [](X x) { return x.e.samples(); });
    o.key("one_in", "sampling rate of all: one of so many",
          [](X x) { return JsonDigits{fmt::format("{:.2f}", x.e.one_in())}; });
    o.key("unreadable", "datagrams that could not be read", [](X x) { return x.e.unreadable; });
    o.key("other_formats", "records in formats that are not read", [](X x) { return x.e.other_formats; });
    o.list(
        "agents", "who exports", export_agent_object(), [](X x) -> const auto& { return x.e.agents; });
    o.list("sources", "data sources of these", export_source_object(),
           [](X x) { return all_in(x.e, x.e.sources); });
    o.list("flows", "RoCE flows in the samples", sampled_flow_object(),
           [](X x) { return all_in(x.e, x.e.flows); });
    o.list("queues", "queues that samples tell of", export_queue_object(),
           [](X x) { return all_in(x.e, x.e.queues); });
    o.list("ports", "ports that counters tell of", exported_port_object(),
           [](X x) { return all_in(x.e, x.e.ports); });
    o.list("drops", "packets that switches dropped", export_drop_object(),
           [](X x) { return all_in(x.e, x.e.drops); });
    o.key("drops_matched", "drops that explain a loss on the wire", [](X x) { return x.e.matched_drops(); });
    o.key("drops_suppressed", "drops that switches did not tell of one by one",
          [](X x) { return x.e.drops_suppressed; });
    o.key("drops_not_listed", "drops beyond the limit", [](X x) { return x.e.drops_dropped; });
    o.key("flow_records", "records of flows", [](X x) { return x.e.flow_records; });
    o.key("roce_flow_records", "records of RoCE flows", [](X x) { return x.e.roce_flow_records; });
    o.key("sets_without_template", "sets of which the template was not captured",
          [](X x) { return x.e.sets_without_template; });
    o.key("templates_changed", "templates that changed", [](X x) { return x.e.templates_changed; });
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<ReportPage>& export_keys() {
  using P = const ReportPage&;
  static const auto object = [] {
    JsonObject<ReportPage> o("exports_page");
    o.object("exports", "what switches say of packets that were not captured here; null: nothing",
             exports_object(), [](P p) {
               const Exports& e = p.s.exports;
               return e.any() ? std::optional(ExportsPage{e, p.sink}) : std::nullopt;
             });
    o.list("drops", "what switches dropped, by port, queue and reason", drop_group_object(), [](P p) {
      std::vector<DropGroupIn> groups;
      for (const ExportDropGroup& group : drop_groups(p.s.exports)) groups.push_back({p.s.exports, group});
      return groups;
    });
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
