// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/psn_step.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace roce::analyze {

using episode::Ruling;

namespace {

constexpr std::array<Event, lost_count> lost_event{
    Event::gap,          Event::lost_before_capture, Event::lost_after_capture, Event::lost_by_capture,
    Event::lost_trimmed, Event::lost_undecided};
constexpr std::array<Event, cause_count> repeat_event{
    Event::retransmitted_unknown, Event::retransmitted_nak,        Event::retransmitted_timeout,
    Event::retransmitted_rnr,     Event::retransmitted_read_retry, Event::retransmitted_unknown};

/// Adds `more` transmissions to what the packet shows. `own`: the packet's sender sent them.
void show_lost(Verdict& verdict, Lost where, bool own, std::uint64_t more) noexcept {
  const auto sum = [more](std::uint64_t before, std::uint64_t most) {
    return static_cast<std::uint32_t>(std::min(before + more, most));
  };
  if (where == Lost::before_capture) {
    verdict.lost_before = sum(verdict.lost_before, Verdict::most_before) & Verdict::most_before;
  } else if (where == Lost::undecided) {
    verdict.lost_or_missed = sum(verdict.lost_or_missed, Verdict::most_open) & Verdict::most_open;
  } else if (where == Lost::after_capture) {
    verdict.lost_after = static_cast<std::uint8_t>(sum(verdict.lost_after, 0xff));
  } else if (where == Lost::trimmed) {
    verdict.trimmed = 1;
  } else {
    verdict.miss(own, static_cast<std::int64_t>(more));
  }
}

void book_late(Step& s) {
  s.verdict.set(Verdict::out_of_order);
  happened(s, s.side, Event::out_of_order);
  if (Flow* flow = s.counts ? s.flow(s.side) : nullptr) flow->note_late(s.r);
}

void book_copy(Step& s) {
  const bool by_network = s.ruling.by_network;
  s.verdict.set(by_network ? Verdict::duplicate_network : Verdict::duplicate_capture);
  happened(s, s.side, by_network ? Event::duplicate_network : Event::duplicate_capture);
  Flow* const flow = s.counts ? s.flow(s.side) : nullptr;
  if (flow == nullptr) return;
  SequenceCounts& sequence = flow->sequence_to_change();
  ++(by_network ? sequence.duplicate_network : sequence.duplicate_captures);
}

/// Go-back-N sends what had come as well: the receiver threw it away, or has it twice.
void book_repeat(Step& s) {
  const Ruling& ruling = s.ruling;
  s.verdict.set(Verdict::retransmission);
  s.verdict.cause = ruling.cause;
  if (ruling.spurious) s.verdict.set(Verdict::spurious);
  happened(s, s.side, repeat_event[static_cast<std::size_t>(ruling.cause)]);
  const bool read_response = s.info.operation == dissect::Operation::read_response;
  // Where both sides READ, a side's own READs asked again are among its repeats too.
  if (ruling.cause == Cause::read_retry && read_response) happened(s, s.side, Event::response_repeated);
  if (ruling.spurious) happened(s, s.side, Event::spurious);
  if (ruling.thrown_away) happened(s, s.side, Event::wasted);
  if (Series::Bucket* bucket = s.counts ? s.bucket() : nullptr) ++bucket->retransmitted;
  Flow* const flow = s.counts ? s.flow(s.side) : nullptr;
  if (flow == nullptr) return;
  SequenceCounts& sequence = flow->sequence_to_change();
  ++sequence.retransmitted[static_cast<std::size_t>(ruling.cause)];
  sequence.retransmitted_bytes += s.r.wire;
  if (ruling.spurious) ++sequence.spurious;
  if (!ruling.thrown_away) return;
  ++sequence.wasted_packets;
  sequence.wasted_bytes += s.r.wire;
}

}  // namespace

void happened(Step& s, unsigned side, Event event, std::uint64_t count) {
  if (s.counts) s.connection.sent[side].add(event, s.number, s.r.time_ns, count);
}

void note_gap(Step& s, std::int64_t missing) {
  if (missing <= 0) return;
  const auto count = static_cast<std::uint32_t>(std::min<std::int64_t>(missing, dissect::serial_mask));
  s.verdict.add_gap(count);
  happened(s, s.side, Event::gap, count);
  if (Flow* flow = s.counts ? s.flow(s.side) : nullptr) flow->sequence_to_change().gaps += count;
}

void learn_pmtu(Step& s) noexcept {
  const std::uint32_t bytes = s.r.payload;
  const bool full =
      s.info.position == dissect::Position::first || s.info.position == dissect::Position::middle;
  if (full && std::has_single_bit(bytes) && bytes >= 256 && bytes <= 4096 && !s.connection.pmtu_by_cm)
    s.connection.pmtu = std::max(s.connection.pmtu, bytes);
}

void book_loss(const ShownLoss& loss, Connection& connection, Flow* flow, Series& series, Verdict* verdict) {
  if (verdict != nullptr) show_lost(*verdict, loss.where, loss.side == loss.by_side, loss.count);
  if (!loss.counts) return;
  const auto where = static_cast<std::size_t>(loss.where);
  if (flow != nullptr) flow->sequence_to_change().lost[where] += loss.count;
  connection.sent[loss.side].add(lost_event[where], loss.by, loss.time_ns, loss.count);
  if (loss.time_ns == capture::no_time) return;
  Series::Bucket& bucket = series.at(loss.time_ns);
  if (loss.where == Lost::undecided) {
    bucket.undecided += static_cast<std::uint32_t>(loss.count);
  } else {
    bucket.lost += loss.count;
  }
}

void book_ruling(Step& s, bool compared) {
  const Ruling& ruling = s.ruling;
  if (ruling.what != Ruling::What::first) s.verdict.rule = static_cast<unsigned>(ruling.rule) & 0x7fU;
  const bool again = ruling.what == Ruling::What::copy || ruling.what == Ruling::What::repeat;
  if (again && s.verdict.original == 0 && ruling.original < s.number)
    s.verdict.original = static_cast<std::uint32_t>(ruling.original);
  switch (ruling.what) {
    case Ruling::What::first:
      break;
    case Ruling::What::late:
      book_late(s);
      break;
    case Ruling::What::copy:
      book_copy(s);
      break;
    case Ruling::What::repeat:
      book_repeat(s);
      break;
  }
  const auto lose = [&](Lost where, unsigned side, std::uint32_t count) {
    if (count == 0) return;
    book_loss({where, side, s.number, s.side, s.r.time_ns, count, s.counts}, s.connection, s.flow(side),
              s.shared.series, &s.verdict);
  };
  lose(Lost::before_capture, s.side, compared ? 0 : ruling.lost_before);
  lose(Lost::undecided, s.side, compared ? 0 : ruling.lost_or_missed);
  lose(Lost::by_capture, s.side, ruling.missed_own);
  lose(Lost::after_capture, s.side ^ 1U, compared ? 0 : ruling.lost_after);
  lose(Lost::undecided, s.side ^ 1U, compared ? 0 : ruling.lost_behind_one);
  lose(Lost::by_capture, s.side ^ 1U, ruling.missed_other);
  lose(Lost::trimmed, s.side, ruling.trimmed ? 1 : 0);
}

}  // namespace roce::analyze
