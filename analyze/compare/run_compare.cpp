// SPDX-License-Identifier: Apache-2.0
// The comparison of two matched packets, and the result at the end.
#include "analyze/compare/compare.hpp"

#include <algorithm>
#include <utility>

#include "analyze/compare/black_holes.hpp"
#include "analyze/compare/comparison.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t most_changes = 256;

/// Drops of a capture by its interface statistics; absent without statistics.
std::optional<std::uint64_t> dropped_by(const capture::CaptureSource& source) {
  std::optional<std::uint64_t> sum;
  for (const capture::InterfaceInfo& interface : source.interfaces()) {
    for (const auto& part : {interface.dropped_by_interface, interface.dropped_by_kernel})
      if (part) sum = sum.value_or(0) + *part;
    if (interface.dropped_before_packets != 0) sum = sum.value_or(0) + interface.dropped_before_packets;
  }
  return sum;
}

}  // namespace

std::string_view mark_field_name(MarkField field) noexcept {
  using enum MarkField;
  static constexpr EnumNames<MarkField, 5> names(
      {{dscp, "dscp"}, {pcp, "pcp"}, {ecn, "ecn"}, {ttl, "ttl"}, {vlan, "vlan"}});
  return names[field];
}

std::string_view repeat_cause_name(RepeatCause cause) noexcept {
  using enum RepeatCause;
  static constexpr EnumNames<RepeatCause, static_cast<std::size_t>(count_)> names(
      {{lost_before, "lost_before"},
       {lost_between, "lost_between"},
       {damaged_between, "damaged_between"},
       {trimmed_between, "trimmed_between"},
       {overtaken_between, "overtaken_between"},
       {ack_lost_between, "ack_lost_between"},
       {nak_lost_between, "nak_lost_between"},
       {response_lost_between, "response_lost_between"},
       {answer_late, "answer_late"},
       {receiver_not_ready, "receiver_not_ready"},
       {lost_behind, "lost_behind"},
       {answer_passed, "answer_passed"},
       {unknown, "unknown"}});
  return names[cause];
}

void Counted::add(std::uint64_t number, std::int64_t time_ns) {
  first_time_ns = count == 0 ? time_ns : std::min(first_time_ns, time_ns);
  last_time_ns = count == 0 ? time_ns : std::max(last_time_ns, time_ns);
  ++count;
  if (first.size() < most) first.push_back(number);
}

void merge(Counted& into, const Counted& from) {
  if (from.count == 0) return;
  into.first_time_ns =
      into.count == 0 ? from.first_time_ns : std::min(into.first_time_ns, from.first_time_ns);
  into.last_time_ns = into.count == 0 ? from.last_time_ns : std::max(into.last_time_ns, from.last_time_ns);
  into.count += from.count;
  into.first.insert(into.first.end(), from.first.begin(), from.first.end());
  std::sort(into.first.begin(), into.first.end());
  if (into.first.size() > Counted::most) into.first.resize(Counted::most);
}

std::vector<Diagnostic> ComparePointFacts::diagnostics() const {
  DiagnosticCounts counts;
  if (interrupted) counts.add(stop_diagnostic(stop_reason));
  return list_diagnostics(counts, statistics, errors);
}

void Comparison::count_change(MarkField field, unsigned direction, std::optional<std::uint16_t> from,
                              std::optional<std::uint16_t> to, const PacketSeen& a, const PacketSeen& b) {
  std::vector<MarkChange>& changes = result_.changes;
  ++result_.changed[static_cast<std::size_t>(field)];
  if (direction == 1) std::swap(from, to);  // the arguments are in the order A, B
  const auto found = std::find_if(changes.begin(), changes.end(), [&](const MarkChange& change) {
    return change.field == field && change.direction == direction && change.from == from && change.to == to;
  });
  if (found != changes.end()) {
    ++found->packets;
  } else if (changes.size() < most_changes) {
    changes.push_back({field, direction, from, to, 1, {a.number, b.number}});
  } else {
    ++result_.changes_omitted;
  }
}

void Comparison::compare_marks(unsigned direction, const PacketSeen& a, const PacketSeen& b) {
  const bool tag_a = a.has(PointPacket::tagged), tag_b = b.has(PointPacket::tagged);
  const auto change = [&](MarkField field, std::optional<std::uint16_t> in_a,
                          std::optional<std::uint16_t> in_b) {
    if (in_a != in_b) count_change(field, direction, in_a, in_b, a, b);
  };
  using Value = std::uint16_t;
  constexpr unsigned ecn_bits = 3;
  const auto dscp = [](const PacketSeen& seen) { return static_cast<Value>(seen.traffic_class >> 2U); };
  // A switch that trims marks short packets, too, and leaves them whole.
  if (!options_.dissecting.is_trimmed_dscp(dscp(direction == 0 ? b : a)))
    change(MarkField::dscp, dscp(a), dscp(b));
  change(MarkField::ecn, static_cast<Value>(a.traffic_class & ecn_bits),
         static_cast<Value>(b.traffic_class & ecn_bits));
  change(MarkField::ttl, a.ttl, b.ttl);
  if (tag_a && tag_b) change(MarkField::pcp, a.pcp, b.pcp);
  change(MarkField::vlan, tag_a ? std::optional<Value>(a.vlan) : std::nullopt,
         tag_b ? std::optional<Value>(b.vlan) : std::nullopt);
  if (tag_a == tag_b) return;
  const bool tagged_behind = direction == 0 ? tag_b : tag_a;
  ++(tagged_behind ? result_.vlan_added : result_.vlan_removed);
}

