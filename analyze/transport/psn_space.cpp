// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/psn_space.hpp"

#include <algorithm>

#include "analyze/transport/psn_fast_path.hpp"
#include "dissect/aeth.hpp"

namespace roce::analyze {

bool PsnSpace::long_since(std::int64_t then_ns, std::int64_t now_ns, unsigned times) const noexcept {
  if (then_ns == capture::no_time || now_ns == capture::no_time) return false;
  constexpr std::int64_t least_ns = 50'000;
  constexpr std::int64_t unknown_ns = 10'000'000;
  const std::int64_t answer = resp_.slow_ns == 0 ? unknown_ns : std::max(resp_.slow_ns, least_ns);
  return now_ns - then_ns > answer * times;
}

/// A packet that is older than the one before it: what came first is not sure here.
void PsnSpace::note_order(Step& s) const {
  if (s.r.time_ns == capture::no_time || s.r.time_ns >= last_packet_ns_) return;
  s.verdict.set(Verdict::time_backwards);
  happened(s, s.side, Event::time_backwards);
}

/// Of UC: books what was trimmed from `from` to `to`, and forgets all before `to`. Returns how many PSNs it
/// was.
std::int64_t PsnSpace::lose_trimmed(std::int64_t from, std::int64_t to, Connection& connection, Flow* flow,
                                    TrackerShared& shared) {
  const auto by_psn = [](const TrimmedAway& one, const TrimmedAway& other) { return one.psn < other.psn; };
  const auto first = std::stable_partition(trimmed_.begin(), trimmed_.end(),
                                           [to](const TrimmedAway& each) { return each.psn >= to; });
  std::stable_sort(first, trimmed_.end(), by_psn);
  std::int64_t count = 0, last = -1;
  for (auto each = first; each != trimmed_.end(); ++each) {
    if (each->psn < from || each->psn == last) continue;  // the capture shows it twice
    last = each->psn;
    ++count;
    Verdict* const verdict = shared.verdicts != nullptr ? shared.verdicts->at(each->frame) : nullptr;
    book_loss({Lost::trimmed, side_, each->frame, side_, each->time_ns, 1, each->counts}, connection, flow,
              shared.series, verdict);
  }
  trimmed_.erase(first, trimmed_.end());
  return count;
}

/// What UC did not deliver is gone; nobody says whether it was lost or missed by the capture. `all`: else
/// only those that are so old that nothing of them comes late.
void PsnSpace::finish_gaps_of_uc(Connection& connection, Flow* flow, TrackerShared& shared, bool all) {
  const auto lose = [&](const PsnGap& gap) {
    const bool by_mirror = shared.mirror_gaps_to(gap.before) != shared.mirror_gaps_to(gap.frame);
    note_unseen(gap, gap.to, UnseenIs::open, shared);
    const std::int64_t missing = gap.to - gap.from - lose_trimmed(gap.from, gap.to, connection, flow, shared);
    if (by_mirror || missing <= 0) return;
    Verdict* const verdict = shared.verdicts != nullptr ? shared.verdicts->at(gap.frame) : nullptr;
    book_loss({Lost::before_capture, side_, gap.frame, side_, gap.time_ns,
               static_cast<std::uint64_t>(missing), true},
              connection, flow, shared.series, verdict);
  };
  if (!req_.seen) return;
  // Before the first whole packet, and behind the last one: what is near it, or near another that is.
  constexpr std::int64_t few = 256;
  std::sort(trimmed_.begin(), trimmed_.end(),
            [](const TrimmedAway& one, const TrimmedAway& other) { return one.psn < other.psn; });
  std::int64_t from = req_.first;
  for (auto each = trimmed_.rbegin(); each != trimmed_.rend(); ++each) {
    if (each->psn < from && from - each->psn <= few) from = each->psn;
  }
  static_cast<void>(lose_trimmed(from, req_.first, connection, flow, shared));
  while (const PsnGap* oldest = gaps_.oldest_of_many()) {
    lose(*oldest);
    gaps_.forget_oldest();
  }
  if (!all) return;
  gaps_.for_each(lose);
  std::int64_t to = req_.next;
  for (const TrimmedAway& each : trimmed_) {
    if (each.psn >= to && each.psn - to <= few) to = each.psn + 1;
  }
  static_cast<void>(lose_trimmed(req_.next, to, connection, flow, shared));
}

/// What never came.
void PsnSpace::finish_gaps(Connection& connection, Flow* flow, Flow* back, TrackerShared& shared) {
  const auto lose = [&](const PsnGap& gap, unsigned side, Lost where, Flow* of) {
    Verdict* const verdict = shared.verdicts != nullptr ? shared.verdicts->at(gap.frame) : nullptr;
    const auto count = static_cast<std::uint64_t>(gap.to - gap.from);
    book_loss({where, side, gap.frame, side, gap.time_ns, count, true}, connection, of, shared.series,
              verdict);
  };
  if (connection.service == dissect::Service::uc) finish_gaps_of_uc(connection, flow, shared, true);
  // A READ cannot complete with a response missing, so a requester that went on, for longer than it would
  // take to ask again, had it, unless it did ask again, in vain. Where the capture is known to miss packets
  // less has to speak for it.
  const std::vector<UnseenRow>& rows = shared.gaps.rows;
  const bool misses =
      !response_gaps_.empty() &&
      std::any_of(rows.begin(), rows.end(), [](const UnseenRow& row) { return row.delivered; });
  response_gaps_.for_each([&](const PsnGap& gap) {
    if (gap.asked_again) return;
    constexpr std::int64_t far = 64, went_on_a_little = 8;
    const std::int64_t went_on = misses ? 2 * went_on_a_little : far;
    if (req_.last_ns <= gap.time_ns) {
      // Who misses a response asks for it again. Where nothing came since, the capture may have missed that,
      // too.
      if (long_since(gap.time_ns, shared.last_time_ns, 1))
        note_unseen(gap, gap.to, UnseenIs::never_asked_for, shared);
      return;
    }
    if (req_.next - gap.to < went_on_a_little) return;
    note_unseen(gap, gap.to, UnseenIs::delivered, shared);
    if (req_.next - gap.to < went_on) return;
    if (gap.time_ns != capture::no_time && !long_since(gap.time_ns, req_.last_ns, 1)) return;
    lose(gap, side_ ^ 1U, Lost::by_capture, back);
  });
}

/// Whether an RNR NAK ended the connection: nothing came from the requester for much longer than it had to
/// wait, after several, or after the only one that it may get.
bool PsnSpace::rnr_gave_up(const Connection& connection, const TrackerShared& shared) const noexcept {
  if (!rnr_open_ || rnr_in_a_row_ == 0 || !shared.any_time || rnr_.time_ns == capture::no_time) return false;
  const bool no_retry = connection.rnr_retry == std::uint8_t{0};
  if (rnr_in_a_row_ == 1 && !no_retry) return false;
  const auto wait = dissect::rnr_timer_ns(static_cast<std::uint8_t>(rnr_.syndrome & 31U));
  const double waited = static_cast<double>(shared.last_time_ns) - static_cast<double>(rnr_.time_ns);
  return waited > 4.0 * static_cast<double>(wait);
}

void PsnSpace::finish(Connection& connection, Flow* flow, Flow* back, TrackerShared& shared) {
  Requester& requester = connection.requester[side_];
  requester.seen = req_.seen || resp_.seen;
  requester.went_back_later = went_back_later_;
  const bool unacknowledged = connection.service == dissect::Service::uc;
  (unacknowledged ? shared.gaps.unacknowledged : shared.gaps.acknowledged).add(coverage());
  requester.first_psn = static_cast<std::uint32_t>(req_.first) & serial_mask;
  requester.next_psn = static_cast<std::uint32_t>(req_.next) & serial_mask;
  requester.requests = req_.packets;
  requester.acks = resp_.acks;
  requester.requests_left_out = requests_left_out_;
  requester.acks_left_out = acks_left_out_;
  requester.in_flight_max = req_.in_flight_max;
  requester.idle_ns = idle_ns_;
  requester.idle_from_frame = idle_from_frame_;
  requester.last_time_ns = last_ns();
  requester.fastest_answer_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(resp_.fast_ns, 0));
  constexpr std::uint64_t no_accident = 8;
  if (behind_answers_ >= no_accident && behind_answers_ >= req_.packets / 2) connection.answers_first = true;
  connection.pairing.answered += resp_.fitting;
  connection.pairing.unfitting += unfitting_;
  finish_gaps(connection, flow, back, shared);

