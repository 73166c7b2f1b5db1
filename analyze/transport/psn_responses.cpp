// SPDX-License-Identifier: Apache-2.0
// Answers with PSNs of their own, of READs and atomics: which request they belong to (IBTA 9.7.5.1, 9.7.5.2).
#include <algorithm>
#include <array>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

/// Path MTU and length of a READ, where only responses tell them.
void PsnSpace::learn_from_response(Step& s, std::int64_t psn) {
  const std::uint32_t bytes = s.r.payload;
  const bool full = s.info.position == Position::first || s.info.position == Position::middle;
  const bool sane = bytes >= 256 && bytes <= 4096 && (bytes & (bytes - 1)) == 0;
  if (full && sane && !s.connection.pmtu_by_cm && bytes > s.connection.pmtu) s.connection.pmtu = bytes;
  fit_in_one(s.connection, bytes);
  Pending* op = pending(psn);
  if (op == nullptr) return;
  // The last response to a READ that was asked for once; an Only one to all of it.
  const bool only = s.info.starts_message() && s.info.ends_message();
  const bool last = s.info.ends_message() && op->kind == OperationKind::read && !op->retried &&
                    (only ? psn == op->first && op->has_reth && bytes == op->length : psn > op->first);
  if (last && !op->open_end && op->last > psn) end_read_at(s, *op, psn);
  if (!op->open_end) return;
  const std::uint32_t pmtu = s.connection.pmtu;
  if (op->has_reth && pmtu != 0) {
    op->last = op->first + std::max<std::int64_t>(1, (std::int64_t{op->length} + pmtu - 1) / pmtu) - 1;
    op->open_end = false;
    next_ = std::max(next_, op->last + 1);
  } else {
    next_ = std::max(next_, psn + 1);
    if (s.info.ends_message()) {
      op->last = psn;
      op->open_end = false;
    }
  }
  if (!op->open_end) close_issued(op->first, op->last + 1);
}

/// The READ from `first` on ends there, however often it was issued without that being known.
void PsnSpace::close_issued(std::int64_t first, std::int64_t end) noexcept {
  for (std::size_t i = issued_head_; i < issued_.size(); ++i) {
    Issued& issued = issued_[i];
    if (issued.first != first || !issued.open_end) continue;
    issued.end = std::max(end, issued.next);
    issued.open_end = false;
  }
}

/// The READ has fewer PSNs than it seemed to have: those behind were of requests that are missing.
void PsnSpace::end_read_at(Step& s, Pending& read, std::int64_t psn) {
  const std::int64_t end = read.last + 1;
  read.last = psn;
  for (std::size_t i = issued_head_; i < issued_.size(); ++i) {
    if (issued_[i].first == read.first && issued_[i].end == end)
      issued_[i].end = std::max(psn + 1, issued_[i].next);
  }
  if (end > next_) return;
  if (end == next_) {
    next_ = psn + 1;  // nothing came behind it yet
    return;
  }
  const Seen* shown_by = sent_.find(end);
  bool late = false;  // one of them came since
  sent_.for_each_in(psn + 1, end, [&](const Seen&) { late = true; });
  if (shown_by == nullptr || late || holes_.any_in(psn + 1, end)) return;
  holes_.add({psn + 1, end, shown_by->time_ns, shown_by->frame, false, false, true, shown_by->ip_id, false});
  note_gap_at(s, side_, shown_by->frame, shown_by->time_ns, end - psn - 1);
}

/// No request packet has a PSN inside a READ: the gap behind one whose number of PSNs was unknown was none.
void PsnSpace::fill_inside_read(Step& s, std::int64_t psn) {
  std::int64_t from = psn;
  std::int64_t end = s.info.starts_message() ? psn : psn + 1;
  if (const Pending* read = pending(psn); read != nullptr && read->kind == OperationKind::read) {
    const std::int64_t pmtu = s.connection.pmtu;
    from = read->first + 1;
    if (read->has_reth && pmtu != 0) {
      end = std::max(end, read->first + std::max<std::int64_t>(1, (read->length + pmtu - 1) / pmtu));
    }
  }
  if (from < end) holes_.fill(from, end - from);
}

