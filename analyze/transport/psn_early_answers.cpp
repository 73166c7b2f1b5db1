// SPDX-License-Identifier: Apache-2.0
// Requests that were captured behind their answers: where each direction is captured in its own place or
// handed over in batches, what answers may come first.
#include <algorithm>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

/// The first request that is missing at the end of what was captured: behind it answers confirm more, but no
/// request came.
std::int64_t PsnSpace::only_answered_from() {
  std::int64_t from = next_;
  std::vector<Hole>& holes = holes_.list();
  for (std::size_t looks = holes.size(); looks-- > 0;) {
    const auto before = std::find_if(holes.begin(), holes.end(), [from](const Hole& hole) {
      return hole.to == from && !hole.of_repeat && !hole.shown;
    });
    if (before == holes.end()) break;
    from = before->from;
  }
  return from;
}

/// Whether the request is the next one of its stream, although an answer to it came before. If so it is
/// followed as that: it is neither late, for it comes behind all that was sent before, nor sent again.
bool PsnSpace::comes_behind_its_answer(Step& s, std::int64_t psn, std::int64_t count) {
  const PacketRecord& r = s.r;
  const Hole* hole = holes_.find(psn);
  if (hole == nullptr || hole->of_repeat || hole->shown) return false;
  // Confirmed before the sender went back, so sent before.
  if (in_run_ && hole->frame < run_frame_) return false;
  const std::int64_t from = only_answered_from();
  if (psn < from) return false;
  // Sent right after what was captured before it; or no timer of the sender can have run out since.
  const bool next_sent = psn == from && request_facts_.ids_rise(r) && request_facts_.last_step == 1 &&
                         r.ip_id == static_cast<std::uint16_t>(request_facts_.last_id + 1U);
  const bool timed = r.time_ns != capture::no_time && hole->time_ns != capture::no_time;
  if (!next_sent && timed && r.time_ns - hole->time_ns >= silence_ns) return false;

  ++behind_answers_;
  const std::int64_t taken = std::max<std::int64_t>(count, 1);
  take_back_missed(s, psn, taken);
  holes_.fill(psn, taken);
  const std::int64_t end = next_;
  next_ = psn;
  accept(s, psn, count, psn == from);
  next_ = std::max(next_, end);
  answered_already(s);
  return true;
}

/// The capture did not miss these requests after all.
void PsnSpace::take_back_missed(Step& s, std::int64_t psn, std::int64_t count) {
  const std::int64_t end = psn + count;
  for (Hole& hole : holes_.list()) {
    const std::int64_t both = std::min(hole.to, end) - std::max(hole.from, psn);
    if (hole.of_repeat || !hole.called_missed || both <= 0) continue;
    unlose(s, side_, Lost::by_capture, static_cast<std::uint64_t>(both), hole.frame);
    if (hole.to > end || !hole.unseen) continue;
    // Once, of whatever parts are left of what that answer showed.
    for (Hole& part : holes_.list()) part.unseen = part.unseen && part.frame != hole.frame;
    if (s.counts) s.connection.sent[side_ ^ 1U].take_back(Event::ack_unseen, hole.frame);
    Verdict* answer = s.shared.verdicts == nullptr ? nullptr : s.shared.verdicts->at(hole.frame);
    if (answer != nullptr) answer->clear(Verdict::ack_unseen);
  }
}

/// What has come of the answers to the request that was issued just now nobody waits for.
void PsnSpace::answered_already(const Step& s) {
  const auto front = issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_);
  const auto issued =
      std::find_if(front, issued_.end(), [&](const Issued& one) { return one.frame == s.number; });
  if (issued == issued_.end() || response_next_ <= issued->next) return;
  issued->next = issued->open_end ? response_next_ : std::min(response_next_, issued->end);
  if (!issued->open_end && issued->next == issued->end) issued_.erase(issued);
}

}  // namespace roce::analyze
