// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/address_text.hpp"
#include "analyze/report/json/json_parts.hpp"

namespace roce::analyze {
namespace {

void write_address(JsonWriter& json, std::string_view key, const std::optional<dissect::IpAddress>& address) {
  address ? json.field(key, address_text(*address)) : json.null_field(key);
}

template <class Values>
void write_list(JsonWriter& json, std::string_view key, const Values& values) {
  json.key(key).begin_row();
  for (const auto& value : values) json.value(value);
  json.end_row();
}

void write_cost(JsonWriter& json, const Cost& cost) {
  json.key("cost").begin_object().field("repeated_packets", cost.repeated_packets);
  json.field("repeated_bytes", cost.repeated_bytes).field("discarded_packets", cost.discarded_packets);
  json.field("stalled_ns", cost.stalled_ns).field("recovery_median_ns", cost.recovery_median_ns);
  json.field("recovery_longest_ns", cost.recovery_longest_ns).field("failed", cost.failed).end_object();
}

void write_diagnosis(JsonWriter& json, const Snapshot& snapshot, std::size_t number) {
  const Diagnosis& d = snapshot.diagnoses[number];
  json.begin_object().field("id", number).field("cause", d.cause);
  json.field("severity", consequence_names[d.severity]).field("sentence", d.sentence);
  json.key("place").begin_object().field("level", level_names[d.level]);
  write_address(json, "from", d.from);
  write_address(json, "to", d.to);
  write_address(json, "host", d.host);
  json.field("seen", whereabouts_names[d.seen]).field("subject", d.subject).end_object();
  d.pattern == Pattern::none ? json.null_field("kind") : json.field("kind", pattern_names[d.pattern]);
  write_time(json, "since", d.since_ns);
  write_time(json, "until", d.until_ns);
  json.field("at_least", d.at_least);
  write_optional(json, "at_most", d.at_most);
  json.field("of", d.of);
  write_cost(json, d.cost);
  json.key("confidence").number(fmt::format("{:.4g}", d.confidence));
  write_list(json, "facts", d.facts);
  write_list(json, "alternatives", d.alternatives);
  d.would_decide.empty() ? json.null_field("would_decide") : json.field("would_decide", d.would_decide);
  json.field("advice", d.advice);
  write_list(json, "commands", d.commands);
  json.key("findings").begin_array();
  for (const std::size_t index : d.findings)
    json.begin_object().field("id", snapshot.findings[index].id).field("number", index).end_object();
  json.end_array();
  write_list(json, "incidents", d.incidents);
  json.field("incident_count", d.incident_count);
  write_list(json, "connections", d.connections);
  json.field("connection_count", d.connection_count);
  write_list(json, "packets", d.packets);
  json.end_object();
}

}  // namespace

void write_diagnoses(JsonWriter& json, const Snapshot& snapshot) {
  json.key("diagnoses").begin_array();
  for (std::size_t i = 0; i < snapshot.diagnoses.size(); ++i) write_diagnosis(json, snapshot, i);
  json.end_array();
}

}  // namespace roce::analyze
