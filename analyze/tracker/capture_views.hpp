// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/record/time_order.hpp"
#include "analyze/tracker/copy_ring.hpp"
#include "analyze/tracker/tracker.hpp"
#include "analyze/transport/psn_step.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// How packets of one direction went between the point where they are followed and another one.
struct Crossing {
  std::uint64_t matched = 0;  ///< packets seen at both
  std::uint64_t first = 0;    ///< their frames where they are followed: the lowest and the highest
  std::uint64_t last = 0;
  std::uint64_t first_there = 0;  ///< and at the other point
  std::uint64_t last_there = 0;
  std::uint64_t last_there_is = 0;  ///< the frame of which last_there is the copy
  double sum_ns = 0;                ///< time there minus time here
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;

  void add(std::uint64_t frame, std::uint64_t there, std::int64_t took_ns) noexcept;
  [[nodiscard]] bool within(std::uint64_t frame) const noexcept { return first < frame && frame < last; }
  [[nodiscard]] bool within_there(std::uint64_t frame) const noexcept {
    return first_there < frame && frame < last_there;
  }
};

/// A capture point of a connection.
struct PointOfView {
  std::uint16_t number = 0;                 ///< PacketRecord::point
  bool known = false;                       ///< whether it is followed has been decided
  std::array<bool, 2> shown{};              ///< packets of that sender
  std::array<Crossing, 2> crossed;          ///< by sender
  std::array<std::uint64_t, 2> last_key{};  ///< of the packet compared last, by sender, and its time
  std::array<std::int64_t, 2> last_time_ns{capture::no_time, capture::no_time};
  std::array<std::uint64_t, 2> lacked{};     ///< by sender: packets that are followed and it did not show,
  std::array<std::uint64_t, 2> was_alone{};  ///< and that only it showed, while both captured
  std::uint64_t missed = 0;  ///< packets that arrived, of both, and the capture there, or here, does not have
  /// By sender: what is whole where it is followed and damaged there, and the reverse.
  std::array<Events, 2> damaged_there, damaged_here;
  bool nanoseconds = false;  ///< its clock counts them: a stamp was no whole microsecond

  /// Whether a packet that is to be compared is the same record as the one before it: no wire carries two
  /// packets in one nanosecond. Coarser clocks do not tell. Remembers it.
  [[nodiscard]] bool holds_twice(unsigned sender, std::uint64_t key, std::int64_t time_ns) noexcept {
    nanoseconds |= time_ns != capture::no_time && time_ns % 1000 != 0;
    const bool same = nanoseconds && key == last_key[sender] && time_ns == last_time_ns[sender] &&
                      time_ns != capture::no_time;
    last_key[sender] = key;
    last_time_ns[sender] = time_ns;
    return same;
  }
  /// Whose packets pass it behind the point where they are followed. Clocks need not agree for that: what
  /// goes there takes longer than what comes from there, each by the difference of the clocks too much.
  [[nodiscard]] std::optional<unsigned> behind() const noexcept;
};

/// What several capture points show of one connection. It is followed at one of them, for only there the
/// order of packets is sure; what the others show are copies, or proof of a loss between two points.
struct CaptureViews {
  static constexpr std::size_t points_at_most = 8;  ///< beyond that the last ones share a place
  /// Packets that wait until it is known what the points show; and of one that is not followed there, until
  /// it is.
  static constexpr std::size_t looked_at = 512;
  static constexpr std::size_t kept_unfollowed = 1024;
  using Packet = TimeOrder::Waiting;

  std::vector<PointOfView> points;
  std::array<std::uint8_t, 2> followed{};  ///< by sender: bits of points
  bool deciding = false;                   ///< packets wait until it is known which points show copies
  bool fresh = false;                      ///< nothing of the connection was followed before

