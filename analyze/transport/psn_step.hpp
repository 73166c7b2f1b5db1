// SPDX-License-Identifier: Apache-2.0
// A packet on its way through a connection, and how what it shows is booked.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyze/base/series.hpp"
#include "analyze/connection/connection.hpp"
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
  bool any_time = false;
  std::int64_t last_time_ns = 0;  ///< of the capture so far
  /// Packets of which unlose() took back a loss behind the capture are listed there.
  std::vector<std::uint64_t>* unlost = nullptr;
  std::uint64_t lost_answer = 0;  ///< the answer that answer_asked_again() called lost behind it last
};

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
  /// What the explanation of its episode says of it: that is booked, and nothing else.
  const episode::Ruling* ruling = nullptr;

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

/// Less than retry timers take.
inline constexpr std::int64_t silence_ns = 1'000'000;

/// Notes an event of what `side` sent.
void happened(Step& s, unsigned side, Event event, std::uint64_t count = 1);
/// Books transmissions of `side` as lost, shown by this packet.
void lose(Step& s, unsigned side, Lost where, std::uint64_t count);
/// The same of one, shown by an earlier packet of `side`.
void lose_at(Step& s, unsigned side, Lost where, std::uint64_t frame, std::int64_t time_ns);
/// Takes that back from a packet that showed it, and that counted if `counted`.
void unlose(Step& s, unsigned side, Lost where, std::uint64_t count, std::uint64_t frame, bool counted);
inline void unlose(Step& s, unsigned side, Lost where, std::uint64_t count, std::uint64_t frame) {
  unlose(s, side, where, count, frame, s.counts);
}
/// PSNs before this packet were not captured in their place.
void note_gap(Step& s, std::int64_t missing);
/// The same of an earlier packet, of `side`.
void note_gap_at(Step& s, unsigned side, std::uint64_t frame, std::int64_t time_ns, std::int64_t missing);
/// Counts the packet, sent by `side`, as sent again.
void count_repeat(Step& s, unsigned side, Cause cause);
/// The same of what an explanation says.
void book_repeat(Step& s, unsigned side, Cause cause);
void book_loss(Step& s, unsigned side, Lost where, std::uint64_t count);

}  // namespace roce::analyze
