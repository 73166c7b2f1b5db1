// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/record/packet_record.hpp"

namespace roce::analyze {

/// Sorts records of several interfaces by time. dumpcap writes each interface's packets in order, but packets
/// of one interface may precede earlier ones of another. A record is buffered until every interface that
/// still delivers has reached its time; at most `limit` records, beyond that the earliest are released.
/// Not thread-safe.
class TimeOrder {
 public:
  static constexpr std::size_t limit = 16 * 1024;

  struct Waiting {
    PacketRecord record;
    std::uint64_t number = 0;  ///< of the frame
  };

  void push(const PacketRecord& record, std::uint64_t number);
  /// Takes the next record that is due; false if all must wait. At the end of the input, `all` releases the
  /// rest.
  bool pop(Waiting& next, bool all = false);

 private:
  struct Entry {
    std::int64_t time_ns = 0;
    Waiting waiting;
  };
  /// For a heap with the earliest on top; equal times in the order of frame numbers.
  static bool later(const Entry& a, const Entry& b) noexcept {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    return a.waiting.number > b.waiting.number;
  }
  struct Interface {
    bool any = false;
    std::int64_t time_ns = 0;  ///< of its last record
    std::uint64_t number = 0;
  };
  [[nodiscard]] bool all_came_to(std::int64_t time_ns) const noexcept;

  std::vector<Entry> heap_;
  std::vector<Interface> interfaces_;
  std::uint64_t last_number_ = 0;
  std::int64_t last_time_ns_ = 0;
};

}  // namespace roce::analyze
