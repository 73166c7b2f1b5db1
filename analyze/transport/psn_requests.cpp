// SPDX-License-Identifier: Apache-2.0
// The requester's packets (IBTA 9.7.2, 9.7.3): each does what its ruling says.
#include <algorithm>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;
using episode::Ruling;

namespace {

/// Why what had been confirmed was sent again.
SpuriousReason needless_by(const Ruling& ruling) noexcept {
  switch (ruling.cause) {
    case Cause::nak:
      return SpuriousReason::nak;
    case Cause::rnr:
      return SpuriousReason::rnr;
    case Cause::read_retry:
      return SpuriousReason::read_answer;
    default:
      return ruling.implied            ? SpuriousReason::atomic_answer
             : ruling.unheard_nak != 0 ? SpuriousReason::unheard_nak
                                       : SpuriousReason::timer;
  }
}

}  // namespace

void PsnSpace::begin(const PacketBrief& r) {
  req_.next = place(r.psn);
  // Answers to earlier requests may have told what is confirmed.
  resp_.acked = resp_.acked_known ? std::min(resp_.acked, req_.next) : req_.next;
  req_.first = req_.cursor = req_.next;
  req_.first_id = r.ip_id;
  if (resp_.answered < 0) resp_.answered = req_.first;
  req_.seen = true;
  place_trimmed();
}

Cause PsnSpace::cause_of_damaged(const PacketRecord& r) const noexcept {
  // Only what fits exactly where it should come is believed.
  const bool fits = req_.seen && req_.cursor < req_.next && place(r.psn) == req_.cursor;
  return fits ? pass_.cause : Cause::none;
}

void PsnSpace::note_trimmed(const PacketRecord& r, std::uint64_t number) {
  if (trimmed_.size() >= trimmed_at_most) return;
  trimmed_.push_back({req_.seen ? place(r.psn) : r.psn, number, r.time_ns, r.has(PacketRecord::selected)});
}

/// What was trimmed before the first whole packet came.
void PsnSpace::place_trimmed() noexcept {
  for (TrimmedAway& each : trimmed_) each.psn = place(static_cast<std::uint32_t>(each.psn));
}

void PsnSpace::request(Step& s) {
  const PacketRecord& r = s.r;
  const Ruling& ruling = s.ruling;
  if (r.has(PacketRecord::left_out)) ++requests_left_out_;
  note_order(s);
  before_ = {last_packet_, last_packet_ns_};
  if (!req_.seen) begin(r);
  const std::int64_t psn = place(r.psn);
  if (ruling.what == Ruling::What::copy) {
    request_facts_.count_doubled();
    note_copy(r, sent_.find(psn));
    if (!ruling.by_network) return;  // nobody sent it
  }
  if (s.counts) ++req_.packets;
  learn_pmtu(s);
  const bool right_behind = psn == req_.next;
  // Where a READ ends with this request, nobody knows whether all between them is the READ's.
  if (psn >= req_.next && close_open_read(s, psn)) messages_.believe(right_behind);
  const bool read = s.info.operation == Operation::read_request;
  const std::int64_t count = read ? read_packets(r, s.connection) : 1;
  const bool sent_first = ruling.what == Ruling::What::first || ruling.what == Ruling::What::late;
  if (sent_first && carries_psn(s.info)) ++req_.firsts;
  switch (ruling.what) {
    case Ruling::What::first:
      if (psn >= req_.next) {
        accept(s, psn, count);
      } else {
        ++behind_answers_;
        fill_in(s, psn, count);
      }
      break;
    case Ruling::What::late:
      fill_in(s, psn, count);
      break;
    case Ruling::What::copy:
      break;
    case Ruling::What::repeat:
      repeat(s, psn, std::max<std::int64_t>(count, 1));
      break;
  }
  if (s.counts && r.time_ns != capture::no_time) note_idle(r);
  req_.last_ns = last_packet_ns_ = r.time_ns;
  last_packet_ = s.number;
  note_in_flight(s.verdict);
  if (!s.counts || !s.verdict.has(Verdict::in_flight_known)) return;
  req_.in_flight_max = std::max(req_.in_flight_max, s.verdict.in_flight);
  if (Series::Bucket* bucket = s.bucket())
    bucket->in_flight_max = std::max(bucket->in_flight_max, s.verdict.in_flight);
}