void Comparison::finish_times() {
  result_.times_known = !readers_[0].timeless() && !readers_[1].timeless();
  if (!result_.times_known) return;
  ClockEstimate& clocks = result_.clocks;
  clocks = estimate_clocks(tracks_[0], tracks_[1]);
  for (unsigned direction = 0; direction < 2; ++direction) {
    const DelayTrack& track = tracks_[direction];
    if (track.count() == 0) continue;
    result_.directions[direction].delay = track.delays(
        direction == 0 ? 1 : -1, delay_base(direction).value_or(0), clocks.drift, clocks.since_ns);
  }
}

std::optional<std::int64_t> Comparison::delay_base(unsigned direction) const {
  const DelayTrack& track = tracks_[direction];
  if (!result_.times_known || track.count() == 0) return std::nullopt;
  const std::int64_t since_ns = result_.clocks.since_ns;
  // Without the offset: above the fastest packet.
  return result_.clocks.offset_ns.value_or(direction == 0 ? track.least(0, since_ns)
                                                          : track.largest(0, since_ns));
}

void Comparison::finish_pairs() {
  result_.black_holes = find_black_holes(book_.pairs());
  const std::vector<AddressPair>& pairs = book_.pairs();
  result_.order_known = std::any_of(
      pairs.begin(), pairs.end(), [](const AddressPair& pair) { return pair.matched != 0 && !pair.either; });
  auto hole = result_.black_holes.cbegin();  // in the order of the pairs
  for (const AddressPair& pair : book_.pairs()) {
    const bool black = hole != result_.black_holes.cend() && hole->src == pair.src && hole->dst == pair.dst;
    if (black) {
      ++hole;
      continue;
    }
    if (pair.matched == 0) {
      for (unsigned side = 0; side < 2; ++side) {
        if (pair.alone[side] == 0) continue;
        ++result_.points[side].other_pairs;
        merge(result_.points[side].other_packets, pair.alone_first[side]);
      }
      continue;
    }
    const unsigned direction = pair.direction.value_or(0);
    merge(result_.directions[direction].lost, pair.alone_first[direction]);
    if (pair.either) {
      merge(result_.directions[1 - direction].lost, pair.alone_first[1 - direction]);
    } else {
      merge(result_.directions[direction].missed, pair.alone_first[1 - direction]);
    }
  }
  for (unsigned side = 0; side < 2; ++side) {
    const PointReader& reader = readers_[side];
    ComparePointFacts& facts = result_.points[side];
    facts.files = reader.source().files();
    facts.frames = reader.frames();
    facts.packets = reader.packets();
    facts.damaged = reader.damaged();
    facts.any_time = reader.any_time();
    facts.first_time_ns = reader.first_time_ns();
    facts.last_time_ns = reader.last_time_ns();
    facts.dropped = dropped_by(reader.source());
    facts.errors = reader.errors();
    facts.statistics = reader.source().statistics();
    facts.interrupted = reader.source().stopped();
    facts.stop_reason = reader.source().stop_reason();
  }
}

void Comparison::finish_lost() {
  std::vector<LostPacket>& lost = result_.lost;
  // Packets listed before it was known whether the other point sees the pair of addresses at all.
  std::erase_if(lost, [this](const LostPacket& packet) {
    const AddressPair* pair = book_.pair(packet.key.src, packet.key.dst);
    return pair == nullptr || pair->matched == 0 ||
           (!pair->either && pair->direction.value_or(0) != packet.direction);
  });
  const auto missed = std::stable_partition(
      lost.begin(), lost.end(), [this](const LostPacket& packet) { return !book_.arrived(packet); });
  for (auto packet = missed; packet != lost.end(); ++packet) {
    CompareDirection& counts = result_.directions[packet->direction];
    counts.missed_behind.add(packet->packet, packet->time_ns);
    --counts.lost.count;
  }
  finish_paths({missed, lost.end()});
  lost.erase(missed, lost.end());
  for (unsigned direction = 0; direction < 2; ++direction) {
    CompareDirection& counts = result_.directions[direction];
    if (counts.missed_behind.count == 0) continue;
    // The numbers of the remaining ones: the list has the first ones.
    Counted remain;
    for (const LostPacket& packet : lost) {
      if (packet.direction == direction) remain.add(packet.packet, packet.time_ns);
    }
    counts.lost.first = std::move(remain.first);
    if (remain.count != counts.lost.count) continue;
    counts.lost.first_time_ns = remain.first_time_ns;
    counts.lost.last_time_ns = remain.last_time_ns;
  }
  result_.lost_omitted = result_.directions[0].lost.count + result_.directions[1].lost.count - lost.size();
}

CompareResult compare(const ComparePoint& a, const ComparePoint& b, const CompareOptions& options) {
  return Comparison(a, b, options).run();
}

}  // namespace roce::analyze
