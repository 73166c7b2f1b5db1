// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analyze/base/deep_ptr.hpp"
#include "analyze/base/stable_vector.hpp"
#include "analyze/episode/another_use.hpp"
#include "analyze/episode/incidents.hpp"
#include "analyze/episode/mirror.hpp"
#include "analyze/flow/flow_table.hpp"
#include "analyze/tracker/capture_views.hpp"
#include "analyze/tracker/congestion_tracker.hpp"
#include "analyze/tracker/incident_log.hpp"
#include "analyze/tracker/pairing.hpp"
#include "analyze/tracker/partner_search.hpp"
#include "analyze/tracker/tracker.hpp"
#include "analyze/tracker/trims.hpp"
#include "analyze/transport/psn_space.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// A flow without a sequence to follow (UD, RD, vendor): only doubles are told apart.
struct PlainFlow {
  StreamFacts facts;
  std::array<Seen, 8> seen;
  DeepPtr<Held>
      damaged;  ///< its first packet, if that has a wrong ICRC and nothing followed: in no series yet
  DeepPtr<CopyRing> copies;  ///< where several capture points show it
};

/// A cache line.
struct alignas(64) FlowState {
  std::uint32_t connection = no_place;  ///< place in Impl::tracks
  std::uint32_t used_at = 0;            ///< frame number, in steps of Impl::idle_step
  /// What the flow's requests belong to, and what its answers do: not null where the short way is open.
  std::array<PsnSpace*, 2> spaces{};
  std::uint64_t mac = 0;          ///< source MAC address of the last packet; 0 = none
  std::uint64_t first_frame = 0;  ///< that counts
  DeepPtr<Unpaired> unpaired;
  DeepPtr<PlainFlow> plain_flow;
  /// Number of the one that shows what its packets look like by now; 0 = none. See HeaderCache.
  std::uint32_t image = 0;
  std::uint8_t side : 1 = 0;
  std::uint8_t wrong_icrcs : 2 = 0;    ///< of its first packets, before any was right; counted up to 3
  std::uint8_t without_image : 2 = 0;  ///< packets that had none although they could have; wraps
  bool plain : 1 = false;
  bool retired : 1 = false;        ///< its key belongs to another flow by now
  bool in_hand : 1 = false;        ///< being tracked: must not be evicted
  bool queued : 1 = false;         ///< in `holding`, for this flow or one that had the place before
  bool icrc_matched : 1 = false;   ///< of any packet
  bool header_wrong : 1 = false;   ///< of any packet with a right ICRC
  std::uint16_t point = no_point;  ///< PacketRecord::point of the first packet

  static constexpr std::uint16_t no_point = 0xffff;

  [[nodiscard]] bool any_icrc_right() const noexcept { return icrc_matched || header_wrong; }
  /// So far every packet's is wrong: the capture saw them before their NIC wrote it.
  [[nodiscard]] bool icrc_by_capture() const noexcept { return wrong_icrcs == 3 && !any_icrc_right(); }
  [[nodiscard]] bool icrc_doubtful() const noexcept {
    return wrong_icrcs != 0 && wrong_icrcs != 3 && !any_icrc_right();
  }
};
static_assert(sizeof(FlowState) == 64);

/// What the CM told of a queue pair.
struct CmPeer {
  dissect::IpAddress address;  ///< of the other end
  std::uint32_t qpn = 0;
  std::uint32_t exchange = 0;
  bool is_client = false;  ///< the queue pair it is filed under
  std::uint16_t pmtu = 0;
  std::optional<std::uint8_t> retry_count;
  std::optional<std::uint8_t> rnr_retry;
};