Seen& PsnSpace::note_sent(const Step& s, std::int64_t psn) {
  Seen& seen = sent_.slot_for(psn, needed_from(psn, s.shared.budget), s.shared.budget);
  see(seen, s.r, s.number, psn);
  seen.trimmed = s.r.trimmed() ? 1 : 0;
  return seen;
}

/// What the packet carries had not been captured before.
void PsnSpace::take_new(const Step& s) {
  if (!s.counts || s.r.trimmed()) return;
  req_.new_bytes += s.r.payload;
  if (Series::Bucket* bucket = s.bucket()) bucket->goodput_bytes += s.r.payload;
}

/// A request behind all that was sent before.
void PsnSpace::accept(Step& s, std::int64_t psn, std::int64_t count) {
  const bool in_order = psn == req_.next;
  req_.new_since_pass = true;
  request_facts_.learn(s.r);
  if (in_order) {
    messages_.check_order(s);
  } else {
    note_gap(s, psn - req_.next);
    // Where there are READs, their responses have some of these PSNs.
    note_break(s, psn - req_.next, first_answer_ < 0 ? sent_.find(req_.next - 1) : nullptr);
    if (s.info.service == dissect::Service::uc)
      finish_gaps_of_uc(s.connection, s.flow(side_), s.shared, false);
    gaps_.add(gap_before(s, req_.next, psn, sent_));
    if (s.info.service == dissect::Service::uc && messages_.destroyed_by_gap(s.info))
      happened(s, side_, Event::uc_message_lost);
    messages_.lose_track();
  }
  note_sent(s, psn);
  req_.next = req_.cursor = psn + std::max<std::int64_t>(count, 1);
  messages_.track(s, psn, count, in_order);
  if (answered_on_its_own(s.info.operation)) await(psn, count);
  take_new(s);
  messages_.sent_last(s.info, count != 0);  // else the next request tells where this READ ends
}

/// A request that comes behind others, or behind its answer, but was sent for the first time.
void PsnSpace::fill_in(Step& s, std::int64_t psn, std::int64_t count) {
  if (psn < req_.first) {
    // No answer to anything before is known either.
    if (resp_.answered >= 0 && !resp_.seen) resp_.answered = std::min(resp_.answered, psn);
    if (!resp_.acked_known) resp_.acked = std::min(resp_.acked, psn);
    first_late_ = std::min(first_late_, psn);
  }
  const Seen* known = sent_.find(psn);
  gaps_.fill(psn, std::max<std::int64_t>(count, 1));
  seen_after_all(psn, s.shared);
  request_facts_.count_single();
  if (known == nullptr) {
    note_sent(s, psn).late = s.ruling.what == Ruling::What::late ? 1 : 0;
    messages_.mend(s, psn, count, false, resp_.acked_known ? resp_.acked : INT64_MIN);
    if (answered_on_its_own(s.info.operation)) await(psn, count);
  }
  take_new(s);
}

/// A request that is sent again.
void PsnSpace::repeat(Step& s, std::int64_t psn, std::int64_t count) {
  const Seen* const seen = sent_.find(psn);
  const bool missing = gaps_.find(psn) != nullptr;
  if (carries_psn(s.info)) {
    ++coverage_.repeats;
    if (missing) ++coverage_.refilled;
  }
  if (s.ruling.begins_pass) {
    begin_pass(s, psn, seen);
  } else if (psn > req_.cursor) {
    note_gap(s, psn - req_.cursor);
  }
  request_facts_.learn(s.r);
  point_at_original(s, psn, seen);
  if (missing) {
    take_new(s);
    messages_.mend(s, psn, count, true, resp_.acked_known ? resp_.acked : INT64_MIN);
    gaps_.fill(psn, count);
    if (answered_on_its_own(s.info.operation)) await(psn, count);
  } else if (seen != nullptr && seen->trimmed != 0) {
    take_new(s);
  }
  learn_asking(s, psn);
  if (answered_on_its_own(s.info.operation)) response_gaps_.ask_again(psn, count, s.ruling.begins_pass);
  note_sent(s, psn).cause = static_cast<std::uint8_t>(s.ruling.cause) & 7U;
  messages_.retry(psn, answered_on_its_own(s.info.operation));
  if (s.ruling.spurious && s.counts) {
    const auto reason = static_cast<std::size_t>(needless_by(s.ruling));
    ++s.connection.requester[side_].trouble->needless[reason];
  }
  const std::int64_t end = psn + count;
  req_.cursor = s.ruling.begins_pass ? end : std::max(req_.cursor, end);
  pass_.cause = s.ruling.cause;
  if (end < req_.next) return;
  req_.next = end;
  messages_.sent_last(s.info, true);
}

