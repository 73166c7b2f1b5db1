// SPDX-License-Identifier: Apache-2.0
// The findings of a comparison, each with its evidence.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/base/address_text.hpp"
#include "analyze/base/median.hpp"
#include "analyze/base/units.hpp"
#include "analyze/compare/comparison.hpp"
#include "analyze/results/flow_columns.hpp"

namespace roce::analyze {
namespace {

constexpr std::string_view point_names[] = {"A", "B"};

std::string way(unsigned direction) {
  return fmt::format("{} to {}", point_names[direction], point_names[1 - direction]);
}

/// `point`: the file of its packet numbers.
CompareFinding made(std::string_view id, Severity severity, std::string_view title, std::string subject,
                    unsigned point) {
  CompareFinding finding;
  finding.evidence_at = point;
  finding.id = id;
  finding.severity = severity;
  finding.title = title;
  finding.subject = std::move(subject);
  return finding;
}

void prove(Finding& finding, const Counted& counted) {
  finding.count = counted.count;
  finding.packets = counted.first;
  std::sort(finding.packets.begin(), finding.packets.end());
  finding.first_time_ns = counted.first_time_ns;
  finding.last_time_ns = counted.last_time_ns;
}

/// Reasons why the packets may have been lost by the capture itself; lowers the confidence.
std::string doubt_text(const CompareResult& result, unsigned direction, double& confidence) {
  const ComparePointFacts& second = result.points[1 - direction];
  std::string text;
  if (second.dropped.value_or(0) != 0) {
    text += fmt::format(" The capture at {} dropped {} itself: some or all of the lost packets may be these.",
                        point_names[1 - direction], packets_text(*second.dropped));
    confidence = *second.dropped >= result.directions[direction].lost.count ? 0.3 : 0.6;
  }
  const std::uint64_t missed = result.directions[direction].missed_behind.count;
  if (missed != 0) {
    text += fmt::format(" The capture at {} did not capture {} that arrived, so it may lack more of them.",
                        point_names[1 - direction], packets_text(missed));
    confidence = std::min(confidence, missed >= result.directions[direction].lost.count ? 0.6 : 0.8);
  }
  return text;
}

/// What was retransmitted for that cause, which may be of either direction: a READ is asked again for its
/// responses. Where both directions have such trouble only a direction's own repeats are surely its own.
std::string repeated_for(const CompareResult& result, unsigned direction, RepeatCause cause, bool both,
                         std::string_view why) {
  const std::uint64_t own = result.directions[direction].repeats[cause];
  const std::uint64_t again = both ? own : own + result.directions[1 - direction].repeats[cause];
  return again == 0 ? std::string()
                    : fmt::format(" {} retransmitted because of {}.", packets_text(again), why);
}

/// What the losses of a direction led to: repeats of what was lost, and of what its answers were for.
std::string repeated_text(const CompareResult& result, unsigned direction) {
  const RepeatCauses& own = result.directions[direction].repeats;
  const RepeatCauses& other = result.directions[1 - direction].repeats;
  const std::uint64_t there = own[RepeatCause::lost_between] + own[RepeatCause::response_lost_between];
  const std::uint64_t acks = other[RepeatCause::ack_lost_between];
  const std::uint64_t naks = other[RepeatCause::nak_lost_between];
  const std::uint64_t responses = other[RepeatCause::response_lost_between];
  std::string text;
  if (there != 0)
    text += fmt::format(" {} of this direction retransmitted because of them.", packets_text(there));
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count != 0)
      text += fmt::format(" {} of the other direction retransmitted because {} was lost.",
                          packets_text(count), what);
  };
  add(acks, "the acknowledgement");
  add(naks, "a NAK");
  add(responses, "a response");
  return text;
}

