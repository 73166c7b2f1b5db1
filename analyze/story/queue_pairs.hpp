// SPDX-License-Identifier: Apache-2.0
// Finding a queue pair by its number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// A queue pair of the capture: a side of a connection, or of an attempt to set one up that led to none.
struct QueuePair {
  static constexpr std::uint32_t none = 0xffff'ffff;

  std::uint32_t connection = none;  ///< Connection::id
  std::uint32_t exchange = none;    ///< index in Snapshot::exchanges, if there is no connection
  std::uint8_t side = 0;            ///< of the exchange: 0 is the client
  bool both = false;                ///< the other side has the same number
};

struct SoughtQueuePair {
  std::uint32_t number = 0;
  std::optional<dissect::IpAddress> host;  ///< only at this address
};

/// All that fit, in order of time.
[[nodiscard]] std::vector<QueuePair> find_queue_pairs(const Snapshot& snapshot,
                                                      const SoughtQueuePair& sought);

/// Why none was found, and which there are: "no queue pair 0x2c10 here; 0x0094 of 10.77.0.1 ..., did you mean
/// ...?".
[[nodiscard]] std::string not_found_text(const Snapshot& snapshot, const SoughtQueuePair& sought);

}  // namespace roce::analyze
