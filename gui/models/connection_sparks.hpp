// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "analyze/results/snapshot.hpp"
#include "gui/models/packet_store.hpp"

namespace roce::gui {

/// A connection's packets over the duration of the capture, in equal intervals (for sparklines).
struct ConnectionSpark {
  static constexpr std::size_t parts = 32;
  std::array<std::uint32_t, parts> packets{};  ///< both directions, without duplicate captures
  std::uint32_t resent = 0;                    ///< bit i: interval i has retransmissions
};

/// The sparks of all connections, counted from the PacketStore: 132 bytes per connection, at no cost for the
/// analysis. Immutable.
class ConnectionSparks {
 public:
  /// Of a capture that has been read to its end. Timestamps are read from the files only where a thousand
  /// consecutive packets span more than one interval. Null: stopped.
  [[nodiscard]] static std::shared_ptr<const ConnectionSparks> count(
      const std::shared_ptr<const PacketStore>& store, const analyze::Snapshot& snapshot,
      const std::stop_token& stop);

  /// Null: none for that connection. Lives as long as this object.
  [[nodiscard]] const ConnectionSpark* of(std::uint64_t connection) const noexcept {
    const std::uint32_t place = connection < places_.size() ? places_[connection] : none;
    return place != none ? &sparks_[place] : nullptr;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<ConnectionSpark> sparks_;  ///< as the snapshot's connections
  std::vector<std::uint32_t> places_;  ///< index in sparks_ by Connection::id; `none` for evicted connections
};

}  // namespace roce::gui
