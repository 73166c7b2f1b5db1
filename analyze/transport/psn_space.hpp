// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/base/deep_ptr.hpp"
#include "analyze/base/lazy.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/episode/explain.hpp"
#include "analyze/flow/flow.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/transport/copy_queue.hpp"
#include "analyze/transport/open_naks.hpp"
#include "analyze/transport/pending_messages.hpp"
#include "analyze/transport/psn_parts.hpp"
#include "analyze/transport/psn_ring.hpp"
#include "analyze/transport/psn_step.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// The requests of one side of a connection and the answers to them (IBTA 9.7.2): which are new, which
/// repeated and why, what is missing and where it went. PSNs are extended to 64 bits, so they order.
class alignas(64) PsnSpace {
 public:
  /// Requests of `side`.
  explicit PsnSpace(unsigned side) : side_(static_cast<std::uint8_t>(side)) {}
  [[nodiscard]] std::unique_ptr<PsnSpace> clone() const;

  void request(Step& s);
  /// What request() and answer() do with nearly every packet, without asking for all that may be wrong:
  /// the next SEND or WRITE in its place, and an ACK of what is outstanding. False, and nothing done, if
  /// it is not that. Only for what common_of() says.
  /// Whether next_request() looks at the connection, whose path MTU is at least 256.
  [[nodiscard]] static bool asks_connection(const PacketBrief& r) noexcept {
    return r.payload > every_pmtu || dissect::opcode_info(r.opcode).position != dissect::Position::only;
  }
  bool next_request(const PacketBrief& r, std::uint64_t number, const Connection& connection,
                    TrackerShared& shared, Verdict& verdict);
  bool next_ack(const PacketBrief& r, std::uint64_t number, TrackerShared& shared, Verdict& verdict);
  /// Whether nothing is in question with this packet: no episode begins.
  [[nodiscard]] bool is_steady(const PacketRecord& r, const dissect::OpcodeInfo& info) noexcept;
  /// Of a packet that waits for an explanation. `pmtu`: 0 if it is not known.
  [[nodiscard]] episode::Note note_of(const PacketRecord& r, std::uint64_t number,
                                      const dissect::OpcodeInfo& info, std::uint32_t pmtu) const noexcept;
  /// Puts what was captured before, in its order, into `notes`, which is empty.
  void recall(std::vector<episode::Note>& notes, std::uint32_t pmtu);
  [[nodiscard]] episode::Facts facts_now() const noexcept;
  void learn(const episode::Facts& facts) noexcept { facts_ = facts; }
  /// Books what s.ruling says, after request() or answer().
  void book(Step& s);
  [[nodiscard]] std::int64_t extended(std::uint32_t psn) const noexcept { return place(psn); }
  /// Everything before is confirmed, and behind the highest request.
  [[nodiscard]] std::int64_t confirmed_to() const noexcept { return acked_known_ ? acked_ : first_; }
  [[nodiscard]] std::int64_t sent_to() const noexcept { return next_; }
  /// The responses that were asked for and have not come: from, to.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> awaited() const;
  /// Behind the highest response.
  [[nodiscard]] std::int64_t answered_to() const noexcept { return response_next_; }
  /// A request whose ICRC is wrong: its receiver drops it. Only told, never followed.
  void damaged_request(Step& s);
  void answer(Step& s);
  /// A request so far off that it is another sequence: the queue pair number is used again, or garbage.
  [[nodiscard]] bool far_off(const PacketBrief& r) const noexcept;
  /// Whether a request goes back behind what was confirmed, or leaves PSNs out, after silence longer than
  /// answers take: sent again, behind some that were missed, or of another use of the queue pairs' numbers.
  [[nodiscard]] bool may_begin_anew(const PacketBrief& r) noexcept;
  /// Whether a message of UC, which repeats nothing, goes back behind others after silence.
  [[nodiscard]] bool begins_anew_unasked(const PacketBrief& r) noexcept;
  /// Whether the answer counts fewer messages than were counted before, as only another use of them would.
  [[nodiscard]] bool counts_anew(const PacketRecord& r) const noexcept;
  /// Whether that is the first PSN of all, or one before it.
  [[nodiscard]] bool begins_at(std::uint32_t psn) const noexcept { return place(psn) <= first_; }
  /// The messages that the answers have counted (MSN).
  [[nodiscard]] std::uint32_t messages_counted() const noexcept { return last_msn_; }
  /// Whether another request had that PSN: what is sent again has the opcode that it had.
  [[nodiscard]] bool differs(const PacketRecord& r) noexcept;
  /// Whether nobody asked for the answer: everything is confirmed, and it is not that once more.
  [[nodiscard]] bool unasked(const PacketRecord& r) const noexcept;
  /// Whether the last request came before that time.
  [[nodiscard]] bool over_before(std::int64_t time_ns) const noexcept { return last_request_ns_ < time_ns; }
  /// Whether the answer's PSN lies among what was sent (a little before included).
  [[nodiscard]] bool fits(std::uint32_t psn) const noexcept;
  /// The end of the capture: what stayed open is decided.
  void finish(Connection& connection, Flow* flow, Flow* back, TrackerShared& shared);
  void release(RingBudget& budget) noexcept;

