// SPDX-License-Identifier: Apache-2.0
// The timeline as SVG: rates above, events below, over one axis of seconds since the first packet.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analyze/base/units.hpp"
#include "analyze/report/html/html_parts.hpp"

namespace roce::analyze::html {
namespace {

constexpr std::size_t most_steps = 800;  // more would not be visible
constexpr double width = 1000, left = 78, right = 12, plot = width - left - right;
struct Panel {
  double top, height;
};
constexpr Panel rates{26, 150}, events{222, 80};
constexpr double height = 338;

/// Sums over steps of equal width; the last one may be shorter.
struct Steps {
  std::vector<Series::Bucket> steps;
  double from = 0;   ///< seconds since the first packet
  double width = 0;  ///< seconds
  [[nodiscard]] double end() const { return from + width * static_cast<double>(steps.size()); }
};

Steps steps_of(const Snapshot& s) {
  const std::vector<Series::Bucket>& buckets = s.series.buckets();
  const std::size_t together = (buckets.size() + most_steps - 1) / most_steps;
  Steps result;
  result.from =
      static_cast<double>(span_ns(s.first_read_ns.value_or(s.totals.first_time_ns), s.series.start_ns())) /
      1e9;
  result.width = static_cast<double>(s.series.width_ns()) / 1e9 * static_cast<double>(together);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (i % together == 0) result.steps.emplace_back();
    Series::Bucket& step = result.steps.back();
    step.bytes += buckets[i].bytes;
    step.goodput_bytes += buckets[i].goodput_bytes;
    step.retransmitted += buckets[i].retransmitted;
    step.lost += buckets[i].lost;
    step.ce += buckets[i].ce;
    step.cnps += buckets[i].cnps;
  }
  return result;
}

struct Line {
  std::string_view kind;  ///< class in the style sheet
  std::string_view name;
  double (*value)(const Series::Bucket&, double seconds);
  bool area = false;
};
constexpr Line rate_lines[] = {
    {"throughput", "on the wire",
     [](const Series::Bucket& b, double s) { return 8 * static_cast<double>(b.bytes) / s; }, true},
    {"goodput", "goodput",
     [](const Series::Bucket& b, double s) { return 8 * static_cast<double>(b.goodput_bytes) / s; }}};
constexpr Line event_lines[] = {
    {"retransmitted", "retransmitted",
     [](const Series::Bucket& b, double) { return static_cast<double>(b.retransmitted); }, true},
    {"lost", "lost", [](const Series::Bucket& b, double) { return static_cast<double>(b.lost); }},
    {"ce", "CE", [](const Series::Bucket& b, double) { return static_cast<double>(b.ce); }},
    {"cnp", "CNP", [](const Series::Bucket& b, double) { return static_cast<double>(b.cnps); }}};

double highest(const Steps& steps, const Line& line) {
  double most = 0;
  for (const Series::Bucket& step : steps.steps) most = std::max(most, line.value(step, steps.width));
  return most;
}

/// The smallest of 1, 2 and 5 times a power of ten that is not less than `value`.
double rounded_up(double value) {
  if (!(value > 0)) return 1;
  const double unit = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * unit >= value * (1 - 1e-9)) return factor * unit;
  }
  return 10 * unit;
}

std::string coordinate(double value) {
  return fmt::format("{:.1f}", value);
}

double x_of(const Steps& steps, double seconds) {
  return left + plot * (seconds - steps.from) / (steps.end() - steps.from);
}
double y_of(const Panel& panel, double value, double top) {
  return panel.top + panel.height * (1 - value / top);
}

/// A path of steps: each value extends from its time to the next. Equal values are merged.
std::string path_of(const Steps& steps, const Line& line, const Panel& panel, double top) {
  std::string path = fmt::format("M{:.1f} ", left);
  double before = -1;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    const double value = line.value(steps.steps[i], steps.width);
    if (value == before) continue;
    const double x = x_of(steps, steps.from + steps.width * static_cast<double>(i));
    path += i == 0 ? fmt::format("{:.1f}", y_of(panel, value, top))
                   : fmt::format("H{:.1f}V{:.1f}", x, y_of(panel, value, top));
    before = value;
  }
  return path + fmt::format("H{:.1f}", left + plot);
}

void write_text(Page& page, double x, double y, std::string_view anchor, std::string_view text) {
  page.html.element("text", text, {{"x", coordinate(x)}, {"y", coordinate(y)}, {"text-anchor", anchor}});
}

