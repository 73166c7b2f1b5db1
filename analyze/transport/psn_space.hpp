// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analyze/base/deep_ptr.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/episode/explain.hpp"
#include "analyze/episode/scratch_memory.hpp"
#include "analyze/flow/flow.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/transport/messages.hpp"
#include "analyze/transport/psn_ring.hpp"
#include "analyze/transport/psn_step.hpp"
#include "analyze/transport/retry_chains.hpp"
#include "analyze/transport/stream_facts.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// The requester, as far as its packets show it: what rxe has in qp->req and qp->comp.
struct RequesterModel {
  static constexpr std::int64_t room = std::int64_t{1} << 32U;  ///< so that nothing before it is negative
  std::int64_t next = room;                                     ///< behind the highest request (next PSN)
  std::int64_t cursor = 0;  ///< behind what it sent last: below next while it sends again
  std::int64_t first = 0;   ///< the lowest request
  std::int64_t last_ns = 0;
  std::uint64_t packets = 0;
  std::uint64_t firsts = 0;  ///< that carry a PSN of their own, sent for the first time
  std::uint64_t new_bytes = 0;
  std::uint32_t in_flight_max = 0;
  bool seen = false;
  bool new_since_pass = false;  ///< something new was sent after the last step back
  std::uint16_t first_id = 0;   ///< IPv4 ID of the request with which the capture begins
};

/// The responder: what rxe has in qp->resp.
struct ResponderModel {
  std::int64_t acked = 0;      ///< everything before is confirmed (the requester's oldest unacknowledged PSN)
  std::int64_t answered = -1;  ///< behind the highest response with a PSN of its own
  std::int64_t last_ns = capture::no_time;
  std::int64_t slow_ns = 0;  ///< how long the slower answers take: a maximum that fades
  std::int64_t fast_ns = 0;  ///< how long the fastest took; 0 = none yet
  std::uint64_t acks = 0;
  std::uint64_t fitting = 0;  ///< answers to what is outstanding
  std::uint64_t firsts = 0;   ///< responses to READs, sent for the first time
  std::uint32_t msn = 0;
  bool seen = false;
  bool acked_known = false;
  bool msn_known = false;
  bool cut = false;  ///< the capture cut the AETHs off: any may have been a NAK
  /// It counts a READ or atomic when it accepts it, while answers to others still wait (IBTA 9.7.7.1).
  bool counts_early = false;

  /// The first answer to one that was asked for once counts `now`; all before was confirmed.
  void learn_counting(std::uint32_t now) noexcept { counts_early = counts_early || now == msn; }
};

/// A request whose answers have PSNs of their own, and did not come yet. A responder gives them in order.
struct Awaited {
  std::int64_t next = 0;
  std::int64_t end = 0;
  bool open_end = false;    ///< of a READ: nobody knows how many there are
  std::uint32_t first = 0;  ///< the PSN that its request has, low bits
};

/// A sequence NAK or RNR NAK.
struct LastNak {
  std::int64_t psn = -1;
  std::int64_t time_ns = 0;
  std::uint64_t frame = 0;
  std::uint32_t syndrome = 0;
};

/// The last step back of the requester.
struct PassModel {
  std::int64_t start = -1;
  std::int64_t acked = -1;
  Cause cause = Cause::none;
  /// The READ issued again last: its PSNs.
  std::int64_t read_from = 0, read_to = 0;
  std::uint64_t read_frame = 0;
};

/// The requests of one side of a connection and the answers to them (IBTA 9.7.2). Keeps the two models and
/// books what is said of each packet; decides nothing: what is not the next of its side comes with a ruling.
/// PSNs are extended to 64 bits, so they order.
class alignas(64) PsnSpace {
 public:
  /// Requests of `side`.
  explicit PsnSpace(unsigned side) : side_(static_cast<std::uint8_t>(side)) {}
  [[nodiscard]] std::unique_ptr<PsnSpace> clone() const {
    return std::unique_ptr<PsnSpace>(new PsnSpace(*this));
  }