  /// What nearly every packet touches of this object: requests, and answers a bit more.
  static constexpr std::size_t hot_bytes(bool answer) noexcept { return answer ? 320 : 256; }
  /// Asks for the memory behind it that a packet with this PSN will touch.
  void fetch(std::uint32_t psn, bool answer) const noexcept {
    const std::int64_t at = place(psn);
    sent_.fetch(at);
    if (answer) {
      answers_.fetch(at);
      pending_.fetch_front();
      if (operation_ != nullptr) prefetch(operation_);
    } else {
      sent_.fetch(at + 2);  // for the next ones of a burst
      pending_.fetch_back();
    }
  }
  void fetch_histogram() const noexcept {
    if (operation_ != nullptr) operation_->latency_ns.fetch();
  }
  /// The counts of the latencies that an answer at this time would show.
  void fetch_latency(std::int64_t time_ns) const noexcept {
    if (operation_ == nullptr || pending_.empty()) return;
    const std::size_t last = std::min(pending_.size(), PendingQueue::completed_at_once) - 1;
    for (const std::size_t i : {std::size_t{0}, last}) {
      // Unsigned: only asked for, whatever comes out; a message may have had no time.
      operation_->latency_ns.fetch(static_cast<std::uint64_t>(time_ns) -
                                   static_cast<std::uint64_t>(pending_[i].start_ns));
    }
  }

  /// Whether it is among the packets remembered: a copy. Not where nothing tells it from a repeat.
  [[nodiscard]] bool remembers(const PacketRecord& r, bool request) noexcept {
    const Seen* seen = (request ? sent_ : answers_).find(place(r.psn));
    return seen != nullptr && seen->opcode == r.opcode &&
           (!r.has(PacketRecord::has_ip_id) || seen->ip_id == r.ip_id);
  }
  /// Whether that PSN has been acknowledged.
  [[nodiscard]] bool confirmed(std::uint32_t psn) const noexcept {
    return acked_known_ && place(psn) < acked_;
  }
  /// What this NAK, or request for an answer, named came `late` or was lost, as another capture point shows:
  /// the loss is no longer this space's to take back. Returns the other NAKs whose losses are to be taken
  /// back with it.
  [[nodiscard]] std::vector<NamedByNaks::Claim> settled_elsewhere(std::uint64_t nak, bool late);

  [[nodiscard]] bool requests_seen() const noexcept { return requests_seen_; }
  [[nodiscard]] bool answers_seen() const noexcept { return answers_seen_; }
  /// Takes over what another space learned from answers alone, before the two were known to be one.
  void absorb_answers(const PsnSpace& other) noexcept;
  /// It is the requests of the other side after all.
  void become(unsigned side) noexcept { side_ = static_cast<std::uint8_t>(side); }