/// The packets of a connection since something was not as it should be, until it is as it should be again.
struct Episode {
  static constexpr std::size_t limit = 4096;
  static constexpr std::size_t gaps_at_most = 512;
  struct Side {
    std::int64_t top = 0;       ///< behind the highest request
    std::int64_t acked = 0;     ///< everything before is confirmed
    std::int64_t marker = 0;    ///< behind the highest request when it was last not as it should be
    std::int64_t answered = 0;  ///< behind the highest response
    bool known = false;         ///< a request was captured
    /// Responses that are missing, until they come or long nothing happens.
    std::vector<std::pair<std::int64_t, std::int64_t>> missing;
    bool inside = false;    ///< the last response was not the end of its READ
    std::int64_t next = 0;  ///< behind the last request
    bool asked = false;     ///< a NAK or RNR NAK came, and nobody went back since
    /// What was asked for in the episode, each time that it was, and has not been answered: a responder
    /// answers in order.
    std::vector<std::pair<std::int64_t, std::int64_t>> awaited;
    bool in_turn = false;                    ///< all that came was: nothing of it has to be explained
    std::array<std::uint16_t, 2> last_id{};  ///< IPv4, of answers and of requests
    /// Whether that one is in its turn.
    [[nodiscard]] bool is_next(const episode::Note& note) const noexcept;
    /// A response came: what should have come before it is missing. False if nothing asked for it.
    bool answers(std::int64_t psn);
    /// A responder that sent a NAK throws away what it was asked for from there on (IBTA 9.7.5.2.8).
    void forgets(std::int64_t from) {
      std::erase_if(awaited, [from](const auto& range) { return range.first >= from; });
    }
    void misses(std::int64_t from, std::int64_t to) {
      if (from < to && missing.size() < gaps_at_most) missing.emplace_back(from, to);
    }
  };
  std::vector<Held> held;
  std::array<Side, 2> side;  ///< by requester
  std::uint32_t calm = 0;    ///< packets since then
  std::int64_t last_ns = capture::no_time;
  std::int64_t trouble_ns = capture::no_time;  ///< when the last packet came that was not as it should be
  /// The packet with which another use of the queue pairs may begin: the first one after a silence.
  static constexpr std::size_t none = SIZE_MAX;
  std::size_t use = none;
  bool shown_again = false;         ///< what was captured long before, by another clock: none begins
  bool use_after_all = false;       ///< everything was confirmed before it
  std::int64_t use_silence_ns = 0;  ///< before it
  std::uint32_t answers_since = 0;  ///< that count messages
  /// What is known of that, as long as nothing makes earlier packets mean something else.
  struct Watch {
    episode::AnotherUse told;
    std::size_t seen = 0;  ///< of `held`
    std::uint32_t pmtu = 0;
    std::int64_t from = 0;  ///< EpisodeNotes::from
    bool twice = false;     ///< RingBudget::twice
  };
  std::array<DeepPtr<Watch>, 2> watch;  ///< by requester
  std::uint64_t first_frame = 0;        ///< under which it is among the open ones
};

/// The packets of an episode, of one PSN space. While an episode::Scratch exists.
struct EpisodeNotes {
  episode::List<episode::Note> notes;  ///< first those from before the episode
  std::size_t before = 0;              ///< so many
  episode::List<std::size_t> of;       ///< the others: places in Episode::held
  std::uint32_t pmtu = 0;
  std::int64_t from = 0;  ///< PSN from which on is recalled what was before
};

/// A packet of a connection with a wrong ICRC.
struct DamagedPacket {
  std::int64_t time_ns = capture::no_time;
  std::uint64_t frame = 0;
  std::uint32_t psn = 0;
  bool request = false;
  bool selected = false;
  std::uint8_t requester = 0;  ///< side
};

/// What was lost behind the capture, unless it came late there: what is known of the path in the end tells.
struct DoubtfulLoss {
  // What is beyond these stays open.
  static constexpr std::size_t at_most = 4096;  ///< of a connection
  static constexpr std::size_t of_all = std::size_t{128} * 1024;
  ShownLoss loss;
  episode::Doubt doubt = episode::Doubt::none;
  unsigned requester = 0;  ///< whose requests and answers it is about
};

/// A connection while it is followed.
struct alignas(64) Track {
  std::array<DeepPtr<PsnSpace>, 2> spaces;  ///< by requester
  DeepPtr<CaptureViews> views;              ///< where several capture points show it
  DeepPtr<Held> jump;  ///< a request far off: another sequence, if the next one follows it
  std::array<std::uint32_t, 2> places{no_place, no_place};
  std::uint8_t jump_side = 0;
  bool in_use = false;
  bool concluded = false;  ///< all is said of it, and its state is released: only the result is left
  Connection result;
  /// An answer far from all requests: to those of another queue pair, if the next one follows it.
  DeepPtr<Held> far_answer;
  std::uint8_t far_side = 0;
  bool answers_stray = false;  ///< some are, and no other sequence: no longer looked at
  DeepPtr<Episode> episode;
  std::vector<DamagedPacket> damaged;  ///< of which no incident tells yet
  std::vector<DoubtfulLoss> doubtful;
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
  explicit Impl(const TrackerOptions& options)
      : flows(options.flow_limit),
        short_way(options.short_way),
        trimmed_dscps(options.trimmed_dscps),
        copies_expected(options.copies_expected) {
    shared.verdicts = options.verdicts;
    tell = options.verdicts != nullptr;
  }