  // psn_requests.cpp, psn_answers.cpp
  void request(Step& s);
  void answer(Step& s);
  /// Of a request whose ICRC is wrong, which its receiver drops: why it is sent again, if it is the next of
  /// the present pass. It is never followed.
  [[nodiscard]] Cause cause_of_damaged(const PacketRecord& r) const noexcept;

  // psn_fast_path.hpp, psn_own_answers.cpp: what request() and answer() do with nearly every packet, without
  // asking for all that may be: the next request in its place, an ACK of what is outstanding, and the next
  // answer of its own. False, and nothing done, if it is not that. Only for what common_of() says.
  /// Whether next_request() looks at the connection, whose path MTU is at least 256.
  [[nodiscard]] static bool asks_connection(const PacketBrief& r) noexcept {
    return r.payload > every_pmtu || dissect::opcode_info(r.opcode).position != dissect::Position::only;
  }
  bool next_request(const PacketBrief& r, std::uint64_t number, const Connection& connection,
                    TrackerShared& shared, Verdict& verdict);
  bool next_own_request(const PacketBrief& r, std::uint64_t number, const Connection& connection,
                        TrackerShared& shared, Verdict& verdict);
  bool next_ack(const PacketBrief& r, std::uint64_t number, TrackerShared& shared, Verdict& verdict);
  bool next_own_answer(const PacketBrief& r, std::uint64_t number, const Connection& connection,
                       TrackerShared& shared, Verdict& verdict);

  // psn_episode.cpp
  /// Whether nothing is in question with this packet: no episode begins.
  [[nodiscard]] bool is_steady(const PacketRecord& r, const dissect::OpcodeInfo& info) const noexcept;
  /// Of a packet that waits for an explanation. `pmtu`: 0 if it is not known.
  [[nodiscard]] episode::Note note_of(const PacketRecord& r, std::uint64_t number,
                                      const dissect::OpcodeInfo& info, std::uint32_t pmtu) const noexcept;
  /// Puts what was captured before, in its order, into `notes`, which is empty.
  void recall(episode::List<episode::Note>& notes, std::uint32_t pmtu, std::int64_t from, std::size_t others);
  [[nodiscard]] std::int64_t remembered_from(std::int64_t lowest) const noexcept;
  [[nodiscard]] episode::Facts facts_now() const noexcept;
  void learn(const episode::SpaceFacts& facts) noexcept { facts_ = facts; }
  [[nodiscard]] std::int64_t extended(std::uint32_t psn) const noexcept { return place(psn); }
  /// Everything before is confirmed, and behind the highest request.
  [[nodiscard]] std::int64_t confirmed_to() const noexcept {
    return resp_.acked_known ? resp_.acked : req_.first;
  }
  [[nodiscard]] std::int64_t sent_to() const noexcept { return req_.next; }
  /// When the last packet came; none: capture::no_time.
  [[nodiscard]] std::int64_t last_ns() const noexcept {
    return last_packet_ns_ == 0 ? capture::no_time : last_packet_ns_;
  }
  /// The responses that were asked for and have not come: from, to.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> awaited() const;
  /// Whether all that came was in its turn, and nothing is missing.
  [[nodiscard]] bool in_turn() const noexcept {
    return req_.seen && req_.cursor == req_.next && gaps_.empty() && resp_.acked_known;
  }
  /// That response was delivered, though it is missing.
  void miss_response(std::int64_t psn, TrackerShared& shared);
  /// Where that request was lost is known, by another capture point.
  void explain_gap(std::uint32_t psn) { gaps_.fill(place(psn), 1); }
  /// Of UC, which sends nothing again: a switch trimmed it, so it is the one that is missing there.
  void note_trimmed(const PacketRecord& r, std::uint64_t number);
  void place_trimmed() noexcept;
  /// IPv4, of the last answer and the last request.
  [[nodiscard]] std::array<std::uint16_t, 2> last_ids() const noexcept {
    return {answer_facts_.last_id, request_facts_.last_id};
  }
  /// Behind the highest response.
  [[nodiscard]] std::int64_t answered_to() const noexcept { return resp_.answered; }

