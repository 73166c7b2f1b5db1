// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
  struct State {
    std::uint32_t place = 0;
    std::uint32_t highest = 0;
    std::uint64_t seen = 0;  ///< bit n: highest - n has come
    std::uint64_t steps = 0;
    std::uint64_t steps_of_one = 0;
    /// Most steps are of one: several senders, or a device that does not count, give others.
    [[nodiscard]] bool counts(std::uint64_t least_steps) const noexcept {
      return steps >= least_steps && 4 * steps_of_one >= 3 * steps;
    }
  };
  static bool advance(State& state, NumberedStream& stream, std::uint32_t sequence);

  Numbered found_;
  std::map<NumberedKey, State> states_;
};

}  // namespace roce::analyze
