// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "analyze/base/address_text.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

/// null where there are too few samples for a figure.
void write_estimate(JsonWriter& json, std::string_view key, const Estimate& estimate) {
  if (!estimate.told()) {
    json.null_field(key);
    return;
  }
  json.key(key).begin_object();
  json.key("value").number(fmt::format("{:.0f}", estimate.value));
  json.key("error").number(fmt::format("{:.0f}", estimate.error)).end_object();
}

void write_agent(JsonWriter& json, const ExportAgent& agent) {
  json.begin_object().field("protocol", protocol_name(agent.protocol));
  json.field("address", address_text(agent.address)).field("sub_agent", agent.sub_agent);
  json.field("datagrams", agent.datagrams).field("missing", agent.missing);
  json.field("duplicates", agent.duplicates).field("restarts", agent.restarts);
  write_time(json, "first_time", agent.first_ns);
  write_time(json, "last_time", agent.last_ns);
  json.end_object();
}

void write_source(JsonWriter& json, const Exports& e, const ExportSource& source) {
  json.begin_object().field("agent", address_text(e.agents[source.agent].address));
  json.field("sub_agent", e.agents[source.agent].sub_agent).field("class", source.source_class);
  json.field("index", source.index);
  json.field("rate", std::llround(static_cast<double>(source.rate) / source.per));
  json.key("one_in").number(fmt::format("{:.2f}", source.one_in()));
  json.field("samples", source.samples).field("roce", source.roce).field("unread", source.unread);
  json.field("missing", source.missing).field("dropped", source.dropped).field("pool", source.pool);
  json.field("ingress", source.ingress).field("egress", source.egress);
  write_estimate(json, "packets", source.packets());
  json.end_object();
}

void write_sampled_flow(JsonWriter& json, const Exports& e, const ExportFlow& flow) {
  const SampleCounts& counts = flow.counts;
  json.begin_object().field("agent", address_text(e.agents[flow.agent].address));
  json.field("sub_agent", e.agents[flow.agent].sub_agent);
  json.field("src", address_text(flow.key.src)).field("dst", address_text(flow.key.dst));
  json.field("dst_qp", flow.key.dst_qp).field("at", flow.egress ? "egress" : "ingress");
  json.field("samples", counts.samples);
  write_estimate(json, "packets", flow.packets);
  write_estimate(json, "bytes", flow.bytes);
  json.key("opcodes").begin_object();
  for (const auto& entry : flow.opcodes.sorted()) json.field(dissect::opcode_name(entry.key), entry.count);
  json.end_object().key("dscp").begin_object();
  for (const auto& entry : flow.dscp.sorted()) json.field(std::to_string(entry.key), entry.count);
  json.end_object().key("ecn").begin_object();
  json.field("not_ect", counts.ecn[0]).field("ect0", counts.ecn[2]);
  json.field("ect1", counts.ecn[1]).field("ce", counts.ecn[3]).end_object();
  json.field("cnps", counts.cnps).field("naks", counts.naks).field("rnr_naks", counts.rnr_naks);
  write_time(json, "first_time", flow.first_ns);
  write_time(json, "last_time", flow.last_ns);
  json.field("first_packet", flow.first_packet).end_object();
}

void write_queue(JsonWriter& json, const Exports& e, const ExportQueue& queue) {
  json.begin_object().field("agent", address_text(e.agents[queue.agent].address)).field("port", queue.port);
  write_optional(json, "queue", queue.queue);
  json.field("samples", queue.samples);
  write_quantiles(json, "depth_bytes", queue.depth);
  write_quantiles(json, "delay_ns", queue.delay_ns);
  json.field("longer", queue.longer).end_object();
}

void write_exported_port(JsonWriter& json, const Exports& e, const ExportPort& port) {
  json.begin_object().field("agent", address_text(e.agents[port.agent].address)).field("port", port.index);
  json.field("samples", port.samples).field("speed_bps", port.speed_bps);
  json.field("in_bytes", port.in_octets).field("out_bytes", port.out_octets);
  json.field("in_discards", port.in_discards).field("out_discards", port.out_discards);
  json.field("in_errors", port.in_errors).field("out_errors", port.out_errors);
  if (!port.pfc) {
    json.null_field("pfc").end_object();
    return;
  }
  json.key("pfc")
      .begin_object()
      .field("requests", port.pfc_requests)
      .field("indications", port.pfc_indications);
  json.field("pause_us", port.pause_us).field("storms", port.storms).end_object().end_object();
}