void find_losses(const CompareResult& result, std::vector<CompareFinding>& findings) {
  for (unsigned direction = 0; direction < 2; ++direction) {
    const CompareDirection& d = result.directions[direction];
    if (d.lost.count == 0) continue;
    const std::uint64_t sent = d.matched + d.lost.count;
    constexpr std::uint64_t serious = 100;  // one in so many
    CompareFinding finding =
        made("lost_between", d.lost.count * serious >= sent ? Severity::error : Severity::warning,
             "Packets lost between the points", way(direction), direction);
    prove(finding, d.lost);
    finding.explanation =
        fmt::format("{} of {} ({}) seen at {} did not reach {}; {} of them were retransmitted.", d.lost.count,
                    packets_text(sent), percent_text(d.lost.count, sent), point_names[direction],
                    point_names[1 - direction], d.repaired);
    if (d.lost_damaged != 0) {
      finding.explanation += fmt::format(
          " {} of the lost packets were already damaged at {}, so the next hop may have dropped them "
          "correctly.",
          d.lost_damaged, point_names[direction]);
    }
    finding.explanation += repeated_text(result, direction);
    finding.explanation += doubt_text(result, direction, finding.confidence);
    finding.advice =
        "read the drop and discard counters of every port between the points (ethtool -S DEVICE on hosts; on "
        "a switch the interface's discards and the queue's WRED and buffer drops), and check whether the "
        "class is lossless (PFC) on all of them; --csv lists the packets.";
    findings.push_back(std::move(finding));
  }
}

void find_holes(const CompareResult& result, std::vector<CompareFinding>& findings) {
  constexpr std::size_t told = 4;
  constexpr std::uint64_t enough = 3;  // fewer may be lost by chance
  for (unsigned direction = 0; direction < 2; ++direction) {
    std::string pairs;
    std::size_t count = 0;
    Counted packets;
    for (const BlackHole& hole : result.black_holes) {
      if (hole.direction != direction) continue;
      if (count++ < told) {
        pairs += fmt::format("{}{} > {} ({})", pairs.empty() ? "" : ", ", address_text(hole.src),
                             address_text(hole.dst), hole.packets.count);
      }
      merge(packets, hole.packets);
    }
    if (count == 0) continue;
    if (count > told) pairs += fmt::format(" and {} more", count - told);
    CompareFinding finding =
        made("black_hole_between", packets.count < enough ? Severity::warning : Severity::error,
             "All packets of a pair of addresses are lost", way(direction), direction);
    prove(finding, packets);
    finding.confidence = 0.8;
    finding.explanation = fmt::format(
        "No packet of {} reaches {}: {}. {} sees other traffic of these hosts, and there is no response to "
        "them: they are lost between the points. They are not counted as lost packets of the comparison.",
        count == 1 ? std::string("a pair of addresses") : fmt::format("{} pairs of addresses", count),
        point_names[1 - direction], pairs, point_names[1 - direction]);
    finding.advice =
        "look between the points for what distinguishes these addresses from others that arrive: a missing "
        "or wrong route or neighbour entry, an access list, a VLAN that is not allowed on a trunk, one dead "
        "path of several (ECMP, LAG); ping and traceroute from the sender show where the path ends.";
    findings.push_back(std::move(finding));
  }
}

void find_damage(const CompareResult& result, std::vector<CompareFinding>& findings) {
  for (unsigned direction = 0; direction < 2; ++direction) {
    const CompareDirection& d = result.directions[direction];
    if (d.corrupted.count == 0) continue;
    CompareFinding finding = made("damaged_between", Severity::error, "Packets damaged between the points",
                                  way(direction), direction);
    prove(finding, d.corrupted);
    finding.explanation = fmt::format(
        "{} correct at {}, but with a wrong ICRC or IP checksum at {}: the receiver discards such packets.",
        packets_text(d.corrupted.count), point_names[direction], point_names[1 - direction]);
    finding.explanation += repeated_for(result, direction, RepeatCause::damaged_between,
                                        result.directions[1 - direction].corrupted.count != 0, "it");
    finding.advice =
        "a device between the points changes bits: check its memory errors, and the FEC and CRC counters of "
        "the links (ethtool -S DEVICE, ethtool --phy-statistics).";
    findings.push_back(std::move(finding));
  }
}