  // tracker.cpp
  std::uint32_t place_of(const PacketRecord& record);
  template <class PacketAt>
  void approach(std::size_t count, PacketAt packet_at, Hints& hints) const;
  std::uint32_t track(const PacketRecord& record, std::uint64_t number, std::uint32_t hint, Verdict& verdict);
  template <bool Tell>
  bool track_known(const PacketBrief& packet, std::uint64_t number);
  void track_long(const PacketRecord& record, std::uint64_t number, Verdict& verdict);
  Verdict plain(FlowState& state, const PacketRecord& record, std::uint64_t number, std::uint32_t place);
  bool follow_short(const PacketRecord& record, std::uint64_t number, std::uint32_t place, Verdict& verdict);
  bool follow_next(const PacketBrief& packet, std::uint64_t number, FlowState& state, Verdict& verdict);
  template <bool Tell>
  void count_next(const PacketBrief& packet, std::uint64_t number, FlowState& state, Verdict& verdict);
  void link(const Track& track);
  PsnSpace& space_of(Track& track, unsigned requester);
  void stand_alone(const Impl& other);
  void retire(std::uint32_t place);
  void retire_use(std::uint32_t place);
  void note_frame(FlowState& state, const PacketBrief& record, std::uint64_t number);
  Verdict step(std::uint32_t connection, unsigned side, const PacketRecord& record, std::uint64_t number,
               std::uint32_t place);
  Verdict step_now(std::uint32_t connection, unsigned side, const PacketRecord& record, std::uint64_t number,
                   std::uint32_t place, const episode::Ruling& ruling = in_its_turn);

  // tracker_episodes.cpp
  [[nodiscard]] static bool may_wait(const Track& track, const dissect::OpcodeInfo& info);
  [[nodiscard]] bool waits_for_explanation(std::uint32_t connection, unsigned side,
                                           const PacketRecord& record, std::uint64_t number,
                                           Verdict& verdict);
  void open_episode(Track& track);
  void note_in_episode(Track& track, unsigned side, const PacketRecord& record, std::uint64_t number);
  [[nodiscard]] bool mirror_lags(const Episode& open, std::int64_t now_ns) const noexcept;
  void hold_in_episode(Track& track, unsigned side, const PacketRecord& record, std::uint64_t number,
                       Verdict& verdict);
  [[nodiscard]] static std::uint32_t pmtu_of(const Track& track, const Episode& episode);
  [[nodiscard]] bool tells_of(const Track& track, const Held& packet, unsigned requester) const;
  [[nodiscard]] const PacketRecord* first_request(const Track& track, unsigned of, std::size_t from) const;
  [[nodiscard]] bool is_request_of(const Track& track, const Held& packet, unsigned side) const;
  [[nodiscard]] episode::Use use_of(const Track& track, Episode& open, unsigned requester) const;
  [[nodiscard]] EpisodeNotes notes_of(const Track& track, const Episode& episode, unsigned requester) const;
  bool explain_episode(std::uint32_t connection);
  void explain_oldest();
  void leave_room(std::vector<Held>&& room);
  [[nodiscard]] episode::Facts facts_of(const Track& track, unsigned requester);
  [[nodiscard]] bool hears_answers(const Track& track, unsigned requester);
  [[nodiscard]] episode::WayFact& way_from(const Track& track, unsigned side);
  void leave_open(Track& track, const Step& s);
  void settle_doubtful(Track& track);

  // tracker_trims.cpp
  [[nodiscard]] static bool is_followed_when_trimmed(const PacketRecord& record) noexcept;
  [[nodiscard]] const Flow* flow_at(const PacketRecord& record) const;
  void put_delayed_in_place(std::vector<Held>& packets) const;
  /// Whether a switch that trims sent it through the queue of trimmed packets, though it left it whole.
  [[nodiscard]] bool is_remarked(const PacketRecord& record) const noexcept {
    return !record.trimmed() && (trimmed_dscps >> (record.traffic_class >> 2U) & 1U) != 0;
  }
  static void put_trimmed_in_place(const Track& track, std::vector<Held>& held);

