// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/story_json.hpp"

#include "analyze/base/address_text.hpp"
#include "analyze/errors/completion_status.hpp"
#include "analyze/report/json/json_parts.hpp"

namespace roce::analyze {
namespace {

void write_moment(JsonWriter& json, std::string_view key, std::int64_t time_ns) {
  write_time(json, key, time_ns == capture::no_time ? std::nullopt : std::optional(time_ns));
}

/// 0 is none.
void write_packet(JsonWriter& json, std::string_view key, std::uint64_t packet) {
  packet == 0 ? json.null_field(key) : json.field(key, packet);
}

void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  text.empty() ? json.null_field(key) : json.field(key, text);
}

void write_number(JsonWriter& json, std::string_view key, std::uint32_t number) {
  number == QueuePair::none ? json.null_field(key) : json.field(key, number);
}

void write_end(JsonWriter& json, std::string_view key, const Endpoint& end) {
  json.key(key).begin_object().field("address", address_text(end.address));
  write_optional(json, "qp", end.qp);
  json.end_object();
}

void write_story(JsonWriter& json, const Story& story) {
  json.begin_object();
  write_number(json, "connection", story.of.connection);
  write_number(json, "exchange", story.of.exchange);
  json.field("side", story.of.side == 0 ? "a" : "b").field("both_sides", story.of.both);
  write_end(json, "a", story.ends[0]);
  write_end(json, "b", story.ends[1]);
  json.field("judged", story.judged)
      .field("ended_badly", story.ended_badly)
      .field("headline", story.headline);
  json.key("lines").begin_array();
  for (const StoryLine& line : story.lines) {
    json.begin_object().field("kind", story_kind_names[line.kind]);
    write_moment(json, "time", line.time_ns);
    write_moment(json, "end", line.end_ns);
    write_packet(json, "first_packet", line.first_packet);
    write_packet(json, "last_packet", line.last_packet);
    json.field("fatal", line.fatal).field("text", line.text).end_object();
  }
  json.end_array().end_object();
}

void write_address(JsonWriter& json, std::string_view key, const std::optional<dissect::IpAddress>& address) {
  address ? json.field(key, address_text(*address)) : json.null_field(key);
}

void write_error(JsonWriter& json, const Stories& stories, const JoinedError& joined) {
  const LoggedError& error = stories.logs[joined.log].errors[joined.error];
  json.begin_object().field("log", joined.log).field("line", error.line).field("last_line", error.last_line);
  json.field("times", error.times).field("program", log_program_names[error.program]);
  write_optional(json, "status", error.status);
  write_text(json, "status_name", error.status ? completion_name(*error.status) : std::string_view());
  write_optional(json, "vendor_error", error.vendor_error);
  write_optional(json, "syndrome", error.syndrome);
  write_text(json, "event", error.event);
  write_text(json, "operation", error.operation);
  write_text(json, "device", error.device);
  write_optional(json, "local_qp", error.local_qp);
  write_optional(json, "remote_qp", error.remote_qp);
  write_address(json, "local", error.local);
  write_address(json, "remote", error.remote);
  write_optional(json, "time", error.time_ns);
  json.field("time_zone_known", error.zone_known).field("line_text", error.text);
  json.field("fit", fit_names[joined.fit]).field("candidates", joined.candidates);
  json.key("matches").begin_array();
  for (const ErrorMatch& match : joined.matches) {
    json.begin_object().field("connection", match.connection).field("side", match.side == 0 ? "a" : "b");
    json.field("shown", match.evidence.shown);
    write_packet(json, "first_packet", match.evidence.first_packet);
    write_packet(json, "last_packet", match.evidence.last_packet);
    json.field("text", match.evidence.text).end_object();
  }
  json.end_array().field("text", joined.text).end_object();
}

void write_log(JsonWriter& json, const ErrorLog& log) {
  json.begin_object().field("name", log.name).field("lines", log.lines).field("bytes", log.bytes);
  json.field("errors", log.errors.size()).field("dropped", log.dropped).end_object();
}

}  // namespace

void stories_json(const Snapshot& snapshot, const Stories& stories, bool pretty, const ReportSink& sink) {
  JsonWriter json(sink.text, pretty);
  json.begin_object().field("schema", "roceanalyze/1").field("final", snapshot.final);
  json.field("complete", snapshot.complete()).field("interrupted", snapshot.interrupted);
  json.key("stories").begin_array();
  for (const Story& story : stories.stories) {
    write_story(json, story);
    sink.step();
  }
  json.end_array().key("errors").begin_array();
  for (const JoinedError& error : stories.errors) {
    write_error(json, stories, error);
    sink.step();
  }
  json.end_array().key("logs").begin_array();
  for (const ErrorLog& log : stories.logs) write_log(json, log);
  json.end_array();
  write_diagnostics(json, snapshot.diagnostics);
  json.end_object();
  sink.text += '\n';
}

}  // namespace roce::analyze