 private:
  PsnSpace(const PsnSpace&) = default;  // operation_ would still be the other's: see clone()

  /// The PSN extended, nearest to what was sent last.
  [[nodiscard]] std::int64_t place(std::uint32_t psn) const noexcept {
    constexpr unsigned unused = 64 - 24;
    return next_ + (static_cast<std::int64_t>(psn - static_cast<std::uint64_t>(next_)) << unused >> unused);
  }
  [[nodiscard]] std::int64_t read_packets(Step& s) const noexcept;

  // requests.cpp
  [[nodiscard]] OperationStats& stats_of(OperationKind kind) {
    return operation_ != nullptr && operation_->kind == kind ? *operation_ : other_stats(kind);
  }
  [[nodiscard]] OperationStats& other_stats(OperationKind kind);
  void count_goodput(Step& s) noexcept;
  void begin(const PacketBrief& r);
  /// What the ring should not forget yet: what is not confirmed, and more where the capture shows things
  /// twice.
  [[nodiscard]] std::int64_t needed_from(std::int64_t psn, const RingBudget& budget) const noexcept;
  /// What a requester asks for again went by here long before, answers and all: so many PSNs back.
  static constexpr int asked_again_within = 256;
  /// The same of the answers. ACKs serve only to know their copies, and each is written far from the one
  /// before, the farther the more are kept: as many as fill a ring of a kibibyte. What was asked for again
  /// shows by the answers that were captured.
  [[nodiscard]] std::int64_t answers_needed_from(std::int64_t psn, const RingBudget& budget) const noexcept;
  [[nodiscard]] bool gave_up(const Flow* flow, const TrackerShared& shared) const noexcept;
  void take_back_lone_repeat(Step& s);
  void interrupt_run(const Step& s);
  [[nodiscard]] bool goes_on_with_interrupted(std::int64_t psn) const noexcept;
  void resume_interrupted();
  void accept(Step& s, std::int64_t psn, std::int64_t count, bool in_order);
  void check_order(Step& s);
  void break_message(Step& s);
  void track_message(Step& s, std::int64_t psn, std::int64_t count, bool in_order);
  void close_issued(std::int64_t first, std::int64_t end) noexcept;
  void fit_in_one(Connection& connection, std::uint32_t bytes) noexcept;
  bool close_open_read(Step& s, std::int64_t psn);
  void end_read_at(Step& s, Pending& read, std::int64_t psn);
  [[nodiscard]] bool inside_read(std::int64_t psn) noexcept;
  void repeat(Step& s, std::int64_t psn, std::int64_t count);
  /// A request at or before what was sent last, on its way through repeat().
  struct Again {
    std::int64_t psn = 0;
    std::int64_t count = 0;
    Seen* seen = nullptr;     ///< the last transmission of it
    Hole* hole = nullptr;     ///< where one was missing
    bool ids_rise = false;    ///< IPv4 IDs tell the order of sending
    bool earlier = false;     ///< ... and it was sent before what came last
    bool continuing = false;  ///< the next of the present run
    bool overtaken = false;   ///< by others of its run
  };
  [[nodiscard]] std::int64_t only_answered_from();
  [[nodiscard]] bool comes_behind_its_answer(Step& s, std::int64_t psn, std::int64_t count);
  void take_back_missed(Step& s, std::int64_t psn, std::int64_t count);
  void answered_already(const Step& s);
  [[nodiscard]] Again look_back(Step& s, std::int64_t psn, std::int64_t count);
  [[nodiscard]] bool copies_are_rare() const noexcept;
  void return_to_interrupted(Step& s, std::int64_t psn);
  [[nodiscard]] bool is_copy(Step& s, const Again& again);
  [[nodiscard]] bool is_late(Step& s, const Again& again);
  [[nodiscard]] bool run_goes_on(const Step& s, const Again& again) noexcept;
  void skip_in_run(Step& s, const Again& again, std::uint16_t id_before, std::uint16_t step_before);
  void advance_run(const Step& s, const Again& again);
  void join_nak(const Step& s, const Again& again);
  [[nodiscard]] Cause cause_of(const Step& s, const Again& again) const noexcept;
  [[nodiscard]] bool say_repeated(Step& s, const Again& again, Cause cause);
  void settle_holes(Step& s, const Again& again);
  void keep_refilled(const Step& s, const Hole& hole, std::int64_t psn);
  void settle_repeated(Step& s, const Again& again);
  void settle_overtaken(Step& s, const Again& again);
  [[nodiscard]] Refilled* refilled_in_run(std::int64_t psn) noexcept;
  void take_back_late(Step& s, Seen& seen, Cause cause);
  void take_back_late_head(Step& s, std::int64_t psn);
  [[nodiscard]] bool late_in_run(const Step& s, const Again& again) noexcept;
  void skip_overtakers() noexcept;
  [[nodiscard]] bool surely_lost(const Hole& hole, std::int64_t psn) noexcept;
  /// Whether order says little of what was lost.
  [[nodiscard]] bool reorders() const noexcept {
    return std::uint64_t{request_facts_.late} * 64U >= request_facts_.single;
  }
  void remember_repeat(Step& s, const Again& again, Cause cause);
  [[nodiscard]] SpuriousReason needless_by(Cause cause) const noexcept;
  void count_waste(Step& s, const Again& again, Cause cause, bool spurious);
  void end_run(const Step& s, const Again& again);
  void late(Step& s, std::int64_t psn, std::int64_t count, const Hole* hole);
  [[nodiscard]] bool nak_came_twice(std::int64_t psn, std::int64_t time_ns) const noexcept;
  [[nodiscard]] bool hears_answers(const Step& s) const noexcept;
  void start_run(Step& s, std::int64_t psn, const Seen* seen);
  [[nodiscard]] bool copy_was_head(std::int64_t psn) const noexcept {
    return last_copy_ >= 0 && psn == last_copy_ + 1 && next_ == last_copy_next_;
  }
  void take_back_copy(Step& s);
  [[nodiscard]] bool begins_message_of_nak(std::int64_t psn, std::int64_t time_ns) noexcept;
  [[nodiscard]] bool leaves_out_oldest(std::int64_t psn, const PacketBrief& r) const noexcept;
  [[nodiscard]] bool began_before(std::int64_t psn, const PacketBrief& r) const noexcept;
  [[nodiscard]] bool read_stood_still(const Step& s, std::int64_t psn) const noexcept;
  [[nodiscard]] bool implied_nak(std::int64_t time_ns, std::int64_t psn) const noexcept;
  [[nodiscard]] bool nak_unheard() const noexcept;
  void follow_chain(Step& s, std::int64_t psn, const Seen* seen);
  void begin_chain(const Step& s, std::int64_t psn, const Seen* seen);
  void keep_if_worst(RequesterTrouble& trouble) const;
  void asked_again_after(std::int64_t took_ns) noexcept {
    if (ask_again_ns_ == 0 || took_ns < ask_again_ns_) ask_again_ns_ = took_ns;
  }
  bool answer_asked_again(Step& s, std::int64_t psn, std::int64_t count);
  void issue(Step& s, std::int64_t psn, std::int64_t count, Cause cause);
  void note_order(Step& s);
  [[nodiscard]] bool silent_before(std::int64_t time_ns) const noexcept;
  /// After silence the timer sends the oldest request that is not confirmed, or one of before.
  [[nodiscard]] bool timer_sends(std::int64_t psn, std::int64_t time_ns) const noexcept {
    return silent_before(time_ns) && (!acked_known_ || psn <= acked_);
  }
  void note_idle(const PacketBrief& r) noexcept;
  void note_in_flight(Verdict& verdict) noexcept;
  [[nodiscard]] static bool plain_message(const PacketBrief& r, OperationKind kind,
                                          const Connection& connection) noexcept;
  [[nodiscard]] bool plain_part(const PacketBrief& r, const dissect::OpcodeInfo& info,
                                const Connection& connection) noexcept;
  void add_message(const PacketBrief& r, OperationKind kind, std::int64_t psn, std::uint64_t number);
  void add_part(const PacketBrief& r, const dissect::OpcodeInfo& info, OperationKind kind, std::int64_t psn,
                std::uint64_t number);
  Pending& start_message(const PacketBrief& r, OperationKind kind, std::int64_t psn, std::uint64_t number);
  void finish_message(const Pending& op);
  void mend_message(Step& s, std::int64_t psn, std::int64_t count, bool again);
  bool count_part(std::size_t i);
  void keep_answered(const PacketBrief& r, bool counts, const Pending& op, bool measured);
  void settle_answered(const AnsweredOperation& op);
  [[nodiscard]] Pending* asked_again(std::int64_t psn);
  void settle_alike();

