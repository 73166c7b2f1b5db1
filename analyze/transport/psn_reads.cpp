// SPDX-License-Identifier: Apache-2.0
// How many PSNs a READ takes (IBTA 9.7.5.2.1): known only with its length and the path MTU, else where its
// responses or the next request tell.
#include <algorithm>
#include <bit>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;

/// 0 = not known before the path MTU is.
std::int64_t PsnSpace::read_packets(const PacketBrief& r, const Connection& connection) const noexcept {
  if (!r.has(PacketRecord::has_reth)) return 0;
  if (r.dma_length <= pmtu_at_least_) return 1;
  if (connection.pmtu == 0) return 0;
  return packets_of(r.dma_length, connection.pmtu);
}

/// So many bytes came in one packet, or have one PSN.
void PsnSpace::fit_in_one(Connection& connection, std::uint32_t bytes) noexcept {
  if (bytes <= pmtu_at_least_ || bytes > largest_pmtu) return;
  pmtu_at_least_ = static_cast<std::uint16_t>(std::bit_ceil(bytes));
  // Two losses behind READs looked like longer ones.
  if (connection.pmtu == pmtu_taught_ && pmtu_taught_ < pmtu_at_least_) connection.pmtu = 0;
}

/// A READ whose length in PSNs was unknown ends where the next request begins, if some path MTU explains
/// that. What is missing there may have been lost as well: only the second that says the same is believed.
bool PsnSpace::close_open_read(Step& s, std::int64_t psn) {
  if (!messages_.open_end()) return false;
  Pending& read = messages_.queue().back();
  const std::int64_t count = psn - read.first;
  if (count <= 0 || count > std::int64_t{1} << 23U) return false;
  if (read.has_reth && count == 1) {
    fit_in_one(s.connection, read.length);
  } else if (read.has_reth) {
    bool fits = false;
    for (std::uint32_t pmtu = pmtu_at_least_; pmtu <= largest_pmtu; pmtu *= 2) {
      if (packets_of(read.length, pmtu) != count) continue;
      fits = true;
      // Several may fit a short READ; only a clear case teaches.
      if (packets_of(read.length, pmtu * 2) == count) continue;
      if (pmtu_guess_ == pmtu && !s.connection.pmtu_by_cm && s.connection.pmtu == 0)
        s.connection.pmtu = pmtu_taught_ = pmtu_guess_;
      pmtu_guess_ = static_cast<std::uint16_t>(pmtu);
    }
    if (!fits) return false;
  }
  read.open_end = false;
  read.last = psn - 1;
  close_awaited(read.first, psn);
  req_.next = req_.cursor = psn;
  return true;
}

/// The READ from `first` on ends there.
void PsnSpace::close_awaited(std::int64_t first, std::int64_t end) noexcept {
  for (std::size_t i = awaited_head_; i < awaited_.size(); ++i) {
    Awaited& one = awaited_[i];
    // One that is answered stands where the next one begins.
    if (!one.open_end || one.first - static_cast<std::uint32_t>(first) >= end - first) continue;
    one.end = std::max(end, one.next);
    one.open_end = false;
  }
}

/// The READ has fewer PSNs than it seemed to have: those behind were of requests that are missing.
void PsnSpace::end_read_at(Step& s, Pending& read, std::int64_t psn) {
  const std::int64_t end = read.last + 1;
  read.last = psn;
  for (std::size_t i = awaited_head_; i < awaited_.size(); ++i) {
    if (awaited_[i].end == end) awaited_[i].end = std::max(psn + 1, awaited_[i].next);
  }
  if (end > req_.next) return;
  if (end == req_.next) {
    req_.next = req_.cursor = psn + 1;  // nothing came behind it yet
    return;
  }
  const Seen* shown_by = sent_.find(end);
  bool late = false;  // one of them came since
  sent_.for_each_in(psn + 1, end, [&](const Seen&) { late = true; });
  if (shown_by == nullptr || late || gaps_.any_in(psn + 1, end)) return;
  gaps_.add({psn + 1, end, shown_by->time_ns, shown_by->frame});
  const auto count = static_cast<std::uint32_t>(end - psn - 1);
  if (Verdict* verdict = s.shared.verdicts != nullptr ? s.shared.verdicts->at(shown_by->frame) : nullptr)
    verdict->add_gap(count);
  if (!s.counts) return;
  s.connection.sent[side_].add(Event::gap, shown_by->frame, shown_by->time_ns, count);
  if (Flow* flow = s.flow(side_)) flow->sequence_to_change().gaps += count;
}

/// Path MTU and length of a READ, where only responses tell them.
void PsnSpace::learn_from_response(Step& s, std::int64_t psn) {
  const std::uint32_t bytes = s.r.payload;
  learn_pmtu(s);
  fit_in_one(s.connection, bytes);
  Pending* op = messages_.find(psn);
  if (op == nullptr) return;
  // The last response to a READ that was asked for once; an Only one to all of it.
  const bool only = s.info.starts_message() && s.info.ends_message();
  const bool last = s.info.ends_message() && op->kind == OperationKind::read && !op->retried &&
                    (only ? psn == op->first && op->has_reth && bytes == op->length : psn > op->first);
  if (last && !op->open_end && op->last > psn) end_read_at(s, *op, psn);
  // It seemed to reach as far as the next request, and one between comes late.
  const bool full = !s.info.ends_message() && bytes != 0 && bytes == s.connection.pmtu;
  if (full && op->kind == OperationKind::read && op->has_reth && !op->open_end) {
    const std::int64_t asked_to = op->first + packets_of(op->length, bytes) - 1;
    if (op->last > asked_to && psn <= asked_to) {
      end_read_at(s, *op, asked_to);
      close_awaited(op->first, asked_to + 1);
    }
  }
  if (!op->open_end) return;
  const std::uint32_t pmtu = s.connection.pmtu;
  if (op->has_reth && pmtu != 0) {
    op->last = op->first + packets_of(op->length, pmtu) - 1;
    op->open_end = false;
    req_.next = std::max(req_.next, op->last + 1);
  } else {
    req_.next = std::max(req_.next, psn + 1);
    if (s.info.ends_message()) {
      op->last = psn;
      op->open_end = false;
    }
  }
  req_.cursor = req_.next;
  if (!op->open_end) close_awaited(op->first, op->last + 1);
}

/// No request packet has a PSN inside a READ: the gap behind one whose number of PSNs was unknown was none.
void PsnSpace::fill_inside_read(Step& s, std::int64_t psn) {
  std::int64_t from = psn;
  std::int64_t end = s.info.starts_message() ? psn : psn + 1;
  if (const Pending* read = messages_.find(psn); read != nullptr && read->kind == OperationKind::read) {
    from = read->first + 1;
    if (read->has_reth && s.connection.pmtu != 0)
      end = std::max(end, read->first + packets_of(read->length, s.connection.pmtu));
  }
  if (from < end) gaps_.fill(from, end - from);
}

}  // namespace roce::analyze
