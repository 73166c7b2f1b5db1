// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/alike.hpp"
#include "analyze/episode/scratch.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace roce::analyze::episode {

namespace {

/// Whether two of one PSN and opcode may be the same. What is remembered from before an episode has no AETH,
/// but for NAKs, of which the syndrome is known.
bool look_alike(const Note& a, const Note& b) noexcept {
  if (!a.has_aeth || !b.has_aeth) return true;
  const unsigned unknown_bits = a.before || b.before ? 24 : 0;
  return a.aeth >> unknown_bits == b.aeth >> unknown_bits;
}

}  // namespace

Alike::Alike(std::span<const Note> notes) : notes_(notes), alike_(notes.size()) {
  constexpr std::size_t looked_back = 4;
  Map<std::tuple<bool, std::int64_t, std::uint8_t>, List<std::int32_t>> seen;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    List<std::int32_t>& same = seen[{notes[i].request, notes[i].psn, notes[i].opcode}];
    for (auto other = same.rbegin(); other != same.rend() && alike_[i].size() < looked_back; ++other) {
      if (look_alike(notes[i], notes[static_cast<std::size_t>(*other)])) alike_[i].push_back(*other);
    }
    std::reverse(alike_[i].begin(), alike_[i].end());
    same.push_back(static_cast<std::int32_t>(i));
  }
}

bool Alike::ids_change(bool request, const Facts& facts) const {
  std::uint32_t changes = 0;
  std::uint32_t constant = 0;
  const Note* last = nullptr;
  for (const Note& note : notes_) {
    if (note.request != request) continue;
    if (!note.has_ip_id) return false;
    // Those that look the same may be the same.
    const bool other =
        last != nullptr && (last->psn != note.psn || last->opcode != note.opcode || !look_alike(*last, note));
    if (other) ++(last->ip_id == note.ip_id ? constant : changes);
    last = &note;
  }
  constexpr std::uint32_t enough = 12;
  if (changes + constant < enough) {
    const StreamFact& fact = request ? facts.requests : facts.responses;
    changes += fact.id_forward + fact.id_other;
    constant += fact.id_constant;
  }
  return changes > constant;
}

}  // namespace roce::analyze::episode
