// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyze/chunks.hpp"
#include "analyze/flow_table.hpp"
#include "analyze/pairing.hpp"
#include "analyze/psn_space.hpp"
#include "analyze/request_trace.hpp"
#include "analyze/tracker.hpp"

// Internal to the tracker.
namespace roce::analyze {

inline constexpr std::uint32_t no_place = FlowTable::none;

/// A packet whose meaning waits for the other direction.
struct Held {
  PacketRecord record;
  std::uint64_t number = 0;
};

/// A flow whose requests may be the ones that another one answers.
struct Candidate {
  std::uint32_t place = no_place;
  bool fitted = false;               ///< an answer lay among its requests
  bool has_own_number = false;       ///< its PSNs alone tell it from others
  bool counted = false;              ///< messages_ahead is known
  std::uint32_t messages_ahead = 0;  ///< MSN of the last answer minus the messages up to its PSN
  std::uint64_t flow = 0;            ///< its id: places are used again
  float fit = 0;        ///< logarithm of how much better the answers fit than to an unrelated flow
  float count_fit = 0;  ///< the same of the messages counted
  float delay_ns = 0;   ///< of answers, smoothed; 0 = none yet
  [[nodiscard]] float score() const noexcept {
    // A responder that does not count messages as it should proves nothing; so unlikely it is.
    constexpr float useless_count = -6;
    return fit + std::max(count_fit, useless_count);
  }
};

/// A flow that is not paired yet.
struct Unpaired {
  PacketRecord first;  ///< under which it is listed
  std::vector<Held> held;
  RequestTrace requests;
  std::vector<Candidate> candidates;
  std::uint64_t looked_until = 0;  ///< flows with a lower id were looked at
  std::uint64_t looked_at = 0;     ///< value of `listings` then
  std::uint32_t answers = 0;
  std::uint32_t last_answer = 0;  ///< its PSN
  std::uint32_t last_msn = 0;
  std::uint32_t psn_ahead = 0;         ///< that PSN minus the MSN
  std::uint32_t tried = 0;             ///< candidates so far
  std::uint32_t favourite = no_place;  ///< the candidate with the best score
  float favourite_score = 0;
  bool only_cnps = true;
  bool ambiguous = false;
  bool listed = false;
};

/// A flow without a sequence to follow (UD, RD, vendor): only doubles are told apart.
struct PlainFlow {
  StreamFacts facts;
  std::array<Seen, 8> seen;
};

/// A cache line.
struct alignas(64) FlowState {
  std::uint32_t connection = no_place;  ///< place in Impl::tracks
  std::uint32_t used_at = 0;            ///< frame number, in steps of Impl::idle_step
  /// What the flow's requests belong to, and what its answers do: not null where the short way is open.
  std::array<PsnSpace*, 2> spaces{};
  std::uint64_t mac = 0;          ///< source MAC address of the last packet; 0 = none
  std::uint64_t first_frame = 0;  ///< that counts
  std::unique_ptr<Unpaired> unpaired;
  std::unique_ptr<PlainFlow> plain_flow;
  /// Number of the one that shows what its packets look like by now; 0 = none. See FlowImages.
  std::uint32_t image = 0;
  std::uint8_t without_image = 0;  ///< packets that had none although they could have; wraps
  std::uint8_t side = 0;
  bool plain : 1 = false;
  bool retired : 1 = false;       ///< its key belongs to another flow by now
  bool in_hand : 1 = false;       ///< being tracked: must not be evicted
  bool queued : 1 = false;        ///< in `holding`, for this flow or one that had the place before
  bool icrc_matched : 1 = false;  ///< of any packet
};
static_assert(sizeof(FlowState) == 64);

/// What the CM told of a queue pair.
struct CmPeer {
  dissect::IpAddress address;  ///< of the other end
  std::uint32_t qpn = 0;
  std::uint32_t exchange = 0;
  bool is_client = false;  ///< the queue pair it is filed under
  std::uint16_t pmtu = 0;
};

/// A connection while it is followed.
struct alignas(64) Track {
  std::array<std::unique_ptr<PsnSpace>, 2> spaces;  ///< by requester
  std::unique_ptr<Held> jump;  ///< a request far off: another sequence, if the next one follows it
  std::array<std::uint32_t, 2> places{no_place, no_place};
  std::uint8_t jump_side = 0;
  bool in_use = false;
  Connection result;
};

struct EndHash {
  std::size_t operator()(const std::pair<dissect::IpAddress, std::uint32_t>& end) const noexcept {
    FlowKey key;
    key.dst = end.first;
    key.dst_qp = end.second;
    return key.hash();
  }
};

struct Tracker::Impl {
  explicit Impl(const TrackerOptions& options) : flows(options.flow_limit), short_way(options.short_way) {
    shared.verdicts = options.verdicts;
    tell = options.verdicts != nullptr;
  }

