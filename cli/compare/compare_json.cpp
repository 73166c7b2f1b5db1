// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

using analyze::address_text;
using analyze::CompareDirection;
using analyze::CompareResult;
using analyze::Counted;
using analyze::json_time;
using analyze::JsonObject;
using analyze::LostPacket;
using analyze::RepeatRun;

/// By the capture point that the packets pass first.
constexpr std::array<std::string_view, 2> direction_names{"a_to_b", "b_to_a"};

using CompareIn = const ComparePage&;

const CompareResult& result_of(CompareIn page) {
  return page.result;
}

/// Packets with a source, a destination and an opcode: the last keys of what is listed one by one.
template <class Row>
void add_packet_keys(JsonObject<Row>& o) {
  o.key("src", "source address", [](const Row& row) { return address_text(row.key.src); });
  o.key("dst", "destination address", [](const Row& row) { return address_text(row.key.dst); });
  o.key("dst_qp", "destination queue pair", [](const Row& row) { return row.key.dst_qp; });
  o.key("opcode", "opcode", [](const Row& row) { return dissect::opcode_name(row.opcode); });
  o.key("time", "its time", [](const Row& row) { return json_time(row.time_ns); });
}
template <class Row>
void add_direction_key(JsonObject<Row>& o) {
  o.key("direction", "which point it passes first", [](const Row& row) {
     return direction_names[row.direction];
   }).of(direction_names);
}

struct DelayIn {
  analyze::DelayStats values;
  bool relative;
};
DelayIn delay_in(const std::optional<analyze::DelayStats>& stats, const CompareResult& result) {
  return {stats.value_or(analyze::DelayStats{}), stats && !result.clocks.offset_ns};
}

const JsonObject<DelayIn>& delay_object() {
  using D = const DelayIn&;
  static const auto object = [] {
    JsonObject<DelayIn> o("delay");
    o.key("count", "packets", [](D d) { return d.values.count; });
    o.key("min", "the shortest", [](D d) { return d.values.min; }).in("ns");
    o.key("p50", "median", [](D d) { return d.values.p50; }).in("ns");
    o.key("p90", "90th percentile", [](D d) { return d.values.p90; }).in("ns");
    o.key("p99", "99th percentile", [](D d) { return d.values.p99; }).in("ns");
    o.key("max", "the longest", [](D d) { return d.values.max; }).in("ns");
    o.key("relative", "clocks are not known: beyond the fastest packet", [](D d) { return d.relative; });
    return o;
  }();
  return object;
}

const JsonObject<capture::FileInfo>& compared_file_object() {
  using capture::FileInfo;
  static const auto object = [] {
    JsonObject<FileInfo> o("file");
    o.key("path", "its name, as given", &FileInfo::path);
    o.key("format", "format and compression", &FileInfo::format);
    o.key("packets", "packets read from it", &FileInfo::packets);
    return o;
  }();
  return object;
}

using PointFacts = analyze::ComparePointFacts;

const JsonObject<PointFacts>& alone_object() {
  static const auto object = [] {
    JsonObject<PointFacts> o("alone");
    o.key("address_pairs", "pairs of addresses that the other point does not have",
          [](const PointFacts& p) { return p.other_pairs; });
    o.key("packets", "their packets", [](const PointFacts& p) { return p.other_packets.count; });
    return o;
  }();
  return object;
}

