// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/facts_json.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "cli/host/host_report.hpp"

namespace roce::cli {
namespace {

using analyze::JsonWriter;

void write_json_difference(JsonWriter& json, const std::optional<analyze::HostDifference>& difference) {
  if (!difference) {
    json.null_field("difference");
    return;
  }
  json.key("difference").begin_object();
  json.field("before_time", difference->before_ns).field("after_time", difference->after_ns);
  json.field("counters_compared", difference->counters_compared);
  json.field("counters_alone", difference->counters_alone).key("counters").begin_array();
  for (const analyze::CounterChange& change : difference->counters) {
    json.begin_object().field("place", change.place).field("driver", change.driver);
    json.field("source", analyze::counter_source_name(change.source)).field("name", change.name);
    json.field("before", change.before).field("after", change.after).field("moved", change.moved());
    json.field("reset", change.backwards);
    if (const auto* meaning = change.meaning) {
      write_optional(json, "priority", analyze::priority_of(*meaning, change.name));
      json.field("kind", analyze::counter_nature_name(meaning->nature)).field("unit", meaning->unit);
      json.field("meaning", meaning->meaning).field("advice", meaning->advice);
    } else {
      for (const char* key : {"priority", "kind", "unit", "meaning", "advice"}) json.null_field(key);
    }
    json.end_object();
  }
  json.end_array().key("settings").begin_array();
  for (const analyze::SettingChange& change : difference->settings) {
    json.begin_object().field("place", change.place).field("name", change.name);
    json.field("before", change.before).field("after", change.after).end_object();
  }
  json.end_array().end_object();
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

void write_json_wire(JsonWriter& json, const std::optional<analyze::WireComparison>& wire) {
  if (!wire) {
    json.null_field("wire");
    return;
  }
  json.key("wire").begin_object().field("cover", cover_name(wire->cover)).field("ports", wire->ports);
  json.key("notes").begin_array();
  for (const std::string& note : wire->notes) json.value(note);
  json.end_array().key("checks").begin_array();
  for (const analyze::WireCheck& check : wire->checks) {
    json.begin_object().field("place", check.place).field("counter", check.counter);
    json.field("quantity", check.quantity).field("moved", check.host).field("wire", check.wire);
    json.field("low", check.low);
    write_optional(json, "high",
                   check.high == analyze::WireCheck::unlimited ? std::nullopt : std::optional(check.high));
    json.field("verdict", analyze::wire_verdict_name(check.verdict)).field("why", check.why).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string host_report_json(const HostReport& report, bool pretty) {
  std::string text;
  JsonWriter json(text, pretty);
  json.begin_object().field("schema", "roceanalyze-host-report/1").key("facts").begin_object();
  analyze::write_host_facts(json, report.facts);
  json.end_object();
  report.policy.empty() ? json.null_field("policy") : json.field("policy", report.policy);
  write_json_difference(json, report.difference);
  write_json_wire(json, report.wire);
  json.key("findings").begin_array();
  for (const analyze::HostFinding& finding : report.findings) {
    json.begin_object().field("id", finding.id).field("severity", analyze::severity_name(finding.severity));
    json.field("subject", finding.subject).key("evidence").begin_array();
    for (const std::string& evidence : finding.evidence) json.value(evidence);
    json.end_array().field("explanation", finding.explanation).field("advice", finding.advice).end_object();
  }
  json.end_array().end_object();
  text += '\n';
  return text;
}

}  // namespace roce::cli
