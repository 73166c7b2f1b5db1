// SPDX-License-Identifier: Apache-2.0
// The responder's NAKs: what they ask for again and refuse (IBTA 9.7.5.2, 9.9.2, 9.9.3), and what they prove.
#include <algorithm>
#include <array>

#include "analyze/transport/psn_fast_path.hpp"
#include "dissect/aeth.hpp"

namespace roce::analyze {

using dissect::Operation;

namespace {

/// Codes of NAKs in the AETH (IBTA table 58).
enum NakCode : unsigned { sequence_error = 0, last_nak_code = 4 };

}  // namespace

/// A packet that a NAK named was captured, so it was lost behind the capture point, unless it only came
/// late: then the responder confirms it before it was sent again, or confirms the repeat as a duplicate
/// at once, although nobody asked for an acknowledgement (IBTA 9.7.5.1.4).
void PsnSpace::settle_loss(Step& s, std::int64_t psn) {
  if (!loss_pending_ || psn < loss_psn_) return;
  const Seen* latest = sent_.find(loss_psn_);
  const bool not_repeated = latest != nullptr && latest->frame == loss_of_;
  const bool ack = s.info.operation == Operation::acknowledge && (s.r.aeth >> 29U & 3U) == 0;
  const bool unasked = psn == loss_psn_ && latest != nullptr && latest->ask == 0 && ack;
  // What came behind it before it was repeated, a receiver that takes in order only had thrown away.
  const Seen* confirmed = psn > loss_psn_ ? sent_.find(psn) : nullptr;
  const bool taken_before =
      goes_back_ && confirmed != nullptr && latest != nullptr && confirmed->frame < latest->frame;
  const bool late = not_repeated || unasked || taken_before;
  // A NAK for what follows says only that it came, with the repeat or before; a duplicate may yet be
  // confirmed.
  if (!late && !ack) return;
  loss_pending_ = false;
  if (!late) {
    ++named_->lost;
    return;
  }
  take_back_loss(s, loss_frame_);
  // What was asked for just before came late as well, or its repeat would have been followed by this one's.
  if (loss_earlier_ != 0) take_back_loss(s, loss_earlier_);
}

/// A NAK proves a loss where packets keep their order. Where most that were named came late after all, it
/// proves nothing.
void PsnSpace::claim_loss(Step& s, std::int64_t psn, const Seen& named) {
  loss_earlier_ = loss_pending_ && psn == loss_psn_ + 1 ? loss_frame_ : 0;
  if (loss_pending_ && loss_earlier_ == 0) ++named_->lost;
  loss_pending_ = true;
  loss_psn_ = psn;
  loss_frame_ = s.number;
  loss_of_ = named.frame;
  if (named_->unreliable()) return;
  lose(s, side_, Lost::after_capture, 1);
  constexpr std::size_t kept = 32;
  if (named_->claimed.size() == kept) named_->claimed.erase(named_->claimed.begin());
  named_->claimed.push_back({s.number, s.counts});
}

void PsnSpace::take_back_loss(Step& s, std::uint64_t frame) {
  ++named_->late;
  std::vector<NamedByNaks::Claim>& claimed = named_->claimed;
  const auto claim = std::find_if(claimed.begin(), claimed.end(),
                                  [&](const NamedByNaks::Claim& one) { return one.frame == frame; });
  if (claim != claimed.end()) {
    unlose(s, side_, Lost::after_capture, 1, frame, claim->counted);
    claimed.erase(claim);
  }
  if (!named_->unreliable()) return;
  for (const NamedByNaks::Claim& other : claimed) {
    unlose(s, side_, Lost::after_capture, 1, other.frame, other.counted);
  }
  claimed.clear();
}

std::vector<NamedByNaks::Claim> PsnSpace::settled_elsewhere(std::uint64_t nak, bool late) {
  std::vector<NamedByNaks::Claim> others;
  if (again_frame_ == nak) again_claimed_ = false;
  if (!named_.there()) return others;
  const bool open = loss_pending_ && loss_frame_ == nak;
  if (open) loss_pending_ = false;
  if (loss_earlier_ == nak) loss_earlier_ = 0;
  std::vector<NamedByNaks::Claim>& claimed = named_->claimed;
  const std::size_t before = claimed.size();
  std::erase_if(claimed, [&](const NamedByNaks::Claim& one) { return one.frame == nak; });
  if (!open && claimed.size() == before) return others;  // forgotten
  if (!open && late && named_->lost > 0) --named_->lost;
  if (open || late) ++(late ? named_->late : named_->lost);
  if (late && named_->unreliable()) others.swap(claimed);
  return others;
}
void PsnSpace::nak(Step& s, std::int64_t psn, unsigned code) {
  Requester& requester = s.connection.requester[side_];
  if (code > last_nak_code) return;
  if (s.counts) ++requester.trouble->naks[code];
  constexpr std::array<Event, 5> events{Event::nak_sequence_error, Event::nak_invalid_request,
                                        Event::nak_remote_access_error, Event::nak_remote_operational_error,
                                        Event::nak_invalid_rd_request};
  happened(s, s.side, events[code]);
  if (requests_seen_ && psn > next_) {
    unseen(s, psn - 1);
  } else if (requests_seen_ && psn >= acked_ && s.counts) {
    ++answered_;
    s.connection.pairing.evidence =
        static_cast<std::uint8_t>(s.connection.pairing.evidence | 1U << static_cast<unsigned>(Evidence::nak));
  }
  if (loss_pending_ && psn > loss_psn_) settle_loss(s, psn - 1);
  skip_answered(s, psn);
  if (code == sequence_error) judge_keeping(s);
  forget_refused(psn);
  // That all before the capture had been confirmed was taken for granted; this says what was not.
  if (!acked_known_ && requests_seen_ && psn >= first_ - 65536) acked_ = std::min(acked_, psn);
  const bool confirms = acked_known_ && psn > acked_;
  progress(s, psn);
  if (code != sequence_error) {
    refuse(s, psn);
    return;
  }
  // What was confirmed since nobody sends again for it: it was overtaken, or comes a second time.
  if (acked_known_ && psn < acked_ && psn >= first_) return;
  const bool for_rnr = rnr_psn_ == psn;
  const bool named_before = last_nak_.psn == psn;
  const std::uint64_t last_nak_frame = last_nak_.frame;
  // One NAK after another with nothing sent again between them: packets come late, not never.
  const bool no_reaction_yet = !naks_.empty() && !naks_.newest().passed && psn > naks_.newest().psn;
  last_nak_ = {psn, s.r.time_ns, s.number, for_rnr, confirms};
  naks_.push(last_nak_);
  if (for_rnr || !requests_seen_) return;
  nak_behind_ = next_;

  // When did the capture see the packet that made the responder ask?
  const Hole* hole = holes_.find(psn);
  const Seen* named = sent_.find(psn);
  std::int64_t since = capture::no_time;
  if (hole != nullptr) {
    since = hole->time_ns;
  } else if (const Seen* next = sent_.find(psn + 1)) {
    since = next->time_ns;
  }
  if (s.counts && since != capture::no_time && s.r.time_ns != capture::no_time && s.r.time_ns >= since) {
    requester.trouble->nak_generation_ns.add(static_cast<std::uint64_t>(s.r.time_ns - since));
  }
  // A receiver here would have taken it, so it was lost behind the capture: unless it came before its turn.
  // One that keeps what comes early asks for each that it lacks.
  const bool taken = keeps_all() || taken_ > psn;
  taken_ = std::min(taken_, std::max(psn, acked_));
  if (taken && hole == nullptr && named != nullptr && psn < next_ && named->late == 0 &&
      (!no_reaction_yet || keeps_all()) && (!named_before || named->frame > last_nak_frame)) {
    claim_loss(s, psn, *named);
  }
}

void PsnSpace::rnr_nak(Step& s, std::int64_t psn, unsigned code) {
  Requester& requester = s.connection.requester[side_];
  happened(s, s.side, Event::rnr_nak);
  if (requests_seen_ && psn > next_) unseen(s, psn - 1);
  if (requests_seen_ && psn >= acked_ && psn < next_ && s.counts) ++answered_;
  skip_answered(s, psn);
  forget_refused(psn);
  progress(s, psn);
  rnr_in_a_row_ = static_cast<std::uint16_t>(rnr_psn_ == psn ? std::min(rnr_in_a_row_ + 1, 0xffff) : 1);
  rnr_psn_ = psn;
  rnr_open_ = true;
  rnr_time_ns_ = s.r.time_ns;
  rnr_wait_ns_ = dissect::rnr_timer_ns(static_cast<std::uint8_t>(code));
  rnr_frame_ = s.number;
  rnr_syndrome_ = s.r.aeth >> 24U;
  if (!s.counts) return;
  ++requester.trouble->naks[static_cast<std::size_t>(NakKind::rnr)];
  if (!requester.trouble->rnr) requester.trouble->rnr = std::make_unique<RnrStats>();
  RnrStats& stats = *requester.trouble->rnr;
  ++stats.naks;
  stats.longest_chain = std::max<std::uint64_t>(stats.longest_chain, rnr_in_a_row_);
  stats.timer_code = static_cast<std::uint8_t>(code);
  stats.coded_wait_ns = rnr_wait_ns_;
}

/// A NAK that ends the connection, tied to the request it answers.
void PsnSpace::refuse(Step& s, std::int64_t psn) {
  if (!s.counts) return;
  Requester& requester = s.connection.requester[side_];
  requester.refused_fatally = true;
  constexpr std::size_t kept = 4;
  if (requester.trouble->refused.size() >= kept) return;
  RefusedRequest refused;
  refused.syndrome = static_cast<std::uint8_t>(s.r.aeth >> 24U);
  refused.psn = s.r.psn;
  refused.nak_frame = s.number;
  const Pending* op = pending(psn);
  if (op != nullptr) {
    refused.has_reth = op->has_reth;
    refused.virtual_address = op->virtual_address;
    refused.r_key = op->r_key;
    refused.length = op->length;
  }
  // Opcode and packet are of the PSN that the NAK names, the rest of the message that it is part of. A READ
  // takes more PSNs than it has packets.
  if (op != nullptr && (op->first == psn || op->kind == OperationKind::read)) {
    refused.opcode = op->opcode;
    refused.request_frame = op->frame;
  } else if (const Seen* seen = sent_.find(psn)) {
    refused.opcode = seen->opcode;
    refused.request_frame = seen->frame;
  }
  requester.trouble->refused.push_back(refused);
}

}  // namespace roce::analyze
