// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

  /// Flow of a valid record: a handle for track().
  [[nodiscard]] std::uint32_t locate(const PacketRecord& record);

  /// What track() touches of a flow is spread over memory, and each place is known only from the one
  /// before it. So a group of records is located, then approached step by step, each step for the whole
  /// group, before the first of them is tracked: the waits for memory overlap.
  static constexpr std::size_t group = 32;
  static constexpr unsigned approach_steps = 3;
  void approach(const PacketRecord& record, std::uint32_t flow, unsigned step) const;

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
  /// `end_ns`: the time of the last frame of any kind, so that silence at the end counts; none =
  /// that of the last RDMA packet.
  [[nodiscard]] Result finish(std::optional<std::int64_t> end_ns = std::nullopt);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
