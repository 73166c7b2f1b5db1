// SPDX-License-Identifier: Apache-2.0
#include "cli/report/report_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/report/advice.hpp"
#include "cli/core/text_table.hpp"

namespace roce::cli {
namespace {

using analyze::Snapshot;

/// Lines must not be broken inside of double quotes: these spaces are part of a filter's constant.
std::string unbroken_texts(std::string text) {
  bool inside = false;
  for (char& c : text) {
    if (c == '"') inside = !inside;
    if (c == ' ' && inside) c = Page::unbreakable;
  }
  return text;
}

/// Whether the text has no characters that printable() would escape, except backslashes.
bool shows_as_it_is(std::string_view text) {
  std::string bare(text);
  std::erase_if(bare, [](char c) { return c == '\\' || c == Page::unbreakable; });
  return printable(bare) == bare;
}

/// A command on lines of its own, ready to be copied: a backslash continues it for the shell.
void write_shell(Page& page, std::string command) {
  constexpr std::string_view filter = " -Y ";
  if (!shows_as_it_is(command)) command = printable(command);
  const std::size_t split = command.find(filter);
  const auto unbroken = [](std::string line) {
    std::replace(line.begin(), line.end(), ' ', Page::unbreakable);
    return line;
  };
  if (display_width(command) + Page::indent <= page.width() || split == std::string::npos)
    return page.line(unbroken(std::move(command)));
  page.line(unbroken(command.substr(0, split + filter.size()) + "\\"));
  page.line(unbroken_texts(command.substr(split + filter.size())));  // blanks of a filter may be line ends
}

}  // namespace

const ConsequenceStyle& consequence_style(analyze::Consequence severity) noexcept {
  static constexpr ConsequenceStyle styles[] = {{"ODD", "1;36"}, {"DEGRADED", "1;33"}, {"FATAL", "1;31"}};
  return styles[static_cast<std::size_t>(severity)];
}

std::string diagnosis_line(const analyze::Diagnosis& diagnosis) {
  return fmt::format("{}: {}", consequence_style(diagnosis.severity).margin, printable(diagnosis.sentence));
}

std::vector<std::string> files_to_type(const Snapshot& s, const ReportStyle& style) {
  constexpr std::size_t typed_at_most = 4;  // of a ring of files nobody types the names
  std::vector<std::string> paths;
  if (style.file) {
    paths.push_back(*style.file);
  } else if (s.files.size() <= typed_at_most) {
    for (const auto& file : s.files) paths.push_back(file.path);
  }
  for (std::string& path : paths) {
    if (path.empty() || path == "-" || !shows_as_it_is(path)) return {};
    std::replace(path.begin(), path.end(), ' ', Page::unbreakable);
  }
  return paths;
}

std::string evidence_text(const Snapshot& s, const Evidence& evidence) {
  std::string text = evidence.packets.size() == 1 ? "packet" : "packets";
  for (std::size_t i = 0; i < evidence.packets.size(); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", evidence.packets[i]);
  if (evidence.more) text += " ...";
  if (evidence.first_ns && s.totals.any_time) {
    // The format of the time column of `packets`, and of --from and --to.
    const auto since = [&s](std::int64_t time) {
      std::string seconds = "+";
      analyze::append_seconds(seconds, analyze::span_ns(s.totals.first_time_ns, time), 6);
      return seconds;
    };
    const std::string first = since(*evidence.first_ns);
    const std::string last = since(evidence.last_ns.value_or(*evidence.first_ns));
    text += first == last ? fmt::format(", at {} s", first) : fmt::format(", from {} to {} s", first, last);
  }
  if (evidence.confidence < 1) text += fmt::format(", confidence {:.0f} %", 100 * evidence.confidence);
  return text;
}

void write_advice(Page& page, const std::vector<analyze::AdvicePart>& parts) {
  std::string lead = "To do:";
  for (const analyze::AdvicePart& part : parts) {
    if (part.command && !lead.empty()) page.line(lead);
    if (part.command) {
      write_shell(page, part.text);
    } else {
      page.line(lead + " " + printable(part.text));
    }
    lead.clear();
  }
}

void write_command(Page& page, const Snapshot& s, const std::string& command) {
  for (const analyze::AdvicePart& part : analyze::advice_parts(command, files_to_type(s, page.style())))
    write_shell(page, part.text);
}

}  // namespace roce::cli
