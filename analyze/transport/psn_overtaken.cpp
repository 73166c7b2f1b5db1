// SPDX-License-Identifier: Apache-2.0
// Repeats that were overtaken: which pass they belong to, and the losses that are none with them. IPv4 IDs
// tell.
#include <algorithm>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

/// Another run brings what was missing in this one: that is counted as lost, but may yet come.
void PsnSpace::keep_refilled(const Step& s, const Hole& hole, std::int64_t psn) {
  if (refilled_ == nullptr) refilled_ = std::make_unique<std::array<Refilled, 32>>();
  (*refilled_)[refilled_next_] = {psn, hole.counted ? hole.frame : s.number, s.number, hole.ip_id, s.counts};
  refilled_next_ = static_cast<std::uint8_t>((refilled_next_ + 1U) % refilled_->size());
}

/// The run brings what runs before it lacked.
void PsnSpace::settle_repeated(Step& s, const Again& again) {
  if (unmeasured(s)) return;
  std::uint64_t missing = 0;
  for (const Hole& hole : holes_.list()) {
    if (again.psn < hole.from || again.psn >= hole.to) continue;
    if (!again.ids_rise && !surely_lost(hole, again.psn)) continue;
    if (!hole.counted) ++missing;
    if (hole.of_repeat) keep_refilled(s, hole, again.psn);
  }
  if (missing > 0) lose(s, side_, Lost::before_capture, missing);
}

/// Where packets overtake each other and no ID tells their order, what a run lacks is late rather than lost,
/// unless a NAK asks for it afterwards.
bool PsnSpace::surely_lost(const Hole& hole, std::int64_t psn) noexcept {
  if (!hole.of_repeat || !reorders()) return true;
  return last_nak_.psn == psn && last_nak_.frame > hole.frame;
}

/// The loss that was counted when the present run brought this packet.
Refilled* PsnSpace::refilled_in_run(std::int64_t psn) noexcept {
  if (refilled_ == nullptr) return nullptr;
  for (Refilled& one : *refilled_) {
    if (one.psn == psn && one.by >= run_frame_) return &one;
  }
  return nullptr;
}

/// Without IDs: the present run lacked it, or the one before did, and neither a NAK nor silence makes the
/// sender go back again.
bool PsnSpace::late_in_run(const Step& s, const Again& again) noexcept {
  if (again.continuing || timer_sends(again.psn, s.r.time_ns) || (rnr_open_ && again.psn <= rnr_psn_))
    return false;
  std::uint64_t shown = again.seen != nullptr ? again.seen->frame : 0;
  bool lacked = false;
  if (again.hole != nullptr) {
    for (const Hole& hole : holes_.list()) {
      if (!hole.of_repeat || hole.frame < run_frame_ || again.psn < hole.from || again.psn >= hole.to)
        continue;
      lacked = true;
      shown = std::max(shown, hole.frame);
    }
  }
  const OpenNak* asked = lacked ? naks_.find(again.psn) : naks_.up_to(again.psn);
  if (asked != nullptr && asked->frame > shown) return false;
  const bool in_run = again.seen != nullptr && again.seen->frame >= run_frame_ && again.psn >= run_start_;
  return lacked || refilled_in_run(again.psn) != nullptr || (in_run && reorders());
}

/// What was taken for late was sent again after all.
void PsnSpace::take_back_late(Step& s, Seen& seen, Cause cause) {
  seen.late = 0;
  seen.filled = 1;
  seen.cause = static_cast<std::uint8_t>(cause) & 7U;
  request_facts_.take_back_late();
  lose_at(s, side_, Lost::before_capture, seen.frame, seen.time_ns);
  if (s.ruling != nullptr) return;
  if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(seen.frame)) {
      verdict->clear(Verdict::out_of_order);
      verdict->set(Verdict::retransmission);
      verdict->cause = cause;
    }
  }
  if (!s.counts) return;
  s.connection.sent[side_].take_back(Event::out_of_order, seen.frame);
  if (Flow* flow = s.flow(side_)) {
    std::uint64_t& sum = flow->sequence_to_change().out_of_order;
    if (sum > 0) --sum;
  }
  count_repeat(s, side_, cause);
}

/// Without IDs the first packet of a run looks late where it had been missing, until the sender goes on with
/// what it had sent.
void PsnSpace::take_back_late_head(Step& s, std::int64_t psn) {
  const bool unasked = run_cause_ == Cause::timeout || run_cause_ == Cause::unknown;
  if (!unasked || request_facts_.ids_rise(s.r) || (acked_known_ && psn <= acked_)) return;
  Seen* head = sent_.find(psn - 1);
  if (head == nullptr || head->late == 0 || head->cause != 0 || head->psn < first_) return;
  if (head->time_ns == last_request_ns_) take_back_late(s, *head, run_cause_);
}

/// What is next in the run has come already, before its turn.
void PsnSpace::skip_overtakers() noexcept {
  for (const Seen* seen = sent_.find(run_next_);
       run_next_ < next_ && seen != nullptr && seen->cause != 0 && seen->frame >= run_frame_;
       seen = sent_.find(run_next_)) {
    ++run_next_;
  }
}

/// It was sent before the packet that first showed it missing in its own pass, and behind those that showed
/// it missing in passes before.
void PsnSpace::settle_overtaken(Step& s, const Again& again) {
  if (unmeasured(s)) return;
  if (!again.ids_rise) {
    request_facts_.count_late();
    if (again.hole != nullptr && !again.hole->of_repeat) lose(s, side_, Lost::before_capture, 1);
    Refilled* late = again.hole == nullptr ? refilled_in_run(again.psn) : nullptr;
    if (late == nullptr) return;
    unlose(s, side_, Lost::before_capture, 1, late->frame, late->counted);
    late->psn = -1;
    return;
  }
  const std::uint16_t id = s.r.ip_id;
  const auto nearer = [id](std::uint16_t a, std::uint16_t b) {
    return static_cast<std::uint16_t>(a - id) < static_cast<std::uint16_t>(b - id);
  };
  Hole* own = nullptr;
  std::uint64_t lost = 0;
  if (!holes_.empty()) {
    for (Hole& hole : holes_.list()) {
      if (again.psn < hole.from || again.psn >= hole.to) continue;
      const bool shown_later = hole.of_repeat && behind(id, hole.ip_id);
      if (!shown_later) {
        lost += hole.counted ? 0 : 1;
        if (hole.of_repeat) keep_refilled(s, hole, again.psn);
      } else if (own == nullptr || nearer(hole.ip_id, own->ip_id)) {
        own = &hole;
      }
    }
  }
  if (lost > 0) lose(s, side_, Lost::before_capture, lost);
  Refilled* gone = nullptr;
  if (refilled_ != nullptr) {
    for (Refilled& one : *refilled_) {
      if (one.psn != again.psn || !behind(id, one.ip_id)) continue;
      if (gone == nullptr || nearer(one.ip_id, gone->ip_id)) gone = &one;
    }
  }
  if (gone != nullptr && (own == nullptr || nearer(gone->ip_id, own->ip_id))) {
    unlose(s, side_, Lost::before_capture, 1, gone->frame, gone->counted);
    gone->psn = -1;
  } else if (own != nullptr && own->counted) {
    unlose(s, side_, Lost::before_capture, 1, own->frame);
  }
}

}  // namespace roce::analyze
