// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/asked_for.hpp"
#include "analyze/episode/scratch.hpp"

#include <algorithm>

#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

AskedFor::AskedFor(std::span<const Note> notes, const List<bool>& except) {
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const Note& note = notes[i];
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    if (note.request && info.starts_message()) starts_.insert(note.psn);
    const bool nak = !note.request && info.operation == dissect::Operation::acknowledge && note.has_aeth &&
                     (note.aeth >> 29U & 3U) != 0;
    if (nak && (except.empty() || !except[i])) asked_.insert(note.psn);
  }
}

bool AskedFor::has(const Note& request) const noexcept {
  constexpr std::int64_t shortly = 32;
  const auto asked = asked_.lower_bound(request.psn - shortly);
  if (asked == asked_.end()) return false;
  if (*asked < request.psn + std::max(request.count, 1)) return true;
  const auto next = starts_.upper_bound(request.psn);
  return starts_.contains(request.psn) && next != starts_.end() && *asked < *next;
}

}  // namespace roce::analyze::episode
