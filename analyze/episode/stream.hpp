// SPDX-License-Identifier: Apache-2.0
// What one side sent of one kind (requests, or responses with PSNs of their own), in the order of sending.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/story.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// What the IPv4 IDs of a stream tell.
enum class Ids : std::uint8_t {
  nothing,  ///< there are none, or they do not change
  same,     ///< equal IDs mean one transmission
  order,    ///< and they rise in the order of sending
};

/// IPv4 IDs: no packet is overtaken by so many of its host's, nor held back so long by a mirror.
inline constexpr std::int64_t deepest_id = 8192;

/// A stream in the order of sending, and what each was.
struct Stream {
  std::span<const Note> notes;
  List<Sent> sent;  ///< in the order of sending, where IDs tell it, else of capture
  List<Placed> story;
  Ids ids = Ids::nothing;
  /// By index in `sent`: the first note that was captured no earlier than it was sent. Of what was overtaken
  /// that is before its own.
  List<std::int32_t> by_then;
  [[nodiscard]] const Note& note_at(std::int32_t i) const noexcept {
    return notes[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const Note& note_of(const Sent& each) const noexcept { return note_at(each.note); }
  [[nodiscard]] bool overtaken(std::size_t i) const noexcept { return by_then[i] < sent[i].note; }
  /// So many more may have been sent between it and the one sent before, by their IPv4 IDs.
  [[nodiscard]] std::int64_t room_before(std::size_t i) const noexcept;
  /// Whether the mirror lost packets between it and the one sent before: these may be what is missing.
  [[nodiscard]] bool mirror_gap_before(std::size_t i) const noexcept {
    return i != 0 && note_of(sent[i]).mirror_gaps != note_of(sent[i - 1]).mirror_gaps;
  }
  /// Whether a mirror that counts its packets, as some it lost show, lost none between it and the one sent
  /// before.
  [[nodiscard]] bool mirror_had_all_before(std::size_t i) const noexcept {
    return notes.back().mirror_gaps != 0 && !mirror_gap_before(i);
  }
  /// Whether the capture has hardly anything else between sent[i] and the one before it, where so many are
  /// missing.
  [[nodiscard]] bool stops_before(std::size_t i, std::size_t missing) const noexcept {
    if (i == 0) return false;
    const std::uint64_t from = note_of(sent[i - 1]).frame;
    const std::uint64_t to = note_of(sent[i]).frame;
    return to > from && 2 * (to - from - 1) <= missing;
  }
  /// Whether IPv4 IDs count the packets of this stream alone, as far as it shows: what follows on another
  /// has the next one.
  [[nodiscard]] bool count_alone() const noexcept;
  /// Calls `each` with the indices of the transmissions of that PSN from the last one on, until it returns
  /// true. Once the story is told, copies are left out.
  template <class Each>
  void back_through(std::int64_t psn, Each each) const {
    const auto known = last_.find(psn);
    for (std::int32_t i = known == last_.end() ? -1 : known->second; i >= 0;) {
      const auto index = static_cast<std::size_t>(i);
      if ((story.empty() || story[index].move != Move::copy) && each(index)) return;
      i = sent[index].before;
    }
  }
  /// The last one before sent[i] with its PSN that is no copy; -1: none.
  [[nodiscard]] std::int32_t original_of(std::size_t i) const noexcept {
    std::int32_t before = sent[i].before;
    while (before >= 0 && story[static_cast<std::size_t>(before)].move == Move::copy)
      before = sent[static_cast<std::size_t>(before)].before;
    return before;
  }
  /// The next one behind sent[after] of that PSN; -1: there is none.
  [[nodiscard]] std::ptrdiff_t next_of(std::int64_t psn, std::size_t after) const {
    std::ptrdiff_t next = -1;
    back_through(psn, [&](std::size_t i) {
      if (i > after) next = static_cast<std::ptrdiff_t>(i);
      return i <= after;
    });
    return next;
  }
  /// Whether one of that PSN came late behind sent[after]. Of several gaps it may fill any.
  [[nodiscard]] bool comes_late(std::int64_t psn, std::size_t after) const {
    bool late = false;
    back_through(psn, [&](std::size_t i) {
      late = late || (i > after && story[i].move == Move::late);
      return late || i <= after;
    });
    return late;
  }

  /// Puts what `sent` holds into the order of sending, as far as IDs tell it, or the queue that they went
  /// through.
  void put_in_order(const StreamFact& fact);
  /// How much each takes to be late, or shown twice.
  void weigh(const StreamFact& fact, const MirrorFact& mirror);
  /// The likeliest story of it, by these weights. `bottom`, `acked`, `home`: of StoryFacts.
  /// Behind what answers show to have been sent before the first of them.
  std::int64_t sent_to = std::numeric_limits<std::int64_t>::min();
  void tell(std::int64_t bottom, std::int64_t acked, float home);
  /// What it shows of the path.
  void learn(StreamFact& fact, PathFact& path) const;

 private:
  [[nodiscard]] std::int64_t turned_after() const;
  void put_remarked_in_place();
  [[nodiscard]] std::size_t place_of_remarked(std::size_t at) const;
  [[nodiscard]] float bits_of_gap() const noexcept;
  [[nodiscard]] Ids ids_by(const StreamFact& fact) const;
  void find_previous();
  [[nodiscard]] bool looks_like_before(const Sent& each) const;
  void weigh_copies(const StreamFact& fact, bool mirror_known);
  void weigh_many_copies(const List<bool>& single);

  Map<std::int64_t, std::int32_t> last_;  ///< by PSN: index of its last transmission
  std::int64_t late_by_ns_ = 0;           ///< nothing comes later
  float gap_bits_ = 7;                    ///< for a gap
};

[[nodiscard]] inline bool timed(const Note& a, const Note& b) noexcept {
  return a.time_ns != capture::no_time && b.time_ns != capture::no_time;
}

/// The transmissions of a stream by PSN, as notes.
class ByPsn {
 public:
  explicit ByPsn(const Stream& stream) : stream_(stream), by_note_(stream.notes.size(), -1) {
    for (std::size_t i = 0; i < stream.sent.size(); ++i) {
      const Placed& told = stream.story[i];
      if (told.move == Move::copy) continue;
      by_note_[static_cast<std::size_t>(stream.sent[i].note)] = static_cast<std::int32_t>(i);
      const auto pass = static_cast<std::size_t>(told.pass);
      if (told.move == Move::late) continue;
      if (begins_.size() <= pass) begins_.resize(pass + 1, std::numeric_limits<std::int64_t>::max());
      begins_[pass] = std::min(begins_[pass], stream.sent[i].psn);
    }
  }
  [[nodiscard]] std::int32_t last_before(std::int64_t psn, std::int32_t note) const {
    return pick(psn, [note](std::int32_t at, std::int32_t best) { return at < note && at > best; });
  }
  [[nodiscard]] std::int32_t first_behind(std::int64_t psn, std::int32_t note) const {
    return pick(psn,
                [note](std::int32_t at, std::int32_t best) { return at > note && (best < 0 || at < best); });
  }
  /// Its index in the stream; -1: it is a copy, or not of the stream.
  [[nodiscard]] std::int32_t index_of(std::int32_t note) const noexcept {
    return by_note_[static_cast<std::size_t>(note)];
  }
  [[nodiscard]] const Placed* told(std::int32_t note) const noexcept {
    return &stream_.story[static_cast<std::size_t>(index_of(note))];
  }
  /// Of a request that was sent once; -1: it is a copy.
  [[nodiscard]] std::int32_t pass_of(std::int32_t note) const noexcept {
    return index_of(note) < 0 ? -1 : told(note)->pass;
  }
  [[nodiscard]] std::int64_t begins_at(std::int32_t pass) const noexcept {
    return begins_[static_cast<std::size_t>(pass)];
  }

 private:
  template <class Better>
  [[nodiscard]] std::int32_t pick(std::int64_t psn, Better better) const {
    std::int32_t best = -1;
    stream_.back_through(psn, [&](std::size_t i) {
      if (better(stream_.sent[i].note, best)) best = stream_.sent[i].note;
      return false;
    });
    return best;
  }

  const Stream& stream_;
  List<std::int32_t> by_note_;
  List<std::int64_t> begins_;
};

}  // namespace roce::analyze::episode