  // While deciding:
  std::vector<Packet> held;
  tsl::robin_map<std::uint64_t, std::uint8_t> shown_at;  ///< by key
  std::array<std::uint8_t, points_at_most> related{};    ///< points that have shown copies of its packets
  std::array<bool, 2> copied{};                          ///< of that sender's packets there were some

  // Afterwards, by sender:
  std::array<CopyRing, 2> passed;                ///< followed
  std::array<CopyRing, 2> waiting;               ///< seen elsewhere only, so far
  std::array<std::deque<Packet>, 2> unfollowed;  ///< the last of these
  std::array<std::uint32_t, 2> path{};           ///< where several points are followed: the first one's
  std::uint64_t since_followed = 0;              ///< packets of other points since the last followed one
  /// A loss that a packet shows, until the other points have been compared: they may show that very packet
  /// missing, or late.
  struct Claim {
    ShownLoss loss;
    std::uint64_t frame = 0;                      ///< of the lost one; 0: not captured here
    std::uint32_t psn_place = 0;                  ///< of the lost one, where it was not
    episode::Doubt doubt = episode::Doubt::none;  ///< it may only have been late
  };
  static constexpr std::size_t claims_at_most = 4096;
  std::vector<Claim> claims;

  /// A packet that one of two points shows and the other does not, though nothing else says that it was lost:
  /// it was, unless that capture misses packets.
  struct Unshown {
    unsigned side = 0;
    unsigned at = 0;  ///< the point that is compared with the one where it is followed
    Sighting sighting;
  };
  static constexpr std::size_t unshown_at_most = 4096;
  std::vector<Unshown> unshown;

  /// Overtaken by others if this direction goes to that point, and not from there.
  struct PerhapsLate {
    unsigned side = 0;
    unsigned at = 0;
    std::uint64_t frame = 0;
    std::uint64_t there = 0;  ///< frame
    std::int64_t there_ns = 0;
  };
  std::vector<PerhapsLate> perhaps_late;

  unsigned index_of(std::uint16_t point);
  [[nodiscard]] std::uint8_t shown(unsigned side) const noexcept;
  [[nodiscard]] bool is_followed(unsigned side, unsigned at) const noexcept {
    return (unsigned{followed[side]} >> at & 1U) != 0;
  }
  /// PointOfView::behind(). Where only one side sends and nobody answers (`one_way`), the point that lacks
  /// packets of the other one is behind it; unknown if either lacks some.
  [[nodiscard]] std::optional<unsigned> behind(unsigned side, unsigned at, bool one_way) const;
  void relate(unsigned a, unsigned b) noexcept;
  /// All points that show copies of each other with this one.
  [[nodiscard]] std::uint8_t group_of(unsigned at) const noexcept;
  /// Whether there is nothing more to wait for. `paired`: both directions will come.
  [[nodiscard]] bool settled(bool paired) const noexcept;
  /// Of points that show copies of each other, the one where the connection is followed best.
  [[nodiscard]] unsigned best_of(std::uint8_t group) const;
  /// Whether `a` is nearer than `b` to the sender of the first request.
  [[nodiscard]] bool nearer(unsigned a, unsigned b) const;
};

/// How clocks of capture points differ, from copies that went there and copies that came from there.
class PointClocks {
 public:
  /// `ahead` is at least least_ns and at most most_ns ahead of `of`, said that many copies.
  void add(std::uint16_t of, std::uint16_t ahead, std::int64_t least_ns, std::int64_t most_ns,
           std::uint64_t copies);
  [[nodiscard]] std::vector<ClockOffset> result() const;

 private:
  struct Pair {
    std::uint16_t a = 0, b = 0;
    std::int64_t least_ns = 0, most_ns = 0;      ///< what all agree on, while least <= most
    std::int64_t lowest_ns = 0, highest_ns = 0;  ///< middles of what each said
    std::uint64_t copies = 0;
  };
  static constexpr std::size_t limit = 64;
  std::vector<Pair> pairs_;
};

}  // namespace roce::analyze
