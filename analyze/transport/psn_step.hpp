// SPDX-License-Identifier: Apache-2.0
// A packet on its way through a connection, and how what is said of it is booked: once, and for good.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/base/series.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/connection/coverage.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/flow/flow_table.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/transport/psn_ring.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// What all connections of a tracker share.
struct TrackerShared {
  VerdictStore* verdicts = nullptr;
  RingBudget budget;
  Series series;
  CaptureGaps gaps;
  bool any_time = false;
  std::int64_t last_time_ns = 0;  ///< of the capture so far
  /// Frames just before which a mirror lost packets, by its own numbers; ascending, bounded.
  std::vector<std::uint64_t> mirror_gaps;
  static constexpr std::size_t mirror_gaps_at_most = std::size_t{1} << 20U;

  /// Frames that a mirror delivered late, ascending, bounded, and where they belong.
  struct Delayed {
    std::uint64_t frame = 0, before = 0;
    std::uint32_t sequence = 0;
  };
  std::vector<Delayed> mirror_delayed;

  /// So often a mirror lost packets up to that frame.
  [[nodiscard]] std::uint32_t mirror_gaps_to(std::uint64_t frame) const noexcept {
    const auto behind = std::upper_bound(mirror_gaps.begin(), mirror_gaps.end(), frame);
    return static_cast<std::uint32_t>(behind - mirror_gaps.begin());
  }
};

/// What is said of a packet of which nothing is in question.
inline constexpr episode::Ruling in_its_turn{.what = episode::Ruling::What::first,
                                             .rule = episode::Rule::first};

/// One packet on its way through a connection.
struct Step {
  const PacketRecord& r;
  const dissect::OpcodeInfo& info;
  std::uint64_t number;
  bool counts;    ///< selected: goes into the statistics
  unsigned side;  ///< who sent it
  Connection& connection;
  FlowTable& flow_table;
  std::array<std::uint32_t, 2> places;  ///< by sender; FlowTable::none where there is none
  TrackerShared& shared;
  Verdict verdict;
  const episode::Ruling& ruling = in_its_turn;

  /// Of the packet's time; nullptr where it has none.
  [[nodiscard]] Series::Bucket* bucket() const {
    return r.time_ns == capture::no_time ? nullptr : &shared.series.at(r.time_ns);
  }
  /// Of what that side sends; nullptr where there is none.
  [[nodiscard]] Flow* flow(unsigned sender) const noexcept {
    return places[sender] == FlowTable::none ? nullptr : &flow_table.at(places[sender]);
  }
};

using episode::answered_on_its_own;

/// Whether a request carries its PSN alone: those that are answered by READ responses share theirs with
/// these.
[[nodiscard]] constexpr bool carries_psn(const dissect::OpcodeInfo& info) noexcept {
  using dissect::Operation;
  return info.operation != Operation::read_request && info.operation != Operation::flush &&
         info.operation != Operation::atomic_write;
}

/// Less than retry timers take.
inline constexpr std::int64_t silence_ns = 1'000'000;

/// Notes an event of what `side` sent.
void happened(Step& s, unsigned side, Event event, std::uint64_t count = 1);
/// PSNs before this packet were not captured in their place.
void note_gap(Step& s, std::int64_t missing);
/// First and Middle packets are full (IBTA 9.7.4.1.3): their size is the path MTU.
void learn_pmtu(Step& s) noexcept;

/// A loss, and the packet that shows it.
struct ShownLoss {
  Lost where = Lost::none;
  unsigned side = 0;     ///< who sent what was lost
  std::uint64_t by = 0;  ///< frame that shows it
  unsigned by_side = 0;  ///< who sent that one
  std::int64_t time_ns = capture::no_time;
  std::uint64_t count = 1;
  bool counts = true;
};
/// Books it. `verdict`: of the packet that shows it, or null; `flow`: of `side`, or null.
void book_loss(const ShownLoss& loss, Connection& connection, Flow* flow, Series& series, Verdict* verdict);

/// Books what the ruling says of the packet: late, a copy, sent again, and the losses that it shows. Those
/// behind the capture are left out where `compared`: another capture point may know more of them.
void book_ruling(Step& s, bool compared);

}  // namespace roce::analyze
