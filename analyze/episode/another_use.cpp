// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/another_use.hpp"
#include "analyze/episode/scratch.hpp"

#include <algorithm>
#include <vector>

#include "dissect/opcode.hpp"
#include "dissect/types.hpp"

namespace roce::analyze::episode {
namespace {

/// What was known when the silence ended.
struct Before {
  std::int64_t acked = 0;  ///< everything before is confirmed
  std::int64_t top = 0;    ///< behind the highest request, or what was confirmed
  bool msn_known = false;
  std::uint32_t msn = 0;
  List<std::int64_t> unconfirmed;  ///< ends of messages, in order
  Map<std::int64_t, const Note*> sent;
};

bool ends_message(const Note& note) {
  return dissect::opcode_info(note.opcode).ends_message();
}
bool counts(const Note& note) {
  return note.has_aeth && !note.before;
}
std::uint32_t msn_of(const Note& note) {
  return note.aeth & dissect::serial_mask;
}

Before before(std::span<const Note> notes, const Facts& facts) {
  Before was{facts.acked, facts.acked, facts.msn_known, facts.msn, {}, {}};
  for (const Note& note : notes) {
    if (note.request) {
      was.sent[note.psn] = &note;
      was.top = std::max(was.top, note.psn + std::max(note.count, 1));
      if (ends_message(note)) was.unconfirmed.push_back(note.psn);
      continue;
    }
    const bool nak = counts(note) && (note.aeth >> 29U & 3U) != 0;
    if (ends_message(note)) was.acked = std::max(was.acked, note.psn + (nak ? 0 : 1));
    if (!counts(note)) continue;
    if (!was.msn_known || dissect::serial_distance(was.msn, msn_of(note)) >= 0) was.msn = msn_of(note);
    was.msn_known = true;
  }
  std::sort(was.unconfirmed.begin(), was.unconfirmed.end());
  was.unconfirmed.erase(std::unique(was.unconfirmed.begin(), was.unconfirmed.end()), was.unconfirmed.end());
  std::erase_if(was.unconfirmed, [&](std::int64_t end) { return end < was.acked; });
  return was;
}

/// What is sent again has the opcode that it had, and asks for as much (IBTA 9.7.5.1.1).
bool differs(const Note& now, const Before& was) {
  const auto found = was.sent.find(now.psn);
  if (found == was.sent.end()) return false;
  const Note& then = *found->second;
  return then.opcode != now.opcode || (then.count > 0 && now.count > 0 && then.count != now.count);
}

/// Whether it is a transmission that is remembered, or the very first one. Only where IDs change.
bool shown_before(const Note& now, const Before& was, const Facts& facts) {
  const StreamFact& ids = facts.requests;
  if (!now.has_ip_id || ids.id_forward + ids.id_other <= ids.id_constant) return false;
  if (now.psn == facts.began_with && now.ip_id == facts.began_id) return true;
  const auto found = was.sent.find(now.psn);
  return found != was.sent.end() && found->second->has_ip_id && found->second->ip_id == now.ip_id &&
         found->second->opcode == now.opcode;
}

/// What was sent since.
struct Since {
  std::int64_t first = 0;
  std::int64_t next = 0;    ///< behind the highest
  std::int64_t gaps = 0;    ///< PSNs below that were not captured
  List<std::int64_t> ends;  ///< of messages, in order

  void send(const Note& note) {
    if (note.psn < next) return;
    gaps += note.psn - next;
    next = note.psn + std::max(note.count, 1);
    if (ends_message(note)) ends.push_back(note.psn);
  }
};

std::int64_t up_to(const List<std::int64_t>& ends, std::int64_t from, std::int64_t psn) {
  return std::upper_bound(ends.begin(), ends.end(), psn) - std::lower_bound(ends.begin(), ends.end(), from);
}

/// What the count of messages of an answer says.
Use counted(const Note& answer, const Before& was, const Since& since) {
  const auto msn = static_cast<std::int64_t>(msn_of(answer));
  const auto rise = std::int64_t{dissect::serial_distance(was.msn, msn_of(answer))};
  const bool begins = msn >= 1 && msn <= static_cast<std::int64_t>(since.ends.size()) + since.gaps;
  const bool goes_on = rise >= 0 && rise <= std::max<std::int64_t>(since.next - was.acked, 0);
  if (begins != goes_on) return begins ? Use::another : Use::same;
  if (!begins) return Use::unknown;
  // Both may be: it counts what was sent up to its PSN, a NAK what was sent before.
  const std::int64_t last = answer.psn - ((answer.aeth >> 29U & 3U) != 0 ? 1 : 0);
  const bool exactly_begins = msn == up_to(since.ends, since.first, last);
  const std::int64_t early = up_to(was.unconfirmed, was.acked, std::min(last, since.first - 1));
  const std::int64_t rest = up_to(since.ends, std::max(was.acked, since.first), last);
  const bool exactly_goes_on = rise == early + std::max<std::int64_t>(rest, 0);
  if (exactly_begins == exactly_goes_on) return Use::unknown;
  return exactly_begins ? Use::another : Use::same;
}

}  // namespace

Use use_from(std::span<const Note> notes, std::size_t begins, const Facts& facts) {
  const Scratch scratch;
  const std::span<const Note> rest = notes.subspan(begins);
  const auto first = std::find_if(rest.begin(), rest.end(), [](const Note& note) { return note.request; });
  if (first == rest.end()) return Use::unknown;
  const Before was = before(notes.first(begins), facts);
  const bool far = !was.sent.empty() && std::abs(first->psn - was.top) > far_psns;
  Since since{first->psn, first->psn, 0, {}};
  for (auto note = first; note != rest.end(); ++note) {
    if (note->request) {
      // Nobody goes on behind a stray.
      if (far && note != first && note->psn >= since.first && note->psn - since.first <= soon_psns)
        return Use::another;
      if (std::abs(note->psn - since.first) > far_psns) return Use::unknown;
      if (shown_before(*note, was, facts)) return Use::shown_again;
      if (differs(*note, was)) return Use::another;
      since.send(*note);
    } else if (far && note->psn >= since.first && note->psn - since.first <= soon_psns) {
      return Use::another;
    } else if (counts(*note) && note->psn >= since.first && note->psn < since.next) {
      // Nothing had been answered: it was sent again until it was.
      if (!was.msn_known) return was.sent.empty() ? Use::unknown : Use::same;
      const Use said = counted(*note, was, since);
      if (said != Use::unknown) return said;
    }
  }
  return Use::unknown;
}

}  // namespace roce::analyze::episode