void find_trims(const CompareResult& result, std::vector<CompareFinding>& findings) {
  for (unsigned direction = 0; direction < 2; ++direction) {
    const CompareDirection& d = result.directions[direction];
    const std::string_view first = point_names[direction], second = point_names[1 - direction];
    if (d.trimmed.count != 0) {
      CompareFinding finding = made("trimmed_between", Severity::warning,
                                    "Packets trimmed between the points", way(direction), direction);
      prove(finding, d.trimmed);
      finding.explanation = fmt::format(
          "{} of {} whole at {} and trimmed by a switch before {}: its queue was full, and it cut them "
          "instead of dropping them.",
          d.trimmed.count, packets_text(d.matched), first, second);
      finding.explanation += repeated_for(result, direction, RepeatCause::trimmed_between,
                                          result.directions[1 - direction].trimmed.count != 0, "it");
      finding.advice = fmt::format(
          "on each switch between the points: which port and queue trims (SONiC: show interfaces counters "
          "trim, show queue counters PORT --trim; Cumulus Linux: nv show interface PORT counters "
          "packet-trim). Look for incast, for paths with uneven load, and whether ECN marks before the queue "
          "is full. What {} shows of them: roceanalyze packets FILE -Y roce.trimmed.",
          second);
      findings.push_back(std::move(finding));
    }
    if (d.cut.count != 0) {
      CompareFinding finding =
          made("cut_between", Severity::notice, "Packets cut and re-marked between the points",
               way(direction), direction);
      prove(finding, d.cut);
      finding.confidence = 0.5;
      finding.explanation = fmt::format(
          "{} whole at {} and cut at {}, with another DSCP: a switch between the points trimmed them, or the "
          "class is re-marked there and what {} shows was cut by a mirror.",
          packets_text(d.cut.count), first, second, second);
      finding.advice = fmt::format(
          "if switches trim, name the DSCP that they give trimmed packets: --trimmed-dscp N. roceanalyze "
          "packets FILE -T fields -e infiniband.bth.psn -e ip.dsfield.dscp lists those of {}.",
          second);
      findings.push_back(std::move(finding));
    }
  }
}

void find_order(const CompareResult& result, std::vector<CompareFinding>& findings) {
  for (unsigned direction = 0; direction < 2; ++direction) {
    const CompareDirection& d = result.directions[direction];
    if (d.late.count != 0) {
      CompareFinding finding = made("reordered_between", Severity::warning,
                                    "Packets reordered between the points", way(direction), direction);
      prove(finding, d.late);
      finding.explanation = fmt::format("{} of {} arrived after later packets of their flow, by up to {}.",
                                        d.late.count, packets_text(d.matched), duration_text(d.most_late_ns));
      finding.explanation += repeated_for(result, direction, RepeatCause::overtaken_between,
                                          result.directions[1 - direction].late.count != 0, "the reordering");
      finding.advice =
          "RoCE treats a reordered packet as lost: look for packet spraying, per-packet load balancing, or a "
          "LAG that does not hash by flow between the points.";
      findings.push_back(std::move(finding));
    }
    if (d.duplicated.count != 0) {
      CompareFinding finding = made("duplicated_between", Severity::notice,
                                    "Packets duplicated between the points", way(direction), 1 - direction);
      prove(finding, d.duplicated);
      finding.explanation = fmt::format("{} seen at {} more often than at {} (packet numbers of {}).",
                                        packets_text(d.duplicated.count), point_names[1 - direction],
                                        point_names[direction], point_names[1 - direction]);
      finding.advice = "look for a loop, or for a port that mirrors into the network, between the points.";
      findings.push_back(std::move(finding));
    }
  }
}

/// The rows of repeats with one of the causes.
template <class Is>
Counted rows_of(const CompareResult& result, unsigned direction, Is is) {
  Counted counted;
  for (const RepeatRun& run : result.repeats) {
    if (run.direction == direction && is(run)) counted.add(run.packet, run.time_ns);
  }
  return counted;
}

