// SPDX-License-Identifier: Apache-2.0
// Repeats that were overtaken: which pass they belong to, and the losses that are none with them. IPv4 IDs
// tell.
#include <algorithm>

#include "analyze/psn_short.hpp"

namespace roce::analyze {

/// Another run brings what was missing in this one: that is counted as lost, but may yet come.
void PsnSpace::keep_refilled(const Step& s, const Hole& hole, std::int64_t psn) {
  if (refilled_ == nullptr) refilled_ = std::make_unique<std::array<Refilled, 32>>();
  (*refilled_)[refilled_next_] = {psn, hole.counted ? hole.frame : s.number, hole.ip_id, s.counts};
  refilled_next_ = static_cast<std::uint8_t>((refilled_next_ + 1U) % refilled_->size());
}

/// The run brings what runs before it lacked.
void PsnSpace::settle_repeated(Step& s, const Again& again) {
  const std::uint64_t missing = holes_.missing(again.psn);
  if (missing > 0) lose(s, side_, Lost::before_capture, missing);
  if (!again.ids_rise) return;
  for (const Hole& hole : holes_.list()) {
    if (hole.of_repeat && again.psn >= hole.from && again.psn < hole.to) keep_refilled(s, hole, again.psn);
  }
}

/// It was sent before the packet that first showed it missing in its own pass, and behind those that showed
/// it missing in passes before.
void PsnSpace::settle_overtaken(Step& s, const Again& again) {
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