  // tracker_incidents.cpp
  void note_incidents(Track& track, unsigned requester, std::span<const episode::Note> notes,
                      const episode::Explanation& said, const episode::Facts& facts,
                      std::span<const Held* const> packets, std::span<const Held> episode);
  /// What an episode says was lost, or asked for again and maybe lost.
  void note_losses(const Track& track, unsigned requester, std::span<const episode::Note> notes,
                   const episode::Explanation& said);
  /// What it says was not captured, or may not have been.
  void note_missed(PsnSpace& space, std::span<const episode::Note> notes, const episode::Explanation& said);
  /// Remembers a transmission that was lost, for those who know of it from elsewhere.
  void note_loss(const Track& track, unsigned side, LostTransmission loss,
                 std::vector<LostTransmission>& losses);
  [[nodiscard]] std::uint32_t incident_with(const Incident& like, std::uint64_t frame);
  void publish_incident(std::uint64_t frame, std::uint32_t number);
  void note_damaged(Track& track, unsigned side, const PacketRecord& record, std::uint64_t number);
  void damaged_alone(const Track& track, const DamagedPacket& packet);
  void conclude_incidents(Track& track);
  void give_up(const Connection& c, unsigned side, Incident* open, IncidentKind what);
  void note_refused(const Connection& c, unsigned side);

  bool jumped(std::uint32_t connection, unsigned side, const PacketRecord& record, std::uint64_t number,
              std::uint32_t place, Verdict& verdict);
  bool answers_jumped(std::uint32_t connection, unsigned side, const PacketRecord& record,
                      std::uint64_t number, std::uint32_t place, bool elsewhere, Verdict& verdict);
  [[nodiscard]] bool answers_another(const Track& track, unsigned side, const PacketRecord& record,
                                     std::uint32_t place);
  void release_far_answer(std::uint32_t connection);
  bool answers_jump(std::uint32_t connection, unsigned side, const PacketRecord& record, std::uint64_t number,
                    Verdict& verdict);
  void leave_to_another(const Track& track);
  [[nodiscard]] static std::int64_t last_packet_of(const Track& track);
  [[nodiscard]] static bool may_answer(const PacketRecord& answer, const PacketRecord& first);
  [[nodiscard]] static bool answers_none(const Track& track, unsigned side, std::size_t at);
  [[nodiscard]] static std::size_t answers_before(const Track& track, unsigned side,
                                                  const PacketRecord& record);
  [[nodiscard]] static std::int64_t silence_before(const Track& track, unsigned side,
                                                   const PacketRecord& record);
  [[nodiscard]] static bool asked_before(const Track& track, unsigned side);
  [[nodiscard]] static bool may_be_another_use(const Track& track, unsigned side, const PacketRecord& record);
  void note_beginning(Track& track, unsigned side, const PacketRecord& record);
  [[nodiscard]] bool used_again(std::uint32_t connection);
  void drop_strays(Track& track);
  void begin_at_jump(Track& track);
  void release_held_back(std::uint32_t connection);
  void publish(std::uint64_t number, const Verdict& verdict);
  void count(std::uint32_t place, const PacketRecord& record, std::uint64_t number, bool in_series = true);
  void settle_damaged(PlainFlow& flow);
  void note_marks(Step& s, std::uint32_t place);
  void drop_stray(Track& track);
  void count_stray(const Track& track, std::uint32_t place, const Held& stray);
  void note_icrc(FlowState& state, const PacketRecord& record);
  [[nodiscard]] bool believed(std::uint32_t place, const PacketRecord& record) const;
  [[nodiscard]] bool bears_witness(std::uint32_t place, const PacketRecord& record) const;
  void evict();
  void retire_idle(std::uint64_t frame);
  void depart(std::uint32_t place);
  void close_out(std::uint32_t place);
  [[nodiscard]] bool conclude_idle(std::uint32_t place);
  [[nodiscard]] static bool in_trouble(const Track& track) noexcept;
  void leave(std::uint32_t place);
  void connected(const CmExchange& exchange, std::uint32_t index);
  void settle_short_flows();
  [[nodiscard]] bool release_waiting();
  bool release_waiting(std::uint32_t place);
  void count_in_series(const PacketRecord& record) {
    if (record.time_ns == capture::no_time) return;
    Series::Bucket& bucket = shared.series.at(record.time_ns);
    ++bucket.packets;
    bucket.bytes += record.wire;
  }
  [[nodiscard]] bool is_known(const PacketRecord& record) const;
  [[nodiscard]] bool is_doubted(const PacketRecord& record) const;
  void doubt(const PacketRecord& record, std::uint64_t number);
  void take_as_strange(const PacketRecord& record, std::uint64_t number);
  [[nodiscard]] bool among_strange(const FlowKey& key) const;
  void settle_doubted();
  [[nodiscard]] std::vector<StrayPackets> take_strays();
  Result finish(std::optional<std::int64_t> end_ns);
  void conclude(Track& track);
  void release_state(Track& track);
  void sum_up(Track& track);

