// SPDX-License-Identifier: Apache-2.0
// How much of a PSN space the capture shows: nothing of this says what became of a packet.
#include <algorithm>

#include "analyze/transport/psn_space.hpp"

namespace roce::analyze {

using episode::Ruling;

namespace {

/// Of a READ: an ACK has the PSN of a request.
bool gives_data(const Seen* seen) noexcept {
  return seen != nullptr && dissect::opcode_info(seen->opcode).operation == dissect::Operation::read_response;
}

}  // namespace

/// A packet comes, and what was sent just before it did not. `last`: of its kind that was captured before.
void PsnSpace::note_break(const Step& s, std::int64_t missing, const Seen* last) {
  ++coverage_.breaks;
  if (s.info.request && s.info.starts_message()) ++coverage_.breaks_at_start;
  if (last == nullptr || last->frame >= s.number) return;
  s.shared.gaps.add(SequenceStep{static_cast<std::uint64_t>(missing), s.number - last->frame});
}

void PsnSpace::note_copy(const PacketRecord& r, const Seen* seen) noexcept {
  ++coverage_.copies;
  if (seen != nullptr && seen->path != r.path) ++coverage_.copies_elsewhere;
}

/// Of a response to a READ. Where no request was captured, nobody knows what lies between two READs.
void PsnSpace::note_response_coverage(const Step& s, std::int64_t psn) {
  if (first_answer_ < 0) first_answer_ = psn;
  seen_after_all(psn, s.shared);
  if (s.ruling.what == Ruling::What::repeat) {
    ++coverage_.repeats;
    if (response_gaps_.find(psn) != nullptr) ++coverage_.refilled;
    return;
  }
  ++resp_.firsts;
  const bool next = psn == resp_.answered || resp_.answered < 0;
  if (s.ruling.what != Ruling::What::first || psn < resp_.answered || (next && req_.seen)) return;
  const bool inside = !s.info.starts_message();
  if (!req_.seen && (inside || next)) {
    const std::int64_t from = resp_.answered < 0 ? psn : resp_.answered;
    coverage_.span += static_cast<std::uint64_t>(psn + 1 - from);
  }
  if (next || (!req_.seen && !inside)) return;
  if (answers_.find(psn - 1) != nullptr || sent_.find(psn - 1) != nullptr) return;
  note_break(s, psn - resp_.answered, inside ? answers_.find(resp_.answered - 1) : nullptr);
}

PsnGap PsnSpace::gap_before(const Step& s, std::int64_t from, std::int64_t to, PsnRing& ring) noexcept {
  PsnGap gap{from, to, s.r.time_ns, s.number};
  const Seen* last = ring.find(from - 1);
  // Answers come in order: the last one that confirmed anything was before it.
  if (last == nullptr && &ring == &answers_ && resp_.acked_known) last = answers_.find(resp_.acked - 1);
  if (last != nullptr && last->frame < s.number) {
    gap.before = last->frame;
    gap.before_ns = last->time_ns;
  } else if (last_gap_.to == from) {  // the answer to what was not captured showed the one, this the other
    gap.before = last_gap_.before;
    gap.before_ns = last_gap_.before_ns;
  } else {
    gap.before = before_.frame;
    gap.before_ns = before_.time_ns;
  }
  last_gap_ = gap;
  return gap;
}

/// What lies in the gap below that PSN was not captured, as far as is known by now.
void PsnSpace::note_unseen(const PsnGap& gap, std::int64_t below, UnseenIs is, TrackerShared& shared) {
  PsnGap unseen = gap;
  unseen.to = std::min(gap.to, below);
  // What is remembered was captured, whatever its place.
  constexpr std::int64_t looked_at = 4096;
  std::uint64_t psns = 0;
  for (std::int64_t psn = unseen.from; psn < unseen.to; ++psn) {
    const Seen* const given = answers_.find(psn);
    const bool sent = is != UnseenIs::never_asked_for && sent_.find(psn) != nullptr;
    const bool known = psn - unseen.from < looked_at && (sent || gives_data(given));
    psns += known ? 0 : 1;
  }
  if (psns == 0) return;
  unseen.row = static_cast<std::uint32_t>(shared.gaps.rows.size());
  const bool delivered = is == UnseenIs::delivered, odd = is == UnseenIs::never_asked_for;
  if (!shared.gaps.add(UnseenRow{gap.before, gap.frame, gap.before_ns, gap.time_ns, psns, delivered, odd}))
    return;
  unseen_.add(unseen);
}

void PsnSpace::miss_response(std::int64_t psn, TrackerShared& shared) {
  const PsnGap* const gap = response_gaps_.find(psn);
  if (gap == nullptr) return;
  PsnGap one = *gap;
  one.from = psn;
  note_unseen(one, psn + 1, UnseenIs::delivered, shared);
  response_gaps_.fill(psn, 1);
}

/// It came behind its answer, as the clocks of two interfaces differ, or what seemed to be a request that is
/// missing was inside a READ.
void PsnSpace::seen_after_all(std::int64_t psn, TrackerShared& shared) {
  const PsnGap* const unseen = unseen_.find(psn);
  if (unseen == nullptr) return;
  std::uint64_t& psns = shared.gaps.rows[unseen->row].psns;
  psns -= std::min<std::uint64_t>(psns, 1);
  unseen_.fill(psn, 1);
}

Coverage PsnSpace::coverage() const noexcept {
  Coverage all;
  all.span = coverage_.span;
  all.refilled = coverage_.refilled;
  all.repeats = coverage_.repeats;
  all.breaks = coverage_.breaks;
  all.breaks_at_start = coverage_.breaks_at_start;
  all.copies = coverage_.copies;
  all.copies_elsewhere = coverage_.copies_elsewhere;
  all.firsts = req_.firsts + resp_.firsts;
  all.responses = resp_.firsts;
  all.spaces = all.firsts != 0 ? 1 : 0;
  if (!req_.seen || all.firsts == 0) return all;
  // What a READ asked for last may still have been on its way.
  const bool reads = resp_.firsts != 0;
  const std::int64_t end = reads ? std::max(resp_.answered, resp_.acked_known ? resp_.acked : 0) : req_.next;
  const std::int64_t begin = std::min({req_.first, first_late_, reads ? first_answer_ : req_.first});
  all.span = static_cast<std::uint64_t>(std::max<std::int64_t>(end - begin, 0));
  return all;
}

}  // namespace roce::analyze
