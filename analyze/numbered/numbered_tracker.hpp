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

/// Follows the numbers of shells and mirrors in the order of the capture. Bounded; not thread-safe.
class NumberedTracker {
 public:
  static constexpr std::size_t streams_at_most = 16 * std::size_t{1024};

  /// True if it shows that the mirror it comes through lost packets just before it.
  bool see(const NumberedPacket& packet);
  [[nodiscard]] Numbered finish() &&;

 private:
  static constexpr std::uint32_t window =
      4096;  ///< numbers: how late a packet can be and still be told from a copy

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
  static void see_again(State& state, NumberedStream& stream, std::uint32_t sequence);

  Numbered found_;
  std::map<NumberedKey, State> states_;
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, std::uint32_t> device_of_;
  std::vector<Device> devices_;  ///< that mirror
};

}  // namespace roce::analyze
