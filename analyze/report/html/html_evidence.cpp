// SPDX-License-Identifier: Apache-2.0
// What diagnoses and findings have in common: severity, packets, connections, advice with its commands.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/report/html/html_parts.hpp"

namespace roce::analyze::html {

std::string_view severity_sign(Severity severity) noexcept {
  constexpr std::string_view signs[] = {"●", "◆", "▲", "■"};
  return signs[static_cast<std::size_t>(severity)];
}

void write_severity(Page& page, Severity severity, std::string_view name) {
  page.html.open("span", {{"class", "severity"}})
      .element("span", severity_sign(severity), {{"aria-hidden", "true"}})
      .text(" ")
      .text(name)
      .close();
}

std::string packets_text(const Snapshot& s, const Evidence& evidence) {
  std::string text;
  for (const std::uint64_t packet : evidence.packets)
    text += fmt::format("{} {}", text.empty() ? (evidence.packets.size() == 1 ? "packet" : "packets") : ",",
                        packet);
  if (evidence.more && !text.empty()) text += " …";
  if (evidence.first_ns && s.totals.any_time) {
    const std::string first = since_start(s, *evidence.first_ns);
    const std::string last = since_start(s, evidence.last_ns.value_or(*evidence.first_ns));
    if (!text.empty()) text += ", ";
    text += first == last ? "at " + first : fmt::format("from {} to {}", first, last);
  }
  if (evidence.confidence < 1)
    text += fmt::format("{}confidence {:.0f} %", text.empty() ? "" : "; ", 100 * evidence.confidence);
  return text;
}

void write_connection_links(Page& page, const std::vector<std::uint32_t>& connections, bool more) {
  if (connections.empty()) return;
  page.html.open("p").text(connections.size() == 1 ? "connection" : "connections");
  for (std::size_t i = 0; i < connections.size(); ++i)
    page.html.text(i == 0 ? " " : ", ").text(std::to_string(connections[i]));
  if (more) page.html.text(" …");
  page.html.close();
}

std::vector<std::string> files_to_type(const Snapshot& s) {
  // Standard input cannot be read again, so the commands keep the placeholder FILE.
  std::vector<std::string> files;
  for (const capture::FileInfo& file : s.files) files.push_back(file.path);
  constexpr std::size_t most = 20;
  if (files.size() > most || std::find(files.begin(), files.end(), "-") != files.end()) files.clear();
  return files;
}

void write_advice(Page& page, const std::vector<AdvicePart>& parts) {
  if (parts.empty()) return;
  page.html.element("h4", "What to do").line_break();
  for (const AdvicePart& part : parts) {
    if (part.command) {
      page.html.open("pre").element("code", part.text).close().line_break();
    } else {
      page.html.element("p", part.text).line_break();
    }
  }
}

}  // namespace roce::analyze::html