void find_late_answers(const CompareResult& result, std::vector<CompareFinding>& findings) {
  for (unsigned direction = 0; direction < 2; ++direction) {
    const std::uint64_t count = result.directions[direction].repeats[RepeatCause::answer_late];
    if (count == 0) continue;
    std::vector<std::int64_t> waited, answered;
    for (const RepeatRun& run : result.repeats) {
      if (run.direction != direction || run.cause != RepeatCause::answer_late) continue;
      if (!run.waited_ns || !run.answered_ns) continue;
      waited.push_back(*run.waited_ns);
      answered.push_back(*run.answered_ns);
    }
    CompareFinding finding = made("answer_later_than_timer", Severity::warning,
                                  "Retransmitted before the answer came", way(direction), direction);
    prove(finding, rows_of(result, direction,
                           [](const RepeatRun& run) { return run.cause == RepeatCause::answer_late; }));
    finding.count = count;
    finding.explanation = fmt::format(
        "{} retransmitted although nothing was lost: the answer came, but later than the sender waited.",
        packets_text(count));
    const auto timer = median_of(waited), took = median_of(answered);
    if (timer && took) {
      finding.explanation +=
          fmt::format(" The sender waited {}, the answers took {} (medians of {}).", duration_text(*timer),
                      duration_text(*took), plural(waited.size(), "row of repeats", "rows of repeats"));
    }
    finding.advice =
        "a timer that is shorter than the way and the responder's time repeats without need: raise the "
        "queue pair's timeout (attribute timeout of ibv_modify_qp, NCCL_IB_TIMEOUT), or look for what makes "
        "the responder or its host slow; --csv --repeats lists the rows.";
    findings.push_back(std::move(finding));
  }
}

/// What was sent again for reasons that lie beyond both points.
void find_beyond(const CompareResult& result, std::vector<CompareFinding>& findings) {
  const auto is_beyond = [](const RepeatRun& run) {
    return run.cause == RepeatCause::lost_before || run.cause == RepeatCause::lost_behind ||
           run.cause == RepeatCause::answer_passed;
  };
  for (unsigned direction = 0; direction < 2; ++direction) {
    const RepeatCauses& causes = result.directions[direction].repeats;
    const std::uint64_t before = causes[RepeatCause::lost_before], behind = causes[RepeatCause::lost_behind];
    const std::uint64_t answered = causes[RepeatCause::answer_passed];
    if (before + behind + answered == 0 || !result.order_known) continue;
    const std::string_view first = point_names[direction], second = point_names[1 - direction];
    CompareFinding finding =
        made("lost_beyond_points", Severity::notice, "Retransmissions caused beyond the capture points",
             way(direction), direction);
    prove(finding, rows_of(result, direction, is_beyond));
    finding.count = before + behind + answered;
    finding.confidence = before + behind == 0 ? 0.6 : 0.8;
    finding.explanation = fmt::format(
        "{} retransmitted for a reason that lies beyond both points: {} after a loss upstream of {}, {} "
        "after "
        "one downstream of {}; {} had been answered, and the answer had passed both points: it was lost "
        "behind "
        "{}, or the sender was late to hear of it.",
        packets_text(finding.count), before, first, behind, second, answered, first);
    finding.advice = fmt::format(
        "compare captures further out: nearer to the sender for what lies beyond {}, nearer to the receiver "
        "for "
        "what lies beyond {}; read the drop counters there (ethtool -S DEVICE, rdma statistic).",
        first, second);
    findings.push_back(std::move(finding));
  }
}