  // psn_reuse.cpp: whether the queue pairs' numbers are in use again.
  /// A request so far off that it is another sequence: the queue pair number is used again, or garbage.
  [[nodiscard]] bool far_off(const PacketBrief& r) const noexcept;
  /// Whether a message of UC, which repeats nothing, goes back behind others after silence.
  [[nodiscard]] bool begins_anew_unasked(const PacketBrief& r) noexcept;
  /// Whether the answer counts fewer messages than were counted before, as only another use of them would.
  [[nodiscard]] bool counts_anew(const PacketRecord& r) const noexcept;
  /// Whether nobody asked for the answer: everything is confirmed, and it is not that once more.
  [[nodiscard]] bool unasked(const PacketRecord& r) const noexcept;
  /// Whether the last request came before that time.
  [[nodiscard]] bool over_before(std::int64_t time_ns) const noexcept { return req_.last_ns < time_ns; }
  /// Whether it is among the packets remembered: a copy. Not where nothing tells it from a repeat.
  [[nodiscard]] bool remembers(const PacketRecord& r, bool request) noexcept;
  /// Whether that PSN has been acknowledged.
  [[nodiscard]] bool confirmed(std::uint32_t psn) const noexcept {
    return resp_.acked_known && place(psn) < resp_.acked;
  }
  [[nodiscard]] bool requests_seen() const noexcept { return req_.seen; }
  [[nodiscard]] bool answers_seen() const noexcept { return resp_.seen; }
  /// Takes over what another space learned from answers alone, before the two were known to be one.
  void absorb_answers(const PsnSpace& other) noexcept;
  /// It is the requests of the other side after all.
  void become(unsigned side) noexcept { side_ = static_cast<std::uint8_t>(side); }

  /// The end of the capture: what stayed open is decided.
  void finish(Connection& connection, Flow* flow, Flow* back, TrackerShared& shared);
  void release(RingBudget& budget) noexcept {
    sent_.release(budget);
    answers_.release(budget);
  }

  /// What nearly every packet touches of this object: requests, and answers a bit more.
  static constexpr std::size_t hot_bytes(bool answer) noexcept { return answer ? 448 : 384; }
  /// Asks for the memory behind it that a packet with this PSN will touch.
  void fetch(std::uint32_t psn, bool answer) const noexcept {
    const std::int64_t at = place(psn);
    sent_.fetch(at);
    if (answer) {
      answers_.fetch(at);
      messages_.queue().fetch_front();
      messages_.fetch_operation();
    } else {
      sent_.fetch(at + 2);  // for the next ones of a burst
      messages_.queue().fetch_back();
    }
  }
  void fetch_histogram() const noexcept { messages_.fetch_histogram(); }
  void fetch_latency(std::int64_t time_ns) const noexcept { messages_.fetch_latency(time_ns); }

 private:
  PsnSpace(const PsnSpace&) = default;

  /// The PSN extended, nearest to what was sent last.
  [[nodiscard]] std::int64_t place(std::uint32_t psn) const noexcept {
    constexpr unsigned unused = 64 - 24;
    return req_.next +
           (static_cast<std::int64_t>(psn - static_cast<std::uint64_t>(req_.next)) << unused >> unused);
  }
  /// What the ring should not forget yet: what is not confirmed, and more where the capture shows things
  /// twice.
  [[nodiscard]] std::int64_t needed_from(std::int64_t psn, const RingBudget& budget) const noexcept;
  /// What a requester asks for again went by here long before, answers and all: so many PSNs back.
  static constexpr int asked_again_within = 256;
  /// What the capture shows again.
  [[nodiscard]] static std::int64_t shown_again_within(const RingBudget& budget) noexcept {
    return budget.scarce() ? 512 : 4096;
  }
  /// The same of the answers. ACKs serve only to know their copies, and each is written far from the one
  /// before, the farther the more are kept: as many as fill a ring of a kibibyte. What was asked for again
  /// shows by the answers that were captured.
  [[nodiscard]] std::int64_t answers_needed_from(std::int64_t psn, const RingBudget& budget) const noexcept;
  /// Whether the ID says so: not after silence, in which the sender's counter may have gone once around.
  [[nodiscard]] bool sent_earlier(const StreamFacts& facts, const PacketBrief& r) const noexcept {
    return facts.is_behind(r) && !long_since(facts.last_ns, r.time_ns, 4);
  }
  /// Whether more time has passed than so many of the slower answers take here.
  [[nodiscard]] bool long_since(std::int64_t then_ns, std::int64_t now_ns, unsigned times) const noexcept;
  void note_order(Step& s) const;
  void note_idle(const PacketBrief& r) noexcept;
  void note_in_flight(Verdict& verdict) noexcept;

