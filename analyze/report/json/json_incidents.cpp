// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/episode/rules.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/incident_columns.hpp"

namespace roce::analyze {
namespace {

/// Names of the bits that are set.
template <class Names>
void write_bits(JsonWriter& json, std::string_view key, unsigned bits, const Names& names) {
  json.key(key).begin_row();
  for (std::size_t i = 0; i < names.all().size(); ++i) {
    if ((bits >> i & 1U) != 0) json.value(names.all()[i]);
  }
  json.end_row();
}

void write_span(JsonWriter& json, std::string_view key, std::int64_t ns) {
  ns < 0 ? json.null_field(key) : json.field(key, ns);
}

void write_incident(JsonWriter& json, const Incident& incident) {
  json.begin_object().field("id", incident.id).field("connection", incident.connection);
  json.field("requester", incident.side == 0 ? "a" : "b");
  write_time(json, "start", incident.start_ns);
  write_time(json, "end", incident.end_ns);
  json.field("what", incident_kind_names[incident.what]);
  incident.cause == Cause::none ? json.null_field("cause") : json.field("cause", cause_name(incident.cause));
  json.field("of", incident.of_responses ? "responses" : "requests");
  json.field("place", incident_place_names[incident.place]);
  write_bits(json, "place_by", incident.place_by, place_evidence_names);
  json.key("learned").begin_object().field("by", learned_by_names[incident.learned]);
  write_span(json, "after_ns", incident.learned_after_ns);
  json.field("retry", incident.retries).field("rnr_wait_ns", incident.rnr_wait_ns).end_object();
  json.key("lost").begin_object().field("at_least", incident.lost_at_least());
  json.field("at_most", incident.lost_at_most).field("before_capture", incident.lost_before);
  json.field("after_capture", incident.lost_after).field("again", incident.lost_again);
  json.field("least_bytes", incident.lost_least_bytes).end_object();
  json.key("repeated").begin_object().field("packets", incident.repeated_packets);
  json.field("bytes", incident.repeated_bytes).end_object();
  json.key("discarded").begin_object().field("packets", incident.discarded_packets);
  json.field("bytes", incident.discarded_bytes).field("at_most", true).end_object();
  json.key("answers_before").begin_object().field("early_ns", incident.answers_early_ns);
  json.field("late_ns", incident.answers_late_ns).end_object();
  json.field("stalled_ns", incident.stalled_ns);
  write_span(json, "recovery_ns", incident.recovery_ns);
  json.field("over", incident.over);
  write_bits(json, "undecided", incident.undecided, undecided_names);
  const std::string_view rule = episode::rule_name(static_cast<episode::Rule>(incident.rule));
  rule.empty() ? json.null_field("rule") : json.field("rule", rule);
  json.key("confidence").number(fmt::format("{:.4g}", incident.confidence));
  json.field("first_packet", incident.first_frame).field("last_packet", incident.last_frame).end_object();
}

}  // namespace

void write_incidents(JsonWriter& json, const Snapshot& snapshot, const Listing& listing) {
  const std::vector<IncidentRow> rows = incident_rows(snapshot, listing.connection);
  json.key("incidents").begin_array();
  for (const IncidentRow* row : listed(rows, incident_columns(), listing)) write_incident(json, **row);
  json.end_array().field("incidents_dropped", snapshot.incidents_dropped);
}

}  // namespace roce::analyze
