// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/export_columns.hpp"

#include <fmt/format.h>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

template <class Row>
std::string switch_text(const Row& row) {
  const ExportAgent& agent = row.exports->agents[row.it->agent];
  const std::string address = address_text(agent.address);
  return agent.sub_agent == 0 ? address : fmt::format("{}/{}", address, agent.sub_agent);
}

template <class Row>
constexpr Column<Row> switch_column{"switch", "switch", "address of the agent", false,
                                    0,        nullptr,  switch_text<Row>,       nullptr};

/// A row of counts of `What`; 0 is empty.
template <class What, std::uint64_t What::*member>
std::uint64_t count_of(const ExportRow<What>& row) {
  return row.it->*member;
}
template <class What, std::uint64_t What::*member>
constexpr Column<ExportRow<What>> exported_count(std::string_view name, std::string_view heading,
                                                 std::string_view help, std::uint8_t priority) {
  return count_column<ExportRow<What>, count_of<What, member>>(name, heading, help, priority);
}

std::string bytes_or_nothing(std::uint64_t bytes) {
  return bytes == 0 ? std::string() : bytes_text(bytes);
}

using SourceOf = const ExportSourceRow&;
constexpr Column<ExportSourceRow> source_columns[] = {
    switch_column<ExportSourceRow>,
    {"source", "data source",
     "ifIndex of the data source; of another kind: its class and index; of IPFIX: its sampler", false, 0,
     nullptr, [](SourceOf r) { return export_source_text(*r.exports, *r.it); }, nullptr},
    {"rate", "1 in", "packets of which one is sampled, as the switch says", true, 0,
     [](SourceOf r) { return static_cast<double>(r.it->rate) / r.it->per; },
     [](SourceOf r) {
       return r.it->rate == 0 ? std::string()
                              : fmt::format("{:.6g}", static_cast<double>(r.it->rate) / r.it->per);
     },
     nullptr},
    exported_count<ExportSource, &ExportSource::samples>("samples", "samples", "samples of packets", 0),
    {"packets", "packets",
     "packets that passed, estimated from the samples, with the error of 95 in 100 cases", true, 0,
     [](SourceOf r) { return r.it->packets().value; },
     [](SourceOf r) { return estimate_text(r.it->packets()); }, nullptr, CellType::text},
    exported_count<ExportSource, &ExportSource::roce>("roce", "of RoCE", "samples of RoCE packets", 1),
    exported_count<ExportSource, &ExportSource::missing>("missing", "lost",
                                                         "samples lost on the way to the collector", 1),
    exported_count<ExportSource, &ExportSource::dropped>("dropped", "not sent",
                                                         "samples that the switch had no resources for", 2),
    exported_count<ExportSource, &ExportSource::pool>(
        "pool", "pool", "packets that passed between samples, counted by the switch", 3),
};

