// SPDX-License-Identifier: Apache-2.0
// What a capture that lacks packets of its own can prove: of a sample, or of a mirror that is overrun, a
// packet that is not there is no loss.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "analyze/compare/comparison.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint64_t many = 8;  // packets
constexpr double many_of = 0.01;   // of those that passed
constexpr double much_of = 0.1;
constexpr double by_chance = 0.001;        // that a capture lacks all packets of a pair
constexpr double standard_deviations = 3;  // beyond what is expected

/// Of what is beyond the list of lost packets it is not known whether it arrived: only where next to nothing
/// of the list did, that is lost, too.
void leave_unlisted(CompareResult& result, unsigned direction) {
  CompareDirection& d = result.directions[direction];
  const auto listed = static_cast<std::uint64_t>(std::count_if(
      result.lost.begin(), result.lost.end(), [&](const LostPacket& l) { return l.direction == direction; }));
  const std::uint64_t arrived = d.missed_behind.count;
  if (listed >= d.lost.count ||
      static_cast<double>(arrived) < many_of * static_cast<double>(listed + arrived))
    return;
  d.undecided += d.lost.count - listed;
  d.lost.count = listed;
}

/// What passed the point and is not in its capture, and how much that is of all of which it would be known.
struct Lacking {
  std::uint64_t packets = 0;
  double share = 0;
};

double sent_in(const CompareDirection& d) {
  return static_cast<double>(d.matched + d.lost.count + d.missed_behind.count);
}

Lacking lacking_at(const CompareResult& result, unsigned point) {
  const CompareDirection& from_here = result.directions[point];
  const CompareDirection& to_here = result.directions[1 - point];
  Lacking found;
  found.packets = from_here.missed.count + to_here.missed_behind.count;
  if (found.packets == 0) return found;
  // Of what was sent again nothing tells whether the one before had arrived.
  const double sent = sent_in(to_here);
  const auto again = static_cast<double>(to_here.repeats.packets());
  const double told = sent == 0 ? 0 : std::max(0.0, 1 - again / sent);
  const auto lacking = static_cast<double>(found.packets);
  const double kept = static_cast<double>(from_here.matched) + static_cast<double>(to_here.matched) * told;
  found.share = lacking / (lacking + kept);
  return found;
}

/// Whether what is missing at the point may be what its capture did not keep: not more than its share of all
/// that was sent, for it may lack more of what was sent again than of the rest. Of a capture that lacks much,
/// anything may be.
bool may_be_missed(const CompareDirection& direction, const Lacking& lacking) {
  if (lacking.share >= much_of) return true;
  const double expected = sent_in(direction) * lacking.share;
  return static_cast<double>(direction.lost.count) <=
         expected + standard_deviations * (std::sqrt(expected) + 1);
}

/// Two samples of one traffic lack each most of what the other one has, and nothing tells what passed both.
bool seems_sampled_too(const CompareDirection& direction, const Lacking& first) {
  return first.packets >= many && first.share >= much_of &&
         static_cast<double>(direction.lost.count) >= much_of * sent_in(direction);
}

/// More is missing than is there, one here and one there: a network that loses so much would let nothing pass
/// for long (it drops what comes while it is congested, or all of it), a sample looks just so.
bool looks_sampled(const CompareDirection& direction, std::uint64_t rows) {
  constexpr std::uint64_t of_rows = 4;  // packets at most, on the average
  constexpr std::uint64_t least_rows = 4;
  return direction.lost.count >= direction.matched && rows >= least_rows &&
         rows * of_rows >= direction.matched;
}

void forget(CompareResult& result, unsigned direction, std::initializer_list<RepeatCause> causes) {
  RepeatCauses& repeats = result.directions[direction].repeats;
  const auto unknown = static_cast<std::size_t>(RepeatCause::unknown);
  for (const RepeatCause cause : causes) {
    std::uint64_t& packets = repeats.of[static_cast<std::size_t>(cause)];
    repeats.of[unknown] += packets;
    packets = 0;
  }
  for (RepeatRun& run : result.repeats) {
    if (run.direction != direction || std::find(causes.begin(), causes.end(), run.cause) == causes.end())
      continue;
    run.cause = RepeatCause::unknown;
    run.nak_lost = false;
    run.evidence.reset();
  }
}

void leave_undecided(CompareResult& result, unsigned direction) {
  CompareDirection& d = result.directions[direction];
  d.judges_losses = false;
  d.undecided += d.lost.count;
  d.lost = {};
  d.repaired = d.lost_damaged = 0;
  std::erase_if(result.lost, [&](const LostPacket& packet) { return packet.direction == direction; });
  for (ComparePath& path : result.paths) {
    if (path.direction != direction) continue;
    path.packets -= path.lost - path.trimmed;
    path.lost = path.trimmed;
  }
  using enum RepeatCause;
  forget(result, direction, {lost_between, response_lost_between});
  forget(result, 1 - direction, {ack_lost_between, nak_lost_between, response_lost_between});
}

/// Pairs of addresses of which such a capture may lack every packet by chance are no black holes.
void fill_holes(CompareResult& result, unsigned direction, double share) {
  std::erase_if(result.black_holes, [&](const BlackHole& hole) {
    if (hole.direction != direction || std::pow(share, hole.packets.count) < by_chance) return false;
    ++result.points[direction].other_pairs;
    merge(result.points[direction].other_packets, hole.packets);
    return true;
  });
}

}  // namespace

void Comparison::settle_lost() {
  for (unsigned direction = 0; direction < 2; ++direction) leave_unlisted(result_, direction);
  const Lacking lacking[] = {lacking_at(result_, 0), lacking_at(result_, 1)};
  for (unsigned point = 0; point < 2; ++point) {
    const unsigned to_here = 1 - point;
    const CompareDirection& d = result_.directions[to_here];
    const bool lacks = lacking[point].packets >= many && lacking[point].share >= many_of;
    if (lacks) {
      result_.points[point].lacks = lacking[point].share;
      fill_holes(result_, to_here, lacking[point].share);
      // That the point did not show a packet before it was sent again says nothing, either.
      using enum RepeatCause;
      forget(result_, point, {lost_before});
      // Where it lacks much, what was sent before, and answers before the last one, are missing, too.
      if (lacking[point].share >= much_of) {
        for (const unsigned way : {point, to_here})
          forget(result_, way, {lost_before, lost_behind, answer_passed, answer_late, overtaken_between});
      }
    }
    if (d.lost.count != 0 &&
        ((lacks && may_be_missed(d, lacking[point])) || seems_sampled_too(d, lacking[1 - point]) ||
         looks_sampled(d, mixtures_[to_here].rows)))
      leave_undecided(result_, to_here);
  }
  result_.lost_omitted =
      result_.directions[0].lost.count + result_.directions[1].lost.count - result_.lost.size();
}

}  // namespace roce::analyze
