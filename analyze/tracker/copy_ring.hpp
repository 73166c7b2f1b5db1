// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/record/packet_record.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// A packet at one capture point, as far as it takes to know it at another.
struct Sighting {
  std::uint64_t key = 0;    ///< key_of() the packet
  std::uint64_t frame = 0;  ///< number
  std::int64_t time_ns = 0;
  std::uint32_t older = 0;        ///< the one before it with a key of the same bucket; of the ring
  std::uint32_t older_place = 0;  ///< the same of psn_place
  std::uint32_t psn_place = 0;    ///< psn_place_of() the packet
  std::uint8_t view = 0;          ///< where it was seen
  std::uint8_t seen_at = 0;       ///< other points that have shown it too: bits
  bool selected : 1 = false;      ///< counts
  bool late : 1 = false;          ///< others overtook it on the way to another point
  bool repeats : 1 = false;       ///< it had been sent before
  bool copy : 1 = false;          ///< the capture shows it twice at this point: no transmission of its own
  bool request : 1 = false;
  bool asks : 1 = false;         ///< a request that is answered with data
  bool data_answer : 1 = false;  ///< to a READ or an ATOMIC
  bool icrc_right : 1 = false;
  bool icrc_wrong : 1 = false;
  bool after_nak : 1 = false;  ///< a NAK asked for it: what had been sent of it before was thrown away
};
static_assert(sizeof(Sighting) == 40);

/// Where the packet stands in what its sender sends: the PSN, among requests or among answers.
[[nodiscard]] constexpr std::uint32_t psn_place_of(std::uint32_t psn, bool answer) noexcept {
  constexpr std::uint32_t answer_bit = 1U << 24U;
  return psn | (answer ? answer_bit : 0U);
}

/// What no place on the way changes, and what tells two transmissions apart where anything does.
[[nodiscard]] std::uint64_t key_of(const PacketRecord& r) noexcept;

/// The packet with that number, seen at the `at`-th point of its connection.
[[nodiscard]] inline Sighting sighting_of(const PacketRecord& r, std::uint64_t number, unsigned at) noexcept {
  Sighting sighting;
  sighting.key = key_of(r);
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  sighting.psn_place = psn_place_of(r.psn, info.response);
  sighting.request = info.request;
  sighting.asks = info.request && (info.operation == dissect::Operation::read_request || info.atomic);
  sighting.data_answer = info.response && info.operation != dissect::Operation::acknowledge;
  sighting.icrc_right = r.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::match);
  sighting.icrc_wrong = r.icrc_wrong();
  sighting.frame = number;
  sighting.time_ns = r.time_ns;
  sighting.view = static_cast<std::uint8_t>(at);
  sighting.selected = r.has(PacketRecord::selected);
  return sighting;
}

/// Bytes that all of a tracker's CopyRings may take together.
struct CopyBudget {
  std::size_t left = std::size_t{32} << 20U;
};

/// The last packets of one direction at a capture point. Grows to a bound; then the oldest go.
class CopyRing {
 public:
  static constexpr std::size_t first_size = 64;
  static constexpr std::size_t largest_size = std::size_t{1} << 14U;

  /// Returns the one that had to go for it.
  std::optional<Sighting> add(const Sighting& sighting, CopyBudget& budget);
  /// The oldest one with that key for which `fits`; nullptr if there is none. Looks at a bounded number.
  template <class Fits>
  [[nodiscard]] Sighting* find(std::uint64_t key, Fits fits) noexcept {
    Sighting* oldest = nullptr;
    if (slots_.empty()) return nullptr;
    std::uint32_t at = buckets_[key & mask()];
    for (unsigned looks = 0; looks < most_looks && is_kept(at); ++looks) {
      Sighting& sighting = slots_[at & mask()];
      if (sighting.key == key && fits(sighting)) oldest = &sighting;
      if (sighting.older >= at) break;
      at = sighting.older;
    }
    return oldest;
  }
  /// The newest one with that psn_place_of(); nullptr if there is none. Looks at a bounded number.
  [[nodiscard]] const Sighting* newest_at(std::uint32_t psn_place) const noexcept;
  /// The one with that frame number, if they came in order; nullptr otherwise.
  [[nodiscard]] Sighting* find_frame(std::uint64_t frame) noexcept;
  template <class Each>
  void for_each(Each each) {
    for (std::uint32_t at = begin_; at != end_; ++at) each(slots_[at & mask()]);
  }
  template <class Each>
  void for_each(Each each) const {
    for (std::uint32_t at = begin_; at != end_; ++at) each(slots_[at & mask()]);
  }
  template <class Is>
  [[nodiscard]] bool any(Is is) const {
    for (std::uint32_t at = begin_; at != end_; ++at)
      if (is(slots_[at & mask()])) return true;
    return false;
  }
  template <class Each>
  void for_last(std::uint32_t count, Each each) {
    for (std::uint32_t at = end_ - std::min(count, end_ - begin_); at != end_; ++at)
      each(slots_[at & mask()]);
  }
  /// Whether it is so of one of them; the newest are asked first.
  template <class Is>
  [[nodiscard]] bool newest_first(Is is) const {
    for (std::uint32_t at = end_; at != begin_; --at)
      if (is(slots_[(at - 1) & mask()])) return true;
    return false;
  }
  void release(CopyBudget& budget) noexcept;

 private:
  static constexpr unsigned most_looks = 64;
  [[nodiscard]] std::uint32_t mask() const noexcept { return static_cast<std::uint32_t>(slots_.size() - 1); }
  [[nodiscard]] bool is_kept(std::uint32_t at) const noexcept { return at - begin_ < end_ - begin_; }
  static constexpr std::size_t slot_bytes = sizeof(Sighting) + 2 * sizeof(std::uint32_t);
  void put(Sighting sighting) noexcept;
  bool grow(CopyBudget& budget);

  // Counted up from 1, so that 0 is nothing; all that is kept lies in [begin_, end_).
  std::uint32_t begin_ = 1;
  std::uint32_t end_ = 1;
  std::vector<Sighting> slots_;         ///< a power of two, or none
  std::vector<std::uint32_t> buckets_;  ///< as many; the newest of each
  std::vector<std::uint32_t> places_;   ///< the same by psn_place_of()
};

}  // namespace roce::analyze