  // tracker.cpp
  std::uint32_t place_of(const PacketRecord& record);
  template <class PacketAt>
  void approach(std::size_t count, PacketAt packet_at, Hints& hints) const;
  std::uint32_t track(const PacketRecord& record, std::uint64_t number, std::uint32_t hint, Verdict& verdict);
  bool track_known(const PacketBrief& packet, std::uint64_t number);
  void track_long(const PacketRecord& record, std::uint64_t number, Verdict& verdict);
  Verdict plain(FlowState& state, const PacketRecord& record, std::uint64_t number, std::uint32_t place);
  bool follow_short(const PacketRecord& record, std::uint64_t number, std::uint32_t place, Verdict& verdict);
  bool follow_next(const PacketBrief& packet, std::uint64_t number, FlowState& state, Verdict& verdict);
  void count_next(const PacketBrief& packet, std::uint64_t number, FlowState& state, Verdict& verdict);
  void link(const Track& track);
  void retire(std::uint32_t place);
  void note_frame(FlowState& state, const PacketBrief& record, std::uint64_t number);
  Verdict step(std::uint32_t connection, unsigned side, const PacketRecord& record, std::uint64_t number,
               std::uint32_t place);
  bool jumped(std::uint32_t connection, unsigned side, const PacketRecord& record, std::uint64_t number,
              std::uint32_t place, Verdict& verdict);
  void publish(std::uint64_t number, const Verdict& verdict);
  void count(std::uint32_t place, const PacketRecord& record, std::uint64_t number);
  void drop_stray(Track& track);
  void evict();
  void leave(std::uint32_t place);
  void connected(const CmExchange& exchange, std::uint32_t index);
  [[nodiscard]] bool release_waiting();
  Result finish(std::optional<std::int64_t> end_ns);
  void conclude(Track& track);
  void sum_up(Track& track);

  // tracker_pairing.cpp
  Verdict hold(std::uint32_t place, const PacketRecord& record, std::uint64_t number);
  void find_partner(std::uint32_t place);
  void drop_unpaired(std::uint32_t place);
  [[nodiscard]] bool opposite(std::uint32_t place, std::uint32_t other);
  void pair(std::uint32_t place, std::uint32_t other, Evidence evidence);
  std::uint32_t go_alone(std::uint32_t place);
  void unlist(std::uint32_t place);
  std::uint32_t new_connection(std::uint32_t place);
  void drop(std::uint32_t connection);
  void attach(std::uint32_t connection, std::uint32_t place, unsigned side);
  void merge(std::uint32_t connection, std::uint32_t other);
  void replay(std::vector<Held>& packets);
  void describe(Track& track, std::uint32_t place, unsigned side);
  void flush_oldest();
  void pair_cnps();

  // tracker_answers.cpp
  void note_request(std::uint32_t place, const PacketRecord& request);
  void consider(std::uint32_t place, const PacketRecord& answer);
  [[nodiscard]] bool find_candidates(std::uint32_t place, const PacketRecord& answer);
  void judge(Unpaired& waiting, const PacketRecord& answer);
  [[nodiscard]] double seen_from(std::uint32_t place, std::uint32_t other);
  [[nodiscard]] bool wanted_elsewhere(std::uint32_t place, const Candidate& best, const PacketRecord& answer);

  static constexpr std::uint64_t idle_step = 64;

  TrackerShared shared;
  FlowTable flows;
  const bool short_way;
  bool tell = false;         ///< somebody wants to know what is said of each packet
  Chunks<FlowState> states;  ///< by place
  Chunks<Track> tracks;
  std::vector<std::uint32_t> unused_tracks;
  std::uint32_t next_connection = 0;  ///< Connection::id
  UnpairedFlows unpaired;
  tsl::robin_map<std::pair<dissect::IpAddress, std::uint32_t>, CmPeer, EndHash> cm_peers;
  std::deque<std::uint32_t> holding;  ///< places with held packets, oldest first; each once
  std::size_t held = 0;               ///< packets
  std::uint64_t listings = 0;         ///< flows that came into `unpaired` so far
  std::size_t candidate_slots = 0;    ///< for which Unpaired::candidates have room
  std::uint64_t answering = 0;        ///< flows that wait for their partner and have sent answers
  std::uint64_t answered = 0;         ///< flows whose partner was found by that
  std::size_t trace_budget = std::size_t{16} << 20U;  ///< bytes that are left for Unpaired::requests
  std::int64_t looks = 1 << 20;  ///< at candidates that may be taken; each answer brings some
  std::uint64_t frames = 0;
};

}  // namespace roce::analyze
