// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/results/capture_health.hpp"
#include "analyze/results/severity_counts.hpp"
#include "cli/core/charset.hpp"
#include "cli/core/page.hpp"
#include "cli/core/text_table.hpp"
#include "cli/live/live_summary.hpp"
#include "cli/report/report_evidence.hpp"

namespace roce::cli {
namespace {

using analyze::Severity;
using analyze::Snapshot;

/// Colours by analyze::Severity.
constexpr std::string_view codes[] = {"1", "1;36", "1;33", "1;31"};
constexpr std::size_t margin = 12;  // "Connections "

std::string amount(std::uint64_t n) {
  return count_text(static_cast<double>(n));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

/// Lines with a title in the margin.
class Screen {
 public:
  explicit Screen(const ScreenStyle& style) : style_(style) {}

  [[nodiscard]] std::size_t left() const noexcept {
    return style_.height - std::min(style_.height, lines_.size());
  }
  void add(std::string_view title, const std::string& text, std::string_view code = {}) {
    if (left() == 0) return;
    std::string head(title);
    head.resize(std::max(margin, head.size() + 1), ' ');
    if (head.size() >= style_.width) {
      raw(text, code);
      return;
    }
    const std::string body = cut_text(shown(text), style_.width - head.size());
    lines_.push_back(paint("1", head) + paint(code, body));
  }
  /// A text that may take up to `most` lines: broken at spaces, cut at the end of the last one.
  void add_wrapped(std::string_view title, const std::string& text, std::string_view code, std::size_t most) {
    constexpr std::size_t narrow = 3 * margin;
    if (style_.width < narrow || most < 2) return add(title, text, code);
    std::string rest = shown(text);
    for (; most > 1 && !rest.empty(); --most, title = {}) {
      const std::string line = lines_of(wrap(rest, style_.width - margin, 0)).front();
      add(title, line, code);
      rest.erase(0, std::min(rest.size(), line.size() + 1));
    }
    if (!rest.empty()) add(title, rest, code);
  }
  void raw(const std::string& text, std::string_view code = {}) {
    if (left() != 0) lines_.push_back(paint(code, cut_text(shown(text), style_.width)));
  }
  [[nodiscard]] std::string paint(std::string_view code, const std::string& text) const {
    return style_.color && !code.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  [[nodiscard]] std::string shown(const std::string& text) const {
    return style_.ascii ? ascii_text(text) : text;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  const ScreenStyle& style_;
  std::vector<std::string> lines_;
};

std::string_view verdict_code(const Snapshot& s) {
  const analyze::CaptureHealth assessment = analyze::capture_health(s);
  return assessment.good() ? "1;32" : codes[static_cast<std::size_t>(assessment.level())];
}

/// What is wrong, the worst first: in full where there is room for it, the others on a line each. Returns how
/// many were told.
std::size_t add_diagnoses(Screen& screen, const Snapshot& s, const ScreenStyle& style) {
  constexpr std::size_t roomy = 20;  // lines, for more than the worst
  constexpr std::size_t others = 2;
  const std::size_t told = std::min(s.diagnoses.size(), style.height < roomy ? 1 : 1 + others);
  for (std::size_t i = 0; i < told; ++i) {
    const ConsequenceStyle& of = consequence_style(s.diagnoses[i].severity);
    constexpr std::size_t low = 10;  // lines
    const bool whole = i == 0 && style.height >= low;
    screen.add_wrapped(of.margin, printable(s.diagnoses[i].sentence), i == 0 ? of.code : std::string_view{},
                       whole ? 2 : 1);
  }
  return told;
}

/// "12 retransmits, 3 lost, ...", with zeros: fixed positions are easier to read.
std::string troubles_text(const LiveTotals& t) {
  std::string text =
      fmt::format("{} retransmits, {} lost, {} CE, {} CNPs, {} bad ICRCs, {} pauses", amount(t.retransmitted),
                  amount(t.lost), amount(t.ce), amount(t.cnps), amount(t.icrc_mismatches), amount(t.pauses));
  if (t.paused_ns != 0)
    text += fmt::format(" ({})", analyze::duration_text(static_cast<std::int64_t>(t.paused_ns)));
  return text;
}

void add_rates(Screen& screen, const LiveMeter::Reading& reading) {
  const LiveTotals& moved = reading.interval;
  const std::int64_t ns = reading.interval_ns;
  const double seconds = static_cast<double>(ns) / 1e9;
  const double packets = seconds > 0 ? static_cast<double>(moved.roce_packets) / seconds : 0;
  screen.add("Rate", fmt::format("{} RoCE packets/s, {}, goodput {}; all frames {}", count_text(packets),
                                 analyze::rate_text(bits_per_second(moved.roce_bytes, ns)),
                                 analyze::rate_text(bits_per_second(moved.goodput_bytes, ns)),
                                 analyze::rate_text(bits_per_second(moved.bytes, ns))));
  screen.add("Last", fmt::format("{}: {}", analyze::duration_text(ns), troubles_text(moved)));
}

void add_total_lines(Screen& screen, const LiveView& view) {
  const LiveTotals& total = view.reading.total;
  screen.add("In all", fmt::format("{} RoCE packets, {}; {}", amount(total.roce_packets),
                                   analyze::bytes_text(total.roce_bytes), troubles_text(total)));
  const Snapshot& s = view.snapshot;
  const std::uint64_t dropped = s.dropped().value_or(0);
  screen.add("Capture",
             fmt::format("{} packets, {}; {}", amount(s.totals.packets), analyze::bytes_text(s.totals.bytes),
                         !s.dropped()   ? std::string("drops unknown")
                         : dropped == 0 ? std::string("none dropped")
                                        : fmt::format("{} DROPPED while capturing", packets_text(dropped))),
             dropped != 0 ? "1;31" : std::string_view{});
  const ConnectionCounts states = connection_counts(s);
  std::string text;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i] == 0) continue;
    std::string name(analyze::connection_state_name(static_cast<analyze::Connection::State>(i)));
    std::replace(name.begin(), name.end(), '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", states[i], name);
  }
  if (s.incidents_in_progress != 0) text += "; " + incidents_in_progress(s);
  screen.add("Connections", text.empty() ? "none" : text);
}

std::string positive(std::uint64_t n) {
  return n != 0 ? amount(n) : std::string();
}

std::string qp_text(const analyze::Endpoint& end) {
  return end.qp ? fmt::format("0x{:06x}", *end.qp) : std::string("?");
}

void add_connection_lines(Screen& screen, const LiveView& view, const ScreenStyle& style, std::size_t most) {
  const auto& moved = view.reading.connections;
  if (most < 3 || moved.empty()) return;
  TextTable table({{"a", false, 0},
                   {"QP", true, 0},
                   {"b", false, 0},
                   {"QP", true, 0},
                   {"state", false, 2},
                   {"throughput", true, 3},
                   {"goodput", true, 1},
                   {"retransmits", true, 0},
                   {"lost", true, 0},
                   {"NAKs", true, 1},
                   {"CNPs", true, 2}});
  const std::size_t rows = std::min(moved.size(), most - 2);
  const std::int64_t ns = view.reading.interval_ns;
  for (std::size_t i = 0; i < rows; ++i) {
    const LiveConnection& m = moved[i];
    if (m.index >= view.snapshot.connections.size()) continue;
    const analyze::Connection& c = view.snapshot.connections[m.index];
    table.add_row(
        {analyze::address_text(c.ends[0].address), qp_text(c.ends[0]),
         analyze::address_text(c.ends[1].address), qp_text(c.ends[1]),
         std::string(analyze::connection_state_name(c.state)),
         m.bytes != 0 ? analyze::rate_text(bits_per_second(m.bytes, ns)) : std::string(),
         m.goodput_bytes != 0 ? analyze::rate_text(bits_per_second(m.goodput_bytes, ns)) : std::string(),
         positive(m.retransmitted), positive(m.lost), positive(m.naks), positive(m.cnps)});
  }
  screen.raw("");
  std::string_view code = "1";  // of the headings
  for (const std::string& line : lines_of(table.render(style.width, 0))) {
    screen.raw(line, code);
    code = {};
  }
}

/// Newest first; in full if all fit, else one line each.
void add_found(Screen& screen, const LiveView& view, const ScreenStyle& style) {
  if (view.found.empty() || screen.left() < 2) return;
  screen.raw("");
  constexpr std::size_t indent = 10;  // "00:01:20  "; without days
  std::vector<std::vector<std::string>> wrapped;
  std::size_t lines = 0;
  for (auto found = view.found.rbegin(); found != view.found.rend() && lines <= screen.left(); ++found) {
    const std::string time = elapsed_text(found->elapsed_ns) + "  ";
    wrapped.push_back(style.width > 3 * indent ? lines_of(time + wrap(found->text, style.width, indent))
                                               : std::vector<std::string>{time + found->text});
    lines += wrapped.back().size();
  }
  const bool whole = lines <= screen.left();
  auto text = wrapped.begin();
  for (auto found = view.found.rbegin(); found != view.found.rend() && screen.left() != 0; ++found) {
    const std::string_view code = found->severity >= Severity::warning
                                      ? codes[static_cast<std::size_t>(found->severity)]
                                      : std::string_view{};
    if (whole && text != wrapped.end()) {
      for (const std::string& line : *text++) screen.raw(line, code);
    } else {
      screen.raw(elapsed_text(found->elapsed_ns) + "  " + found->text, code);
    }
  }
}

}  // namespace

std::string verdict_line(const Snapshot& s) {
  const analyze::Diagnosis* worst = analyze::worst_diagnosis(s);
  return worst != nullptr ? worst->sentence : counts_line(s);
}

std::string counts_line(const Snapshot& s) {
  const analyze::CaptureHealth assessment = analyze::capture_health(s);
  if (!assessment.anything) return "no RoCE packets yet";
  std::string text = analyze::findings_text(analyze::severity_counts(s));
  if (text.empty()) text = assessment.without_findings();
  text += " in " + plural(s.totals.roce_packets, "RoCE packet", "RoCE packets");
  return text.append(assessment.but());
}

std::vector<std::string> live_screen(const LiveView& view, const ScreenStyle& style) {
  Screen screen(style);
  const Snapshot& s = view.snapshot;
  const std::size_t told = add_diagnoses(screen, s, style);
  std::string counts = counts_line(s);
  if (told < s.diagnoses.size()) counts += fmt::format("; {} more in the report", s.diagnoses.size() - told);
  screen.add("Verdict", counts, told == 0 ? verdict_code(s) : std::string_view{});
  screen.add("On", fmt::format("{} for {}; Ctrl-C ends the capture and prints the report",
                               printable(view.title), elapsed_text(view.elapsed_ns)));
  add_rates(screen, view.reading);
  add_total_lines(screen, view);
  // Findings may use half of the remaining lines, connections the rest.
  const std::size_t found = std::min(view.found.empty() ? 0 : view.found.size() + 1, screen.left() / 2);
  add_connection_lines(screen, view, style, screen.left() - found);
  add_found(screen, view, style);
  return screen.take();
}

}  // namespace roce::cli
