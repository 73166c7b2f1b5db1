// SPDX-License-Identifier: Apache-2.0
// What the capture can bear: capture.completeness.
#include <cmath>

#include "analyze/report/json/json_parts.hpp"

namespace roce::analyze {
namespace {

/// Four decimals: more would say more than is known.
double rounded(double value) noexcept {
  return std::round(value * 1e4) / 1e4;
}

void write_hole(JsonWriter& json, const Completeness::Hole& hole) {
  json.begin_object().field("after_packet", hole.after).field("before_packet", hole.before);
  write_time(json, "from", hole.from_ns);
  write_time(json, "to", hole.to_ns);
  json.field("packets", hole.packets).field("delivered", hole.delivered).end_object();
}

}  // namespace

void write_completeness(JsonWriter& json, const Snapshot& snapshot) {
  const Completeness& c = snapshot.completeness;
  json.key("completeness").begin_object();
  if (c.sampled) {
    json.key("sampled").begin_object().field("one_in", rounded(c.sampled->one_in));
    c.sampled->regular ? json.field("regular", *c.sampled->regular) : json.null_field("regular");
    json.end_object();
  } else {
    json.null_field("sampled");
  }
  json.key("opcode_filtered").begin_row();
  for (const std::string& name : c.opcode_filtered) json.value(name);
  json.end_row().field("one_direction", c.one_direction.size());
  json.key("holes").begin_array();
  for (const Completeness::Hole& hole : c.holes) write_hole(json, hole);
  json.end_array().field("doubled", rounded(c.doubled)).field("several_points", c.several_points);
  json.field("cut_at", c.cut_at).field("clock_steps", c.clock_steps);
  json.field("equal_stamps", rounded(c.equal_stamps)).field("unacknowledged", c.unacknowledged);
  json.field("missing_elsewhere", c.missing_elsewhere)
      .field("undecided", c.undecided)
      .field("datagrams", c.datagrams);
  json.field("datagrams_missing", c.datagrams_missing).field("samples_only", c.samples_only);
  json.field("judges_losses", c.may_judge_losses()).field("limited", c.limited());
  json.field("text", capture_limits_text(snapshot)).end_object();
}

}  // namespace roce::analyze
