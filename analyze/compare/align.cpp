// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/align.hpp"

#include <tsl/robin_map.h>

#include <algorithm>
#include <optional>

namespace roce::analyze {
namespace {

constexpr std::size_t beginning = std::size_t{1} << 15U;  ///< packets
constexpr std::size_t enough = 64;                        ///< matches, when a whole capture is searched
constexpr std::int64_t soon_ns = 100'000;                 ///< no sender retransmits that soon

/// A packet seen at both points.
struct Match {
  dissect::IpAddress src, dst;
  std::int64_t difference_ns = 0;
  int hops = 0;  ///< TTL at A minus TTL at B
};

/// The unique packets of a capture's beginning.
class Anchors {
 public:
  /// `doubled`: the capture has its packets twice.
  Anchors(const std::deque<PointPacket>& packets, bool doubled) {
    const std::size_t count = std::min(packets.size(), beginning);
    places_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const PointPacket& packet = packets[i];
      const auto [place, made] = places_.try_emplace(key_of(packet), Entry{&packet, false});
      if (made) continue;
      // A packet that a mirror captured twice is still unique.
      const bool soon = packet.time_ns - place->second.packet->time_ns <= soon_ns;
      if (!soon || (!doubled && !packet.has(PointPacket::numbered))) place.value().several = true;
    }
  }
  [[nodiscard]] const PointPacket* find(const PointPacket& packet) const {
    const auto found = places_.find(key_of(packet));
    return found == places_.end() || found->second.several ? nullptr : found->second.packet;
  }

