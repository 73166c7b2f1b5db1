// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/flow/marking.hpp"
#include "analyze/record/packet_record.hpp"

// Internal to flows.
namespace roce::analyze {

/// Packets of a flow by traffic class and markings, in the order of first appearance. Most flows have one
/// row, which is stored inline; more are on the heap.
class MarkCounts {
 public:
  /// Rows per flow, 32 bytes each. Five classes, re-marked once on the way and sometimes CE-marked, need
  /// twenty; paths of several lengths multiply that by the number of TTLs.
  static constexpr std::size_t limit = 128;

  /// The key of a row in one word: a look with the traffic class in place of the UDP port.
  [[nodiscard]] static std::uint64_t key_of(const PacketRecord::Look& look, TrafficClass of) noexcept {
    static_assert(PacketRecord::tagged <= 0xff);
    return (look.word & ~std::uint64_t{0xffff}) | static_cast<std::uint64_t>(of) |
           std::uint64_t{look.flags & unsigned{PacketRecord::tagged}} << 8U;
  }

  /// Adds the row if it is new and there is room, and records its first packet.
  void note(std::uint64_t key, std::uint64_t number, std::int64_t time_ns);
  /// Counts packets of a row added by note(); without a row they are not counted.
  void add(std::uint64_t key, std::uint64_t packets) {
    if (key == first_.key) [[likely]] {
      first_.packets += packets;
    } else if (Row* row = find(key)) {
      row->packets += packets;
    }
  }

  /// Whether DSCP, VLAN and priority are those of the class's first row; true if the class has no row.
  [[nodiscard]] bool as_first(std::uint64_t key) const noexcept;
  [[nodiscard]] std::vector<MarkRow> rows() const;
  [[nodiscard]] std::uint64_t first_packet() const noexcept { return first_.first_packet; }

 private:
  struct Row {
    std::uint64_t key = none;
    std::uint64_t packets = 0;
    std::uint64_t first_packet = 0;
    std::int64_t first_time_ns = 0;
  };
  static constexpr std::uint64_t none = 0xff;  ///< no class has this number

  [[nodiscard]] Row* find(std::uint64_t key) noexcept;
  [[nodiscard]] static MarkRow read(const Row& row) noexcept;

  Row first_;
  std::vector<Row> more_;
};

}  // namespace roce::analyze
