// SPDX-License-Identifier: Apache-2.0
// Requests that come again in turn, where nothing on them tells: copies that the capture made, or sent again
// from the very first one on.
#include <utility>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;

/// A sender that goes back sends nothing new before it is through, and not faster than answers come.
bool PsnSpace::surely_copies(std::int64_t psn, std::int64_t lag_ns) const noexcept {
  if (copies_known_) return true;
  const bool between_new_ones = doubted_.there() && next_ > doubted_->next && psn < doubted_->next;
  const bool at_once = lag_ns != CopyQueue::unknown_ns && fast_answer_ns_ != 0 && lag_ns < fast_answer_ns_;
  return between_new_ones || (at_once && copies_.sure());
}

/// The packet is taken for a copy.
void PsnSpace::doubt(const Step& s, std::int64_t psn, std::int64_t lag_ns) {
  RingBudget& budget = s.shared.budget;
  if (copies_known_ || surely_copies(psn, lag_ns) || budget.scarce() ||
      doubted_->packets.size() == DoubtedCopies::most) {
    copies_known_ = true;
    forget_doubted(budget);
    return;
  }
  if (doubted_->packets.empty()) doubted_->next = next_;
  doubted_->packets.push_back({s.r, s.number});
  budget.left -= sizeof(DoubtedCopies::Packet);
}

void PsnSpace::forget_doubted(RingBudget& budget) noexcept {
  if (!doubted_.there()) return;
  budget.left += doubted_->packets.size() * sizeof(DoubtedCopies::Packet);
  doubted_ = {};
}

/// Answers are copied as well, in the same order, each with the count of messages (MSN) of then. A responder
/// that gets requests again answers with the count of today, and acknowledges all at once perhaps.
void PsnSpace::judge_doubted(Step& s, std::int64_t psn) {
  const PacketRecord& r = s.r;
  const Seen* seen = answers_.find(psn);
  const bool of_before = acked_known_ && psn + 1 < acked_;
  const bool comes_again = seen != nullptr ? seen->opcode == r.opcode : of_before;
  if (!comes_again || psn == last_nak_.psn || psn == rnr_psn_) return;
  bool copy = false;
  const bool counts = msn_known_ && last_msn_ != (first_aeth_ & serial_mask);
  if (r.has(PacketRecord::has_aeth) && counts && of_before) {
    copy = (r.aeth & serial_mask) != last_msn_;
  } else if (psn == first_answer_) {
    copy = !r.has(PacketRecord::has_aeth) || r.aeth == first_aeth_;
  } else if (seen != nullptr) {
    unsigned before = 0;
    answers_.for_each_in(first_answer_, psn, [&](const Seen&) { ++before; });
    copy = before < 2;  // the first one may be a copy itself
  }
  if (!copy) {
    take_back_doubted(s);
  } else {
    copies_known_ = true;
    forget_doubted(s.shared.budget);
  }
}

/// They were sent again.
void PsnSpace::take_back_doubted(Step& s) {
  const DoubtedCopies doubted = std::move(*doubted_);
  forget_doubted(s.shared.budget);
  s.shared.budget.left += doubted.packets.size() * sizeof(DoubtedCopies::Packet);
  copies_.stop();
  copies_known_ = true;
  for (const DoubtedCopies::Packet& packet : doubted.packets) {
    const PacketRecord& r = packet.record;
    Step again{r,
               dissect::opcode_info(r.opcode),
               packet.number,
               r.has(PacketRecord::selected),
               side_,
               s.connection,
               s.flow_table,
               s.places,
               s.shared,
               {}};
    if (request_facts_.doubled > 0) --request_facts_.doubled;
    if (again.counts) {
      ++requests_;
      again.connection.sent[side_].take_back(Event::duplicate_capture, packet.number);
      if (Flow* flow = again.flow(side_)) {
        std::uint64_t& copies = flow->sequence_to_change().duplicate_captures;
        if (copies > 0) --copies;
      }
    }
    const std::int64_t count = again.info.operation == Operation::read_request ? read_packets(again) : 1;
    repeat(again, place(r.psn), count == 0 ? 1 : count);
    last_request_ns_ = r.time_ns;
    if (Verdict* said = s.shared.verdicts != nullptr ? s.shared.verdicts->at(packet.number) : nullptr) {
      again.verdict.connection = said->connection;
      if (said->has(Verdict::b_to_a)) again.verdict.set(Verdict::b_to_a);
      *said = again.verdict;
    }
  }
}

}  // namespace roce::analyze
