// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyze/numbered/numbered.hpp"
#include "analyze/numbered/numbered_packet.hpp"

namespace roce::analyze {

/// What the number of a mirrored packet tells of those before it.
struct MirrorStep {
  bool lost = false;  ///< the mirror lost packets just before it
  /// It comes late: the switch had mirrored it before that frame; 0: it does not. Of several that belong
  /// before one frame, `sequence` is the order.
  std::uint64_t before = 0;
  std::uint32_t sequence = 0;
  bool filled = false;  ///< with it nothing is missing any more just before that frame
};

/// Follows the numbers of shells and mirrors in the order of the capture. Bounded; not thread-safe.
class NumberedTracker {
 public:
  static constexpr std::size_t streams_at_most = 16 * std::size_t{1024};

  MirrorStep see(const NumberedPacket& packet);
  [[nodiscard]] Numbered finish() &&;

 private:
  static constexpr std::uint32_t window =
      4096;  ///< numbers: how late a packet can be and still be told from a copy,
  static constexpr std::uint32_t near = 256;  ///< and be put into its place

  struct Steps {
    std::uint64_t all = 0;
    std::uint64_t of_one = 0;
    void add(std::uint32_t ahead) noexcept {
      ++all;
      of_one += ahead == 1 ? 1 : 0;
    }
    [[nodiscard]] double share() const noexcept {
      return all == 0 ? 0 : static_cast<double>(of_one) / static_cast<double>(all);
    }
  };
  static constexpr std::uint32_t no_device = 0xffff'ffff;

  /// What one device sends to one address, whatever its sessions.
  struct Device {
    std::uint32_t highest = 0;
    Steps steps;
    void see(std::uint32_t sequence) noexcept;
  };
  struct State {
    std::uint32_t place = 0;
    std::uint32_t highest = 0;
    std::vector<std::uint64_t> seen;  ///< a bit for each of the last numbers, in a ring
    /// Of mirrors: the frames of the last numbers, or the ones before which they belong.
    std::vector<std::uint64_t> frames;
    Steps steps;
    std::uint32_t device = no_device;
    // Numbers far behind that rise from packet to packet: they began anew.
    std::uint32_t anew = 0;
    std::uint32_t anew_packets = 0;
    std::uint64_t anew_missing = 0;

    [[nodiscard]] bool has(std::uint32_t sequence) const noexcept;
    void mark(std::uint32_t sequence) noexcept;
    void begin_at(std::uint32_t sequence);
    void rise_to(std::uint32_t sequence) noexcept;
  };
  /// Most steps are of one, and no other session fills the rest.
  [[nodiscard]] bool counts(const State& state, std::uint64_t least_steps) const noexcept;
  static bool advance(State& state, NumberedStream& stream, std::uint32_t sequence);
  /// The frame before which a late packet with that number belongs.
  [[nodiscard]] static std::uint64_t place_of(const State& state, std::uint32_t sequence) noexcept;
  /// Whether nothing is missing any more around that number, up to the packet of `frame`.
  [[nodiscard]] static bool is_filled(const State& state, std::uint32_t sequence,
                                      std::uint64_t frame) noexcept;
  static void see_again(State& state, NumberedStream& stream, std::uint32_t sequence);

  Numbered found_;
  std::map<NumberedKey, State> states_;
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, std::uint32_t> device_of_;
  std::vector<Device> devices_;  ///< that mirror
};

}  // namespace roce::analyze
