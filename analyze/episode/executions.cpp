// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/executions.hpp"
#include "analyze/episode/scratch.hpp"

#include <algorithm>
#include <tuple>

#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

namespace {

constexpr std::uint32_t mask = 0xffffffU;

}  // namespace

void Executions::find_messages(std::span<const Note> notes, std::span<const Issue> issues) {
  struct Part {
    std::int64_t first = 0, end = 0;
    bool ends = true;
  };
  List<Part> parts;
  parts.reserve(notes.size());
  auto issue = issues.begin();  // in the order of notes
  for (const Note& note : notes) {
    if (!note.request) continue;
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    if (!answered_on_its_own(info.operation)) {
      parts.push_back({note.psn, note.psn + 1, info.ends_message()});
    } else if (issue != issues.end()) {
      parts.push_back({issue->first, issue->end, true});
      ++issue;
    }
  }
  const auto before = [](const Part& a, const Part& b) {
    return std::tie(a.first, b.end) < std::tie(b.first, a.end);
  };
  if (!std::is_sorted(parts.begin(), parts.end(), before)) std::sort(parts.begin(), parts.end(), before);
  std::int64_t end = 0;
  std::int64_t begun = 0;
  bool inside = false;
  for (const Part& part : parts) {
    const bool any = !bases_.empty();
    if (any && part.first < end) continue;  // sent again
    if (!any || part.first > end) {
      bases_.emplace_back();
      inside = false;
    }
    if (!inside) begun = part.first;
    inside = !part.ends;
    end = part.end;
    if (!part.ends) continue;
    const bool next = !messages_.empty() && messages_.back().chapter + 1 == bases_.size();
    messages_.push_back({begun, end, next ? messages_.back().number + 1 : 0, bases_.size() - 1});
  }
}

const Executions::Message* Executions::at(std::int64_t psn) const {
  const auto behind = std::upper_bound(messages_.begin(), messages_.end(), psn,
                                       [](std::int64_t value, const Message& m) { return value < m.first; });
  if (behind == messages_.begin()) return nullptr;
  const Message& message = *std::prev(behind);
  return psn < message.end ? &message : nullptr;
}

/// An answer that comes after the execution of `message` counts at least that.
void Executions::bound(const Message& message, std::int64_t count) {
  std::optional<std::int64_t>& base = bases_[message.chapter];
  const std::int64_t at_most = count - message.number - 1;
  base = base ? std::min(*base, at_most) : at_most;
}

Executions::Executions(std::span<const Note> notes, std::span<const Issue> issues, const Facts& facts) {
  if (facts.msn_known) reference_ = facts.msn;
  find_messages(notes, issues);
  if (facts.msn_known) {
    if (const Message* last = at(facts.acked - 1); last != nullptr && last->end == facts.acked)
      bound(*last, *reference_);
  }
  highest_.reserve(notes.size());
  std::optional<std::int64_t> highest = reference_;
  for (const Note& note : notes) {
    highest_.push_back(highest);
    if (note.request || !note.has_aeth || note.before) continue;
    if (!reference_) reference_ = note.aeth & mask;
    const std::int64_t count = *carried(note);
    highest = highest ? std::max(*highest, count) : count;
    const bool plain = is_acknowledgement(note);
    const bool nak = plain && (note.aeth >> 29U & 3U) != 0;
    const Message* message = at(nak ? note.psn - 1 : note.psn);
    // What is acknowledged may be the middle of a message: then it was not counted yet.
    if (message != nullptr && (!plain || message->end == note.psn + (nak ? 0 : 1))) bound(*message, count);
  }
  counts_ = highest && *highest > 0;
}

std::optional<std::int64_t> Executions::carried(const Note& note) const {
  if (!note.has_aeth || note.before || !reference_) return std::nullopt;
  const std::uint32_t ahead = ((note.aeth & mask) - static_cast<std::uint32_t>(*reference_)) & mask;
  constexpr std::uint32_t half = 1U << 23U;
  return *reference_ + (ahead < half ? std::int64_t{ahead} : std::int64_t{ahead} - 2 * std::int64_t{half});
}

std::optional<std::int64_t> Executions::of_message(std::int64_t psn) const {
  const Message* message = at(psn);
  if (!counts_ || message == nullptr || !bases_[message->chapter]) return std::nullopt;
  return *bases_[message->chapter] + message->number + 1;
}

std::optional<std::int64_t> Executions::captured_before(std::int32_t note) const {
  return highest_[static_cast<std::size_t>(note)];
}

}  // namespace roce::analyze::episode