  // answers.cpp
  void acknowledge(Step& s, std::int64_t psn);
  void nak(Step& s, std::int64_t psn, unsigned code);
  void rnr_nak(Step& s, std::int64_t psn, unsigned code);
  void refuse(Step& s, std::int64_t psn);
  void miss_inside_read(Step& s, std::int64_t psn);
  void read_response(Step& s, std::int64_t psn);
  [[nodiscard]] bool ends_repair(const Pending& op, std::int64_t psn) const noexcept;
  void learn_from_response(Step& s, std::int64_t psn);
  void fill_inside_read(Step& s, std::int64_t psn);
  [[nodiscard]] std::size_t issued_for(std::int64_t psn, const dissect::OpcodeInfo& info) const noexcept;
  [[nodiscard]] bool unasked_response(const Step& s, std::int64_t psn) const noexcept;
  void skip_answered(Step& s, std::int64_t psn);
  void forget_refused(std::int64_t psn);
  [[nodiscard]] bool joins_run(const OpenNak& nak, std::int64_t psn, const PacketBrief& r) noexcept;
  [[nodiscard]] bool reacts_by(const OpenNak& nak, std::int64_t time_ns) const noexcept;
  [[nodiscard]] bool sooner_than_reactions(const OpenNak& nak, std::int64_t time_ns) const noexcept;
  [[nodiscard]] bool rnr_waits(std::int64_t time_ns) const noexcept;
  [[nodiscard]] bool stale(const OpenNak& nak, std::int64_t psn, const PacketBrief& r) const noexcept;
  [[nodiscard]] bool reacts_slowly(const OpenNak& nak, std::int64_t psn, const PacketBrief& r) const noexcept;
  [[nodiscard]] bool rewinds(const Step& s, std::int64_t next, std::int64_t missing) noexcept;
  std::int64_t skip_to(Step& s, std::size_t index, std::int64_t psn);
  void mark_repeated_answer(Step& s, Cause cause, const Seen* seen);
  [[nodiscard]] bool executed_now(const Step& s, std::int64_t psn, const Issued& issued) noexcept;
  void own_answer(Step& s, std::int64_t psn, const Seen* before);
  void take_back_guesses(Step& s, std::int64_t psn);
  void take_back_guess(Step& s, Seen& seen);
  void give_up(const Issued& issued);
  /// Whether the responder is known to keep what comes before its turn.
  [[nodiscard]] bool keeps_all() const noexcept { return keeping_ > 0; }
  void judge_keeping(Step& s);
  void went_on_repeating();
  void drop_asked_for(std::int64_t executed);
  [[nodiscard]] std::size_t bring_forward(std::int64_t psn, const dissect::OpcodeInfo& info);
  void give_up_answers();
  void expect_both(std::int64_t from);
  void mark_late(Step& s);
  void unlose_filled(Step& s, Seen& seen, unsigned side);
  /// Whether the ID says so: not after silence, in which the sender's counter may have gone once around.
  [[nodiscard]] bool sent_earlier(const StreamFacts& facts, const PacketBrief& r) const noexcept {
    return facts.is_behind(r) && !long_since(facts.last_ns, r.time_ns, 4);
  }
  /// Whether it is a READ request among others of which no one knows how many PSNs they take: what is missing
  /// between them may be their own.
  [[nodiscard]] bool unmeasured(const Step& s) const noexcept {
    return reads_cut_ && s.info.operation == dissect::Operation::read_request;
  }
  void progress(Step& s, std::int64_t acked);
  void complete(const PacketBrief& r, bool counts, Pending& op, bool measured);
  void complete_acknowledged(const PacketBrief& r, bool counts);
  void complete_rest(const PacketBrief& r, bool counts);
  void take_confirmed() noexcept;
  void missed_below(Step& s, std::int64_t psn);
  void unseen(Step& s, std::int64_t psn);
  void settle_loss(Step& s, std::int64_t psn);
  void claim_loss(Step& s, std::int64_t psn, const Seen& named);
  void take_back_loss(Step& s, std::uint64_t frame);
  void point_at_request(Step& s, std::int64_t psn);
  static void link_request(TrackerShared& shared, std::uint64_t request, std::uint64_t answer);
  [[nodiscard]] Pending* pending(std::int64_t psn) noexcept;
  void pop_done() noexcept {
    while (!pending_.empty() && pending_.front().done) pending_.pop_front();
  }