/// The request that this response PSN answers: the one for which the fewest responses would be missing,
/// and the first of those. issued_.size() if there is none.
std::size_t PsnSpace::issued_for(std::int64_t psn, const dissect::OpcodeInfo& info) const noexcept {
  std::size_t best = issued_.size();
  std::int64_t fewest = std::int64_t{1} << 23U;
  std::int64_t skipped = 0;  // responses to the requests before
  for (std::size_t i = issued_head_; i < issued_.size() && skipped < fewest; ++i) {
    const Issued& issued = issued_[i];
    // Only the first response to a READ says that it is; Soft-RoCE's, given again, does not even then.
    const bool fits =
        info.operation != Operation::read_response || !info.starts_message() || psn == issued.first;
    const bool has_it = fits && issued.next <= psn && (psn < issued.end || issued.open_end);
    if (has_it && skipped + psn - issued.next < fewest) {
      fewest = skipped + psn - issued.next;
      best = i;
    }
    if (!issued.open_end) skipped += issued.end - issued.next;
  }
  return best;
}

/// A responder answers in order: what it had to answer before `psn` with responses of its own it has
/// answered, and what did not come is missing.
void PsnSpace::skip_answered(Step& s, std::int64_t psn) {
  std::int64_t missing = 0;
  if (keeps_all()) {
    drop_asked_for(psn);
    // The first requests before the repeats that it has not come to.
    const auto front = issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_);
    std::stable_partition(front, issued_.end(), [&](const Issued& issued) {
      return issued.cause == Cause::none && !issued.open_end && issued.end <= psn;
    });
  }
  while (issued_head_ < issued_.size()) {
    const Issued& issued = issued_[issued_head_];
    if (issued.cause != Cause::none || issued.open_end || issued.end > psn) break;
    missing += issued.end - issued.next;
    response_holes_.add({issued.next, issued.end, s.r.time_ns, s.number, issued.next < response_next_, false,
                         true, s.r.ip_id, false});
    response_next_ = std::max(response_next_, issued.end);
    ++issued_head_;
  }
  if (missing > 0) note_gap(s, missing);
}

/// Requests from `psn` on were thrown away by the responder: they are not answered before they come
/// again.
void PsnSpace::forget_refused(std::int64_t psn) {
  if (keeps_all()) return;
  const auto front = issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_);
  if (!goes_back_) {
    // Unless it keeps what comes early.
    for (auto issued = front; issued != issued_.end(); ++issued) {
      if (issued->next >= psn) give_up(*issued);
    }
  }
  issued_.erase(
      std::remove_if(front, issued_.end(), [&](const Issued& issued) { return issued.next >= psn; }),
      issued_.end());
}

/// Whether a responder that is asked again leaves what it was answering, to go on from there: so soon that it
/// cannot have sent the rest, of which `missing` are not there.
bool PsnSpace::rewinds(const Step& s, std::int64_t next, std::int64_t missing) noexcept {
  constexpr std::int64_t looked_back = 8;
  const Seen* last = answers_.find(next - 1);
  if (last == nullptr) return false;
  if (answer_facts_.ids_rise(s.r)) return static_cast<std::uint16_t>(s.r.ip_id - last->ip_id) <= missing;
  const Seen* before = answers_.find(next - 1 - looked_back);
  if (before == nullptr || before->time_ns == capture::no_time || last->time_ns == capture::no_time)
    return false;
  return s.r.time_ns != capture::no_time &&
         (s.r.time_ns - last->time_ns) * 2 * looked_back < (last->time_ns - before->time_ns) * missing;
}