void PsnSpace::point_at_original(Step& s, std::int64_t psn, const Seen* seen) noexcept {
  std::uint64_t frame = seen != nullptr ? seen->frame : 0;
  if (frame == 0 && s.info.operation == Operation::read_request) {
    const Pending* op = messages_.find(psn);
    if (op != nullptr) frame = op->frame;  // issued again from its middle
  }
  if (frame == 0) {
    const AnsweredOperation* answered = messages_.find_answered(psn);
    if (answered != nullptr) frame = answered->frame;  // long ago
  }
  if (frame != 0 && frame < s.number) s.verdict.original = static_cast<std::uint32_t>(frame);
}

/// Whether the requester had sent nothing for so long that its timer may have run out.
bool PsnSpace::silent_before(std::int64_t time_ns) const noexcept {
  return time_ns != capture::no_time && req_.last_ns != capture::no_time &&
         time_ns - req_.last_ns >= silence_ns;
}

/// The requester goes back, here.
void PsnSpace::begin_pass(Step& s, std::int64_t psn, const Seen* seen) {
  const Ruling& ruling = s.ruling;
  RequesterTrouble& trouble = *s.connection.requester[side_].trouble;
  const bool timed = s.r.time_ns != capture::no_time && ruling.trigger_ns != capture::no_time;
  const std::int64_t took = timed ? s.r.time_ns - ruling.trigger_ns : -1;
  happened(s, side_, Event::go_back_n);
  if (pass_.start == psn && pass_.acked == resp_.acked) happened(s, side_, Event::go_back_n_no_progress);
  if (ruling.cause == Cause::rnr) {
    rnr_open_ = false;
    if (s.counts && took >= 0 && trouble.rnr) trouble.rnr->wait_ns.add(static_cast<std::uint64_t>(took));
  } else if (ruling.cause == Cause::nak && took >= 0) {
    if (s.counts) trouble.nak_reaction_ns.add(static_cast<std::uint64_t>(took));
    constexpr std::int64_t longest_ns = 10'000'000'000;  // what is longer is no reaction
    const std::int64_t news = std::min(took, longest_ns);
    if (news > 0) reaction_ns_ = reaction_ns_ == 0 ? news : reaction_ns_ + (news - reaction_ns_) / 8;
  }
  constexpr std::int64_t beyond = 8;
  if (psn - req_.first >= beyond) went_back_later_ = true;
  follow_chain(s, psn, seen);
  pass_.start = psn;
  pass_.acked = resp_.acked;
  req_.new_since_pass = false;
}

/// Repeats that nothing asked for are a chain.
void PsnSpace::follow_chain(Step& s, std::int64_t psn, const Seen* seen) {
  const Ruling& ruling = s.ruling;
  if (ruling.cause == Cause::nak || ruling.cause == Cause::rnr) {
    chains_.end();
    return;
  }
  RequesterTrouble& trouble = *s.connection.requester[side_].trouble;
  // A READ is issued again at once, for a later response came, or because the timer ran out.
  const bool read_timer = ruling.cause == Cause::read_retry && silent_before(s.r.time_ns) && !ruling.implied;
  if (s.counts && ((ruling.cause == Cause::timeout && !ruling.implied) || read_timer)) {
    ++trouble.timeouts;
    if (ruling.cause == Cause::read_retry) ++trouble.read_timeouts;
  }
  RetryChain now;
  now.psn = s.r.psn;
  now.opcode = s.r.opcode;
  now.bytes = s.r.payload;
  now.last_frame = s.number;
  now.last_time_ns = s.r.time_ns;
  now.answered = resp_.acked_known && resp_.acked > psn;  // before it was repeated at all
  now.unheard_nak = ruling.cause == Cause::timeout ? ruling.unheard_nak : 0;
  now.needless = now.answered && now.unheard_nak == 0;  // else the timer was not in vain
  // The responder waits for what does not come, and so for ever.
  const bool headless = resp_.acked_known && psn > resp_.acked && gaps_.any_in(resp_.acked, resp_.acked + 1);
  now.missing_before = headless ? static_cast<std::uint32_t>(psn - resp_.acked) : 0;
  const FirstOfChain first = chains_.begins(psn) ? first_of_chain(s, psn, seen) : FirstOfChain{};
  chains_.resend(now, psn, first, s.counts, trouble);
}

