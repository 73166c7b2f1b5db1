// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/compare_words.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/texts.hpp"

namespace roce::analyze {
namespace {

using D = CompareDirection;

/// A delay may be slightly negative, within the error of the clock offset.
std::string signed_duration(std::int64_t ns) {
  return ns < 0 ? "-" + duration_text(-ns) : duration_text(ns);
}

struct Count {
  const char* name;
  bool part;
  bool always;
  std::uint64_t (*of)(const D&);
};

constexpr Count counts[] = {
    {"seen at both", false, true, [](const D& d) { return d.matched; }},
    {"lost between", false, true, [](const D& d) { return d.lost.count; }},
    {"of them retransmitted", true, false, [](const D& d) { return d.repaired; }},
    {"reordered between", false, true, [](const D& d) { return d.late.count; }},
    {"trimmed between", false, false, [](const D& d) { return d.trimmed.count; }},
    {"cut and re-marked between", false, false, [](const D& d) { return d.cut.count; }},
    {"damaged between", false, false, [](const D& d) { return d.corrupted.count; }},
    {"duplicated between", false, false, [](const D& d) { return d.duplicated.count; }},
    {"not captured at the first point", false, false, [](const D& d) { return d.missed.count; }},
    {"not captured at the second point", false, false, [](const D& d) { return d.missed_behind.count; }},
    {"not seen at the second point, undecided", false, false, [](const D& d) { return d.undecided; }},
    {"MRC, on paths of one point only", false, false, [](const D& d) { return d.elsewhere; }},
    {"outside the time of the other capture", false, false, [](const D& d) { return d.not_covered; }},
    {"retransmissions", false, true, [](const D& d) { return d.repeats.packets(); }},
};

struct Delay {
  const char* name;
  bool part;
  std::int64_t DelayStats::*of;
};

/// Retransmissions, by cause. The names are read beside those of a direction.
struct CauseText {
  RepeatCause cause;
  const char* figure;
  const char* row;  ///< with the names of its first and its second point
};
constexpr CauseText cause_texts[] = {
    {RepeatCause::lost_before, "after a loss upstream of both points", "lost before {0}"},
    {RepeatCause::lost_between, "after a loss between the points", "lost between"},
    {RepeatCause::damaged_between, "after damage between the points", "damaged between"},
    {RepeatCause::trimmed_between, "after trimming between the points", "trimmed between"},
    {RepeatCause::overtaken_between, "after reordering between the points", "overtaken between"},
    {RepeatCause::ack_lost_between, "acknowledgement lost between the points", "ACK lost between"},
    {RepeatCause::nak_lost_between, "NAK lost between the points", "NAK lost between"},
    {RepeatCause::response_lost_between, "response lost between the points", "response lost between"},
    {RepeatCause::answer_late, "answered later than the timer", "answer late"},
    {RepeatCause::receiver_not_ready, "receiver not ready", "receiver not ready"},
    {RepeatCause::lost_behind, "after a loss downstream of both points", "lost behind {1}"},
    {RepeatCause::answer_passed, "answered in time, lost or heard too late behind the points",
     "answer passed {0}"},
    {RepeatCause::unknown, "unknown", "unknown"},
};

constexpr Delay delays[] = {{", minimum", false, &DelayStats::min},
                            {"median", true, &DelayStats::p50},
                            {"90 %", true, &DelayStats::p90},
                            {"99 %", true, &DelayStats::p99},
                            {"maximum", true, &DelayStats::max}};

}  // namespace

std::vector<std::string> point_lines(const ComparePointFacts& point) {
  std::vector<std::string> lines;
  std::string text = fmt::format("{}, {} of them RoCE", packets_text(point.frames), point.packets);
  if (point.any_time) {
    text += fmt::format("; {} from {}", duration_text(span_ns(point.first_time_ns, point.last_time_ns)),
                        time_text(point.first_time_ns));
  }
  lines.push_back(std::move(text));
  if (point.doubled != 0)
    lines.push_back(fmt::format("{} captured twice (second copies left out)", packets_text(point.doubled)));
  if (point.damaged != 0)
    lines.push_back(fmt::format("{} with a wrong checksum", packets_text(point.damaged)));
  lines.push_back(point.dropped ? fmt::format("{} dropped while capturing", packets_text(*point.dropped))
                                : std::string("no drop statistics in the file"));
  return lines;
}

std::vector<std::string> clock_lines(const CompareResult& result) {
  const ClockEstimate& clocks = result.clocks;
  if (!result.times_known) return {"a capture has no timestamps: no delays"};
  if (!clocks.offset_ns) {
    return {
        "packets were matched in one direction only: the clock offset is unknown, and delays are relative to "
        "the fastest packet"};
  }
  std::vector<std::string> lines{
      fmt::format("B's clock is {} {} A's (within {}, if the minimum delays of both directions are equal)",
                  duration_text(std::abs(*clocks.offset_ns)), *clocks.offset_ns < 0 ? "behind" : "ahead of",
                  duration_text(clocks.error_ns.value_or(0)))};
  if (clocks.drift_ppm) {
    lines.push_back(
        fmt::format("it drifts by {:.3g} ppm against A's; delays are corrected", *clocks.drift_ppm));
  }
  return lines;
}

std::string compare_limits_text(const CompareResult& result) {
  constexpr std::string_view names[] = {"A", "B"};
  std::string text;
  const auto say = [&](std::string what) {
    if (text.empty()) what.front() = static_cast<char>(std::tolower(what.front()));
    text += (text.empty() ? "" : ". ") + what;
  };
  for (unsigned point = 0; point < 2; ++point) {
    const double lacks = result.points[point].lacks;
    if (lacks == 0) continue;
    constexpr double more_than_a_full_buffer = 0.3;
    say(fmt::format("The capture at {} lacks about {:.2g} % of the packets that passed there ({})",
                    names[point], 100 * lacks,
                    lacks >= more_than_a_full_buffer ? "sampled, filtered or overrun"
                                                     : "a full buffer, or an overrun mirror port"));
  }
  for (unsigned direction = 0; direction < 2; ++direction) {
    const CompareDirection& d = result.directions[direction];
    if (d.judges_losses) continue;
    say(fmt::format("Losses from {} to {} cannot be judged: {} that {} does not show may have arrived",
                    names[direction], names[1 - direction], packets_text(d.undecided), names[1 - direction]));
  }
  return text;
}

std::string repeat_cause_text(RepeatCause cause, unsigned direction) {
  for (const CauseText& text : cause_texts) {
    if (text.cause == cause)
      return fmt::format(fmt::runtime(text.row), direction == 0 ? "A" : "B", direction == 0 ? "B" : "A");
  }
  return {};
}

std::string shown_by_text(const RepeatRun& run) {
  if (!run.evidence) return {};
  return fmt::format("{} packet {}", run.evidence->point == 0 ? "A" : "B", run.evidence->packet);
}

std::vector<CompareFigure> compare_figures(const CompareResult& result) {
  const std::array<D, 2>& d = result.directions;
  std::vector<CompareFigure> figures;
  for (const Count& count : counts) {
    if (!count.always && count.of(d[0]) == 0 && count.of(d[1]) == 0) continue;
    figures.push_back(
        {count.name, count.part, {std::to_string(count.of(d[0])), std::to_string(count.of(d[1]))}});
  }
  for (const CauseText& text : cause_texts) {
    const std::uint64_t there = d[0].repeats[text.cause], back = d[1].repeats[text.cause];
    if (there + back != 0)
      figures.push_back({text.figure, true, {std::to_string(there), std::to_string(back)}});
  }
  if (!d[0].delay && !d[1].delay) return figures;
  const std::string kind = result.clocks.offset_ns ? "delay" : "delay above the minimum";
  for (const Delay& delay : delays) {
    CompareFigure figure{delay.part ? delay.name : kind + delay.name, delay.part, {}};
    for (std::size_t i = 0; i < d.size(); ++i)
      figure.text[i] = d[i].delay ? signed_duration((*d[i].delay).*delay.of) : std::string("-");
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace roce::analyze
