// SPDX-License-Identifier: Apache-2.0
// What a capture can bear, in words.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/mrc/mrc.hpp"
#include "analyze/results/completeness.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {
namespace {

using Hole = Completeness::Hole;

std::string sampled_text(const Completeness::Sampled& sampled) {
  const auto one_in = static_cast<std::uint64_t>(std::llround(sampled.one_in));
  return fmt::format(
      "This capture is sampled, about 1 packet in {}{}: losses, retransmissions and answers cannot be judged",
      std::max<std::uint64_t>(one_in, 2),
      !sampled.regular   ? ""
      : *sampled.regular ? ", counted off regularly"
                         : " at random");
}

std::string filtered_text(const Completeness& c) {
  std::string names;
  for (std::size_t i = 0; i < c.opcode_filtered.size(); ++i)
    names += fmt::format("{}{}",
                         i == 0                              ? ""
                         : i + 1 == c.opcode_filtered.size() ? " and no "
                                                             : ", no ",
                         c.opcode_filtered[i]);
  if (c.opcode_filtered.front() == "all but CNP")
    return "This capture is filtered by opcode, it has CNPs only: nothing can be said of the data that they "
           "slow "
           "down";
  return fmt::format(
      "This capture is filtered by opcode, it has no {}: losses, retransmissions and answers cannot be "
      "judged",
      names);
}

std::string one_direction_text(const Completeness& c) {
  const std::size_t n = c.one_direction.size();
  const std::string whose = n == c.connections ? (n == 1   ? "the only connection"
                                                  : n == 2 ? "both connections"
                                                           : fmt::format("all {} connections", n))
                                               : fmt::format("{} of {} connections", n, c.connections);
  return fmt::format(
      "Only one direction of {} was captured (or the answers were filtered out): losses and answers cannot "
      "be "
      "judged there",
      whose);
}

std::string hole_place_text(const Snapshot& s, const Hole& hole) {
  if (hole.from_ns == capture::no_time || hole.to_ns == capture::no_time || !s.totals.any_time)
    return fmt::format("between packets {} and {}", hole.after, hole.before);
  std::string at = "+";
  append_seconds(at, span_ns(s.totals.first_time_ns, hole.from_ns), 6);
  return fmt::format("at {} s, between packets {} and {}, {} long", at, hole.after, hole.before,
                     duration_text(span_ns(hole.from_ns, hole.to_ns)));
}

std::string holes_text(const Snapshot& s, const std::vector<Hole>& holes) {
  std::uint64_t packets = 0;
  bool delivered = false;
  for (const Hole& hole : holes) {
    packets += hole.packets;
    delivered = delivered || hole.delivered;
  }
  const std::string where = holes.size() == 1
                                ? fmt::format("The capture has a hole {}", hole_place_text(s, holes.front()))
                                : fmt::format("The capture has {} holes, the first {}", holes.size(),
                                              hole_place_text(s, holes.front()));
  const std::string missing = plural(packets, "packet is missing", "packets are missing");
  const std::string why =
      delivered
          ? fmt::format(": at least {} that the network did deliver", missing)
          : fmt::format(", or the network lost all at once there: {}, and nothing tells which", missing);
  return where + why + "; what happened meanwhile cannot be judged";
}

std::string doubled_text(const Completeness& c) {
  const auto percent = static_cast<std::uint64_t>(std::llround(100 * c.doubled));
  const std::string share = fmt::format("{} % of the packets are copies of others", percent);
  const std::string_view why = c.several_points
                                   ? ", from another point of the path (other TTL, MAC address, VLAN or "
                                     "tunnel): several points are in one "
                                     "interface"
                                   : ": doubled by the mirror, or several points are in one interface";
  return fmt::format(
      "{}{}{}", share, why,
      c.bears(Need::place) ? "" : "; where packets were lost that it shows once cannot be judged");
}

std::string cut_text(const Snapshot& s, const Completeness& c) {
  if (c.headers_cut && s.totals.roce_packets != 0) {
    return fmt::format(
        "Packets are cut at {} bytes, before the AETH: ACKs and NAKs look alike, and losses cannot be judged",
        c.cut_at);
  }
  return fmt::format("Packets are cut at {} bytes: what lies behind is not checked", c.cut_at);
}

/// What can be said by exports alone.
std::string_view exports_tell_text(const Exports& exports) {
  if (!exports.flows.empty()) return "who talks, marks and queues can be estimated";
  if (!exports.drops.empty()) return "what switches say of packets that they dropped is known";
  if (!exports.ports.empty()) return "the counters of ports are known";
  return "they show no RoCE packet";
}

/// What cannot be said of MRC. Its streams are no connections.
std::string mrc_limits_text(const Snapshot& s) {
  if (s.mrc == nullptr || s.completeness.sampled) return {};
  const Mrc& mrc = *s.mrc;
  if (mrc.streams.empty())
    return mrc.unmatched == 0 ? ""
                              : "Of MRC only answers were captured, and no data: losses cannot be judged";
  std::uint64_t silent = 0, packets = 0, elsewhere = 0;
  for (const MrcStream& stream : mrc.streams) {
    silent += stream.sacks == 0 ? 1 : 0;
    packets += stream.packets;
    elsewhere += stream.not_captured;
  }
  std::string text;
  if (silent != 0)
    text = fmt::format(
        "The SACKs of {} of {} of MRC are cut, or were not captured: losses downstream, needless repeats and "
        "receivers that do not answer cannot be judged there",
        silent, plural(mrc.streams.size(), "stream", "streams"));
  constexpr std::uint64_t one_in = 20;
  if (one_in * elsewhere >= packets + elsewhere)
    text += fmt::format(
        "{}{} of MRC arrived that did not pass this capture, beside {} that did: on paths that are not "
        "captured, or "
        "missed by the capture; losses upstream cannot be judged",
        text.empty() ? "" : ". ", plural(elsewhere, "packet", "packets"), packets);
  return text;
}

/// The name of an input that is there once more; empty: none is.
std::string file_given_twice(const std::vector<capture::FileInfo>& files) {
  std::set<std::string_view> names;
  for (const capture::FileInfo& file : files) {
    if (file.path != "-" && !names.insert(file.path).second) return file.path;
  }
  return {};
}

/// The resolution of the clock, as far as times of connections show it: the largest power of ten that divides
/// them all.
std::int64_t clock_step_ns(const Snapshot& s) {
  constexpr std::int64_t second = 1'000'000'000;
  std::int64_t step = second;
  for (const Connection& c : s.connections) {
    for (const std::int64_t time_ns : {c.first_time_ns, c.last_time_ns}) {
      while (time_ns != capture::no_time && step > 1 && time_ns % step != 0) step /= 10;
    }
  }
  return step;
}

/// Whether the times that are measured here are lost in the steps of the clock.
bool too_coarse(const Snapshot& s) {
  if (s.totals.roce_packets == 0 || s.completeness.equal_stamps < 0.5 || !file_given_twice(s.files).empty())
    return false;
  Histogram answers;
  for (const Connection& c : s.connections) {
    for (const Requester& requester : c.requester) {
      for (const OperationStats& each : requester.operations) answers.merge(each.latency_ns);
    }
  }
  constexpr std::uint64_t steps = 10;
  return answers.percentile(0.1) < steps * static_cast<std::uint64_t>(clock_step_ns(s));
}

}  // namespace

