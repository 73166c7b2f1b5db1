// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/story_json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/errors/completion_status.hpp"
#include "analyze/report/json/json_parts.hpp"

namespace roce::analyze {
namespace {

std::optional<std::uint32_t> known(std::uint32_t number) {
  return number == QueuePair::none ? std::nullopt : std::optional(number);
}
const JsonObject<StoryLine>& line_object() {
  using L = const StoryLine&;
  static const auto object = [] {
    JsonObject<StoryLine> o("story_line");
    o.key("kind", "what the line is about", [](L l) {
       return story_kind_names[l.kind];
     }).of(story_kind_names.all());
    o.key("time", "time of its first packet", [](L l) { return json_time(l.time_ns); });
    o.key("end", "time of its last packet", [](L l) { return json_time(l.end_ns); });
    o.key("first_packet", "number of its first packet; null: it is about the whole",
          [](L l) { return unless_zero(l.first_packet); });
    o.key("last_packet", "number of its last packet; null: it is about the whole",
          [](L l) { return unless_zero(l.last_packet); });
    o.key("fatal", "it ended a queue pair", &StoryLine::fatal);
    o.key("text", "a sentence; of next a command", &StoryLine::text);
    return o;
  }();
  return object;
}

const JsonObject<Story>& story_object() {
  using X = const Story&;
  static const auto object = [] {
    JsonObject<Story> o("story");
    o.key("connection", "id of the connection; null without one", [](X s) { return known(s.of.connection); });
    o.key("exchange", "index of the CM exchange, where there is no connection; else null",
          [](X s) { return known(s.of.exchange); });
    o.key("side", "which end has the number that was asked for", [](X s) {
       return s.of.side == 0 ? "a" : "b";
     }).of(json_side_names);
    o.key("both_sides", "the other end has it, too", [](X s) { return s.of.both; });
    o.object("a", "side a, of an exchange the client", endpoint_object(),
             [](X s) -> const Endpoint& { return s.ends[0]; });
    o.object("b", "side b, of an exchange the server", endpoint_object(),
             [](X s) -> const Endpoint& { return s.ends[1]; });
    o.key("judged", "false if the capture does not bear what would be said of losses and repeats",
          &Story::judged);
    o.key("ended_badly", "refused or given up", &Story::ended_badly);
    o.key("headline", "what became of it, in a sentence", &Story::headline);
    o.list(
        "lines", "what happened, in order of time", line_object(),
        [](X s) -> const auto& { return s.lines; });
    return o;
  }();
  return object;
}

const JsonObject<ErrorMatch>& match_object() {
  using M = const ErrorMatch&;
  static const auto object = [] {
    JsonObject<ErrorMatch> o("error_match");
    o.key("connection", "id of the connection", &ErrorMatch::connection);
    o.key("side", "whose queue pair it is", [](M m) { return m.side == 0 ? "a" : "b"; }).of(json_side_names);
    o.key("shown", "the wire shows this failure", [](M m) { return m.evidence.shown; });
    o.key("first_packet", "number of the first packet that shows it; null: none",
          [](M m) { return unless_zero(m.evidence.first_packet); });
    o.key("last_packet", "number of the last packet that shows it; null: none",
          [](M m) { return unless_zero(m.evidence.last_packet); });
    o.key("text", "what the wire shows, in words", [](M m) { return m.evidence.text; });
    return o;
  }();
  return object;
}

/// An error with what was found of it.
struct ErrorIn {
  const Stories& stories;
  const JoinedError& joined;
  [[nodiscard]] const LoggedError& logged() const { return stories.logs[joined.log].errors[joined.error]; }
};

const JsonObject<ErrorIn>& error_object() {
  using E = const ErrorIn&;
  static const auto object = [] {
    JsonObject<ErrorIn> o("logged_error");
    o.key("log", "index in logs", [](E e) { return e.joined.log; });
    o.key("line", "its line", [](E e) { return e.logged().line; });
    o.key("last_line", "line of the last like it", [](E e) { return e.logged().last_line; });
    o.key("times", "how often it was logged", [](E e) { return e.logged().times; });
    o.key("program", "program or driver that logged it",
          [](E e) { return log_program_names[e.logged().program]; });
    o.key("status", "completion status; null: not logged", [](E e) { return e.logged().status; });
    o.key("status_name", "its name; null: not logged", [](E e) {
      return e.logged().status ? unless_empty(completion_name(*e.logged().status)) : std::nullopt;
    });
    o.key("vendor_error", "vendor error; null: not logged", [](E e) { return e.logged().vendor_error; });
    o.key("syndrome", "syndrome of the driver; null: not logged", [](E e) { return e.logged().syndrome; });
    o.key("event", "event; null: not logged", [](E e) { return unless_empty(e.logged().event); });
    o.key("operation", "operation; null: not logged", [](E e) { return unless_empty(e.logged().operation); });
    o.key("device", "RDMA device; null: not logged", [](E e) { return unless_empty(e.logged().device); });
    o.key("local_qp", "own queue pair; null: not logged", [](E e) { return e.logged().local_qp; });
    o.key("remote_qp", "queue pair of the peer; null: not logged", [](E e) { return e.logged().remote_qp; });
    o.key("local", "own address; null: not logged", [](E e) { return address_or_null(e.logged().local); });
    o.key("remote", "address of the peer; null: not logged",
          [](E e) { return address_or_null(e.logged().remote); });
    o.key("time", "its time; null: not logged", [](E e) { return e.logged().time_ns; }).in("ns since 1970");
    o.key("time_zone_known", "the log tells the time zone", [](E e) { return e.logged().zone_known; });
    o.key("line_text", "the line", [](E e) { return e.logged().text; });
    o.key("fit", "whether the wire knows of it", [](E e) {
       return fit_names[e.joined.fit];
     }).of(fit_names.all());
    o.key("candidates", "queue pairs that it may be of", [](E e) { return e.joined.candidates; });
    o.list(
        "matches", "the first eight of these", match_object(),
        [](E e) -> const auto& { return e.joined.matches; });
    o.key("text", "what was found, in words", [](E e) { return e.joined.text; });
    return o;
  }();
  return object;
}

const JsonObject<ErrorLog>& log_object() {
  static const auto object = [] {
    JsonObject<ErrorLog> o("log");
    o.key("name", "its name", &ErrorLog::name);
    o.key("lines", "lines", &ErrorLog::lines);
    o.key("bytes", "bytes", &ErrorLog::bytes);
    o.key("errors", "different errors", [](const ErrorLog& log) { return log.errors.size(); });
    o.key("dropped", "errors beyond the limit of 1024", &ErrorLog::dropped);
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<StoriesPage>& stories_object() {
  using P = const StoriesPage&;
  static const auto object = [] {
    JsonObject<StoriesPage> o("stories_page");
    o.include(first_keys(), [](P p) -> const Snapshot& { return p.snapshot; });
    o.list(
        "stories", "queue pairs in order of time", story_object(),
        [](P p) -> const auto& { return p.stories.stories; });
    o.list("errors", "errors of logs, and what the wire shows of them", error_object(), [](P p) {
      std::vector<ErrorIn> all;
      for (const JoinedError& error : p.stories.errors) all.push_back({p.stories, error});
      return all;
    });
    o.list(
        "logs", "what was read of --log", log_object(), [](P p) -> const auto& { return p.stories.logs; });
    o.include(
        diagnostic_keys(), [](P p) -> const auto& { return p.snapshot.diagnostics; });
    return o;
  }();
  return object;
}

void stories_json(const Snapshot& snapshot, const Stories& stories, bool pretty, const ReportSink& sink) {
  JsonWriter json(sink.text, pretty);
  stories_object().write(json, {snapshot, stories, sink});
  sink.text += '\n';
}

}  // namespace roce::analyze