const JsonObject<PointFacts>& compared_point_object() {
  using P = const PointFacts&;
  static const auto object = [] {
    JsonObject<PointFacts> o("compared_point");
    o.list(
        "files", "what was read", compared_file_object(), [](P p) -> const auto& { return p.files; });
    o.key("packets", "packets", [](P p) { return p.frames; });
    o.key("roce_packets", "RoCE packets", [](P p) { return p.packets; });
    o.key("first_time", "time of the first packet",
          [](P p) { return json_time(p.any_time ? std::optional(p.first_time_ns) : std::nullopt); });
    o.key("last_time", "time of the last packet",
          [](P p) { return json_time(p.any_time ? std::optional(p.last_time_ns) : std::nullopt); });
    o.key("dropped", "packets dropped while capturing", [](P p) { return p.dropped.value_or(0); });
    o.key("drop_statistics", "false: dropped is not known", [](P p) { return p.dropped.has_value(); });
    o.key("lacks_share", "share of packets that passed and are not in the capture, 0 to 1",
          [](P p) { return p.lacks; });
    o.key("damaged", "damaged packets", [](P p) { return p.damaged; });
    o.key("duplicate_captures", "second copies in the capture, left out", [](P p) { return p.doubled; });
    o.object("alone", "traffic that the other point does not have", alone_object(), std::identity());
    o.include(analyze::diagnostic_keys(), [](P p) { return p.diagnostics(); });
    return o;
  }();
  return object;
}

/// Something of each direction.
template <class Value>
using BothWays = std::array<Value, direction_names.size()>;

template <class Value>
JsonObject<BothWays<Value>> both_ways(std::string name) {
  JsonObject<BothWays<Value>> o(std::move(name));
  for (std::size_t i = 0; i < direction_names.size(); ++i)
    o.key(std::string(direction_names[i]), "of the packets that pass the points in this order",
          [i](const BothWays<Value>& values) { return values[i]; });
  return o;
}
const JsonObject<BothWays<std::uint64_t>>& counts_object() {
  static const auto object = both_ways<std::uint64_t>("count_by_direction");
  return object;
}
const JsonObject<BothWays<bool>>& truths_object() {
  static const auto object = both_ways<bool>("truth_by_direction");
  return object;
}
/// The same, of values that are objects.
template <class Sub, class Get>
JsonObject<CompareResult> objects_both_ways(std::string name, const JsonObject<Sub>& sub, Get get) {
  JsonObject<CompareResult> o(std::move(name));
  for (std::size_t i = 0; i < direction_names.size(); ++i)
    o.object(std::string(direction_names[i]), "of the packets that pass the points in this order", sub,
             [i, get](const CompareResult& r) -> decltype(auto) { return get(r, r.directions[i]); });
  return o;
}

void add_count(JsonObject<ComparePage>& o, std::string name, std::string_view help,
               std::uint64_t (*get)(const CompareDirection&)) {
  o.object(std::move(name), help, counts_object(), [get](CompareIn p) {
    return BothWays<std::uint64_t>{get(p.result.directions[0]), get(p.result.directions[1])};
  });
}

const JsonObject<CompareDirection>& reordered_object() {
  using D = const CompareDirection&;
  static const auto object = [] {
    JsonObject<CompareDirection> o("reordered");
    o.key("packets", "packets that came late", [](D d) { return d.late.count; });
    o.key("most_late_ns", "how late at most", [](D d) { return d.most_late_ns; });
    return o;
  }();
  return object;
}

const JsonObject<analyze::RepeatCauses>& repeat_causes_object() {
  using analyze::RepeatCauses;
  static const auto object = [] {
    JsonObject<RepeatCauses> o("repeat_causes");
    o.key("packets", "retransmitted packets", [](const RepeatCauses& causes) { return causes.packets(); });
    for (std::size_t cause = 0; cause < RepeatCauses{}.of.size(); ++cause) {
      o.key(std::string(analyze::repeat_cause_name(static_cast<analyze::RepeatCause>(cause))),
            "retransmitted packets by cause",
            [cause](const RepeatCauses& causes) { return causes.of[cause]; });
    }
    return o;
  }();
  return object;
}

const JsonObject<CompareResult>& delays_object() {
  static const auto object = objects_both_ways(
      "delay_by_direction", delay_object(),
      [](const CompareResult& r, const CompareDirection& d) { return delay_in(d.delay, r); });
  return object;
}
const JsonObject<CompareResult>& reorderings_object() {
  static const auto object = objects_both_ways(
      "reordered_by_direction", reordered_object(),
      [](const CompareResult&, const CompareDirection& d) -> const CompareDirection& { return d; });
  return object;
}
const JsonObject<CompareResult>& retransmissions_object() {
  static const auto object =
      objects_both_ways("repeats_by_direction", repeat_causes_object(),
                        [](const CompareResult&, const CompareDirection& d) -> const analyze::RepeatCauses& {
                          return d.repeats;
                        });
  return object;
}