  // psn_requests.cpp
  void begin(const PacketBrief& r);
  Seen& note_sent(const Step& s, std::int64_t psn);
  void take_new(const Step& s);
  void accept(Step& s, std::int64_t psn, std::int64_t count);
  void fill_in(Step& s, std::int64_t psn, std::int64_t count);
  void repeat(Step& s, std::int64_t psn, std::int64_t count);
  void begin_pass(Step& s, std::int64_t psn, const Seen* seen);
  void follow_chain(Step& s, std::int64_t psn, const Seen* seen);
  [[nodiscard]] FirstOfChain first_of_chain(const Step& s, std::int64_t psn, const Seen* seen) noexcept;
  void point_at_original(Step& s, std::int64_t psn, const Seen* seen) noexcept;
  void learn_asking(Step& s, std::int64_t psn);
  void await(std::int64_t psn, std::int64_t count);
  void note_request_time(const PacketBrief& r, std::uint64_t number, Verdict& verdict) noexcept;
  [[nodiscard]] std::int64_t responses_needed_from(std::int64_t psn, const RingBudget& budget) noexcept;
  [[nodiscard]] bool silent_before(std::int64_t time_ns) const noexcept;

  // psn_reads.cpp: how many PSNs a READ takes, and the path MTU.
  [[nodiscard]] std::int64_t read_packets(const PacketBrief& r, const Connection& connection) const noexcept;
  void fit_in_one(Connection& connection, std::uint32_t bytes) noexcept;
  bool close_open_read(Step& s, std::int64_t psn);
  void end_read_at(Step& s, Pending& read, std::int64_t psn);
  void close_awaited(std::int64_t first, std::int64_t end) noexcept;
  void learn_from_response(Step& s, std::int64_t psn);
  void fill_inside_read(Step& s, std::int64_t psn);

  // psn_answers.cpp
  void response(Step& s, std::int64_t psn);
  void acknowledgement(Step& s, std::int64_t psn);
  void acknowledge(Step& s, std::int64_t psn);
  void nak(Step& s, std::int64_t psn, unsigned code);
  void rnr_nak(Step& s, std::int64_t psn, unsigned code);
  void refuse(Step& s, std::int64_t psn);
  void confirm(Step& s, std::int64_t psn);
  void pass_over(Step& s, std::int64_t psn);
  void miss_answers(Step& s, std::int64_t from, std::int64_t to);
  void take_answer(Step& s, std::int64_t psn);
  void beyond_sent(Step& s, std::int64_t psn);
  void progress(Step& s, std::int64_t acked);
  void point_at_request(Step& s, std::int64_t psn);
  static void link_request(TrackerShared& shared, std::uint64_t request, std::uint64_t answer);
  void note_answer_time(const PacketBrief& r, std::int64_t since, bool sure, Verdict& verdict) noexcept;

  [[nodiscard]] bool awaits() const noexcept { return awaited_head_ != awaited_.size(); }
  [[nodiscard]] Awaited& first_awaited() noexcept { return awaited_[awaited_head_]; }
  [[nodiscard]] const Awaited& first_awaited() const noexcept { return awaited_[awaited_head_]; }

  void finish_gaps(Connection& connection, Flow* flow, Flow* back, TrackerShared& shared);
  void finish_gaps_of_uc(Connection& connection, Flow* flow, TrackerShared& shared, bool all);
  std::int64_t lose_trimmed(std::int64_t from, std::int64_t to, Connection& connection, Flow* flow,
                            TrackerShared& shared);

