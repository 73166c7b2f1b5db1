// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/alike.hpp"
#include "analyze/episode/scratch.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <utility>

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

void Alike::look_through() {
  const std::span<const Note> notes = notes_;
  constexpr std::size_t looked_back = 4;
  from_.reserve(notes.size() + 1);
  std::array<Map<std::int64_t, std::int32_t>, 2> last;  // answers, requests: of one PSN and opcode
  List<std::int32_t> previous;
  previous.reserve(notes.size());
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const std::size_t from = alike_.size();
    from_.push_back(static_cast<std::uint32_t>(from));
    const auto [same, fresh] = last[notes[i].request ? 1 : 0].try_emplace(
        notes[i].psn * 256 + notes[i].opcode, static_cast<std::int32_t>(i));
    previous.push_back(fresh ? -1 : std::exchange(same->second, static_cast<std::int32_t>(i)));
    for (std::int32_t other = previous[i]; other >= 0 && alike_.size() < from + looked_back;
         other = previous[static_cast<std::size_t>(other)]) {
      if (look_alike(notes[i], notes[static_cast<std::size_t>(other)])) alike_.push_back(other);
    }
    std::reverse(alike_.begin() + static_cast<std::ptrdiff_t>(from), alike_.end());
  }
  from_.push_back(static_cast<std::uint32_t>(alike_.size()));
}

bool Alike::any_id_twice(bool request) const {
  constexpr std::uint32_t all = 1U << 16U;
  // IDs that never go once around, as those of most episodes, differ.
  std::uint32_t around = 0;
  const Note* last = nullptr;
  for (const Note& note : notes_) {
    if (note.request != request) continue;
    const auto step =
        last == nullptr ? std::uint16_t{1} : static_cast<std::uint16_t>(note.ip_id - last->ip_id);
    around = step == 0 ? all : std::min(around + step, all);
    last = &note;
    if (around == all) break;
  }
  if (around < all) return false;
  std::bitset<all> seen;
  for (const Note& note : notes_) {
    if (note.request != request) continue;
    if (seen[note.ip_id]) return true;
    seen[note.ip_id] = true;
  }
  return false;
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
