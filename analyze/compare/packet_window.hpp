// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <vector>

#include "analyze/compare/point_reader.hpp"

// Internal to compare: a window of the last packets of both points, and their matching.
namespace roce::analyze {

/// A packet in the window.
struct PacketSeen {
  enum State : std::uint8_t {
    resolved = 1,   ///< its counterpart at the other point was searched; `fellow`, if there is one
    doubled = 2,    ///< second copy in the capture; only the first one counts
    handled = 4,    ///< counted, with its counterpart
    corrupted = 8,  ///< it differs from its counterpart by damage
    again = 16,     ///< an identical packet was seen before at the same point
  };

  std::uint64_t sign = 0;
  std::uint64_t number = 0;
  std::int64_t time_ns = 0;
  std::int32_t fellow = 0;  ///< distance in the window to its counterpart; 0: none
  std::uint32_t older = 0;  ///< distance to the previous packet in the same hash bucket; 0: none
  std::uint32_t flow = 0;
  std::uint32_t icrc = 0;
  std::uint32_t extended = 0;  ///< PointPacket::extended
  std::uint32_t psn = 0;
  std::uint32_t path = 0;
  std::uint16_t port = 0;  ///< UDP source port
  std::uint16_t vlan = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t pcp = 0;
  std::uint8_t ttl = 0;
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;      ///< PointPacket::Flag
  std::uint8_t point : 1 = 0;  ///< 0: A, 1: B
  std::uint8_t state : 7 = 0;

  [[nodiscard]] bool is(State bit) const noexcept { return (state & bit) != 0; }
  void set(State bit) noexcept { state = static_cast<std::uint8_t>((state | bit) & 0x7fU); }
  [[nodiscard]] bool has(PointPacket::Flag flag) const noexcept { return (flags & flag) != 0; }
};
static_assert(sizeof(PacketSeen) == 64 && std::is_trivially_copyable_v<PacketSeen> &&
              std::is_aggregate_v<PacketSeen>);

/// A ring of packets of both points in the order of reading, with a hash index by sign. A packet must be
/// handled before it is overwritten.
class CompareWindow {
 public:
  /// `capacity`: a power of two.
  explicit CompareWindow(std::size_t capacity);

  [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] bool full() const noexcept { return end_ - begin_ == mask_ + 1; }
  [[nodiscard]] PacketSeen& front() noexcept { return at(begin_); }
  [[nodiscard]] std::uint64_t front_place() const noexcept { return begin_; }
  void pop_front() noexcept { ++begin_; }
  /// A packet with that sign comes soon.
  void expect(std::uint64_t sign) const noexcept { __builtin_prefetch(&buckets_[bucket_of(sign)]); }
  /// Adds a packet and returns its place. The window must not be full.
  std::uint64_t push(const PacketSeen& seen);
  [[nodiscard]] PacketSeen& at(std::uint64_t place) noexcept { return slots_[place & mask_]; }
  /// The same packet at the other point, or nullptr.
  [[nodiscard]] PacketSeen* fellow_of(std::uint64_t place) noexcept {
    PacketSeen& seen = at(place);
    return seen.fellow == 0 ? nullptr : &at(place + static_cast<std::uint64_t>(std::int64_t{seen.fellow}));
  }

  /// Calls each(PacketSeen&, place) for packets with that sign, newest first, until it returns false. Visits
  /// at most most_looks packets.
  template <class Each>
  void for_sign(std::uint64_t sign, Each each) {
    std::uint64_t place = buckets_[bucket_of(sign)];
    for (unsigned looks = 0; looks < most_looks && place > begin_ && place <= end_; ++looks) {
      PacketSeen& seen = at(place - 1);
      if (seen.sign == sign && !each(seen, place - 1)) return;
      if (seen.older == 0) return;
      place -= seen.older;
    }
  }

  /// Matches the packet with its counterpart, if that is certain. Identical packets are matched in order, by
  /// the time difference (B minus A) nearest to `expected_ns`.
  void resolve(std::uint64_t place, std::int64_t expected_ns);
  /// Matches two packets explicitly, such as one that was damaged between the points.
  void join(std::uint64_t one, std::uint64_t other, bool corrupted) noexcept;

 private:
  static constexpr unsigned most_looks = 256;
  static constexpr std::size_t most_alike = 32;
  [[nodiscard]] std::size_t bucket_of(std::uint64_t sign) const noexcept {
    return (sign >> 17U) & bucket_mask_;
  }
  void resolve_many(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b,
                    std::int64_t expected_ns);

  std::uint64_t mask_;
  std::uint64_t bucket_mask_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  // Allocated as zero pages by the system, so that only the used part takes memory.
  std::unique_ptr<PacketSeen[], Free> slots_;
  std::unique_ptr<std::uint64_t[], Free> buckets_;  ///< place of the newest packet plus one; 0: none
  std::vector<std::uint64_t> alike_[2];
};

}  // namespace roce::analyze