std::string value_text(const MarkChange& change, const std::optional<std::uint16_t>& value) {
  constexpr std::string_view ecn[] = {"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
  if (!value) return "untagged";
  if (change.field == MarkField::ecn) return std::string(ecn[*value & 3U]);
  return std::to_string(*value);
}

constexpr std::uint16_t ecn_ce = 3;
bool is_congestion(const MarkChange& change) {
  return change.field == MarkField::ecn && change.to == ecn_ce && change.from.value_or(0) != 0;
}

struct ChangeRule {
  std::string_view id;
  Severity severity;
  std::string_view title;
  bool (*is)(const MarkChange&);
  std::string_view advice;
};
constexpr ChangeRule change_rules[] = {
    {"remarked_between", Severity::warning, "DSCP or priority changed between the points",
     [](const MarkChange& c) { return c.field == MarkField::dscp || c.field == MarkField::pcp; },
     "a port between the points does not trust the markings, or rewrites them: set it to trust DSCP "
     "(mlnx_qos -i DEVICE --trust dscp on hosts, the port's trust mode on a switch) and look for a rewrite "
     "or policing rule of its class map."},
    {"ecn_changed_between", Severity::warning, "ECN changed between the points other than by congestion",
     [](const MarkChange& c) { return c.field == MarkField::ecn && !is_congestion(c); },
     "only ECT may become CE (RFC 3168, 5): look for a device that rewrites the whole TOS byte instead of "
     "the DSCP. What was CE outside of a tunnel must be CE inside once it is taken out (RFC 6040, 4.2): if "
     "it "
     "is not, set the tunnel's ends to the normal mode of RFC 6040."},
    {"ce_between", Severity::info, "Congestion marked between the points", is_congestion,
     "the congested queue is between the points: check its ECN thresholds and its load."},
    {"vlan_changed_between", Severity::notice, "VLAN tag added, removed or changed between the points",
     [](const MarkChange& c) { return c.field == MarkField::vlan; },
     "check that the priority is kept: a port that removes the tag removes the PCP, and PFC then needs trust "
     "in DSCP on both sides."},
    {"ttl_changed_between", Severity::info, "TTL changed between the points",
     [](const MarkChange& c) { return c.field == MarkField::ttl; },
     "each router between the points decrements it by one; any other change is a rewrite."},
};

void find_changes(const CompareResult& result, std::vector<CompareFinding>& findings) {
  for (const ChangeRule& rule : change_rules) {
    for (unsigned direction = 0; direction < 2; ++direction) {
      CompareFinding finding = made(rule.id, rule.severity, rule.title, way(direction), direction);
      constexpr std::size_t told = 6;
      std::size_t pairs = 0;
      for (const MarkChange& change : result.changes) {
        if (change.direction != direction || !rule.is(change)) continue;
        finding.count += change.packets;
        finding.packets.push_back(change.first[direction]);
        if (pairs++ < told) {
          finding.explanation += fmt::format("{}{} {} -> {}: {}", pairs == 1 ? "" : ", ",
                                             mark_field_name(change.field), value_text(change, change.from),
                                             value_text(change, change.to), packets_text(change.packets));
        }
      }
      if (pairs == 0) continue;
      if (pairs > told) finding.explanation += fmt::format(", and {} more", pairs - told);
      finding.explanation +=
          fmt::format(", of {} seen at both.", packets_text(result.directions[direction].matched));
      std::sort(finding.packets.begin(), finding.packets.end());
      if (finding.packets.size() > Counted::most) finding.packets.resize(Counted::most);
      finding.advice = rule.advice;
      findings.push_back(std::move(finding));
    }
  }
}

/// Packets of a direction that are not in the capture at `point`, by their numbers in the other one.
void add_missed(const Counted& missed, unsigned direction, std::string_view shown, unsigned point,
                double lacks, std::vector<CompareFinding>& findings) {
  CompareFinding finding = made("missed_by_capture", Severity::warning, "Packets not captured",
                                fmt::format("the capture at {}", point_names[point]), 1 - point);
  prove(finding, missed);
  finding.explanation = fmt::format("{} from {} to {} {}", packets_text(missed.count), point_names[direction],
                                    point_names[1 - direction], shown);
  finding.advice =
      "capture with a larger buffer (tcpdump -B 65536), fewer bytes a packet (-s 128) or a faster machine; "
      "a mirror port drops what its link cannot carry.";
  constexpr double most_of_a_full_buffer = 0.3;
  if (lacks >= most_of_a_full_buffer) {
    finding.advice = fmt::format(
        "if {} is a sample (one packet in N of a mirror, sFlow) or filtered, capture every packet there: "
        "only "
        "such a capture shows what was lost before it. Otherwise {}",
        point_names[point], finding.advice);
  }
  findings.push_back(std::move(finding));
}

void find_captures(const CompareResult& result, std::vector<CompareFinding>& findings) {
  for (unsigned direction = 0; direction < 2; ++direction) {
    const CompareDirection& d = result.directions[direction];
    if (d.missed.count != 0) {
      add_missed(
          d.missed, direction,
          fmt::format("only in {} (its packet numbers): the capture at {} is incomplete, so others may only "
                      "seem lost.",
                      point_names[1 - direction], point_names[direction]),
          direction, result.points[direction].lacks, findings);
    }
    if (d.missed_behind.count != 0) {
      add_missed(
          d.missed_behind, direction,
          fmt::format("only in {} (its packet numbers), but acknowledged and never retransmitted: they "
                      "arrived, and the capture at {} lacks them.",
                      point_names[direction], point_names[1 - direction]),
          1 - direction, result.points[1 - direction].lacks, findings);
    }
  }
  for (unsigned side = 0; side < 2; ++side) {
    const ComparePointFacts& point = result.points[side];
    if (point.other_pairs == 0 || result.matched() == 0) continue;
    CompareFinding finding = made("seen_at_one_point", Severity::notice, "Traffic seen at one point only",
                                  fmt::format("the capture at {}", point_names[side]), side);
    prove(finding, point.other_packets);
    finding.explanation = fmt::format(
        "{} between pairs of addresses ({} of them) that are not seen at {}: they take another path, {} "
        "captures one direction only, or all of them are lost. They are not counted as lost.",
        packets_text(point.other_packets.count), point.other_pairs, point_names[1 - side],
        point_names[1 - side]);
    finding.advice = "capture both directions at both points, where all of the traffic passes.";
    findings.push_back(std::move(finding));
  }
  if (result.window_exceeded != 0) {
    const unsigned side = result.directions[0].lost.count != 0 ? 0 : 1;
    CompareFinding finding =
        made("window_exceeded", Severity::notice, "Comparison window exceeded", "the comparison", side);
    prove(finding, result.directions[side].lost);
    finding.count = result.window_exceeded;
    finding.explanation = fmt::format(
        "{} left the full comparison window early because of the amount of traffic: packets with a long "
        "delay count as lost.",
        packets_text(result.window_exceeded));
    finding.advice = "compare with a larger --window.";
    findings.push_back(std::move(finding));
  }
}

/// Captures that do not show the same traffic: then there are no other findings.
void find_strangers(const CompareResult& result, std::vector<CompareFinding>& findings) {
  const std::uint64_t a = result.points[0].packets, b = result.points[1].packets;
  if (a != 0 && b != 0 && result.matched() * 10 >= std::min(a, b)) return;
  const bool none = result.matched() == 0;
  CompareFinding finding =
      made("not_same_traffic", none ? Severity::error : Severity::warning,
           none ? "The two files do not show the same traffic" : "The two files have little in common",
           "both captures", result.points[0].other_packets.count != 0 ? 0 : 1);
  prove(finding, result.points[finding.evidence_at].other_packets);
  finding.count = result.matched();
  finding.explanation =
      fmt::format("{} of {} in A and {} in B are the same.", result.matched(), packets_text(a), b);
  finding.advice =
      "compare captures of the same time and of hosts whose traffic passes both points; packets cannot be "
      "matched across address translation.";
  for (unsigned side = 0; side < 2; ++side) {
    if (result.points[side].packets != 0) continue;
    finding.explanation +=
        fmt::format(" {} shows no RoCE packet (frames: {}).", point_names[side], result.points[side].frames);
    finding.advice =
        "check what the capture without RoCE contains (tcpdump -c 20 -n -r FILE): it may have been made "
        "where the traffic does not pass, with a filter that excludes it, or with a snap length that "
        "truncates packets before the end of the BTH (54 bytes with IPv4, 74 with IPv6; more with tags and "
        "tunnels).";
  }
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<CompareFinding> compare_findings(const CompareResult& result) {
  std::vector<CompareFinding> findings;
  find_strangers(result, findings);
  find_losses(result, findings);
  find_holes(result, findings);
  find_damage(result, findings);
  find_trims(result, findings);
  find_order(result, findings);
  find_late_answers(result, findings);
  find_beyond(result, findings);
  find_changes(result, findings);
  find_captures(result, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& x, const Finding& y) { return x.severity > y.severity; });
  return findings;
}

}  // namespace roce::analyze
