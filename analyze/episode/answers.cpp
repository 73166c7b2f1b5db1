// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/answers.hpp"

#include <algorithm>
#include <utility>

#include "dissect/aeth.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

Answers::Answers(std::span<const Note> notes, std::int64_t acked) {
  acked_.reserve(notes.size() + 1);
  asked_count_.reserve(notes.size() + 1);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const Note& note = notes[i];
    acked_.push_back(acked);
    asked_count_.push_back(static_cast<std::uint32_t>(asked_.size()));
    if (note.request) continue;
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    const auto index = static_cast<std::int32_t>(i);
    if (info.operation != Operation::acknowledge) {
      const auto [last, fresh] = responses_.try_emplace(note.psn, index);
      if (!fresh) before_[index] = std::exchange(last->second, index);
      // A responder executes in order: all before it is executed.
      acked = std::max(acked, note.psn + (info.ends_message() ? 1 : 0));
      continue;
    }
    if (!note.has_aeth) continue;
    const unsigned kind = note.aeth >> 29U & 3U;
    const unsigned code = note.aeth >> 24U & 31U;
    if (kind == 0) {
      acked = std::max(acked, note.psn + 1);
    } else if (kind == 1) {
      acked = std::max(acked, note.psn);
      const auto wait = static_cast<std::int64_t>(dissect::rnr_timer_ns(static_cast<std::uint8_t>(code)));
      ask({note.psn, wait, index, true});
    } else if (kind == 3) {
      acked = std::max(acked, note.psn);
      if (code == 0) ask({note.psn, 0, index, false});
    }
  }
  acked_.push_back(acked);
  asked_count_.push_back(static_cast<std::uint32_t>(asked_.size()));
}

void Answers::ask(const Asked& asked) {
  if (asked_.empty() || asked_.back().psn != asked.psn || asked_.back().rnr != asked.rnr)
    questions_.push_back(static_cast<std::uint32_t>(asked_.size()));
  asked_.push_back(asked);
}

std::int32_t Answers::confirmed_at(std::int64_t psn) const noexcept {
  const auto beyond = std::upper_bound(acked_.begin(), acked_.end(), psn);
  if (beyond == acked_.end()) return -1;
  return static_cast<std::int32_t>(beyond - acked_.begin()) - 1;
}

std::span<const Asked> Answers::asked_before(std::int32_t note) const noexcept {
  constexpr std::ptrdiff_t most = 24;
  const std::uint32_t count = asked_count_[static_cast<std::size_t>(note)];
  const auto behind = std::lower_bound(questions_.begin(), questions_.end(), count);
  const std::uint32_t from = behind - questions_.begin() > most ? *(behind - most) : 0;
  return std::span(asked_).subspan(from, count - from);
}

std::int32_t Answers::response_before(std::int64_t psn, std::int32_t note) const noexcept {
  const auto last = responses_.find(psn);
  std::int32_t response = last == responses_.end() ? -1 : last->second;
  while (response >= note) {
    const auto before = before_.find(response);
    response = before == before_.end() ? -1 : before->second;
  }
  return response;
}

bool Answers::response_missing(std::int64_t from, std::int64_t to, std::int32_t note) const noexcept {
  constexpr std::int64_t looked_at = 512;
  for (std::int64_t psn = from; psn < std::min(to, from + looked_at); ++psn) {
    if (response_before(psn, note) < 0) return true;
  }
  return false;
}

}  // namespace roce::analyze::episode
