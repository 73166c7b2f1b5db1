// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyze/flow/flow_table.hpp"
#include "analyze/tracker/half_use.hpp"
#include "analyze/tracker/recent_requests.hpp"
#include "analyze/tracker/request_trace.hpp"

// Internal to the tracker.
namespace roce::analyze {

inline constexpr std::uint32_t no_place = FlowTable::none;

/// A packet whose meaning waits for the other direction.
struct Held {
  PacketRecord record;
  std::uint64_t number = 0;
  std::uint8_t side = 0;  ///< who sent it, if it is one of a connection
};

/// A flow whose requests may be the ones that another one answers.
struct Candidate {
  std::uint32_t place = no_place;
  bool fitted = false;               ///< an answer lay among its requests
  bool has_own_number = false;       ///< its PSNs alone tell it from others
  bool counted = false;              ///< messages_ahead is known
  std::uint32_t messages_ahead = 0;  ///< MSN of the last answer minus the messages up to its PSN
  std::uint64_t flow = 0;            ///< its id: places are used again
  float fit = 0;            ///< logarithm of how much better the answers fit than to an unrelated flow
  float count_fit = 0;      ///< the same of the messages counted
  float pace_fit = 0;       ///< the same of how soon answers come
  float steady_fit = 0;     ///< the same of how alike the times are that they take
  float begin_fit = 0;      ///< the same of where answers to READs begin
  float port_fit = 0;       ///< the same of the UDP source port, which both directions may share
  float heard_fit = 0;      ///< the same of steps back to what NAKs asked for
  float delay_ns = 0;       ///< of answers, smoothed; 0 = none yet
  std::uint32_t heard = 0;  ///< of the NAK that was heard last: bits of its time
  /// A score below is that of no partner.
  static constexpr double hopeless = -15;
  [[nodiscard]] float score() const noexcept {
    // A responder that does not count messages as it should proves nothing; so unlikely it is.
    constexpr float useless_count = -6;
    return fit + std::max(count_fit, useless_count) + pace_fit + std::max(steady_fit, 0.0F) + begin_fit +
           port_fit + heard_fit;
  }
};

/// A sequence NAK or an RNR NAK.
struct Asked {
  std::int64_t time_ns = 0;
  std::uint32_t psn = 0;
};

/// A flow that is not paired yet.
struct Unpaired {
  PacketRecord first;  ///< under which it is listed
  std::vector<Held> held;
  RequestTrace requests;
  HalfUse use;
  std::vector<Candidate> candidates;
  std::int64_t looks = 0;          ///< paid in advance; see PartnerSearch::looks
  std::uint64_t looked_until = 0;  ///< flows with a lower id were looked at
  std::uint64_t looked_at = 0;     ///< value of `listings` then
  std::uint32_t answers = 0;
  std::optional<Asked> asked;                 ///< what its last answer asked for again
  std::uint32_t last_answer = 0;              ///< its PSN
  std::int64_t judged_ns = capture::no_time;  ///< when the last answer came that was judged
  std::uint32_t last_msn = 0;
  std::uint32_t psn_ahead = 0;         ///< that PSN minus the MSN
  std::uint32_t tried = 0;             ///< candidates so far
  std::uint32_t favourite = no_place;  ///< the candidate with the best score
  float favourite_score = 0;
  bool only_cnps = true;
  bool ambiguous = false;
  bool listed = false;
  bool among_many = false;    ///< only those are candidates that sent lately what it answers
  bool in_hindsight = false;  ///< its answers are looked at once more, with all that was sent since
  bool icrc_awaited = false;  ///< its first packets have a wrong ICRC: whose fault that is will be seen

  /// More of its packets are not held until the other direction is known.
  [[nodiscard]] bool waits_too_long() const noexcept {
    constexpr std::size_t held_at_most = 512;
    return held.size() >= held_at_most;
  }
};

/// What that answer is to, besides a NAK.
[[nodiscard]] RequestTrace::Answer answered_by(const PacketRecord& answer);
/// How soon answers came to the candidate that gets them soonest; 0: none did.
[[nodiscard]] double promptest_of(std::span<const Candidate> candidates);
/// How long an answer may take where they come that soon.
[[nodiscard]] double patience(double promptest_ns);

/// The search for partners by answers, of all flows. See tracker_answers.cpp.
struct PartnerSearch {
  RecentRequests recent;           ///< of flows that are not paired
  std::vector<std::uint64_t> met;  ///< by place: the last round that met it
  std::uint64_t rounds = 0;
  /// By way: how soon answers came to the slowest of very many that were paired.
  std::unordered_map<std::uint64_t, double> delays_ns;
  std::uint64_t listings = 0;       ///< flows that came into Tracker::Impl::unpaired so far
  std::uint64_t listed_until = 0;   ///< behind their highest id
  std::size_t candidate_slots = 0;  ///< for which Unpaired::candidates have room
  std::uint64_t answering = 0;      ///< flows that wait for their partner and have sent answers
  std::uint64_t answered = 0;       ///< flows whose partner was found by that
  std::size_t trace_budget = RequestTrace::whole_budget;  ///< bytes that are left for Unpaired::requests
  std::int64_t looks = 1 << 20;  ///< at candidates that may be taken; each answer brings some
};

}  // namespace roce::analyze