/// The responses between what was expected and `psn` of request `index` are missing. Returns how many.
std::int64_t PsnSpace::skip_to(Step& s, std::size_t index, std::int64_t psn) {
  std::int64_t missing = 0;
  for (std::size_t i = issued_head_; i <= index; ++i) {
    const Issued& skipped = issued_[i];
    const std::int64_t end = i == index ? psn : skipped.open_end ? skipped.next : skipped.end;
    if (skipped.next >= end) continue;
    const bool read = s.info.operation == Operation::read_response;
    const auto covers = [&](const Issued& issued) {
      return issued.repeated && issued.first <= skipped.next && end <= issued.end;
    };
    const bool comes_again =
        std::any_of(issued_.begin() + static_cast<std::ptrdiff_t>(index), issued_.end(), covers);
    if (read && i != index && end > response_next_ && comes_again && psn < skipped.next &&
        rewinds(s, skipped.next, end - skipped.next)) {
      continue;
    }
    // Nobody asks with a NAK for a READ issued again that was lost: where none of many answers came, it was.
    constexpr std::int64_t many = 4;
    if (read && i != index && skipped.repeated && skipped.next == skipped.first &&
        end - skipped.first >= many) {
      continue;
    }
    if (read && i != index && skipped.next == skipped.first && !response_holes_.any_in(skipped.first, end)) {
      // One set of responses to a READ that was sent twice: the other one may never have come.
      if (skipped.repeated && end <= response_next_) continue;
      // The responder gives an earlier answer again, and nothing behind this READ was ever answered: it may
      // be the request that was lost.
      if (psn < skipped.first && end > response_next_) continue;
    }
    missing += end - skipped.next;
    const bool seen_before = skipped.repeated || skipped.next < response_next_;
    response_holes_.add(
        {skipped.next, end, s.r.time_ns, s.number, seen_before, false, true, s.r.ip_id, false});
  }
  issued_head_ = index;
  return missing;
}

void PsnSpace::mark_repeated_answer(Step& s, Cause cause, const Seen* seen) {
  s.verdict.set(Verdict::retransmission);
  s.verdict.cause = cause;
  if (seen != nullptr) s.verdict.original = static_cast<std::uint32_t>(seen->frame);
  count_repeat(s, s.side, cause);
  if (s.ruling != nullptr) return;
  // Where both sides READ, a side's own READs asked again are among its repeats too.
  if (cause == Cause::read_retry && s.info.operation == Operation::read_response)
    happened(s, s.side, Event::response_repeated);
}

/// Whether the responder executes the READ just now, so this is the first answer of all to it, though the
/// READ was sent again: it counts (MSN) this message and none behind it, which are there, or was counting
/// less when it answered since the request was sent again (IBTA 9.7.7.1). What is given again comes with the
/// count of today.
bool PsnSpace::executed_now(const Step& s, std::int64_t psn, const Issued& issued) noexcept {
  if (psn >= executed_from_ && psn < executed_to_) return true;  // the rest of it
  if (!s.r.has(PacketRecord::has_aeth) || !msn_known_ || !acked_known_ || psn < acked_) return false;
  std::uint32_t messages = 0;
  std::size_t i = 0;
  for (; i < pending_.size() && pending_[i].first <= psn; ++i) {
    if (pending_[i].first >= acked_) ++messages;
  }
  if (messages == 0 || (s.r.aeth & serial_mask) != ((last_msn_ + messages) & serial_mask)) return false;
  const bool others_behind = i < pending_.size();
  const Seen* before = answers_.find(psn - 1);
  const bool answered_since = before != nullptr && before->frame > issued.frame;
  if (!others_behind && !answered_since) return false;
  executed_from_ = psn;
  executed_to_ = std::max(psn, pending_[i - 1].last) + 1;
  return true;
}

