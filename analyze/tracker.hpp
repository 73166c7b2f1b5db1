// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/cm_tracker.hpp"
#include "analyze/connection.hpp"
#include "analyze/flow_table.hpp"
#include "analyze/packet_record.hpp"
#include "analyze/series.hpp"
#include "analyze/verdict.hpp"
#include "analyze/verdict_store.hpp"

namespace roce::analyze {

struct TrackerOptions {
  std::size_t flow_limit = FlowTable::default_limit;
  /// Where verdicts go, with corrections of older ones; null = nowhere. Must outlive the tracker.
  VerdictStore* verdicts = nullptr;
};

/// Follows every flow and connection packet by packet: pairs the two directions, tells new from
/// repeated, lost from late, and measures operations. Packets come in the order of the capture. Every
/// packet is followed, also those that a filter leaves out; only selected ones are counted. Not
/// thread-safe, and needs no other thread: the result depends on the packets alone.
class Tracker {
 public:
  explicit Tracker(const TrackerOptions& options = {});
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;
  ~Tracker();

  /// Flow of a valid record: a handle for track(). Fetches what track() will touch, so that asking for
  /// a group of records (at most `group`) before tracking the first of them hides the memory.
  static constexpr std::size_t group = 16;
  [[nodiscard]] std::uint32_t locate(const PacketRecord& record);

  /// One valid record, frame `number`, located in the same group. Whether it counts is its `selected`
  /// flag.
  void track(const PacketRecord& record, std::uint64_t number, std::uint32_t flow);

  /// track() for tools that take one packet at a time: returns what can be said at once, without what
  /// later packets will teach.
  Verdict track_one(const PacketRecord& record, std::uint64_t number);

  /// A CM exchange has named both queue pairs; to be told before the packets that follow.
  void connected(const CmExchange& exchange, std::uint32_t index);

  /// The number of a record's flow as locate() and track() know it.
  [[nodiscard]] std::uint64_t flow_id(std::uint32_t flow) const;

  /// Ends the analysis. Afterwards the tracker is empty.
  struct Result {
    std::vector<Flow> flows;              ///< by id, with packets that count
    std::vector<Connection> connections;  ///< by id, with a flow that is listed
    Series series;
    std::uint64_t evicted_flows = 0;
    std::uint64_t evicted_packets = 0;
    std::uint64_t forgotten_packets = 0;  ///< PSNs whose frame number left the bounded memory unconfirmed
  };
  [[nodiscard]] Result finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
