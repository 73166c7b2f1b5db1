// SPDX-License-Identifier: Apache-2.0
#include "cli/why/why_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/value_format.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "analyze/results/capture_health.hpp"
#include "cli/core/text_table.hpp"
#include "cli/report/report_evidence.hpp"

namespace roce::cli {
namespace {

using analyze::plural;
using analyze::Snapshot;
using analyze::Stories;
using analyze::Story;
using analyze::StoryKind;
using analyze::StoryLine;

constexpr std::size_t time_width = 14;  // "+1234.567890 s"
constexpr std::size_t packet_width = 15;

std::string time_of(const Snapshot& snapshot, const StoryLine& line) {
  if (line.time_ns == capture::no_time) return {};
  std::string text = "+";
  const std::int64_t first = snapshot.first_read_ns.value_or(snapshot.totals.first_time_ns);
  analyze::append_seconds(text, analyze::span_ns(first, line.time_ns), 6);
  return text + " s";
}

std::string packets_of(const StoryLine& line) {
  if (line.first_packet == 0) return {};
  return line.last_packet > line.first_packet ? fmt::format("{}-{}", line.first_packet, line.last_packet)
                                              : std::to_string(line.first_packet);
}

/// Time, packets and sentence in columns.
void write_line(Page& page, const Snapshot& snapshot, const StoryLine& line) {
  const std::string packets = packets_of(line);
  std::string head =
      fmt::format("{:>{}}  {:>{}}  ", time_of(snapshot, line), time_width, packets, packet_width);
  const std::string body = wrap(printable(line.text), page.width(), head.size());
  page.block(head + body + "\n");
}

std::string_view margin_of(StoryKind kind) {
  switch (kind) {
    case StoryKind::note:
      return "Capture";
    case StoryKind::marks:
      return "Marks";
    case StoryKind::diagnosis:
      return "Part of";
    case StoryKind::application:
      return "Seen by";
    case StoryKind::next:
      return "Packets";
    case StoryKind::end:
      return "End";
    default:
      return "";
  }
}

/// What is about the whole: with a title in the margin.
void write_whole(Page& page, const Snapshot& snapshot, const StoryLine& line, StoryKind before) {
  if (line.kind != before) page.section(margin_of(line.kind));
  if (line.kind == StoryKind::next) return write_command(page, snapshot, line.text);
  page.line(printable(line.text));
}

std::string number_text(const Story& story) {
  const auto& qp = story.ends[story.of.side].qp;
  return qp ? fmt::format("QP 0x{:06x}", *qp) : std::string("QP ?");
}

std::string ends_line(const Snapshot& snapshot, const Story& story) {
  std::string text = analyze::endpoint_text(story.ends[0]) + " > " + analyze::endpoint_text(story.ends[1]);
  if (const analyze::Connection* connection =
          analyze::find_connection(snapshot.connections, story.of.connection)) {
    text += fmt::format(", {}, connection {}", dissect::service_name(connection->service), connection->id);
  } else {
    text += ", no connection";
  }
  return story.of.both ? text + "; both ends have this number" : text;
}

void write_story(Page& page, const Snapshot& snapshot, const Story& story) {
  const std::string title = number_text(story);  // the page refers to it until its line
  page.section(title, story.ended_badly ? "1;31" : "1");
  page.line(ends_line(snapshot, story));
  page.line(page.paint("1", printable(story.headline)));
  page.gap();
  bool whole = false;
  StoryKind before = StoryKind::count_;
  for (const StoryLine& line : story.lines) {
    if (line.first_packet != 0) {
      write_line(page, snapshot, line);
      continue;
    }
    if (!whole) page.gap();
    whole = true;
    write_whole(page, snapshot, line, before);
    before = line.kind;
  }
}

void write_errors(Page& page, const Stories& stories) {
  page.section("Logged");
  std::uint64_t lines = 0, dropped = 0;
  for (const analyze::ErrorLog& log : stories.logs) {
    lines += log.lines;
    dropped += log.dropped;
  }
  if (stories.errors.empty()) {
    page.line(fmt::format("no error of a queue pair in {} of {}", plural(lines, "line", "lines"),
                          plural(stories.logs.size(), "log", "logs")));
  }
  for (const analyze::JoinedError& joined : stories.errors) {
    const analyze::ErrorLog& log = stories.logs[joined.log];
    const analyze::LoggedError& error = log.errors[joined.error];
    page.line(printable(fmt::format("{}:{}: {}", log.name, error.line, joined.text)));
  }
  if (dropped != 0)
    page.line(fmt::format("{} more, which were not kept", plural(dropped, "error", "errors")));
}

}  // namespace

std::string why_text(const Snapshot& snapshot, const Stories& stories, std::size_t untold,
                     const ReportStyle& style) {
  Page page(style);
  if (const std::string missing = analyze::incomplete_text(snapshot); !missing.empty()) {
    page.section("INCOMPLETE", "1;33");
    page.line(missing);
    page.gap();
  }
  if (!stories.logs.empty()) write_errors(page, stories);
  for (const Story& story : stories.stories) {
    if (!stories.logs.empty() || &story != &stories.stories.front()) page.gap();
    write_story(page, snapshot, story);
  }
  if (untold != 0) {
    page.gap();
    page.line(fmt::format("{} more: --top 0 tells all", plural(untold, "story", "stories")));
  }
  return page.take();
}

}  // namespace roce::cli
