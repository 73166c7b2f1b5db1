// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/base/csv.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/compare/lost_columns.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "cli/compare/compare_report.hpp"
#include "cli/core/listing.hpp"
#include "dissect/dissect.hpp"
#include "dissect/opcode.hpp"

namespace roce::cli {
namespace {

using analyze::CompareDirection;
using analyze::CompareResult;
using analyze::Counted;
using analyze::JsonWriter;
using analyze::LostPacket;
using analyze::RepeatRun;
using analyze::ReportSink;

/// By the capture point that the packets pass first.
constexpr std::array<std::string_view, 2> direction_names{"a_to_b", "b_to_a"};

void write_delay(JsonWriter& json, const std::optional<analyze::DelayStats>& stats, bool relative) {
  const analyze::DelayStats d = stats.value_or(analyze::DelayStats{});
  json.begin_object().field("count", d.count).field("min", d.min).field("p50", d.p50).field("p90", d.p90);
  json.field("p99", d.p99).field("max", d.max).field("relative", stats && relative).end_object();
}

void write_points(JsonWriter& json, const CompareResult& result) {
  for (std::size_t side = 0; side < result.points.size(); ++side) {
    const analyze::ComparePointFacts& point = result.points[side];
    json.key(side == 0 ? "a" : "b").begin_object();
    json.key("files").begin_array();
    for (const capture::FileInfo& file : point.files) {
      json.begin_object()
          .field("path", file.path)
          .field("format", file.format)
          .field("packets", file.packets);
      json.end_object();
    }
    json.end_array();
    json.field("packets", point.frames).field("roce_packets", point.packets);
    write_time(json, "first_time", point.any_time ? std::optional(point.first_time_ns) : std::nullopt);
    write_time(json, "last_time", point.any_time ? std::optional(point.last_time_ns) : std::nullopt);
    json.field("dropped", point.dropped.value_or(0)).field("drop_statistics", point.dropped.has_value());
    json.field("lacks_share", point.lacks);
    json.field("damaged", point.damaged).field("duplicate_captures", point.doubled);
    json.key("alone").begin_object().field("address_pairs", point.other_pairs);
    json.field("packets", point.other_packets.count).end_object();
    analyze::write_diagnostics(json, point.diagnostics());
    json.end_object();
  }
}

void write_json_clocks(JsonWriter& json, const CompareResult& result) {
  const analyze::ClockEstimate& clocks = result.clocks;
  write_optional(json, "clock_offset_ns", clocks.offset_ns);
  write_optional(json, "clock_offset_error_ns", clocks.error_ns);
  write_optional(json, "clock_drift_ppm", clocks.drift_ppm);
  json.key("delay_ns").begin_object();
  for (unsigned i = 0; i < direction_names.size(); ++i) {
    json.key(direction_names[i]);
    write_delay(json, result.directions[i].delay, !clocks.offset_ns);
  }
  json.end_object();
}

/// One count per direction.
void write_both(JsonWriter& json, std::string_view key, const CompareResult& result,
                const Counted CompareDirection::*part) {
  json.key(key).begin_object();
  for (unsigned i = 0; i < direction_names.size(); ++i)
    json.field(direction_names[i], (result.directions[i].*part).count);
  json.end_object();
}
void write_both(JsonWriter& json, std::string_view key, const CompareResult& result,
                const std::uint64_t CompareDirection::*part) {
  json.key(key).begin_object();
  for (unsigned i = 0; i < direction_names.size(); ++i)
    json.field(direction_names[i], result.directions[i].*part);
  json.end_object();
}

void write_counts(JsonWriter& json, const CompareResult& result) {
  write_both(json, "matched", result, &CompareDirection::matched);
  json.field("lost_a_to_b", result.directions[0].lost.count);
  json.field("lost_b_to_a", result.directions[1].lost.count);
  write_both(json, "repaired", result, &CompareDirection::repaired);
  write_both(json, "not_repeated", result, &CompareDirection::missed_behind);
  json.key("missed_by_capture").begin_object();
  for (unsigned i = 0; i < direction_names.size(); ++i) {
    const CompareDirection& d = result.directions[i];
    json.field(direction_names[i], d.missed.count + d.missed_behind.count);
  }
  json.end_object();
  write_both(json, "not_covered", result, &CompareDirection::not_covered);
  write_both(json, "duplicated", result, &CompareDirection::duplicated);
  write_both(json, "damaged", result, &CompareDirection::corrupted);
  write_both(json, "trimmed", result, &CompareDirection::trimmed);
  write_both(json, "cut", result, &CompareDirection::cut);
  write_both(json, "undecided", result, &CompareDirection::undecided);
  json.key("judges_losses").begin_object();
  for (unsigned i = 0; i < direction_names.size(); ++i)
    json.field(direction_names[i], result.directions[i].judges_losses);
  json.end_object();
  write_both(json, "elsewhere", result, &CompareDirection::elsewhere);
  json.key("reordered").begin_object();
  for (unsigned i = 0; i < direction_names.size(); ++i) {
    const CompareDirection& d = result.directions[i];
    json.key(direction_names[i]).begin_object().field("packets", d.late.count);
    json.field("most_late_ns", d.most_late_ns).end_object();
  }
  json.end_object();
  json.key("retransmissions").begin_object();
  for (unsigned i = 0; i < direction_names.size(); ++i) {
    const analyze::RepeatCauses& causes = result.directions[i].repeats;
    json.key(direction_names[i]).begin_object().field("packets", causes.packets());
    for (std::size_t cause = 0; cause < causes.of.size(); ++cause)
      json.field(analyze::repeat_cause_name(static_cast<analyze::RepeatCause>(cause)), causes.of[cause]);
    json.end_object();
  }
  json.end_object();
}

void write_changes(JsonWriter& json, const CompareResult& result) {
  json.key("changed").begin_object();
  for (std::size_t i = 0; i < analyze::mark_fields; ++i)
    json.field(analyze::mark_field_name(static_cast<analyze::MarkField>(i)), result.changed[i]);
  json.field("vlan_added", result.vlan_added).field("vlan_removed", result.vlan_removed).end_object();
  json.key("changes").begin_array();
  for (const analyze::MarkChange& change : result.changes) {
    json.begin_object().field("field", analyze::mark_field_name(change.field));
    json.field("direction", direction_names[change.direction]);
    write_optional(json, "from", change.from);
    write_optional(json, "to", change.to);
    json.field("packets", change.packets);
    json.field("first_in_a", change.first[0]).field("first_in_b", change.first[1]).end_object();
  }
  json.end_array().field("changes_omitted", result.changes_omitted);
}

void write_json_paths(JsonWriter& json, const CompareResult& result) {
  json.key("paths").begin_array();
  for (const analyze::ComparePath& path : result.paths) {
    json.begin_object().field("direction", direction_names[path.direction]);
    json.field("src", analyze::address_text(path.src)).field("dst", analyze::address_text(path.dst));
    json.field("udp_sport", path.port).field("packets", path.packets).field("lost", path.lost);
    json.field("trimmed", path.trimmed);
    json.field("ce_added", path.ce_added).key("delay_ns");
    write_delay(json, path.delay, !result.clocks.offset_ns);
    json.end_object();
  }
  json.end_array().field("paths_omitted", result.paths_omitted);
}

void write_black_holes(JsonWriter& json, const CompareResult& result) {
  json.key("black_holes").begin_array();
  for (const analyze::BlackHole& hole : result.black_holes) {
    json.begin_object().field("direction", direction_names[hole.direction]);
    json.field("src", analyze::address_text(hole.src)).field("dst", analyze::address_text(hole.dst));
    json.field("packets", hole.packets.count).end_object();
  }
  json.end_array();
}

void write_json_lost(JsonWriter& json, const CompareResult& result, const ReportSink& sink) {
  json.key("lost").begin_array();
  for (const LostPacket& lost : result.lost) {
    json.begin_object().field("direction", direction_names[lost.direction]);
    write_optional(json, "connection", lost.connection);
    json.field("psn", lost.psn).field("packet", lost.packet);
    write_optional(json, "repaired_by", lost.repaired_by);
    json.field("src", analyze::address_text(lost.key.src)).field("dst", analyze::address_text(lost.key.dst));
    json.field("dst_qp", lost.key.dst_qp).field("opcode", dissect::opcode_name(lost.opcode));
    write_time(json, "time", lost.time_ns);
    json.end_object();
    sink.step();
  }
  json.end_array().field("lost_omitted", result.lost_omitted);
}

void write_json_repeats(JsonWriter& json, const CompareResult& result, const ReportSink& sink) {
  json.key("repeats").begin_array();
  for (const RepeatRun& run : result.repeats) {
    json.begin_object().field("direction", direction_names[run.direction]);
    write_optional(json, "connection", run.connection);
    json.field("cause", analyze::repeat_cause_name(run.cause)).field("nak_lost", run.nak_lost);
    json.field("packets", run.packets).field("psn", run.psn).field("last_psn", run.last_psn);
    json.field("packet", run.packet).field("last_packet", run.last_packet);
    write_optional(json, "original", run.original);
    json.key("shown_by");
    if (run.evidence) {
      json.begin_object().field("in", run.evidence->point == 0 ? "a" : "b");
      json.field("packet", run.evidence->packet).field("psn", run.evidence->psn);
      json.field("opcode", dissect::opcode_name(run.evidence->opcode)).end_object();
    } else {
      json.null();
    }
    write_optional(json, "waited_ns", run.waited_ns);
    write_optional(json, "answered_ns", run.answered_ns);
    json.field("src", analyze::address_text(run.key.src)).field("dst", analyze::address_text(run.key.dst));
    json.field("dst_qp", run.key.dst_qp).field("opcode", dissect::opcode_name(run.opcode));
    write_time(json, "time", run.time_ns);
    json.end_object();
    sink.step();
  }
  json.end_array().field("repeats_omitted", result.repeats_omitted);
}

/// The rows as CSV (RFC 4180).
template <class Row>
std::string csv_of(std::span<const analyze::Column<Row>> columns, const std::vector<Row>& rows) {
  std::string out;
  bool first = true;
  const auto cell = [&](std::string_view text) {
    if (!first) out += ',';
    first = false;
    analyze::append_csv(out, text);
  };
  const auto end_line = [&] {
    out += "\r\n";
    first = true;
  };
  for (const analyze::Column<Row>& column : columns) cell(column.name);
  end_line();
  for (const Row& row : rows) {
    for (const analyze::Column<Row>& column : columns) cell(column.machine_text(row));
    end_line();
  }
  return out;
}

}  // namespace

void compare_json(const CompareResult& result, bool pretty, const ReportSink& sink) {
  JsonWriter json(sink.text, pretty);
  const analyze::Snapshot verdict = verdict_of(result);
  json.begin_object().field("schema", "roceanalyze/1");
  json.field("complete", verdict.complete()).field("interrupted", verdict.interrupted);
  write_points(json, result);
  json.field("same_traffic", result.matched() != 0);
  write_json_clocks(json, result);
  write_counts(json, result);
  write_changes(json, result);
  write_json_paths(json, result);
  write_json_lost(json, result, sink);
  write_json_repeats(json, result, sink);
  write_black_holes(json, result);
  json.field("window_exceeded", result.window_exceeded).field("untracked", result.untracked);
  write_diagnoses(json, verdict);
  write_findings(json, verdict);
  json.end_object();
  sink.text += '\n';
}

std::string compare_csv(const CompareResult& result, bool repeats) {
  return repeats ? csv_of(analyze::repeat_columns(), result.repeats)
                 : csv_of(analyze::lost_columns(), result.lost);
}

}  // namespace roce::cli
