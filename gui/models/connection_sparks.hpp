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

/// A connection's packets over the time of its capture, in equal parts.
struct ConnectionSpark {
  static constexpr std::size_t parts = 32;
  std::array<std::uint32_t, parts> packets{};  ///< both directions, without second records of one
  std::uint32_t resent = 0;                    ///< bit i: a packet was sent again in part i
};

/// Those of all connections, counted from what the window keeps of every packet: 132 bytes a connection, and
/// nothing that an analysis would have to do. Immutable.
class ConnectionSparks {
 public:
  /// Of a capture that has been read to its end. Packets are looked at in their files only where a thousand
  /// of them lie in more than one part. Null: it was stopped.
  [[nodiscard]] static std::shared_ptr<const ConnectionSparks> count(
      const std::shared_ptr<const PacketStore>& store, const analyze::Snapshot& snapshot,
      const std::stop_token& stop);

  /// Null: there is none of that connection.
  [[nodiscard]] const ConnectionSpark* of(std::uint64_t connection) const noexcept {
    const std::uint32_t place = connection < places_.size() ? places_[connection] : none;
    return place != none ? &sparks_[place] : nullptr;
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<ConnectionSpark> sparks_;  ///< as the snapshot's connections
  std::vector<std::uint32_t> places_;    ///< there, by Connection::id: those that left have none
};

}  // namespace roce::gui