  enum class Same : std::uint8_t { same, other, unknown };
  [[nodiscard]] Same same_transmission(const StreamFacts& facts, const Seen& seen,
                                       const PacketBrief& r) const noexcept;
  [[nodiscard]] bool expected_again(const Seen& seen, std::int64_t psn) const noexcept;
  [[nodiscard]] bool too_soon(const Seen& seen, const PacketBrief& r, std::int64_t psn) const noexcept;
  [[nodiscard]] bool same_record(const Seen& seen, const PacketBrief& r) const noexcept;
  void book_order(Step& s, const episode::Ruling& ruling);
  void duplicate(Step& s, StreamFacts& facts, const Seen* seen, bool in_turn = false);
  [[nodiscard]] static std::int64_t lag_of(const Seen* seen, const PacketBrief& r) noexcept;
  bool next_copy(Step& s, std::int64_t psn, std::int64_t count);
  [[nodiscard]] bool surely_copies(std::int64_t psn, std::int64_t lag_ns) const noexcept;
  void doubt(const Step& s, std::int64_t psn, std::int64_t lag_ns);
  void judge_doubted(Step& s, std::int64_t psn);
  void take_back_doubted(Step& s);
  void forget_doubted(RingBudget& budget) noexcept;
  void keep_replaced(const Seen& seen);
  [[nodiscard]] const Seen* find_replaced(std::int64_t psn, const PacketBrief& r) const noexcept;
  static void see(Seen& seen, const PacketBrief& r, std::uint64_t number, std::int64_t psn) noexcept {
    seen.psn = psn;
    seen.time_ns = r.time_ns;
    seen.frame = number;
    seen.path = r.path;
    seen.ip_id = r.ip_id;
    seen.opcode = r.opcode;
    seen.cause = seen.guessed = seen.filled = seen.late = seen.of_repeat = 0;
    seen.ask = r.has(PacketRecord::ack_requested) ? 1 : 0;
  }
  [[nodiscard]] static Seen seen_of(const Step& s, std::int64_t psn) noexcept {
    Seen seen;
    see(seen, s.r, s.number, psn);
    return seen;
  }
  void note_answer_time(const PacketBrief& r, std::int64_t since, bool sure, Verdict& verdict) noexcept;
  [[nodiscard]] bool long_since(std::int64_t then_ns, std::int64_t now_ns, unsigned times) const noexcept;