  // tracker_views.cpp
  CaptureViews& views_of(Track& track);
  Verdict step_at(std::uint32_t connection, unsigned side, const PacketRecord& record, std::uint64_t number,
                  std::uint32_t place);
  Verdict wait_at(std::uint32_t connection, unsigned side, unsigned at, const PacketRecord& record,
                  std::uint64_t number);
  Verdict follow_at(std::uint32_t connection, unsigned side, unsigned at, const PacketRecord& record,
                    std::uint64_t number, std::uint32_t place);
  Verdict compare_at(std::uint32_t connection, unsigned side, unsigned at, const PacketRecord& record,
                     std::uint64_t number);
  [[nodiscard]] bool goes_on(const Track& track, unsigned side, std::uint8_t others,
                             const std::vector<CaptureViews::Packet>& packets) const;
  Sighting* copied(PlainFlow& flow, FlowState& state, const PacketRecord& record, std::uint64_t number);
  void look_for_points(std::uint32_t connection, const std::vector<Held>& packets);
  [[nodiscard]] bool only_looked_at(const FlowState& state, const PacketRecord& record);
  void expect_copies();
  void decide(std::uint32_t connection);
  void replay_at(const std::vector<CaptureViews::Packet>& packets);
  void note_ruled(const Step& s, Track& track);
  void claim(Track& track, const CaptureViews::Claim& claim);
  void book_claim(Track& track, const CaptureViews::Claim& claim);
  void count_copy(Track& track, unsigned side, const CaptureViews::Packet& packet);
  void count_unfollowed(Track& track, unsigned side, std::uint64_t up_to);
  static void note_damage(PointOfView& point, unsigned side, const Sighting& here, const Sighting& there);
  void conclude_damage(Track& track, unsigned side, unsigned at);
  static void cross(Crossing& crossed, const Sighting& here, std::uint64_t there,
                    std::int64_t there_ns) noexcept;
  void came_late(Track& track, unsigned side, unsigned at, Sighting& here, std::uint64_t there,
                 std::int64_t there_ns);
  void settle_late(Track& track);
  void lose_between(Track& track, unsigned side, const Sighting& lost);
  [[nodiscard]] bool may_be_lost_between(Track& track) const;
  void judge_passed(Track& track, unsigned side, const Sighting& here);
  void judge_waiting(Track& track, unsigned side, const Sighting& there);
  void lose_behind(Track& track, unsigned side, const Sighting& here);
  void lose_before(Track& track, unsigned side, const Sighting& there);
  void doubt_it(Track& track, const CaptureViews::Unshown& unshown);
  void settle_unshown(Track& track);
  void hand_over(std::uint32_t connection, std::size_t at_least);
  void judge_all(Track& track);
  [[nodiscard]] bool end_views(std::uint32_t connection, bool take_over);
  void conclude_views(Track& track);
  void drop_views(Track& track);
  void merge_views(Track& into, Track& from);

  // tracker_pairing.cpp
  Verdict hold(std::uint32_t place, const PacketRecord& record, std::uint64_t number);
  void find_partner(std::uint32_t place);
  void drop_unpaired(std::uint32_t place);
  void settle_icrc(std::uint32_t place);
  [[nodiscard]] bool opposite(std::uint32_t place, std::uint32_t other);
  std::vector<Held> take_episode(std::uint32_t connection);
  void pair(std::uint32_t place, std::uint32_t other, Evidence evidence);
  std::uint32_t go_alone(std::uint32_t place);
  void unlist(std::uint32_t place);
  std::uint32_t new_connection(std::uint32_t place);
  void drop(std::uint32_t connection);
  void attach(std::uint32_t connection, std::uint32_t place, unsigned side);
  void merge(std::uint32_t connection, std::uint32_t other);
  void replay_one(const PacketRecord& record, std::uint64_t number);
  void replay(std::vector<Held>& packets);
  void describe(Track& track, std::uint32_t place, unsigned side);
  void flush_oldest();
  void pair_cnps();