const JsonObject<CompareResult>& changed_object() {
  static const auto object = [] {
    JsonObject<CompareResult> o("changed");
    for (std::size_t i = 0; i < analyze::mark_fields; ++i) {
      o.key(std::string(analyze::mark_field_name(static_cast<analyze::MarkField>(i))),
            "packets in which it changed between the points",
            [i](const CompareResult& r) { return r.changed[i]; });
    }
    o.key("vlan_added", "packets that got a VLAN tag", &CompareResult::vlan_added);
    o.key("vlan_removed", "packets that lost their VLAN tag", &CompareResult::vlan_removed);
    return o;
  }();
  return object;
}

const JsonObject<analyze::MarkChange>& change_object() {
  using analyze::MarkChange;
  using C = const MarkChange&;
  static const auto object = [] {
    JsonObject<MarkChange> o("change");
    o.key("field", "what changed", [](C c) { return analyze::mark_field_name(c.field); });
    add_direction_key(o);
    o.key("from", "value before; null: none", &MarkChange::from);
    o.key("to", "value behind; null: none", &MarkChange::to);
    o.key("packets", "packets", &MarkChange::packets);
    o.key("first_in_a", "number of the first of them in a", [](C c) { return c.first[0]; });
    o.key("first_in_b", "number of the first of them in b", [](C c) { return c.first[1]; });
    return o;
  }();
  return object;
}

struct PathIn {
  const CompareResult& result;
  const analyze::ComparePath& path;
};

const JsonObject<PathIn>& compared_path_object() {
  using P = const PathIn&;
  static const auto object = [] {
    JsonObject<PathIn> o("compared_path");
    o.key("direction", "which point it passes first", [](P p) {
       return direction_names[p.path.direction];
     }).of(direction_names);
    o.key("src", "source address", [](P p) { return address_text(p.path.src); });
    o.key("dst", "destination address", [](P p) { return address_text(p.path.dst); });
    o.key("udp_sport", "UDP source port; 0: none", [](P p) { return p.path.port; });
    o.key("packets", "packets at the first point, while the other one was capturing",
          [](P p) { return p.path.packets; });
    o.key("lost", "of these, lost between the points", [](P p) { return p.path.lost; });
    o.key("trimmed", "of the lost ones, by a switch that trimmed them", [](P p) { return p.path.trimmed; });
    o.key("ce_added", "packets marked CE between the points", [](P p) { return p.path.ce_added; });
    o.object("delay_ns", "from the first point to the second", delay_object(),
             [](P p) { return delay_in(p.path.delay, p.result); });
    return o;
  }();
  return object;
}

const JsonObject<LostPacket>& lost_packet_object() {
  static const auto object = [] {
    JsonObject<LostPacket> o("lost_packet");
    add_direction_key(o);
    o.key("connection", "id of its connection; null: none", &LostPacket::connection);
    o.key("psn", "its PSN", &LostPacket::psn);
    o.key("packet", "its number at the first point", &LostPacket::packet);
    o.key("repaired_by", "number of the packet that repeats it; null: none", &LostPacket::repaired_by);
    add_packet_keys(o);
    return o;
  }();
  return object;
}

using RepeatEvidence = std::remove_cvref_t<decltype(*RepeatRun().evidence)>;

const JsonObject<RepeatEvidence>& shown_by_object() {
  using E = const RepeatEvidence&;
  static const auto object = [] {
    JsonObject<RepeatEvidence> o("shown_by");
    o.key("in", "at which point", [](E e) { return e.point == 0 ? "a" : "b"; }).of({"a", "b"});
    o.key("packet", "its number there", [](E e) { return e.packet; });
    o.key("psn", "its PSN", [](E e) { return e.psn; });
    o.key("opcode", "its opcode", [](E e) { return dissect::opcode_name(e.opcode); });
    return o;
  }();
  return object;
}