using SampledFlow = const ExportFlowRow&;
constexpr std::size_t ce_mark = static_cast<std::size_t>(dissect::Ecn::ce);
constexpr Column<ExportFlowRow> sampled_flow_columns[] = {
    switch_column<ExportFlowRow>,
    {"src", "source", "source address", false, 0, nullptr,
     [](SampledFlow r) { return address_text(r.it->key.src); }, nullptr},
    {"dst", "destination", "destination address", false, 0, nullptr,
     [](SampledFlow r) { return address_text(r.it->key.dst); }, nullptr},
    {"dst_qp", "QP", "destination queue pair", true, 0, nullptr,
     [](SampledFlow r) { return fmt::format("{:#08x}", r.it->key.dst_qp); },
     [](SampledFlow r) { return fmt::format("{}", r.it->key.dst_qp); }},
    {"samples", "samples", "samples of the flow", true, 0,
     [](SampledFlow r) { return static_cast<double>(r.it->counts.samples); },
     [](SampledFlow r) { return fmt::format("{}", r.it->counts.samples); }, nullptr},
    {"packets", "packets", "packets, estimated, with the error of 95 in 100 cases", true, 0,
     [](SampledFlow r) { return r.it->packets.value; },
     [](SampledFlow r) { return estimate_text(r.it->packets); }, nullptr, CellType::text},
    {"bytes", "bytes", "bytes with FCS, estimated, with the error of 95 in 100 cases", true, 1,
     [](SampledFlow r) { return r.it->bytes.value; },
     [](SampledFlow r) {
       const Estimate& bytes = r.it->bytes;
       return bytes.told() ? fmt::format("{} ± {:.0f} %", bytes_text(static_cast<std::uint64_t>(bytes.value)),
                                         100 * bytes.error / bytes.value)
                           : std::string();
     },
     nullptr, CellType::text},
    {"opcode", "mostly", "its most frequent opcode", false, 2, nullptr,
     [](SampledFlow r) {
       std::uint64_t most = 0;
       std::string text;
       for (const auto& entry : r.it->opcodes.sorted()) {
         if (entry.count <= most) continue;
         most = entry.count;
         text = dissect::opcode_name(entry.key);
       }
       return text;
     },
     nullptr},
    {"dscp", "DSCP", "DSCPs of its samples", false, 1, nullptr,
     [](SampledFlow r) {
       std::string text;
       for (const auto& entry : r.it->dscp.sorted())
         text += fmt::format("{}{}", text.empty() ? "" : ", ", entry.key);
       return text;
     },
     nullptr},
    {"ce", "CE", "samples with a CE mark", true, 1,
     [](SampledFlow r) { return static_cast<double>(r.it->counts.ecn[ce_mark]); },
     [](SampledFlow r) {
       return r.it->counts.ecn[ce_mark] == 0 ? std::string() : fmt::format("{}", r.it->counts.ecn[ce_mark]);
     },
     nullptr},
    {"naks", "NAKs", "samples of NAKs and RNR NAKs", true, 2,
     [](SampledFlow r) { return static_cast<double>(r.it->counts.naks + r.it->counts.rnr_naks); },
     [](SampledFlow r) {
       const std::uint64_t all = r.it->counts.naks + r.it->counts.rnr_naks;
       return all == 0 ? std::string() : fmt::format("{}", all);
     },
     nullptr},
};

using QueueOf = const ExportQueueRow&;
std::string delay_cell(QueueOf r, double fraction) {
  const Histogram& delay = r.it->delay_ns;
  return delay.count() == 0 ? std::string()
                            : duration_text(static_cast<std::int64_t>(delay.percentile(fraction)));
}
std::string depth_cell(QueueOf r, double fraction) {
  return r.it->depth.count() == 0 ? std::string() : bytes_text(r.it->depth.percentile(fraction));
}
constexpr Column<ExportQueueRow> queue_columns[] = {
    switch_column<ExportQueueRow>,
    {"port", "port", "ifIndex where the packets leave", true, 0, nullptr,
     [](QueueOf r) { return fmt::format("{}", r.it->port); }, nullptr},
    {"queue", "queue", "egress queue", true, 0, nullptr,
     [](QueueOf r) { return r.it->queue ? fmt::format("{}", *r.it->queue) : std::string(); }, nullptr},
    exported_count<ExportQueue, &ExportQueue::samples>("samples", "samples", "samples that say it", 0),
    {"depth_p50", "depth p50", "bytes in the queue, half of the samples", true, 0, nullptr,
     [](QueueOf r) { return depth_cell(r, 0.5); }, nullptr},
    {"depth_p99", "depth p99", "bytes in the queue, 99 % of the samples", true, 0, nullptr,
     [](QueueOf r) { return depth_cell(r, 0.99); }, nullptr},
    {"depth_max", "depth max", "most bytes in the queue", true, 1, nullptr,
     [](QueueOf r) { return depth_cell(r, 1); }, nullptr},
    {"delay_p50", "delay p50", "time in the switch, half of the samples", true, 0, nullptr,
     [](QueueOf r) { return delay_cell(r, 0.5); }, nullptr},
    {"delay_p99", "delay p99", "time in the switch, 99 % of the samples", true, 0, nullptr,
     [](QueueOf r) { return delay_cell(r, 0.99); }, nullptr},
    exported_count<ExportQueue, &ExportQueue::longer>("longer", "longer", "delays beyond what can be said",
                                                      2),
};