  // psn_coverage.cpp: how much of it the capture shows.
  void note_break(const Step& s, std::int64_t missing, const Seen* last);
  void note_copy(const PacketRecord& r, const Seen* seen) noexcept;
  void note_response_coverage(const Step& s, std::int64_t psn);
  [[nodiscard]] PsnGap gap_before(const Step& s, std::int64_t from, std::int64_t to, PsnRing& ring) noexcept;
  enum class UnseenIs : std::uint8_t { delivered, open, never_asked_for };  // the last: responses to READs
  void note_unseen(const PsnGap& gap, std::int64_t below, UnseenIs is, TrackerShared& shared);
  void seen_after_all(std::int64_t psn, TrackerShared& shared);
  [[nodiscard]] Coverage coverage() const noexcept;
  [[nodiscard]] bool rnr_gave_up(const Connection& connection, const TrackerShared& shared) const noexcept;

  static constexpr std::size_t awaited_at_most = 512;
  static constexpr std::uint32_t largest_pmtu = 4096;

  // What nearly every packet touches, in a few cache lines.
  RequesterModel req_;
  ResponderModel resp_;
  std::int64_t last_packet_ns_ = 0;
  std::uint64_t last_packet_ = 0;  ///< its frame number
  std::uint64_t idle_ns_ = 0;
  PsnRing sent_;
  PsnRing answers_;
  StreamFacts request_facts_;
  StreamFacts answer_facts_;
  PsnGaps gaps_;  ///< requests
  struct TrimmedAway {
    std::int64_t psn;
    std::uint64_t frame;
    std::int64_t time_ns;
    bool counts;
  };
  static constexpr std::size_t trimmed_at_most = 4096;  // beyond, a gap is only known to be upstream
  std::vector<TrimmedAway> trimmed_;                    ///< of UC
  std::vector<Awaited> awaited_;
  RetryChains chains_;
  std::uint8_t side_;
  bool rnr_open_ = false;           ///< the requester has not reacted to the last RNR NAK
  std::uint16_t rnr_in_a_row_ = 0;  ///< saturating; not 0: the answer to an RNR NAK is outstanding
  std::uint32_t awaited_head_ = 0;
  Messages messages_;

  // What happens now and then.
  PsnGaps response_gaps_;
  std::uint64_t idle_from_frame_ = 0;
  std::uint64_t unfitting_ = 0;
  std::uint64_t requests_left_out_ = 0;
  std::uint64_t acks_left_out_ = 0;
  std::uint64_t behind_answers_ = 0;     ///< requests that came behind their answers
  std::int64_t first_late_ = INT64_MAX;  ///< the lowest request that came late, below the first
  std::int64_t reaction_ns_ = 0;         ///< how long the sender takes to react to a NAK: an average
  std::int64_t ask_again_ns_ = 0;  ///< how soon a missing response is asked for again, at least; 0: unknown
  std::uint16_t pmtu_at_least_ = every_pmtu;  ///< one packet was that large
  std::uint16_t pmtu_guess_ = 0;   ///< what the last READ that ended where the next request began suggests
  std::uint16_t pmtu_taught_ = 0;  ///< what two of them made the connection's
  bool went_back_later_ = false;
  struct {  ///< parts of Coverage; each of many connections has one
    std::uint64_t span = 0;
    std::uint32_t refilled = 0;
    std::uint32_t repeats = 0;
    std::uint32_t breaks = 0;
    std::uint32_t breaks_at_start = 0;
    std::uint32_t copies = 0;
    std::uint32_t copies_elsewhere = 0;
  } coverage_;
  PsnGap last_gap_;
  PsnGaps unseen_;
  struct {
    std::uint64_t frame = 0;
    std::int64_t time_ns = 0;
  } before_;                        ///< the packet before the one that is looked at
  std::int64_t first_answer_ = -1;  ///< with a PSN of its own
  PassModel pass_;
  LastNak nak_;
  LastNak rnr_;
  episode::SpaceFacts facts_;
};
static_assert(sizeof(PsnSpace) <= 1024, "two for each connection: order members so that nothing is padding");

}  // namespace roce::analyze