const JsonObject<RepeatRun>& repeat_object() {
  using R = const RepeatRun&;
  static const auto object = [] {
    JsonObject<RepeatRun> o("repeat");
    add_direction_key(o);
    o.key("connection", "id of its connection; null: none", &RepeatRun::connection);
    o.key("cause", "why it was sent again", [](R r) { return analyze::repeat_cause_name(r.cause); });
    o.key("nak_lost", "the NAK was lost between the points", &RepeatRun::nak_lost);
    o.key("packets", "packets that were sent again in a row", &RepeatRun::packets);
    o.key("psn", "PSN of the first", &RepeatRun::psn);
    o.key("last_psn", "PSN of the last", &RepeatRun::last_psn);
    o.key("packet", "number of the first at the first point", &RepeatRun::packet);
    o.key("last_packet", "number of the last at the first point", &RepeatRun::last_packet);
    o.key("original", "number of the packet that it repeats; null: not captured", &RepeatRun::original);
    o.object("shown_by", "packet that shows the cause; null: none", shown_by_object(),
             [](R r) { return r.evidence ? &*r.evidence : nullptr; });
    o.key("waited_ns", "since the transmission before; null: not known", &RepeatRun::waited_ns);
    o.key("answered_ns", "from the answer to the repeat; null: not known", &RepeatRun::answered_ns);
    add_packet_keys(o);
    return o;
  }();
  return object;
}

const JsonObject<analyze::BlackHole>& black_hole_object() {
  using analyze::BlackHole;
  using H = const BlackHole&;
  static const auto object = [] {
    JsonObject<BlackHole> o("black_hole");
    add_direction_key(o);
    o.key("src", "source address", [](H h) { return address_text(h.src); });
    o.key("dst", "destination address", [](H h) { return address_text(h.dst); });
    o.key("packets", "packets of which none came through", [](H h) { return h.packets.count; });
    return o;
  }();
  return object;
}