  static constexpr std::size_t issued_at_most = 512;
  static constexpr std::uint32_t every_pmtu = 256;  ///< no path MTU is less (IBTA 9.4)
  static constexpr std::uint32_t largest_pmtu = 4096;

  // What nearly every packet touches, in a few cache lines.
  std::uint8_t side_;
  bool requests_seen_ = false;
  bool answers_seen_ = false;
  bool acked_known_ = false;
  bool in_run_ = false;
  bool new_since_run_ = false;  ///< something new was sent after the last step back
  bool message_known_ = false;
  bool inside_message_ = false;
  dissect::Operation message_operation_ = dissect::Operation::unknown;
  bool msn_known_ = false;
  bool loss_pending_ = false;
  bool rnr_open_ = false;
  bool chain_open_ = false;
  OperationKind alike_kind_ = OperationKind::send;
  std::uint16_t rnr_in_a_row_ = 0;  ///< saturating; not 0: the answer to an RNR NAK is outstanding
  std::uint32_t last_msn_ = 0;
  std::uint32_t in_flight_max_ = 0;
  std::int64_t next_ = 0;   ///< behind the highest request
  std::int64_t acked_ = 0;  ///< everything before is acknowledged
  std::int64_t taken_ = 0;  ///< what a receiver that takes in order, standing here, would expect next
  std::int64_t last_request_ns_ = 0;
  std::int64_t last_packet_ns_ = 0;