using PortRow = const ExportPortRow&;
constexpr Column<ExportPortRow> port_columns[] = {
    switch_column<ExportPortRow>,
    {"port", "port", "ifIndex", true, 0, nullptr, [](PortRow r) { return fmt::format("{}", r.it->index); },
     nullptr},
    {"in", "in", "bytes that came in between the first and the last sample", true, 1, nullptr,
     [](PortRow r) { return bytes_or_nothing(r.it->in_octets); }, nullptr},
    {"out", "out", "bytes that went out", true, 1, nullptr,
     [](PortRow r) { return bytes_or_nothing(r.it->out_octets); }, nullptr},
    exported_count<ExportPort, &ExportPort::in_discards>("in_discards", "discards in",
                                                         "packets discarded on the way in", 0),
    exported_count<ExportPort, &ExportPort::out_discards>("out_discards", "discards out",
                                                          "packets discarded on the way out", 0),
    exported_count<ExportPort, &ExportPort::in_errors>("in_errors", "errors in", "packets with errors", 0),
    exported_count<ExportPort, &ExportPort::out_errors>("out_errors", "errors out",
                                                        "packets that could not be sent", 0),
    exported_count<ExportPort, &ExportPort::pfc_requests>(
        "pfc_requests", "PFC requests", "PFC requests; agents differ in whether these are sent or received",
        0),
    exported_count<ExportPort, &ExportPort::pfc_indications>(
        "pfc_indications", "PFC indications", "PFC indications; the other direction of the requests", 0),
    {"pause", "paused", "pause time, as the switch says", true, 0, nullptr,
     [](PortRow r) {
       constexpr std::uint64_t ns_per_us = 1000;
       return r.it->pause_us == 0 ? std::string()
                                  : duration_text(static_cast<std::int64_t>(r.it->pause_us * ns_per_us));
     },
     nullptr},
    exported_count<ExportPort, &ExportPort::storms>("storms", "storms", "pause storms detected by the switch",
                                                    1),
};

using DropOf = const ExportDropRow&;
constexpr Column<ExportDropRow> drop_columns[] = {
    {"place", "dropped at", "switch, port and queue", false, 0, nullptr,
     [](DropOf r) { return drop_place_text(*r.exports, *r.it); }, nullptr},
    {"reason", "reason", "why, as the switch says", false, 0, nullptr,
     [](DropOf r) { return drop_reason_text(r.it->reason); }, nullptr},
    exported_count<ExportDropGroup, &ExportDropGroup::packets>("packets", "packets",
                                                               "packets that it told of", 0),
    exported_count<ExportDropGroup, &ExportDropGroup::roce>("roce", "of RoCE", "packets of RoCE", 0),
    exported_count<ExportDropGroup, &ExportDropGroup::matched>(
        "matched", "missed", "losses of the captured traffic that they explain", 0),
};

}  // namespace

std::span<const Column<ExportSourceRow>> export_source_columns() noexcept {
  return source_columns;
}
std::span<const Column<ExportFlowRow>> export_flow_columns() noexcept {
  return sampled_flow_columns;
}
std::span<const Column<ExportQueueRow>> export_queue_columns() noexcept {
  return queue_columns;
}
std::span<const Column<ExportPortRow>> export_port_columns() noexcept {
  return port_columns;
}
std::span<const Column<ExportDropRow>> export_drop_columns() noexcept {
  return drop_columns;
}

}  // namespace roce::analyze
