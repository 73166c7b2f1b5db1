// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyze/base/series.hpp"
#include "analyze/cm/cm_exchange.hpp"
#include "analyze/connection/clock_offset.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/flow/flow_table.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/record/packet_record.hpp"

namespace roce::analyze {

struct TrackerOptions {
  std::size_t flow_limit = FlowTable::default_limit;
  /// Where verdicts go, with corrections of older ones; null = nowhere. Must outlive the tracker.
  VerdictStore* verdicts = nullptr;
  /// Common packets are followed on a shorter way, to the same result; off only to prove that.
  bool short_way = true;
  /// Other capture points will show the same packets, perhaps much later: all are remembered for that.
  bool copies_expected = false;
};

/// Follows every flow and connection packet by packet: pairs the two directions, tells new from
/// repeated, lost from late, and measures operations. Packets come in the order of the capture. Every
/// packet is followed, also those that a filter leaves out; only selected ones are counted. Not
/// thread-safe, and needs no other thread: the result depends on the packets alone.
class Tracker {
 public:
  explicit Tracker(const TrackerOptions& options = {});
  /// Knows the same and goes its own way from here, but tells nobody what is said of packets.
  Tracker(const Tracker& other);
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;
  ~Tracker();

  /// What track() touches of a flow is spread over memory, and each place is known only from the one
  /// before it. This asks for all of it, step by step for a whole group, the first of `packets`, so that the
  /// waits overlap. Changes nothing but speed. A packet without an image has its `place` in `records`, or
  /// `no_hint`.
  static constexpr std::size_t group = 16;
  /// Gives a hint for each of them.
  using Hints = std::array<std::uint32_t, group>;
  void approach(std::span<const PacketBrief> packets, std::span<const PacketRecord> records,
                Hints& hints) const;
  static constexpr std::uint32_t no_hint = FlowTable::none;

  /// One valid record, frame `number`. Whether it counts is its `selected` flag. Returns the place of its
  /// flow if an image of its headers would save work with the packets to come: see use_image(); else
  /// `no_hint`.
  std::uint32_t track(const PacketRecord& record, std::uint64_t number, std::uint32_t hint = no_hint);
  /// Packets that look like the one before, which track() has asked this for, come with this image from
  /// now on.
  void use_image(std::uint32_t place, std::uint32_t image) noexcept;
  /// The same for a common packet of which only this is known, with its image: false, and nothing done, if
  /// the whole record is needed.
  bool track_known(const PacketBrief& packet, std::uint64_t number);

  /// track() for tools that take one packet at a time: returns what can be said at once, without what
  /// later packets will teach.
  Verdict track_one(const PacketRecord& record, std::uint64_t number);

  /// A CM exchange has named both queue pairs; to be told before the packets that follow.
  void connected(const CmExchange& exchange, std::uint32_t index);

  /// Flows and whole connections of which no packet has come since that frame leave, and count as departed.
  /// Those with something wrong stay for as long as they fill no more than half of the table, for findings
  /// tell of them.
  void retire_idle(std::uint64_t frame);

  /// The number of a valid record's flow; a new flow gets the next one.
  [[nodiscard]] std::uint64_t flow_id(const PacketRecord& record);

  /// Ends the analysis. Afterwards the tracker is empty.
  struct Result {
    std::vector<Flow> flows;              ///< by id, with packets that count
    std::vector<Connection> connections;  ///< by id, with a flow that is listed
    Series series;
    Congestion congestion;            ///< but for the sums over flows
    std::vector<ClockOffset> clocks;  ///< of pairs of capture points that show the same packets
    Departed departed;
    std::uint64_t unlisted_copies = 0;    ///< of flows that are not listed, for nothing else of them counts
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