void write_port_number(JsonWriter& json, std::string_view key, std::uint32_t port) {
  port == dissect::sflow::Port::unknown ? json.null_field(key) : json.field(key, port);
}

void write_drop(JsonWriter& json, const Exports& e, const ExportDrop& drop) {
  json.begin_object().field("agent", address_text(e.agents[drop.agent].address));
  write_port_number(json, "in_port", drop.input);
  write_port_number(json, "port", drop.output);
  write_optional(json, "queue", drop.queue);
  json.field("reason", drop_reason_text(drop.reason)).field("reason_code", drop.reason.code);
  json.field("reason_list", drop_reasons_name(drop.reason.list));
  json.field("packet", drop.packet);
  write_time(json, "time", drop.time_ns);
  if (drop.roce) {
    json.field("src", address_text(drop.key.src)).field("dst", address_text(drop.key.dst));
    json.field("dst_qp", drop.key.dst_qp)
        .field("psn", drop.psn)
        .field("opcode", dissect::opcode_name(drop.opcode));
  } else {
    for (const std::string_view key : {"src", "dst", "dst_qp", "psn", "opcode"}) json.null_field(key);
  }
  drop.loss_shown_by == 0 ? json.null_field("loss_shown_by")
                          : json.field("loss_shown_by", drop.loss_shown_by);
  json.end_object();
}

template <class All, class Write>
void write_all(JsonWriter& json, std::string_view key, const All& all, Write write) {
  json.key(key).begin_array();
  for (const auto& each : all) write(each);
  json.end_array();
}

/// null without exports.
void write_exported(JsonWriter& json, const Exports& e, const ReportSink& sink) {
  if (!e.any()) {
    json.null_field("exports");
    return;
  }
  json.key("exports").begin_object().field("datagrams", e.datagrams).field("switches", e.switches());
  json.field("samples", e.samples());
  json.key("one_in").number(fmt::format("{:.2f}", e.one_in()));
  json.field("unreadable", e.unreadable).field("other_formats", e.other_formats);
  write_all(json, "agents", e.agents, [&](const ExportAgent& each) { write_agent(json, each); });
  write_all(json, "sources", e.sources, [&](const ExportSource& each) { write_source(json, e, each); });
  write_all(json, "flows", e.flows, [&](const ExportFlow& each) {
    write_sampled_flow(json, e, each);
    sink.step();
  });
  write_all(json, "queues", e.queues, [&](const ExportQueue& each) { write_queue(json, e, each); });
  write_all(json, "ports", e.ports, [&](const ExportPort& each) { write_exported_port(json, e, each); });
  write_all(json, "drops", e.drops, [&](const ExportDrop& each) {
    write_drop(json, e, each);
    sink.step();
  });
  json.field("drops_matched", e.matched_drops()).field("drops_suppressed", e.drops_suppressed);
  json.field("drops_not_listed", e.drops_dropped);
  json.field("flow_records", e.flow_records).field("roce_flow_records", e.roce_flow_records);
  json.field("sets_without_template", e.sets_without_template);
  json.field("templates_changed", e.templates_changed).end_object();
}

}  // namespace

void write_exports(JsonWriter& json, const Snapshot& snapshot, const ReportSink& sink) {
  const Exports& e = snapshot.exports;
  write_exported(json, e, sink);
  write_all(json, "drops", drop_groups(e), [&](const ExportDropGroup& group) {
    json.begin_object().field("agent", address_text(e.agents[group.agent].address));
    write_port_number(json, "port", group.output);
    write_optional(json, "queue", group.queue);
    json.field("reason", drop_reason_text(group.reason)).field("packets", group.packets);
    json.field("roce", group.roce).field("matched", group.matched).end_object();
  });
}

}  // namespace roce::analyze