/// Parts that the comparison has in common with reports.
analyze::ReportPage verdict_page(CompareIn page) {
  static const analyze::Listing whole;
  return {page.verdict, whole, page.sink};
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

const JsonObject<ComparePage>& compare_object() {
  using P = CompareIn;
  using D = const CompareDirection&;
  static const auto object = [] {
    JsonObject<ComparePage> o("comparison");
    o.key("schema", "name of this schema", [](P) {
       return analyze::report_schema;
     }).of({analyze::report_schema});
    o.key("complete", "false if anything could not be read, kept or judged",
          [](P p) { return p.verdict.complete(); });
    o.key("interrupted", "reading was ended before the end of the input",
          [](P p) { return p.verdict.interrupted; });
    o.object(
        "a", "the first capture", compared_point_object(),
        [](P p) -> const auto& { return p.result.points[0]; });
    o.object(
        "b", "the second capture", compared_point_object(),
        [](P p) -> const auto& { return p.result.points[1]; });
    o.key("same_traffic", "packets were seen at both points", [](P p) { return p.result.matched() != 0; });
    o.key("clock_offset_ns", "how much later the clock of b is; null: not known",
          [](P p) { return p.result.clocks.offset_ns; });
    o.key("clock_offset_error_ns", "error of that; null: not known",
          [](P p) { return p.result.clocks.error_ns; });
    o.key("clock_drift_ppm", "how much faster the clock of b is; null: not known",
          [](P p) { return p.result.clocks.drift_ppm; });
    o.object("delay_ns", "from one point to the other", delays_object(), result_of);
    add_count(o, "matched", "packets seen at both points", [](D d) { return d.matched; });
    o.key("lost_a_to_b", "packets seen in a and lost on the way to b",
          [](P p) { return p.result.directions[0].lost.count; });
    o.key("lost_b_to_a", "packets seen in b and lost on the way to a",
          [](P p) { return p.result.directions[1].lost.count; });
    add_count(o, "repaired", "lost packets that were sent again", [](D d) { return d.repaired; });
    add_count(o, "not_repeated",
              "not captured at the second point, acknowledged and never sent again: they arrived",
              [](D d) { return d.missed_behind.count; });
    add_count(o, "missed_by_capture", "packets that one of the captures misses though they passed",
              [](D d) { return d.missed.count + d.missed_behind.count; });
    add_count(o, "not_covered", "packets before or after the time of the other capture",
              [](D d) { return d.not_covered; });
    add_count(o, "duplicated", "packets duplicated between the points",
              [](D d) { return d.duplicated.count; });
    add_count(o, "damaged", "packets damaged between the points", [](D d) { return d.corrupted.count; });
    add_count(o, "trimmed",
              "packets trimmed by a switch between the points: lost, though not among the lost ones",
              [](D d) { return d.trimmed.count; });
    add_count(o, "cut", "packets cut at the second point only, with another DSCP: trimmed, perhaps",
              [](D d) { return d.cut.count; });
    add_count(o, "undecided", "packets not seen at the second point: lost, or not captured there",
              [](D d) { return d.undecided; });
    o.object(
        "judges_losses", "false: the second capture lacks so many packets that it proves no loss",
        truths_object(), [](P p) {
          return BothWays<bool>{p.result.directions[0].judges_losses, p.result.directions[1].judges_losses};
        });
    add_count(o, "elsewhere", "packets of MRC on paths of which the other point shows nothing",
              [](D d) { return d.elsewhere; });
    o.object("reordered", "packets reordered between the points", reorderings_object(), result_of);
    o.object("retransmissions", "retransmitted packets by cause", retransmissions_object(), result_of);
    o.object("changed", "packets that were marked anew between the points", changed_object(), result_of);
    o.list(
        "changes", "how they were marked", change_object(),
        [](P p) -> const auto& { return p.result.changes; });
    o.key("changes_omitted", "packets with changes beyond the limit",
          [](P p) { return p.result.changes_omitted; });
    o.list("paths", "traffic by UDP source port, most losses first", compared_path_object(), [](P p) {
      std::vector<PathIn> all;
      for (const analyze::ComparePath& path : p.result.paths) all.push_back({p.result, path});
      return all;
    });
    o.key("paths_omitted", "packets of paths beyond the limit", [](P p) { return p.result.paths_omitted; });
    o.list(
        "lost", "packets that were lost between the points", lost_packet_object(),
        [](P p) -> const auto& { return p.result.lost; });
    o.key("lost_omitted", "lost packets beyond the limit", [](P p) { return p.result.lost_omitted; });
    o.list(
        "repeats", "retransmissions in a row, and why", repeat_object(),
        [](P p) -> const auto& { return p.result.repeats; });
    o.key("repeats_omitted", "packets of rows beyond the limit",
          [](P p) { return p.result.repeats_omitted; });
    o.list(
        "black_holes", "pairs of addresses of which nothing came through", black_hole_object(),
        [](P p) -> const auto& { return p.result.black_holes; });
    o.key("window_exceeded", "packets that left the window too soon to be compared",
          [](P p) { return p.result.window_exceeded; });
    o.key("untracked", "packets of flows beyond the limit: no check of retransmissions and order",
          [](P p) { return p.result.untracked; });
    o.include(analyze::diagnosis_keys(), verdict_page);
    o.include(analyze::finding_keys(), verdict_page);
    return o;
  }();
  return object;
}

void compare_json(const CompareResult& result, bool pretty, const analyze::ReportSink& sink) {
  const analyze::Snapshot verdict = verdict_of(result);
  analyze::JsonWriter json(sink.text, pretty);
  compare_object().write(json, {result, verdict, sink});
  sink.text += '\n';
}

std::string compare_csv(const CompareResult& result, bool repeats) {
  return repeats ? csv_of(analyze::repeat_columns(), result.repeats)
                 : csv_of(analyze::lost_columns(), result.lost);
}

}  // namespace roce::cli