 private:
  struct Entry {
    const PointPacket* packet;
    bool several;
  };
  static std::uint64_t key_of(const PointPacket& packet) noexcept { return packet.sign; }
  tsl::robin_map<std::uint64_t, Entry> places_;
};

bool alike(const PointPacket& x, const PointPacket& y) noexcept {
  if (!same_extended(x, y)) return false;
  return !x.has(PointPacket::icrc_known) || !y.has(PointPacket::icrc_known) || x.icrc == y.icrc;
}

Match match_of(const PointPacket& a, const PointPacket& b) noexcept {
  return {a.key.src, a.key.dst, b.time_ns - a.time_ns, static_cast<int>(a.ttl) - static_cast<int>(b.ttl)};
}

std::vector<Match> compare_beginnings(const std::deque<PointPacket>& a, const Anchors& of_b,
                                      const Anchors& of_a) {
  std::vector<Match> matches;
  const std::size_t count = std::min(a.size(), beginning);
  for (std::size_t i = 0; i < count; ++i) {
    const PointPacket* b = of_b.find(a[i]);
    if (b != nullptr && alike(a[i], *b) && of_a.find(a[i]) == &a[i]) matches.push_back(match_of(a[i], *b));
  }
  return matches;
}

/// Searches both captures from the front until one has enough packets of the other's beginning.
std::vector<Match> search(const ComparePoint& a, const ComparePoint& b, const Anchors& of_a,
                          const Anchors& of_b, const CompareOptions& options) {
  std::vector<Match> matches;
  const auto source_a = a.again(), source_b = b.again();
  if (source_a == nullptr || source_b == nullptr) return matches;
  ReaderOptions reading = reader_options(options);
  reading.check_icrc = false;
  PointReader readers[2] = {{*source_a, reading}, {*source_b, reading}};
  const Anchors* others[2] = {&of_b, &of_a};
  constexpr unsigned at_once = 4096;
  bool more = true;
  while (more && matches.size() < enough) {
    more = false;
    for (unsigned side = 0; side < 2; ++side) {
      for (unsigned i = 0; i < at_once; ++i) {
        const PointPacket* packet = readers[side].head();
        if (packet == nullptr) break;
        more = true;
        const PointPacket* other = others[side]->find(*packet);
        if (other != nullptr && alike(*packet, *other))
          matches.push_back(side == 0 ? match_of(*packet, *other) : match_of(*other, *packet));
        readers[side].take();
      }
      if (options.progress) options.progress(readers[side].source(), readers[side].frames());
    }
  }
  return matches;
}

/// Time differences of one pair of addresses, in one direction.
struct PairDifferences {
  dissect::IpAddress src, dst;
  std::uint64_t count = 0;
  std::int64_t least = 0, largest = 0;
  std::int64_t hops = 0;
  std::size_t order = 0;  ///< by the first packet
};

std::vector<PairDifferences> by_pair(const std::vector<Match>& matches) {
  std::vector<PairDifferences> pairs;
  constexpr std::size_t most = 4096;  // directions of further pairs are found when their packets come
  for (const Match& match : matches) {
    auto found = std::find_if(pairs.begin(), pairs.end(), [&](const PairDifferences& pair) {
      return pair.src == match.src && pair.dst == match.dst;
    });
    if (found == pairs.end()) {
      if (pairs.size() >= most) continue;
      pairs.push_back({match.src, match.dst, 0, match.difference_ns, match.difference_ns, 0, pairs.size()});
      found = pairs.end() - 1;
    }
    ++found->count;
    found->least = std::min(found->least, match.difference_ns);
    found->largest = std::max(found->largest, match.difference_ns);
    found->hops += match.hops;
    if (found != pairs.begin()) std::iter_swap(found, found - 1);  // frequent pairs move to the front
  }
  return pairs;
}

void set_direction(SentBefore& book, const PairDifferences& pair, unsigned direction) {
  if (AddressPair* known = book.pair(pair.src, pair.dst)) known->direction = direction;
}

/// By TTL, if there is a router between the points. Otherwise the direction with the larger time difference
/// passes A first: delays are not negative, so the clock offset adds to them in one direction and is
/// subtracted in the other.
void tell_directions(const std::vector<PairDifferences>& pairs, SentBefore& book) {
  bool any = false;
  for (const PairDifferences& pair : pairs) {
    const auto back = std::find_if(pairs.begin(), pairs.end(), [&](const PairDifferences& other) {
      return other.src == pair.dst && other.dst == pair.src;
    });
    if (pair.hops != 0) {
      set_direction(book, pair, pair.hops > 0 ? 0 : 1);
      any = true;
    } else if (back != pairs.end() && &*back != &pair) {
      any = true;
      const std::int64_t if_there = pair.least - back->largest, if_back = back->least - pair.largest;
      if (if_there != if_back) {
        set_direction(book, pair, if_there > if_back ? 0 : 1);
      } else {
        // No visible delay: either point may be the first one.
        set_direction(book, pair, pair.order < back->order ? 0 : 1);
        if (AddressPair* known = book.pair(pair.src, pair.dst)) known->either = true;
      }
    }
  }
  if (any) return;
  // One direction and no router: by the clocks.
  for (const PairDifferences& pair : pairs) set_direction(book, pair, pairs.front().least >= 0 ? 0 : 1);
}

std::int64_t shift_of(const std::vector<PairDifferences>& pairs, SentBefore& book) {
  std::optional<std::int64_t> least, largest;
  for (const PairDifferences& pair : pairs) {
    const AddressPair* known = book.pair(pair.src, pair.dst);
    if (known == nullptr || !known->direction) continue;
    if (*known->direction == 0) {
      least = std::min(least.value_or(pair.least), pair.least);
    } else {
      largest = std::max(largest.value_or(pair.largest), pair.largest);
    }
  }
  if (least && largest) return *largest + (*least - *largest) / 2;
  if (least) return *least;
  if (largest) return *largest;
  std::int64_t any = pairs.front().least;  // one direction only
  for (const PairDifferences& pair : pairs) any = std::min(any, pair.least);
  return any;
}

/// A hash of everything that is compared of a packet.
std::uint64_t bytes_of(const PointPacket& packet) noexcept {
  return packet.sign ^ packet.icrc ^ std::uint64_t{packet.extended} << 32U;
}

/// Number of occurrences of each packet in a capture's beginning.
using Occurrences = tsl::robin_map<std::uint64_t, std::uint32_t>;
Occurrences count_occurrences(const std::deque<PointPacket>& packets) {
  Occurrences counts;
  const std::size_t count = std::min(packets.size(), beginning);
  for (std::size_t i = 0; i < count; ++i) ++counts[bytes_of(packets[i])];
  return counts;
}

/// Whether a large part of the packets is captured again at once, unchanged or on another link: two mirrors,
/// or both ports of a bridge. Without an IPv4 ID, retransmissions are identical too; but they occur as often
/// at the other point, and no sender retransmits nearly every packet immediately.
bool is_doubled(const std::deque<PointPacket>& packets, const Occurrences& at_other) {
  constexpr std::uint64_t part = 4;
  struct Again {
    std::uint64_t judged = 0;
    std::uint64_t again = 0;
  } sure, alike;
  struct Seen {
    std::int64_t last_ns = 0;
    std::size_t last = 0;  // its place
    std::uint32_t times = 0;
  };
  constexpr std::size_t right_behind = 4;  // packets later
  tsl::robin_map<std::uint64_t, Seen> all_seen;
  const std::size_t count = std::min(packets.size(), beginning);
  for (std::size_t i = 0; i < count; ++i) {
    const PointPacket& packet = packets[i];
    const std::uint64_t bytes = bytes_of(packet);
    Seen& seen = all_seen[bytes];
    const bool soon = seen.times != 0 && packet.time_ns - seen.last_ns <= soon_ns;
    const bool behind = soon && i - seen.last <= right_behind;
    seen = {packet.time_ns, i, seen.times + 1};
    const bool numbered = packet.has(PointPacket::numbered);
    if (!numbered) {
      ++alike.judged;
      alike.again += behind ? 1U : 0U;
    }
    const auto other = at_other.find(bytes);
    if (!numbered && other == at_other.end()) continue;
    ++sure.judged;
    if (soon && (numbered || seen.times > other->second)) ++sure.again;
  }
  if (sure.again != 0 && sure.again * part >= sure.judged) return true;
  constexpr std::uint64_t enough_alike = 64;
  return alike.judged >= enough_alike && alike.again * 5 >= alike.judged * 2;  // four in five, once more each
}

}  // namespace

Alignment align(PointReader& a, PointReader& b, const ComparePoint& again_a, const ComparePoint& again_b,
                const CompareOptions& options, SentBefore& book) {
  Alignment alignment;
  const std::deque<PointPacket>& first_a = a.look_ahead(beginning);
  const std::deque<PointPacket>& first_b = b.look_ahead(beginning);
  alignment.doubled[0] = is_doubled(first_a, count_occurrences(first_b));
  alignment.doubled[1] = is_doubled(first_b, count_occurrences(first_a));
  const Anchors of_a(first_a, alignment.doubled[0]), of_b(first_b, alignment.doubled[1]);
  std::vector<Match> matches = compare_beginnings(first_a, of_b, of_a);
  const bool whole = first_a.size() < beginning && first_b.size() < beginning;
  if (matches.empty() && !whole && again_a.again && again_b.again)
    matches = search(again_a, again_b, of_a, of_b, options);
  if (matches.empty()) return alignment;
  alignment.found = true;
  const std::vector<PairDifferences> pairs = by_pair(matches);
  tell_directions(pairs, book);
  alignment.shift_ns = shift_of(pairs, book);
  return alignment;
}

}  // namespace roce::analyze