std::string capture_limits_text(const Snapshot& s) {
  const Completeness& c = s.completeness;
  std::string text;
  const auto say = [&](const std::string& sentence) { text += (text.empty() ? "" : ". ") + sentence; };
  if (c.samples_only)
    say(fmt::format(
        "{}, and no traffic itself: {}; losses, retransmissions and latencies cannot be judged, nor "
        "what is missing",
        exports_text(s.exports), exports_tell_text(s.exports)));
  if (s.exports.unreadable != 0 && s.totals.diagnostics.of(DiagnosticId::cut_by_capture) != 0)
    say("The capture cut datagrams of switches: samples behind, which may tell of drops, are not in it");
  if (c.sampled) say(sampled_text(*c.sampled));
  if (!c.opcode_filtered.empty()) say(filtered_text(c));
  if (!c.one_direction.empty()) say(one_direction_text(c));
  if (c.only_too_little())
    say("Too little was captured to judge losses and answers: a few packets, of one direction only");
  if (!c.holes.empty()) say(holes_text(s, c.holes));
  if (c.lacks_many())
    say(
        fmt::format("{} of {} that the network did deliver {} not in the capture, here and there: losses and "
                    "answers are not sure",
                    c.missing_elsewhere, plural(c.delivered, "packet", "packets"),
                    c.missing_elsewhere == 1 ? "is" : "are"));
  else if (c.missing_elsewhere != 0)
    say(fmt::format("At least {} that the network did deliver {} missing in this capture, here and there",
                    packets_text(c.missing_elsewhere), c.missing_elsewhere == 1 ? "is" : "are"));
  if (c.undecided != 0)
    say(fmt::format(
        "{} that {} sent again along with others {} missing here: lost upstream of this capture or not "
        "captured, the capture does not tell which",
        packets_text(c.undecided), c.undecided == 1 ? "was" : "were", c.undecided == 1 ? "is" : "are"));
  if (c.datagrams_missing != 0)
    say(fmt::format("{} of {} {} not in the capture: lost on the way or not captured, UD does not tell which",
                    c.datagrams_missing, plural(c.datagrams, "UD packet", "UD packets"),
                    c.datagrams_missing == 1 ? "is" : "are"));
  if (const std::string twice = file_given_twice(s.files); !twice.empty()) {
    say(
        fmt::format("{} was given twice: every packet of it is there twice, and counted twice where packets "
                    "are counted",
                    twice));
  } else if (c.doubled >= 0.02) {
    say(doubled_text(c));
  }
  if (const std::string mrc = mrc_limits_text(s); !mrc.empty()) say(mrc);
  if (c.cut_at != 0) say(cut_text(s, c));
  if (c.clock_steps != 0)
    say(fmt::format("The clock was set {} during the capture",
                    c.clock_steps == 1 ? "once" : fmt::format("{} times", c.clock_steps)));
  if (too_coarse(s))
    say(fmt::format(
        "{:.0f} % of the packets have the timestamp of the one before: the clock is too coarse for "
        "latencies",
        100 * c.equal_stamps));
  return text;
}

}  // namespace roce::analyze