  // tracker_halves.cpp
  [[nodiscard]] bool ends_use(std::uint32_t place, const PacketRecord& record, std::uint64_t number,
                              Verdict& verdict);
  std::optional<UseTurn> note_use(std::uint32_t place, const PacketRecord& record, std::uint64_t number);
  [[nodiscard]] bool sent_otherwise(const Unpaired& waiting, const PacketRecord& record) const;
  [[nodiscard]] bool shown_before(std::uint32_t place, const PacketRecord& record, const UseTurn& turn) const;
  [[nodiscard]] std::uint32_t turned_with(std::uint32_t place, const UseTurn& turn);
  bool split_at(std::uint32_t place, const UseTurn& turn);

  // tracker_answers.cpp
  void note_request(std::uint32_t place, const PacketRecord& request);
  bool consider_again(std::uint32_t place);
  void consider(std::uint32_t place, const PacketRecord& answer);
  void hear(std::uint32_t place, const PacketRecord& request);
  [[nodiscard]] bool find_candidates(std::uint32_t place, const PacketRecord& answer);
  [[nodiscard]] bool find_recent(std::uint32_t place, const PacketRecord& answer);
  [[nodiscard]] double patience_of(const Unpaired& waiting, const PacketRecord& answer) const;
  void note_delay(const FlowKey& answers, double delay_ns);
  [[nodiscard]] bool make_room(Unpaired& waiting, std::size_t more);
  static void add_candidate(Unpaired& waiting, std::uint32_t place, std::uint64_t flow, double missed);
  [[nodiscard]] bool may_look(Unpaired& waiting);
  void pay(Unpaired& waiting, std::size_t looked_at);
  void judge(Unpaired& waiting, const PacketRecord& answer);
  [[nodiscard]] double seen_from(std::uint32_t place, std::uint32_t other);
  [[nodiscard]] bool wanted_elsewhere(std::uint32_t place, const Candidate& best);
  void drop_taken(Unpaired& waiting);
  void prefer(std::uint32_t place, std::uint32_t favourite);
  [[nodiscard]] std::size_t possible_partners(std::uint32_t place);
  bool choose(std::uint32_t place, std::size_t of);
  void pair_the_rest();

  static constexpr std::uint64_t idle_step = 64;
  /// Packets that wait for the other direction, or for another capture point: of all connections.
  static constexpr std::size_t held_of_all = 128 * 1024;
  static constexpr std::size_t doubted_at_most = 1024;
  static constexpr std::size_t strange_pairs_at_most = 4096;
  static constexpr std::size_t paths_at_most = 16384;
  static constexpr std::size_t spare_of_all = held_of_all / 4;

  TrackerShared shared;
  FlowTable flows;
  const bool short_way;
  const std::uint64_t trimmed_dscps;                     ///< of TrackerOptions
  std::map<std::uint64_t, std::uint32_t> open_episodes;  ///< connections, by the frame that began them
  /// What episodes showed of the way from one host to another.
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, episode::WayFact> paths;
  episode::PathFact network;       ///< of all of them: of requests
  std::size_t open_losses = 0;     ///< DoubtfulLoss of all connections
  bool copies_expected = false;    ///< from now on
  bool tell = false;               ///< somebody wants to know what is said of each packet
  StableVector<FlowState> states;  ///< by place
  StableVector<Track> tracks;
  std::vector<std::uint32_t> unused_tracks;
  std::uint32_t next_connection = 0;  ///< Connection::id
  UnpairedFlows unpaired;
  PartnerSearch search;
  CopyBudget copy_budget;
  PointClocks clocks;
  CongestionTracker congestion;
  IncidentLog incidents;
  std::vector<LostTransmission> lost_packets;
  std::vector<LostTransmission> perhaps_lost;
  episode::Mirror mirror;
  Trims trims;
  tsl::robin_map<std::pair<dissect::IpAddress, std::uint32_t>, CmPeer, EndHash> cm_peers;
  std::set<dissect::IpAddress> right_senders;  ///< the ICRC of a packet of theirs matched
  std::vector<Held>
      doubted;     ///< packets that are no RoCE unless a flow with their key appears; the first ones
  Totals strange;  ///< those that are none
  std::set<std::pair<dissect::IpAddress, dissect::IpAddress>> strange_pairs;  ///< who sent them to whom
  std::deque<std::uint32_t> holding;  ///< places with held packets, oldest first; each once
  std::size_t held = 0;               ///< packets
  /// Flows whose queue pair number has had another use: hashes of their keys.
  tsl::robin_set<std::uint64_t> used_before;
  std::vector<std::vector<Held>> spare_room;  ///< for those of episodes to come
  std::size_t spare = 0;                      ///< so many have room there
  std::uint64_t frames = 0;
};

}  // namespace roce::analyze
