// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_truth.hpp"

#include <algorithm>
#include <bit>

#include "tests/support/fault_opcodes.hpp"

namespace roce::support {
namespace {

void extend(bool& any, std::uint32_t& end, std::uint32_t candidate) {
  if (!any || psn_before(end, candidate)) {
    end = candidate;
  }
  any = true;
}

}  // namespace

SpaceTruth::SpaceTruth(SpaceId space, std::uint32_t first_psn, std::uint32_t window, double capture_drop)
    : space_(space),
      capture_misses_(capture_drop > 0),
      sampled_(capture_drop > 0.5),
      slot_mask_(std::bit_ceil(window) * 4 - 1),
      answered_end_(first_psn) {}

// A response whose READ request was not captured either: a PSN is missing, and nobody knows whose it is.
bool SpaceTruth::known_as_what(const LossTruth& loss) const {
  const Stream& requests = streams_[0];
  const bool asked = !requests.slots.empty() && requests.slots[loss.psn & slot_mask_].psn == loss.psn;
  return !is_response(loss.kind) || asked;
}

void SpaceTruth::settle(const Pending& pending, TruthSink& sink) const {
  LossTruth loss = pending.loss;
  switch (loss.where) {
    case LostWhere::before_capture:
      loss.decidable = pending.visible && (!capture_misses_ || pending.named);
      break;
    case LostWhere::after_capture:
      loss.decidable = pending.named && pending.proved;
      break;
    case LostWhere::by_capture:
      loss.decidable =
          pending.visible && !pending.repeated && pending.needed && !sampled_ && known_as_what(loss);
      break;
    case LostWhere::trimmed:
      break;  // said at once
  }
  sink.lost(loss);
}

void SpaceTruth::lost(const Packet& packet, LostWhere where, TruthSink& sink) {
  LossTruth loss{.space = space_,
                 .kind = packet.kind,
                 .psn = packet.psn,
                 .where = where,
                 .frame = packet.frame,
                 .repeat = packet.repeat.repeated,
                 .damaged = packet.damage != 0};
  if (packet.trimmed && packet.frame != 0) {
    loss.where = LostWhere::trimmed;
    loss.decidable = true;
    sink.lost(loss);
    return;
  }
  const bool hopeless = !fills_psn(packet.kind) || packet.twin != 0 || packet.repeat.alone ||
                        (where == LostWhere::after_capture && packet.frame == 0);
  if (hopeless) {
    sink.lost(loss);
    return;
  }
  Stream& stream = stream_of(packet);
  // Its run may be over already; it then was told from where the sender went back.
  stream.pending.push_back(
      {.loss = loss, .run = packet.run, .sequence = packet.sequence, .proved = packet.sure_to_be_taken});
  const std::uint64_t old = packet.sequence - std::min<std::uint64_t>(packet.sequence, slot_mask_);
  std::erase_if(stream.pending, [&](const Pending& p) {
    const bool settled = p.sequence < old;
    if (settled) {
      settle(p, sink);
    }
    return settled;
  });
}

void SpaceTruth::new_run(bool responses, std::uint32_t psn, bool alone, TruthSink& sink) {
  Stream& stream = streams_[responses ? 1 : 0];
  if (alone) {
    for (Pending& pending : stream.pending) {
      pending.repeated |= pending.loss.psn == psn;
    }
    return;
  }
  // What was under way when the sender went back may still pass the capture: keep it one run longer.
  std::erase_if(stream.pending, [&](const Pending& p) {
    const bool open = p.named && !p.proved && p.loss.where == LostWhere::after_capture;
    const bool settled = p.run < stream.run && !open;
    if (settled) {
      settle(p, sink);
    }
    return settled;
  });
  for (Pending& pending : stream.pending) {
    pending.repeated |= !psn_before(pending.loss.psn, psn);
  }
  ++stream.run;
}

void SpaceTruth::finish(TruthSink& sink) {
  for (Stream& stream : streams_) {
    for (const Pending& pending : stream.pending) {
      settle(pending, sink);
    }
    stream.pending.clear();
  }
}

void SpaceTruth::proved_lost(std::uint32_t psn, TruthSink& sink) {
  std::erase_if(streams_[0].pending, [&](Pending& p) {
    const bool settled = p.named && p.loss.psn == psn && p.loss.where == LostWhere::after_capture;
    if (settled) {
      p.proved = true;
      settle(p, sink);
    }
    return settled;
  });
}

void SpaceTruth::not_needed(const Packet& packet) {
  if (packet.frame != 0 || !packet.repeat.repeated) {
    return;
  }
  for (Pending& pending : stream_of(packet).pending) {
    pending.needed &= pending.sequence != packet.sequence;
  }
}

// The receiver asks for `psn`. Responses: `proves` that it was lost, if it is sure to have been taken.
void SpaceTruth::name(Stream& stream, std::uint32_t psn, bool proves, TruthSink& sink) {
  const auto found = std::find_if(stream.pending.rbegin(), stream.pending.rend(), [&](const Pending& p) {
    return p.loss.psn == psn && (p.loss.where == LostWhere::after_capture ||
                                 (capture_misses_ && p.loss.where == LostWhere::before_capture));
  });
  if (found == stream.pending.rend()) {
    return;
  }
  found->named = true;
  const bool response = &stream == &streams_[1];
  found->proved = response && found->proved && proves;
  if (found->loss.where == LostWhere::after_capture ? response : found->visible) {
    settle(*found, sink);
    stream.pending.erase(std::next(found).base());
  }
}

// `from`: holes before that do not show.
void SpaceTruth::show_holes(Stream& stream, const Packet& packet, std::uint32_t from, TruthSink& sink) {
  if (packet.repeat.alone) {
    return;
  }
  std::erase_if(stream.pending, [&](Pending& p) {
    p.visible |= p.run == packet.run && p.sequence < packet.sequence && psn_before(p.loss.psn, packet.psn) &&
                 !psn_before(p.loss.psn, from);
    const bool settled =
        p.visible && p.loss.where == LostWhere::before_capture && (!capture_misses_ || p.named);
    if (settled) {
      settle(p, sink);
    }
    return settled;
  });
}

void SpaceTruth::remember(Stream& stream, const Packet& packet) {
  if (!fills_psn(packet.kind)) {
    return;
  }
  if (stream.slots.empty()) {
    stream.slots.resize(slot_mask_ + 1);
  }
  const auto frame = static_cast<std::uint32_t>(packet.frame);
  for (std::uint32_t i = 0; i < packet.psn_count; ++i) {
    const std::uint32_t psn = psn_add(packet.psn, i);
    Slot& kept = slot(stream, psn);
    if (kept.psn != psn) {
      kept = {.psn = psn, .first = frame};
    }
    kept.last = frame;
    kept.ends_message |= packet.ends_message && i + 1 == packet.psn_count;
  }
}

void SpaceTruth::count_answers(const Packet& packet) {
  const std::uint32_t end = is_nak(packet.kind) ? packet.psn : psn_add(packet.psn, 1);
  Stream& requests = streams_[0];
  if (requests.slots.empty() || !psn_before(answered_end_, end)) {
    return;
  }
  const auto count = static_cast<std::uint32_t>(psn_distance(answered_end_, end));
  for (std::uint32_t i = std::min(count, slot_mask_ + 1); i > 0; --i) {
    const std::uint32_t psn = psn_add(end, psn_mask + 1 - i);
    const Slot& kept = slot(requests, psn);
    answered_ += kept.psn == psn && kept.ends_message ? 1 : 0;
  }
  answered_end_ = end;
}

std::uint8_t SpaceTruth::causes_by_naks(const Packet& packet, std::uint64_t since) const {
  std::uint8_t causes = 0;
  for (const Nak& nak : naks_) {
    if (nak.frame > since && !psn_before(packet.psn, nak.psn)) {
      causes |= cause_bit(nak.cause);
    }
  }
  return causes;
}

// An answer captured before counts the message that this READ response answers.
bool SpaceTruth::shows_executed(const Packet& packet) const {
  return packet.kind == Kind::read_response && any_msn_ && !psn_before(msn_, packet.msn_of_request);
}

void SpaceTruth::captured(Packet& packet, std::uint64_t twin_frame, TruthSink& sink) {
  const bool response = is_response(packet.kind);
  Stream& requests = streams_[0];
  Stream& responses = streams_[1];
  Stream& stream = stream_of(packet);
  FrameTruth truth{.frame = packet.frame, .space = space_, .kind = packet.kind, .psn = packet.psn};
  if (twin_frame != 0) {
    truth.repeat = packet.repeat;
    truth.duplicate_network = true;
    truth.duplicate_of = twin_frame;
    sink.frame(truth);
    return;
  }
  const Slot* kept = fills_psn(packet.kind) && !stream.slots.empty() ? &slot(stream, packet.psn) : nullptr;
  kept = kept != nullptr && kept->psn == packet.psn ? kept : nullptr;
  if (packet.repeat.repeated) {
    if (response) {
      truth.decidable = (responses.any && psn_before(packet.psn, responses.end)) || shows_executed(packet);
    } else {
      truth.decidable = (requests.any && psn_before(packet.psn, requests.end)) ||
                        (responses.any && psn_before(packet.psn, responses.end)) || (kept != nullptr);
      packet.repeat.also |= causes_by_naks(packet, kept != nullptr ? kept->last : 0);
    }
    truth.cause_decidable = truth.decidable && packet.repeat.trigger_captured;
    truth.original = kept != nullptr ? kept->first : 0;
    truth.previous = kept != nullptr ? kept->last : 0;
  } else {
    truth.out_of_order = !packet.trimmed && packet.sequence < stream.last_sequence;
    truth.late_original = kept != nullptr;
    // Executed before and not sent then: the count of messages shows the one and not the other.
    packet.repeat.contract_silent |= packet.repeat.executed && shows_executed(packet);
  }
  // What shows no run of its own goes on from what was shown.
  const std::uint32_t shown = stream.any ? stream.end : packet.psn;
  const bool own_run = packet.repeat.repeated && truth.decidable;
  const std::uint32_t holes_from = own_run ? psn_add(packet.psn, psn_mask + 1 - slot_mask_) : shown;
  truth.repeat = packet.repeat;
  if (truth.repeat.repeated || truth.repeat.contract_silent || truth.repeat.first_answer ||
      truth.out_of_order || truth.late_original) {
    sink.frame(truth);
  }
  if (!packet.trimmed) {
    stream.last_sequence = std::max(stream.last_sequence, packet.sequence);
  }
  extend(stream.any, stream.end,
         response && is_nak(packet.kind) ? packet.psn : psn_add(packet.psn, packet.psn_count));
  if (packet.kind == Kind::sequence_nak || packet.kind == Kind::rnr_nak) {
    // The NAK shows the PSN to have been sent: for requests, not for answers.
    extend(requests.any, requests.end, psn_add(packet.psn, 1));
    naks_[next_nak_++ % naks_.size()] = {.psn = packet.psn,
                                         .frame = packet.frame,
                                         .cause = packet.kind == Kind::rnr_nak ? Cause::rnr : Cause::nak};
  }
  show_holes(stream, packet, holes_from, sink);
  remember(stream, packet);
  if (packet.kind == Kind::sequence_nak) {
    name(requests, packet.psn, false, sink);
  } else if (packet.kind == Kind::read_request && packet.repeat.repeated &&
             packet.repeat.cause == Cause::read_retry) {
    name(responses, packet.psn, packet.repeat.by_timer, sink);
  }
  if (response) {
    count_answers(packet);
    if (packet.opcode != response_opcodes.middle) {  // has an AETH
      extend(any_msn_, msn_, packet.msn);
    }
  }
}

}  // namespace roce::support
