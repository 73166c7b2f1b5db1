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
#include "analyze/connection/coverage.hpp"
#include "analyze/connection/incident.hpp"
#include "analyze/flow/flow_table.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/record/lost_transmission.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/record/totals.hpp"

namespace roce::analyze {

/// Options of a Tracker.
struct TrackerOptions {
  std::size_t flow_limit = FlowTable::default_limit;
  /// Receives verdicts and later corrections of them; null = none. Not owned; must outlive the tracker.
  VerdictStore* verdicts = nullptr;
  /// Use the fast path for common packets, which gives the same result; off only for tests.
  bool short_way = true;
  /// Copies from other capture points may come, possibly much later: keep the state to recognise them.
  bool copies_expected = false;
  /// That switches give to what they trim, as bits: dissect::Options::trimmed_dscps.
  std::uint64_t trimmed_dscps = 0;
};

/// Follows every flow and connection packet by packet: pairs the two directions, detects retransmissions,
/// losses and reordering, and measures operations (docs/decisions/0002). Packets must be passed in the order
/// of the capture, including those that a filter rejects; only selected ones are counted. Not thread-safe;
/// the result depends only on the packets.
class Tracker {
 public:
  explicit Tracker(const TrackerOptions& options = {});
  /// An independent copy of the state, without a VerdictStore.
  Tracker(const Tracker& other);
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;
  ~Tracker();

  /// Prefetches the memory that track() needs for the first `group` of `packets`. A flow's state is spread
  /// over memory and each address is found in the one before, so this goes step by step for the whole group
  /// and the waits overlap. Does not change the result. `place` of a packet without cached headers (image) is
  /// its index in `records`, or `no_hint`.
  static constexpr std::size_t group = 16;
  /// A hint for each packet of a group, for track().
  using Hints = std::array<std::uint32_t, group>;
  void approach(std::span<const PacketBrief> packets, std::span<const PacketRecord> records,
                Hints& hints) const;
  static constexpr std::uint32_t no_hint = FlowTable::none;

  /// Follows one valid record of frame `number`; its `selected` flag decides whether it is counted. Returns
  /// the place of its flow if its headers should be cached (see use_image()), else `no_hint`.
  std::uint32_t track(const PacketRecord& record, std::uint64_t number, std::uint32_t hint = no_hint);
  /// After track() returned `place`: further packets with the same headers have this cache entry (image).
  void use_image(std::uint32_t place, std::uint32_t image) noexcept;
  /// Follows a common packet with cached headers. Returns false without any effect if its PacketRecord is
  /// needed: then call track().
  bool track_known(const PacketBrief& packet, std::uint64_t number);

  /// track() for a single pass: returns the verdict so far, without corrections by later packets.
  Verdict track_one(const PacketRecord& record, std::uint64_t number);

  /// Decides on the episodes that began at that frame or before it, by what came so far.
  void decide_until(std::uint64_t frame);

  /// Checks the ICRC of a packet before it is tracked, for those who follow packets elsewhere. True if it
  /// does not match, though others of its sender did: then it is damaged, and nothing in it is evidence.
  [[nodiscard]] bool shows_damage(dissect::Bytes frame, const dissect::Dissection& dissection) const noexcept;

  /// Reports a CM exchange with both queue pairs, before the packets that follow it. `index`:
  /// CmTracker::index_of().
  void connected(const CmExchange& exchange, std::uint32_t index);

  /// A mirror lost packets just before that frame, which is not tracked yet: what is missing there is not the
  /// network's loss.
  void mirror_lost(std::uint64_t frame);
  /// What it had lost just before that frame came late.
  void mirror_found(std::uint64_t frame);
  /// A mirror delivers that frame, which is not tracked yet, late: by its numbers it belongs before `before`;
  /// of several that do, those with the lower `sequence` first.
  void mirror_delayed(std::uint64_t frame, std::uint64_t before, std::uint32_t sequence);

  /// Concludes connections without a packet since that frame and releases their state; packets that come
  /// later begin new ones. Evicts them with their flows and adds them to Result::departed. The results of
  /// those with errors stay listed, because findings refer to them, as long as they fill at most half of the
  /// table.
  void retire_idle(std::uint64_t frame);

  /// The id of a valid record's flow; a new flow gets the next one. None for a packet that seems to be no
  /// RoCE.
  [[nodiscard]] std::optional<std::uint64_t> flow_id(const PacketRecord& record);

  /// Result of finish().
  struct Result {
    std::vector<Flow> flows;              ///< by id, those with counted packets
    std::vector<Connection> connections;  ///< by id, those with a listed flow
    Series series;
    CaptureGaps gaps;                 ///< what the capture does not have
    Congestion congestion;            ///< without the sums over flows, see sum_up()
    std::vector<ClockOffset> clocks;  ///< of pairs of capture points with common packets
    Departed departed;
    /// By id, whatever was selected; `incidents_dropped` more were beyond the limit.
    std::vector<Incident> incidents;
    std::uint64_t incidents_dropped = 0;
    /// Connections in which something was wrong, and that had not come to order again yet.
    std::uint64_t incidents_in_progress = 0;
    std::vector<StrayPackets> strays;  ///< by addresses, each pair once
    /// Transmissions that were lost, each with its PSN; the first LostTransmission::at_most.
    std::vector<LostTransmission> lost_packets;
    /// Left out of what was sent again, though nothing proves that it was sent: lost, if a switch dropped it.
    std::vector<LostTransmission> perhaps_lost;
    Totals not_roce;  ///< of records that are no RoCE although they are valid: UDP to port 4791 of something
                      ///< else
    /// Packets shorter than their IP length by DSCP: by their sizes, they were trimmed by a switch.
    std::array<std::uint64_t, 64> trimmed{};
    std::uint64_t unlisted_copies = 0;    ///< copies of flows without other counted packets
    std::uint64_t forgotten_packets = 0;  ///< PSNs dropped from the bounded memory before acknowledgement
  };
  /// Ends the analysis; the tracker is empty afterwards. `end_ns`: the time of the last frame of any kind, so
  /// that missing responses at the end are detected; none = that of the last RDMA packet.
  [[nodiscard]] Result finish(std::optional<std::int64_t> end_ns = std::nullopt);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