/// An atomic's answer: it has a PSN of its own, as READ responses have.
void PsnSpace::own_answer(Step& s, std::int64_t psn, const Seen* before) {
  if (response_next_ < 0) response_next_ = psn;
  const std::size_t index = keeps_all() ? bring_forward(psn, s.info) : issued_for(psn, s.info);
  Seen* now = answers_.find(psn);
  if (index >= issued_.size()) {
    response_holes_.fill(psn, 1);  // late
    if (before != nullptr && before->guessed != 0) {
      Seen first = *before;
      take_back_guess(s, first);
      take_back_guesses(s, psn);
      mark_repeated_answer(s, Cause::timeout, before);
    }
    return;
  }
  const Issued issued = issued_[index];
  const std::int64_t missing = skip_to(s, index, psn);
  if (missing > 0) note_gap(s, missing);
  issued_head_ = index + 1;
  const Hole* hole = response_holes_.find(psn);
  if (issued.repeated) {
    if (now != nullptr && issued.instead && before == nullptr) now->guessed = 1;
    guesses_open_ = guesses_open_ || issued.instead;
    mark_repeated_answer(s, issued.cause, before);
    if (hole != nullptr) lose(s, s.side, Lost::before_capture, response_holes_.missing(psn));
  }
  response_holes_.fill(psn, 1);
  response_next_ = std::max(response_next_, psn + 1);
}

/// The answer came a second time: the first one did answer the first request, slowly. So did all that
/// came between the two.
void PsnSpace::take_back_guesses(Step& s, std::int64_t psn) {
  if (!guesses_open_) return;
  answers_.for_each_in(psn, response_next_, [&](Seen& seen) {
    if (seen.guessed != 0) take_back_guess(s, seen);
  });
  expect_both(psn + 1);
  guesses_open_ = false;  // once for each time that answers were given up
}

/// The answer to this request may still come.
void PsnSpace::give_up(const Issued& issued) {
  // What was asked instead stays among the issued ones.
  if (issued.repeated || issued.instead || issued.open_end || given_up_.size() >= issued_at_most) return;
  given_up_.push_back(issued);
}

/// Nothing was answered for long: what comes now is taken for answers to the requests that are sent again.
void PsnSpace::give_up_answers() {
  std::erase_if(given_up_, [&](const Issued& issued) { return issued.end <= response_next_; });
  for (std::size_t i = issued_head_; i < issued_.size(); ++i) give_up(issued_[i]);
  issued_head_ = issued_.size();
}

/// They were answers to the first requests: a responder that keeps what comes early was waiting for one
/// before. The repeats from `from` on may be answered as well, and the first requests behind the last answer
/// still are.
void PsnSpace::expect_both(std::int64_t from) {
  std::vector<Issued> queue;
  for (Issued& issued : given_up_) {
    if (issued.end <= response_next_) continue;
    issued.next = std::max(issued.next, response_next_);
    queue.push_back(issued);
  }
  given_up_.clear();
  for (std::size_t i = 0; i < issued_.size(); ++i) {
    Issued issued = issued_[i];
    if (issued.instead && issued.end > from) {
      issued.next = std::max(issued.first, from);
    } else if (i < issued_head_) {
      continue;
    }
    queue.push_back(issued);
  }
  std::stable_sort(queue.begin(), queue.end(),
                   [](const Issued& a, const Issued& b) { return a.next < b.next; });
  if (queue.size() > issued_at_most) {
    queue.erase(queue.begin(), queue.end() - static_cast<std::ptrdiff_t>(issued_at_most));
  }
  issued_ = std::move(queue);
  issued_head_ = 0;
}

void PsnSpace::take_back_guess(Step& s, Seen& seen) {
  seen.guessed = 0;
  seen.cause = 0;
  if (s.ruling != nullptr) return;
  if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(seen.frame)) {
      verdict->clear(Verdict::retransmission);
      verdict->cause = Cause::none;
    }
  }
  if (!s.counts) return;
  const bool read = dissect::opcode_info(seen.opcode).operation == Operation::read_response;
  s.connection.sent[s.side].take_back(read ? Event::retransmitted_read_retry : Event::retransmitted_timeout,
                                      seen.frame);
  if (read) s.connection.sent[s.side].take_back(Event::response_repeated, seen.frame);
  if (Flow* flow = s.flow(s.side)) {
    SequenceCounts& sequence = flow->sequence_to_change();
    std::uint64_t& sum =
        sequence.retransmitted[static_cast<std::size_t>(read ? Cause::read_retry : Cause::timeout)];
    if (sum > 0) --sum;
    sequence.retransmitted_bytes -= std::min<std::uint64_t>(sequence.retransmitted_bytes, s.r.wire);
  }
}

