// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyze/host/facts_json.hpp"
#include "cli/host/host_report.hpp"

namespace roce::cli {
namespace {

using analyze::JsonObject;

const JsonObject<analyze::CounterChange>& counter_change_object() {
  using C = const analyze::CounterChange&;
  static const auto object = [] {
    JsonObject<analyze::CounterChange> o("counter_change");
    // null where nothing is known of the counter
    const auto known = [&o](std::string name, std::string_view help, auto get) {
      o.key(std::move(name), help,
            [get](C c) { return c.meaning != nullptr ? std::optional(get(*c.meaning)) : std::nullopt; });
    };
    o.key("place", "device and port", [](C c) { return c.place; });
    o.key("driver", "driver", [](C c) { return c.driver; });
    o.key("source", "where the counter is read", [](C c) { return analyze::counter_source_name(c.source); });
    o.key("name", "name of the counter", [](C c) { return c.name; });
    o.key("before", "value before", [](C c) { return c.before; });
    o.key("after", "value after", [](C c) { return c.after; });
    o.key("moved", "by how much it rose", [](C c) { return c.moved(); });
    o.key("reset", "it was set back in between", [](C c) { return c.backwards; });
    o.key("priority", "priority that it counts for; null: none, or not known",
          [](C c) { return c.meaning != nullptr ? analyze::priority_of(*c.meaning, c.name) : std::nullopt; });
    known("kind", "fault, event, traffic or gauge; null: not known",
          [](const auto& meaning) { return analyze::counter_nature_name(meaning.nature); });
    known("unit", "unit of the counter; null: not known", [](const auto& meaning) { return meaning.unit; });
    known("meaning", "what it counts; null: not known", [](const auto& meaning) { return meaning.meaning; });
    known("advice", "what to do when it rises; null: not known",
          [](const auto& meaning) { return meaning.advice; });
    return o;
  }();
  return object;
}

const JsonObject<analyze::SettingChange>& setting_change_object() {
  using analyze::SettingChange;
  static const auto object = [] {
    JsonObject<SettingChange> o("setting_change");
    o.key("place", "device and port", &SettingChange::place);
    o.key("name", "name of the setting", &SettingChange::name);
    o.key("before", "value before", &SettingChange::before);
    o.key("after", "value after", &SettingChange::after);
    return o;
  }();
  return object;
}

const JsonObject<analyze::HostDifference>& difference_object() {
  using D = const analyze::HostDifference&;
  static const auto object = [] {
    JsonObject<analyze::HostDifference> o("host_difference");
    o.key("before_time", "time of the snapshot before", [](D d) { return d.before_ns; });
    o.key("after_time", "time of the snapshot after", [](D d) { return d.after_ns; });
    o.key("counters_compared", "counters that are in both", [](D d) { return d.counters_compared; });
    o.key("counters_alone", "counters that are in one only", [](D d) { return d.counters_alone; });
    o.list(
        "counters", "counters that changed", counter_change_object(),
        [](D d) -> const auto& { return d.counters; });
    o.list(
        "settings", "settings that changed", setting_change_object(),
        [](D d) -> const auto& { return d.settings; });
    return o;
  }();
  return object;
}

constexpr std::string_view cover_name(analyze::WireCover cover) {
  switch (cover) {
    case analyze::WireCover::whole:
      return "whole";
    case analyze::WireCover::beyond:
      return "beyond";
    case analyze::WireCover::apart:
      return "apart";
    case analyze::WireCover::unknown:
      break;
  }
  return "unknown";
}

const JsonObject<analyze::WireCheck>& wire_check_object() {
  using analyze::WireCheck;
  using C = const WireCheck&;
  static const auto object = [] {
    JsonObject<WireCheck> o("wire_check");
    o.key("place", "device and port", &WireCheck::place);
    o.key("counter", "name of the counter", &WireCheck::counter);
    o.key("quantity", "what was counted on the wire", &WireCheck::quantity);
    o.key("moved", "by how much the counter rose", [](C c) { return c.host; });
    o.key("wire", "how many the wire shows", [](C c) { return c.wire; });
    o.key("low", "fewest that fit", [](C c) { return c.low; });
    o.key("high", "most that fit; null: no limit",
          [](C c) { return c.high == WireCheck::unlimited ? std::nullopt : std::optional(c.high); });
    o.key("verdict", "whether counter and wire agree",
          [](C c) { return analyze::wire_verdict_name(c.verdict); });
    o.key("why", "why they may differ", [](C c) { return c.why; });
    return o;
  }();
  return object;
}

const JsonObject<analyze::WireComparison>& wire_object() {
  using W = const analyze::WireComparison&;
  static const auto object = [] {
    JsonObject<analyze::WireComparison> o("wire");
    o.key("cover", "whether the capture is between the snapshots", [](W w) {
       return cover_name(w.cover);
     }).of({"whole", "beyond", "apart", "unknown"});
    o.key("ports", "ports of this host with traffic in the capture", [](W w) { return w.ports; });
    o.key("notes", "what limits the comparison", [](W w) { return analyze::JsonLines{std::span(w.notes)}; });
    o.list(
        "checks", "counters held against the wire", wire_check_object(),
        [](W w) -> const auto& { return w.checks; });
    return o;
  }();
  return object;
}

const JsonObject<analyze::HostFinding>& host_finding_object() {
  using F = const analyze::HostFinding&;
  static const auto object = [] {
    JsonObject<analyze::HostFinding> o("host_finding");
    o.key("id", "its name", [](F f) { return f.id; });
    o.key("severity", "how grave it is", [](F f) {
       return analyze::severity_name(f.severity);
     }).of({"info", "notice", "warning", "error"});
    o.key("subject", "what it is about", [](F f) { return f.subject; });
    o.key("evidence", "what shows it", [](F f) { return analyze::JsonLines{std::span(f.evidence)}; });
    o.key("explanation", "what was seen", [](F f) { return f.explanation; });
    o.key("advice", "what to do", [](F f) { return f.advice; });
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<HostReport>& host_report_object() {
  using R = const HostReport&;
  static const auto object = [] {
    JsonObject<HostReport> o("host_report");
    o.key("schema", "name of this schema", [](R) { return host_report_schema; }).of({host_report_schema});
    o.object(
        "facts", "counters and settings, current or of --after", analyze::host_facts_object(),
        [](R r) -> const auto& { return r.facts; });
    o.key("policy", "policy that it was checked against; null: none",
          [](R r) { return r.policy.empty() ? std::nullopt : std::optional(r.policy); });
    o.object("difference", "what changed; null without --before", difference_object(),
             [](R r) { return r.difference ? &*r.difference : nullptr; });
    o.object("wire", "counters against the wire; null without --capture", wire_object(),
             [](R r) { return r.wire ? &*r.wire : nullptr; });
    o.list(
        "findings", "what is wrong", host_finding_object(), [](R r) -> const auto& { return r.findings; });
    return o;
  }();
  return object;
}

std::string host_report_json(const HostReport& report, bool pretty) {
  std::string text;
  analyze::JsonWriter json(text, pretty);
  host_report_object().write(json, report);
  text += '\n';
  return text;
}

}  // namespace roce::cli
