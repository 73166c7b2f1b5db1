// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/request_trace.hpp"

#include <algorithm>

namespace roce::analyze {

using dissect::Operation;

namespace {

using dissect::serial_mask;
/// No more than this is under way at a time.
constexpr std::uint32_t most_in_flight = 65'536;
/// A flow that goes on for long forgets where it began.
constexpr std::uint32_t longest_memory = 1U << 22U;
/// None comes later than so many others.
constexpr std::uint32_t most_late = 512;
constexpr std::uint32_t most_messages = (1U << 30U) - 1;

constexpr bool is_behind(std::uint32_t psn, std::uint32_t other) noexcept {
  return dissect::serial_steps(other, psn) > serial_mask / 2;
}

RequestTrace::Answer answer_to(const dissect::OpcodeInfo& info) noexcept {
  switch (info.operation) {
    case Operation::read_request:
    case Operation::flush:
    case Operation::atomic_write:
      return RequestTrace::Answer::read_response;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return RequestTrace::Answer::atomic_acknowledge;
    default:
      return RequestTrace::Answer::acknowledge;
  }
}

}  // namespace

const RequestTrace::Slot* RequestTrace::slot_of(std::uint32_t psn) const noexcept {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[psn & (slots_.size() - 1)];
  return slot.psn == psn && slot.answer != 0 ? &slot : nullptr;
}

/// READs take no PSN twice, but how many one takes may be known as a bound only: where two could, it is the
/// one that begins later, and of one PSN the last.
const RequestTrace::Read* RequestTrace::read_of(std::uint32_t psn) const noexcept {
  const Read* found = nullptr;
  for (const Read& read : reads_) {
    const std::uint32_t behind = dissect::serial_steps(read.slot.psn, psn);
    if (read.psns == 0 || behind >= read.psns) continue;
    const std::uint32_t nearest = found != nullptr ? dissect::serial_steps(found->slot.psn, psn) : behind;
    if (behind < nearest || (behind == nearest && (!found || found->slot.time_ns <= read.slot.time_ns)))
      found = &read;
  }
  return found;
}

/// Messages that ended before `psn`, which is sent again or comes late: of the nearest before it.
std::uint32_t RequestTrace::messages_before(std::uint32_t psn) const noexcept {
  for (std::uint32_t back = 1; back <= most_late; ++back) {
    const std::uint32_t last = (psn - back) & serial_mask;
    if (const Slot* slot = slot_of(last); slot != nullptr) return slot->messages;
    if (const Read* read = read_of(last); read != nullptr) return read->slot.messages;
    if (last == first_) break;
  }
  return 0;
}

/// A message that ends at `psn` was not known when those behind it were noted.
void RequestTrace::count_behind(std::uint32_t psn) noexcept {
  const std::uint32_t behind = dissect::serial_steps(psn, next_);
  if (behind > most_late) return;
  for (std::uint32_t i = 1; i < behind; ++i) {
    Slot& slot = slots_[(psn + i) & (slots_.size() - 1)];
    if (slot.psn == ((psn + i) & serial_mask) && slot.answer != 0)
      slot.messages = (slot.messages + 1) & most_messages;
  }
  for (Read& read : reads_) {
    const std::uint32_t ahead = dissect::serial_steps(psn, read.slot.psn);
    if (read.psns != 0 && ahead != 0 && ahead < behind)
      read.slot.messages = (read.slot.messages + 1) & most_messages;
  }
  messages_ = (messages_ + 1) & most_messages;
}

void RequestTrace::put(const Slot& slot, std::size_t& budget) {
  const auto at = [&]() -> Slot& { return slots_[slot.psn & (slots_.size() - 1)]; };
  while (slots_.empty() || (at().answer != 0 && at().psn != slot.psn)) {
    const std::size_t wanted = slots_.empty() ? first_size : slots_.size() * 2;
    const std::size_t more = (wanted - slots_.size()) * sizeof(Slot);
    const std::size_t kept_for_others = wanted > usual_size ? whole_budget / 2 : 0;
    if (wanted > largest_size || more + kept_for_others > budget) break;
    budget -= more;
    std::vector<Slot> bigger(wanted);
    for (const Slot& old : slots_) {
      if (old.answer != 0) bigger[old.psn & (wanted - 1)] = old;
    }
    slots_ = std::move(bigger);
  }
  if (!slots_.empty()) at() = slot;
}

void RequestTrace::add(const PacketRecord& request, const dissect::OpcodeInfo& info, std::size_t& budget) {
  const std::uint32_t psn = request.psn;
  if (started_ && find(psn).place == Place::elsewhere) {
    // One number may be damaged; two that follow each other are another sequence.
    const bool goes_on = stray_ && dissect::serial_steps(*stray_, psn) < most_in_flight;
    stray_ = psn;
    if (!goes_on) return;
    started_ = open_read_ = false;
    std::fill(reads_.begin(), reads_.end(), Read{});
    std::fill(slots_.begin(), slots_.end(), Slot{});
    messages_ = 0;
  }
  stray_.reset();
  if (!started_) first_ = next_ = psn;
  const bool fresh = !started_ || !is_behind(psn, next_);
  started_ = true;
  Slot slot;
  slot.psn = psn;
  slot.time_ns = request.time_ns;
  slot.answer = static_cast<std::uint32_t>(answer_to(info)) & 3U;
  const bool is_read = info.operation == Operation::read_request;
  const std::uint32_t before = fresh ? messages_ : messages_before(psn);
  slot.messages = (before + (info.ends_message() ? 1U : 0U)) & most_messages;
  if (is_read) {
    // Asked for again from the middle on, it is still the same message.
    if (const Read* read = fresh ? nullptr : read_of(psn); read != nullptr && read->slot.psn != psn)
      slot.messages = read->slot.messages;
  }
  if (!fresh && info.ends_message() && slot_of(psn) == nullptr && read_of(psn) == nullptr && !slots_.empty())
    count_behind(psn);
  if (fresh) {
    if (open_read_) {
      // Not the one noted last: that may be one from before the first request, sent again.
      const std::uint32_t open = (next_ - 1) & serial_mask;
      for (Read& last : reads_) {
        if (last.psns == 0 || last.slot.psn != open) continue;
        last.psns = std::clamp<std::uint32_t>(dissect::serial_steps(open, psn), 1, last.psns);
      }
    }
    next_ = (psn + 1) & serial_mask;
    messages_ = slot.messages;
    if (dissect::serial_steps(first_, next_) > longest_memory)
      first_ = (next_ - longest_memory) & serial_mask;
    open_read_ = is_read;
  }
  if (is_read && (fresh || read_of(psn) == nullptr || read_of(psn)->slot.psn == psn)) {
    constexpr std::uint32_t smallest_mtu = 256;
    if (reads_.empty()) reads_.resize(most_reads);
    Read* read = &reads_[next_read_ % reads_.size()];
    for (Read& known : reads_) {
      if (!fresh && known.psns != 0 && known.slot.psn == psn) read = &known;
    }
    const bool known = !fresh && read->psns != 0 && read->slot.psn == psn;
    if (!known) {
      ++next_read_;
      read->psns = std::max<std::uint32_t>(
          1, request.dma_length / smallest_mtu + (request.dma_length % smallest_mtu != 0 ? 1U : 0U));
      read->psns = std::min(read->psns, serial_mask / 2);
    }
    read->slot = slot;
  }
  put(slot, budget);
}

RequestTrace::Found RequestTrace::find(std::uint32_t psn) const noexcept {
  Found found;
  if (!started_) return found;
  const bool sent = is_behind(psn, next_);
  const Read* read = nullptr;
  if (!sent) {
    // Responses to the last READ come under PSNs behind it.
    if (open_read_) read = read_of(psn);
    if (read == nullptr) {
      found.place = dissect::serial_steps(next_, psn) < most_in_flight ? Place::beyond : Place::elsewhere;
      return found;
    }
  } else if (dissect::serial_steps(first_, psn) >= dissect::serial_steps(first_, next_)) {
    found.place = dissect::serial_steps(psn, first_) < most_in_flight ? Place::before : Place::elsewhere;
    return found;
  }
  found.place = Place::among;
  const Slot* slot = slot_of(psn);
  const bool begins = slot != nullptr;  // or what was asked for again from there on
  if (slot == nullptr && read == nullptr) read = read_of(psn);
  if (slot == nullptr && read != nullptr) slot = &read->slot;
  if (slot == nullptr) return found;
  found.answer = static_cast<Answer>(slot->answer);
  found.time_ns = slot->time_ns;
  found.messages = slot->messages;
  if (found.answer == Answer::read_response && read == nullptr) read = read_of(psn);
  found.of_read = read != nullptr;
  if (read != nullptr && (begins || read->slot.psn == psn))
    found.begins = read->psns - dissect::serial_steps(read->slot.psn, psn);
  return found;
}

void RequestTrace::release(std::size_t& budget) noexcept {
  budget += slots_.size() * sizeof(Slot);
  slots_ = {};
}

}  // namespace roce::analyze