/// Whether it is the last response that the READ was issued again for, and those behind it have come: a
/// requester that keeps what it got asks for what is missing alone.
bool PsnSpace::ends_repair(const Pending& op, std::int64_t psn) const noexcept {
  return op.retried && psn + 1 == again_to_ && response_next_ > op.last;
}

/// The READ was asked for before the capture. Inside it no PSN can be anything but a response.
void PsnSpace::miss_inside_read(Step& s, std::int64_t psn) {
  constexpr std::int64_t missing_at_most = 1024;
  const std::int64_t missing = psn - response_next_;
  if (missing <= 0 || missing > missing_at_most || s.info.starts_message()) return;
  const Seen* last = answers_.find(response_next_ - 1);
  if (last == nullptr) return;
  const dissect::OpcodeInfo& before = dissect::opcode_info(last->opcode);
  if (before.operation != Operation::read_response || before.ends_message()) return;
  note_gap(s, missing);
  response_holes_.add({response_next_, psn, s.r.time_ns, s.number, false, false, true, s.r.ip_id, false});
}

void PsnSpace::read_response(Step& s, std::int64_t psn) {
  const PacketRecord& r = s.r;
  const unsigned responder = s.side;
  Seen* seen = answers_.find(psn);
  if (seen != nullptr && dissect::opcode_info(seen->opcode).operation != Operation::read_response) {
    seen = nullptr;
  }
  const bool earlier = sent_earlier(answer_facts_, r);
  if (!earlier) answer_facts_.learn(r);
  learn_from_response(s, psn);
  if (!holes_.empty()) fill_inside_read(s, psn);
  point_at_request(s, psn);
  last_answer_ns_ = r.time_ns;
  if (response_next_ < 0) response_next_ = psn;

  const auto goodput = [&] {
    if (!s.counts) return;
    new_bytes_ += r.payload;
    if (Series::Bucket* bucket = s.bucket()) bucket->goodput_bytes += r.payload;
  };
  Hole* hole = response_holes_.find(psn);
  const bool first_copy = hole != nullptr && !hole->of_repeat;
  // A responder answers in order: what confirms it, or is behind it, was sent after its first copy.
  const bool in_order = !earlier && answer_facts_.ids_rise(r);  // so it is not the first copy, late
  const bool known = psn >= std::min(first_, first_late_) || seen != nullptr;
  const bool given_before = (!first_copy || in_order) && acked_known_ && psn < acked_ && known;
  // Without IDs: nobody asked for it since it was missed, so it was overtaken, or answers what was asked
  // before.
  const bool unordered = !answer_facts_.ids_rise(r);
  if (unordered && hole != nullptr && last_repeat_ < hole->frame) answer_facts_.count_late();
  // Where responses overtake each other a gap is no loss.
  const bool tells = !unordered || std::uint64_t{answer_facts_.late} * 64U < answer_facts_.single;
  bool filled = false;
  bool guessed = false;
  bool late = false;
  bool anew = false;
  if (earlier) answer_facts_.count_late();
  if (earlier && seen != nullptr && seen->filled != 0) {
    unlose_filled(s, *seen, responder);
    if (seen->of_repeat != 0) {
      mark_repeated_answer(s, Cause::read_retry, seen);
    } else {
      mark_late(s);
    }
    return;
  }
  // The first copy was sent before the answer that showed it to be missing.
  const bool after_hole = first_copy && hole->shown && !behind(r.ip_id, hole->ip_id);
  if (earlier && first_copy && !after_hole) {
    goodput();
    mark_late(s);
    late = true;
  } else if (earlier && psn < response_next_) {
    // Overtaken by others: it says nothing of what the responder works on now.
    if (seen != nullptr || hole != nullptr) mark_repeated_answer(s, Cause::read_retry, seen);
    if (first_copy) {
      if (!reads_cut_) lose(s, responder, Lost::before_capture, response_holes_.missing(psn));
      goodput();
    }
  } else if (const std::size_t index = keeps_all() ? bring_forward(psn, s.info) : issued_for(psn, s.info);
             index < issued_.size()) {
    const std::int64_t missing = skip_to(s, index, psn);
    if (missing > 0) {
      note_gap(s, missing);
      hole = response_holes_.find(psn);
    }
    Issued& issued = issued_[index];
    issued.next = psn + 1;
    const bool repeated = issued.repeated || (issued.cause != Cause::none && given_before);
    anew = issued.repeated && executed_now(s, psn, issued);
    if (anew && s.counts) ++s.connection.requester[side_].trouble->responses_anew;
    const Cause cause = issued.repeated ? issued.cause : Cause::read_retry;
    if ((!issued.open_end && issued.next >= issued.end) || (issued.open_end && s.info.ends_message())) {
      issued_head_ = index + 1;
    }
    if (repeated) {
      guessed = issued.instead && seen == nullptr;
      guesses_open_ = guesses_open_ || guessed;
      mark_repeated_answer(s, cause, seen);
      filled = hole != nullptr && tells && !reads_cut_;
      if (filled) lose(s, responder, Lost::before_capture, response_holes_.missing(psn));
      if (first_copy || psn >= response_next_) goodput();
    } else {
      if (first_copy) mark_late(s);
      late = first_copy;
      goodput();
    }
  } else if ((first_copy && !given_before) || (earlier && psn >= response_next_ && psn >= repeated_to_)) {
    goodput();
    mark_late(s);
    late = true;
  } else if (seen != nullptr && seen->guessed != 0) {
    take_back_guess(s, *seen);
    take_back_guesses(s, psn);
    mark_repeated_answer(s, Cause::read_retry, seen);
  } else if (given_before) {
    mark_repeated_answer(s, requests_seen_ ? Cause::read_retry : Cause::unknown, seen);
    if (first_copy) goodput();
  } else {
    if (!requests_seen_ && in_order) miss_inside_read(s, psn);
    goodput();
  }
  response_holes_.fill(psn, 1);
  response_next_ = std::max(response_next_, psn + 1);
  Seen now = seen_of(s, psn);
  now.cause = static_cast<std::uint8_t>(s.verdict.cause) & 7U;
  now.filled = filled ? 1 : 0;
  now.of_repeat = filled && !first_copy ? 1 : 0;
  now.late = late ? 1 : 0;
  now.guessed = guessed ? 1 : 0;
  const std::int64_t reach = s.shared.budget.scarce() ? 64 : asked_again_within;
  const std::int64_t outstanding =
      !pending_.empty() ? std::min(pending_.front().first, psn - reach) : psn - reach;
  // Where some come late a requester asks for them again, long after.
  const std::int64_t kept = answer_facts_.doubled > 0 ? 4096 : answer_facts_.late > 0 ? 512 : 0;
  if (seen != nullptr && seen->ip_id != now.ip_id) replaced_responses_->keep(*seen);
  answers_.put(now, kept > 0 ? std::min(outstanding, psn - kept) : outstanding, s.shared.budget);

  if (requests_seen_ && psn >= next_) {
    unseen(s, psn);
  } else if (requests_seen_ && psn >= acked_ && s.counts) {
    ++answered_;
  }
  if (r.has(PacketRecord::has_aeth) && (anew || !s.verdict.has(Verdict::retransmission))) {
    const std::uint32_t msn = r.aeth & serial_mask;
    if (!msn_known_ || rose(msn, last_msn_)) last_msn_ = msn;
    msn_known_ = true;
  }
  Pending* op = pending(psn);
  if (op != nullptr && !op->done && (psn == op->last || ends_repair(*op, psn)) &&
      !response_holes_.any_in(op->first, op->last + 1)) {
    complete(s.r, s.counts, *op, true);
  }
  progress(s, psn + 1);
}

}  // namespace roce::analyze