  PsnRing sent_;
  PsnRing answers_;
  PendingQueue pending_;
  Holes holes_;

  // Of Requester and Pairing, while it is followed:
  OperationStats* operation_ = nullptr;  ///< in operations_, the one counted last
  std::uint64_t requests_ = 0;
  std::uint64_t acks_ = 0;
  std::uint64_t new_bytes_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t idle_ns_ = 0;
  std::uint64_t last_packet_ = 0;  ///< its frame number
  // Messages of one packet, alike, that are not in operations_ yet:
  std::uint32_t alike_ = 0;
  std::uint32_t alike_bytes_ = 0;

  StreamFacts request_facts_;
  StreamFacts answer_facts_;
  std::int64_t last_answer_ns_ = capture::no_time;
  std::int64_t slow_answer_ns_ = 0;  ///< how long the slower answers take: a maximum that fades
  std::int64_t fast_answer_ns_ = 0;  ///< how long the fastest took; 0 = none yet
  std::size_t issued_head_ = 0;
  std::vector<Issued> issued_;

  // What happens now and then.
  std::vector<OperationStats> operations_;
  std::uint64_t idle_from_frame_ = 0;
  std::uint64_t unfitting_ = 0;
  std::uint64_t requests_left_out_ = 0;
  std::uint64_t behind_answers_ = 0;  ///< requests that came behind their answers
  std::uint64_t acks_left_out_ = 0;
  bool run_after_silence_ = false;
  bool lone_ = false;              ///< the run has one packet so far
  bool goes_back_ = false;         ///< repeated more than the one packet that a NAK asked for
  bool answers_given_up_ = false;  ///< the run began when nobody had answered for long
  bool keeps_early_ = false;       ///< the run fills the hole that a responder waits for that keeps the rest
  bool guesses_open_ = false;      ///< answers were taken for answers to repeats
  bool run_for_answer_ = false;    ///< the run asks for an answer that is missing
  bool run_implied_ = false;       ///< and a later answer made the sender ask
  bool run_unheard_nak_ = false;   ///< the timer ran out although a NAK had come by here
  bool answers_cut_ = false;       ///< the capture cut the AETHs off
  bool reads_cut_ = false;         ///< and here RETHs of READs: how many responses one has is not known
  bool again_claimed_ = false;     ///< the READ issued again last proved a loss
  bool again_counted_ = false;     ///< so it counts
  bool broken_ = false;            ///< UC: a packet of the message under way is missing, and it is counted
  Cause run_cause_ = Cause::none;
  Cause last_run_cause_ = Cause::none;
  std::uint16_t run_id_ = 0;  ///< IPv4 ID of the run's first packet
  std::uint16_t id_before_run_ = 0;
  std::uint16_t pmtu_at_least_ = every_pmtu;  ///< one packet was that large
  std::uint16_t pmtu_guess_ = 0;   ///< what the last READ that ended where the next request began suggests
  std::uint16_t pmtu_taught_ = 0;  ///< what two of them made the connection's
  std::int8_t keeping_ = 0;        ///< the responder keeps what comes early: for (> 0) and against
  std::uint8_t reactions_ = 0;     ///< that reaction_ns_ is made of: none, one, more
  std::int64_t rnr_psn_ = -1;
  std::int64_t first_ = 0;
  std::int64_t run_next_ = 0;
  std::int64_t repeated_to_ = 0;  ///< behind the highest request sent again
  std::int64_t run_start_ = -1;
  std::int64_t run_nak_ = -1;
  std::int64_t run_nak_before_ = -1;  ///< of the run before
  std::int64_t run_acked_ = -1;
  std::int64_t last_copy_ = -1;  ///< PSN of the last packet taken for a copy, for no ID tells, and its frame
  std::uint64_t last_copy_frame_ = 0;
  std::int64_t last_copy_next_ = 0;      ///< next_ then
  std::uint64_t last_repeat_ = 0;        ///< frame of the last request sent again
  std::int64_t first_late_ = INT64_MAX;  ///< the lowest request that came late, below first_
  std::int64_t nak_behind_ = -1;         ///< behind what had been sent when the last NAK came; -1: judged
  std::int64_t waited_for_ = -1;         ///< what the responder lacks, when it said so last
  std::uint64_t run_frame_ = 0;
  /// The last repeats that were counted as lost, where IPv4 IDs would show them late.
  DeepPtr<std::array<Refilled, 32>> refilled_;
  std::uint8_t refilled_next_ = 0;