/// The last transmission that asks for `psn`. Of a READ, it may begin before, and be issued again itself.
FirstOfChain PsnSpace::first_of_chain(const Step& s, std::int64_t psn, const Seen* seen) noexcept {
  FirstOfChain first;
  const auto from = [&](std::int64_t start, std::uint64_t frame, std::int64_t time_ns) {
    if (frame > first.frame) first = {frame, time_ns, static_cast<std::uint32_t>(psn - start)};
  };
  if (seen != nullptr) from(psn, seen->frame, seen->time_ns);
  const bool read = s.info.operation == Operation::read_request;
  if (const Pending* op = read ? messages_.find(psn) : nullptr; op != nullptr && op->first < psn) {
    from(op->first, op->frame, op->start_ns);
  } else if (const AnsweredOperation* answered = messages_.find_answered(psn)) {
    from(read ? answered->first : psn, answered->frame, answered->start_ns);
  }
  if (const Seen* again = read ? sent_.find(pass_.read_from) : nullptr;
      again != nullptr && again->frame == pass_.read_frame && pass_.read_from <= psn && psn < pass_.read_to)
    from(pass_.read_from, again->frame, again->time_ns);
  return first;
}

/// How soon its requester asks for a response again.
void PsnSpace::learn_asking(Step& s, std::int64_t psn) {
  if (s.info.operation != Operation::read_request) return;
  if (s.ruling.begins_pass && s.ruling.cause != Cause::nak && s.ruling.cause != Cause::rnr) {
    const PsnGap* const missing = response_gaps_.find(psn);
    const Seen* const given = answers_.find(psn);
    const Seen* const next = answers_.find(psn + 1);
    std::int64_t since_ns = capture::no_time;
    if (missing != nullptr) {
      since_ns = missing->time_ns;
    } else if (given != nullptr && given->cause == 0 &&
               (s.ruling.lost_after != 0 || s.ruling.doubt != episode::Doubt::none)) {
      since_ns = next != nullptr ? std::max(next->time_ns, given->time_ns) : given->time_ns;
    }
    const bool timed = since_ns != capture::no_time && s.r.time_ns != capture::no_time;
    const std::int64_t took = timed ? s.r.time_ns - since_ns : 0;
    if (took > 0 && (ask_again_ns_ == 0 || took < ask_again_ns_)) ask_again_ns_ = took;
    if (s.counts && timed && missing != nullptr && took >= 0) {
      s.connection.requester[side_].trouble->read_rerequest_ns.add(static_cast<std::uint64_t>(took));
    }
  }
  if (!s.ruling.begins_pass) return;
  pass_.read_from = psn;
  pass_.read_to = psn + std::max<std::int64_t>(read_packets(s.r, s.connection), 1);
  pass_.read_frame = s.number;
}

/// Notes a request whose answer has PSNs of its own.
void PsnSpace::await(std::int64_t psn, std::int64_t count) {
  Awaited one{psn, psn + std::max<std::int64_t>(count, 1), count == 0, static_cast<std::uint32_t>(psn)};
  one.next = std::max(psn, std::min(resp_.answered, one.end));  // its answers may have come before it
  if (one.open_end && resp_.answered > psn) {
    const Seen* const last = answers_.find(resp_.answered - 1);
    one.open_end = last == nullptr || !dissect::opcode_info(last->opcode).ends_message();
    one.next = resp_.answered;  // however long it is
    one.end = std::max(one.end, one.next);
  }
  if (one.next == one.end && !one.open_end) return;
  if (awaited_.size() - awaited_head_ >= awaited_at_most) ++awaited_head_;
  if (awaited_head_ >= 64 && awaited_head_ * 2 >= awaited_.size()) {
    awaited_.erase(awaited_.begin(), awaited_.begin() + static_cast<std::ptrdiff_t>(awaited_head_));
    awaited_head_ = 0;
  }
  // A request that was overtaken still stands where its PSN puts it.
  auto place = awaited_.end();
  const auto front = awaited_.begin() + static_cast<std::ptrdiff_t>(awaited_head_);
  while (place != front && std::prev(place)->next > psn) --place;
  awaited_.insert(place, one);
}

}  // namespace roce::analyze