void write_line(Page& page, std::string_view kind, double x1, double y1, double x2, double y2) {
  page.html.empty("line", {{"class", kind},
                           {"x1", coordinate(x1)},
                           {"y1", coordinate(y1)},
                           {"x2", coordinate(x2)},
                           {"y2", coordinate(y2)}});
}

/// The lines with a scale and a legend. Lines without events are not in the legend.
void write_panel(Page& page, const Steps& steps, const Panel& panel, std::span<const Line> lines,
                 bool is_rate) {
  double most = 0;
  for (const Line& line : lines) most = std::max(most, highest(steps, line));
  const double top = rounded_up(most);
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = y_of(panel, share * top, top);
    write_line(page, share == 0 ? "axis" : "grid", left, y, left + plot, y);
    if (share == 0.5 && !is_rate && top < 2) continue;
    write_text(page, left - 8, y + 4, "end",
               share == 0 ? "0"
               : is_rate  ? rate_text(share * top)
                          : fmt::format("{:.6g}", share * top));
  }
  double x = left;
  for (const Line& line : lines) {
    const double peak = highest(steps, line);
    if (peak <= 0) continue;
    const std::string path = path_of(steps, line, panel, top);
    const double base = panel.top + panel.height;
    if (line.area) {
      page.html.empty("path", {{"class", fmt::format("area {}", line.kind)},
                               {"stroke", "none"},
                               {"d", fmt::format("{}V{:.1f}H{:.1f}Z", path, base, left)}});
    }
    page.html.empty("path", {{"class", line.kind}, {"d", path}}).line_break();
    page.html.empty("path",
                    {{"class", line.kind}, {"d", fmt::format("M{:.1f} {:.1f}h24", x, panel.top - 10)}});
    const std::string text = fmt::format("{} (at most {})", line.name,
                                         is_rate ? rate_text(peak) : fmt::format("{:.0f} in a step", peak));
    write_text(page, x + 30, panel.top - 6, "start", text);
    x += 50 + 6.6 * static_cast<double>(text.size());
  }
  if (x == left) write_text(page, x, panel.top - 6, "start", is_rate ? "no traffic" : "no events");
  page.html.line_break();
}

void write_axis(Page& page, const Steps& steps) {
  const double step = rounded_up((steps.end() - steps.from) / 10);
  const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step))), 0, 9);
  const double bottom = events.top + events.height;
  const auto first = static_cast<std::int64_t>(std::ceil(steps.from / step));
  for (std::int64_t i = first; i < first + 12; ++i) {
    const double seconds = static_cast<double>(i) * step;
    if (seconds > steps.end()) break;
    const double x = x_of(steps, seconds);
    write_line(page, "grid", x, rates.top, x, rates.top + rates.height);
    write_line(page, "grid", x, events.top, x, bottom);
    write_text(page, x, bottom + 16, "middle", fmt::format("{:.{}f}", seconds, decimals));
  }
  write_text(page, left + plot / 2, bottom + 33, "middle", "seconds since the first packet");
  page.html.line_break();
}

}  // namespace

void write_timeline(Page& page) {
  const Snapshot& s = page.snapshot;
  if (!s.totals.any_time || s.series.buckets().empty()) return;
  if (page.is_document() && page.options.timeline.empty()) return;
  HtmlWriter& html = page.html;
  html.open("section", {{"id", "timeline"}}).element("h2", "Timeline").line_break();
  if (page.is_document()) {
    html.open("p").empty("img", {{"src", page.options.timeline}, {"width", "100%"}}).close().close();
    html.line_break();
    return;
  }
  const Steps steps = steps_of(s);
  html.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                    {"viewBox", fmt::format("0 0 {:.0f} {:.0f}", width, height)},
                    {"role", "img"},
                    {"aria-label", "Throughput, goodput and events over time"}});
  html.line_break();
  write_axis(page, steps);
  write_panel(page, steps, rates, rate_lines, true);
  write_panel(page, steps, events, event_lines, false);
  html.close();
  const auto step_ns = static_cast<std::int64_t>(steps.width * 1e9);
  html.element("p", "Each step is " + duration_text(step_ns) + "; all RoCE packets.", {{"class", "quiet"}});
  html.close().line_break();
  page.step();
}

}  // namespace roce::analyze::html
