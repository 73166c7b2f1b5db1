// SPDX-License-Identifier: Apache-2.0
// Responders that keep what comes before its turn (selective repeat): how one knows them, and which request
// they answer.
#include <algorithm>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

/// Looks back at the last NAK, before the next one or the next step back. It came because packets behind the
/// one that it names had arrived. If all that had been captured by then was confirmed, with nothing sent
/// again but that one, the responder had kept them: one that takes packets in order only would have needed
/// them again.
void PsnSpace::judge_keeping(Step& s) {
  if (nak_behind_ < 0) return;
  const bool with_others = run_frame_ > last_nak_.frame && !(lone_ && run_start_ == last_nak_.psn);
  const bool confirmed = acked_known_ && acked_ >= nak_behind_;
  nak_behind_ = -1;
  if (with_others || !confirmed) return;
  const bool known = keeps_all();
  keeping_ = static_cast<std::int8_t>(std::min(keeping_ + 1, 4));
  goes_back_ = false;
  if (!known) expect_both(acked_);
  // And the sender, which obeys each NAK, sent it once only since: that was no late packet.
  Seen* seen = sent_.find(last_nak_.psn);
  const bool came_once =
      seen != nullptr && seen->late != 0 && seen->cause == 0 && seen->frame > last_nak_.frame;
  if (came_once && seen->psn >= first_ && !request_facts_.ids_rise(s.r)) take_back_late(s, *seen, Cause::nak);
}

/// It asked for this packet only, and the sender goes on behind it.
void PsnSpace::went_on_repeating() {
  keeping_ = static_cast<std::int8_t>(std::max(keeping_ - 1, -4));
  if (keeps_all() || goes_back_) return;
  goes_back_ = true;
  given_up_.clear();
}

/// Everything before `executed` it has executed: what a NAK asked for there as well.
void PsnSpace::drop_asked_for(std::int64_t executed) {
  const auto front = issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_);
  const auto rest = std::remove_if(front, issued_.end(), [&](const Issued& issued) {
    return !issued.repeated && issued.cause != Cause::none && issued.end <= executed;
  });
  issued_.erase(rest, issued_.end());
}

/// The request that this answer of such a responder belongs to, brought forward behind those whose answers
/// are missing before it; issued_.size() if there is none.
///
/// It executes in order of PSNs, each request as soon as all before it are there, with the copy that came
/// first: so an answer to a PSN that nothing confirms yet belongs to the first request. Repeats of what it
/// has executed it answers as they come. While it asks for nothing new but confirms the same again it lacks
/// that one: then the repeat is executed.
std::size_t PsnSpace::bring_forward(std::int64_t psn, const dissect::OpcodeInfo& info) {
  const std::int64_t executed = acked_known_ ? acked_ : first_;
  const bool again = psn < executed;
  const auto has_it = [&](const Issued& issued) {
    const bool fits =
        info.operation != dissect::Operation::read_response || !info.starts_message() || psn == issued.first;
    return fits && issued.next <= psn && (psn < issued.end || issued.open_end);
  };
  drop_asked_for(executed);
  const auto front = issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_);
  const auto find = [&](bool repeated) {
    return std::find_if(front, issued_.end(),
                        [&](const Issued& issued) { return issued.repeated == repeated && has_it(issued); });
  };
  auto found = find(true);
  const bool waited = found != issued_.end() && waited_for_ == executed && found->first <= executed;
  if (!again && !waited) {
    const auto first = find(false);
    if (first != issued_.end()) found = first;
  }
  if (found == issued_.end()) return issued_.size();

  const Issued chosen = *found;
  issued_.erase(found);
  if (waited) {
    // The first one was lost.
    const auto rest =
        std::remove_if(issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_), issued_.end(),
                       [&](const Issued& issued) { return !issued.repeated && has_it(issued); });
    issued_.erase(rest, issued_.end());
  }
  const auto passed_over = [&](const Issued& issued) {
    if (!again) return !issued.repeated && issued.next < psn;
    return issued.repeated && issued.frame < chosen.frame;
  };
  const auto rest = std::stable_partition(issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_),
                                          issued_.end(), passed_over);
  const auto place = issued_.insert(rest, chosen);
  return static_cast<std::size_t>(place - issued_.begin());
}

}  // namespace roce::analyze