  /// The last answers of which another one with their PSN took the place: for copies of whole runs of them.
  DeepPtr<std::array<Seen, 8>> replaced_answers_;
  std::uint8_t replaced_next_ = 0;
  Lazy<ReplacedResponses> replaced_responses_;
  Lazy<ReissuedReads> reissued_;
  Lazy<std::vector<AnsweredOperation>> answered_operations_;  ///< the last ones
  std::vector<Issued> given_up_;  ///< whose answers did not come for long, until they are known to be lost
  Holes response_holes_;
  std::int64_t response_next_ = -1;  ///< READ response expected next
  std::int64_t again_from_ = 0;      ///< the last READ issued again: its PSNs
  std::int64_t again_to_ = 0;
  std::uint64_t again_frame_ = 0;
  std::int64_t executed_from_ = 0;  ///< answers that were given for the first time, to what was sent again
  std::int64_t executed_to_ = 0;
  std::int64_t ask_again_ns_ = 0;  ///< how soon a missing response is asked for again, at least; 0: unknown
  std::int64_t reaction_ns_ = 0;   ///< how long the sender takes to react to a NAK: an average
  std::int64_t loss_psn_ = 0;      ///< of a loss after the capture that may yet turn out to be a delay
  std::uint64_t loss_frame_ = 0;
  std::uint64_t loss_of_ = 0;       ///< the transmission that was lost
  std::uint64_t loss_earlier_ = 0;  ///< the NAK before, for the PSN before, where it was not settled; 0: none
  Lazy<NamedByNaks> named_;
  std::int64_t rnr_time_ns_ = 0;
  std::uint64_t rnr_wait_ns_ = 0;
  std::uint64_t rnr_frame_ = 0;
  std::uint32_t rnr_syndrome_ = 0;

  CopyQueue copies_;  ///< of requests
  Lazy<DoubtedCopies> doubted_;
  std::int64_t first_answer_ = -1;  ///< the first of all
  std::uint32_t first_aeth_ = 0;
  std::uint32_t first_answer_point_ = 0;
  bool copies_known_ = false;  ///< no answer has to say that they are copies
  episode::Facts facts_;
  OpenNaks naks_;
  OpenNak last_nak_;
  DeepPtr<Interrupted> interrupted_;
  Lazy<RetryChain> chain_;
  std::int64_t chain_psn_ = 0;
};

}  // namespace roce::analyze