  if (chains_.open()) chains_.finish(*requester.trouble);
  const RetryChain* const given_up =
      req_.new_since_pass || resp_.cut || !shared.any_time
          ? nullptr
          : chains_.given_up(flow, req_.last_ns, shared.last_time_ns, least_retries(connection));
  if (given_up != nullptr) {
    requester.retries_exhausted = true;
    requester.trouble->worst_chain = *given_up;
    connection.sent[side_].add(Event::retries_exhausted, given_up->last_frame, given_up->last_time_ns);
  }
  if (rnr_gave_up(connection, shared)) {
    requester.rnr_exhausted = true;
    connection.sent[side_ ^ 1U].add(Event::rnr_exhausted, rnr_.frame, rnr_.time_ns);
  }
  // What a queue pair in error left behind was never taken.
  const bool refused = requester.refused_fatally || requester.retries_exhausted || requester.rnr_exhausted;
  const std::uint64_t not_taken = messages_.finish(refused, req_.packets != 0);
  const std::uint64_t refused_bytes = std::min(req_.new_bytes, not_taken);
  requester.new_bytes = req_.new_bytes - refused_bytes;
  if (refused_bytes != 0) requester.trouble->refused_bytes = refused_bytes;
  requester.operations = messages_.take();
}

}  // namespace roce::analyze
