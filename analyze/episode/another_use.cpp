// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/another_use.hpp"

#include <algorithm>
#include <cstdlib>

#include "dissect/opcode.hpp"
#include "dissect/types.hpp"

namespace roce::analyze::episode {
namespace {

constexpr std::size_t early_at_most = 64;

bool ends_message(const Note& note) {
  return dissect::opcode_info(note.opcode).ends_message();
}
bool counts(const Note& note) {
  return note.has_aeth && !note.before;
}
std::uint32_t msn_of(const Note& note) {
  return note.aeth & dissect::serial_mask;
}

std::int64_t up_to(const std::vector<std::int64_t>& ends, std::int64_t from, std::int64_t psn) {
  return std::upper_bound(ends.begin(), ends.end(), psn) - std::lower_bound(ends.begin(), ends.end(), from);
}

}  // namespace

AnotherUse::AnotherUse(std::span<const Note> before, const Facts& facts)
    : facts_(facts), acked_(facts.acked), top_(facts.acked), msn_known_(facts.msn_known), msn_(facts.msn) {
  for (const Note& note : before) {
    if (note.request) {
      sent_.push_back(note);
      top_ = std::max(top_, note.psn + std::max(note.count, 1));
      if (ends_message(note)) unconfirmed_.push_back(note.psn);
      continue;
    }
    const bool nak = counts(note) && (note.aeth >> 29U & 3U) != 0;
    if (ends_message(note)) acked_ = std::max(acked_, note.psn + (nak ? 0 : 1));
    if (!counts(note)) continue;
    if (!msn_known_ || dissect::serial_distance(msn_, msn_of(note)) >= 0) msn_ = msn_of(note);
    msn_known_ = true;
  }
  const auto by_psn = [](const Note& a, const Note& b) { return a.psn < b.psn; };
  if (!std::is_sorted(sent_.begin(), sent_.end(), by_psn))
    std::stable_sort(sent_.begin(), sent_.end(), by_psn);
  std::sort(unconfirmed_.begin(), unconfirmed_.end());
  unconfirmed_.erase(std::unique(unconfirmed_.begin(), unconfirmed_.end()), unconfirmed_.end());
  std::erase_if(unconfirmed_, [&](std::int64_t end) { return end < acked_; });
  whole_ = from_first_message();
}

/// Whether the responder has counted the messages that are remembered, and no others.
bool AnotherUse::from_first_message() const noexcept {
  if (!msn_known_ || sent_.empty() || sent_.front().psn != facts_.began_with) return false;
  if (!dissect::opcode_info(sent_.front().opcode).starts_message()) return false;
  std::int64_t messages = 0, last = sent_.front().psn - 1;
  for (const Note& note : sent_) {
    if (note.psn >= acked_) break;
    if (ends_message(note) && note.psn != last) ++messages;
    last = note.psn;
  }
  return messages > 0 && messages == static_cast<std::int64_t>(msn_);
}

/// The last one with that PSN; nullptr: none is remembered.
const Note* AnotherUse::sent_before(std::int64_t psn) const noexcept {
  const auto behind = std::upper_bound(sent_.begin(), sent_.end(), psn,
                                       [](std::int64_t at, const Note& note) { return at < note.psn; });
  return behind != sent_.begin() && std::prev(behind)->psn == psn ? &*std::prev(behind) : nullptr;
}

/// What is sent again has the opcode that it had, carries or asks for as much, and from the same address
/// (IBTA 9.7.5.1.1).
bool AnotherUse::differs(const Note& now) const noexcept {
  const Note* const then = sent_before(now.psn);
  if (then == nullptr) return false;
  return then->opcode != now.opcode || (then->count > 0 && now.count > 0 && then->count != now.count) ||
         (then->content != 0 && now.content != 0 && then->content != now.content);
}

/// Whether it is a transmission that is remembered, or the very first one. Only where IDs change.
bool AnotherUse::shown_before(const Note& now) const noexcept {
  const StreamFact& ids = facts_.requests;
  if (!now.has_ip_id || ids.id_forward + ids.id_other <= ids.id_constant) return false;
  if (now.psn == facts_.began_with && now.ip_id == facts_.began_id) return true;
  const Note* const then = sent_before(now.psn);
  return then != nullptr && then->has_ip_id && then->ip_id == now.ip_id && then->opcode == now.opcode;
}

void AnotherUse::send(const Note& note) {
  if (note.psn < next_) return;
  gaps_ += note.psn - next_;
  next_ = note.psn + std::max(note.count, 1);
  if (ends_message(note)) ends_.push_back(note.psn);
}

/// What the count of messages of an answer says.
Use AnotherUse::counted(const Note& answer) const {
  const auto msn = static_cast<std::int64_t>(msn_of(answer));
  const auto rise = std::int64_t{dissect::serial_distance(msn_, msn_of(answer))};
  const bool begins = msn >= 1 && msn <= static_cast<std::int64_t>(ends_.size()) + gaps_;
  const bool goes_on = rise >= 0 && rise <= std::max<std::int64_t>(next_ - acked_, 0);
  if (begins != goes_on) return begins ? Use::another : Use::same;
  if (!begins) return Use::unknown;
  // Both may be: it counts what was sent up to its PSN, a NAK what was sent before.
  const std::int64_t last = answer.psn - ((answer.aeth >> 29U & 3U) != 0 ? 1 : 0);
  const bool exactly_begins = msn == up_to(ends_, first_, last);
  const std::int64_t early = up_to(unconfirmed_, acked_, std::min(last, first_ - 1));
  const std::int64_t rest = up_to(ends_, std::max(acked_, first_), last);
  const bool exactly_goes_on = rise == early + std::max<std::int64_t>(rest, 0);
  if (exactly_begins == exactly_goes_on) return Use::unknown;
  return exactly_begins ? Use::another : Use::same;
}

Use AnotherUse::take(const Note& note) {
  const bool first = !begun_ && note.request;
  if (first) {
    begun_ = true;
    first_ = next_ = note.psn;
    far_ = !sent_.empty() && std::abs(note.psn - top_) > far_psns;
  }
  if (over_) return Use::unknown;
  if (!begun_) {
    if (counts(note) && early_.size() < early_at_most) early_.push_back(note);
    return Use::unknown;
  }
  // Nobody goes on behind a stray.
  if (far_ && !first && note.psn >= first_ && note.psn - first_ <= soon_psns) return Use::another;
  if (note.request) {
    over_ = std::abs(note.psn - first_) > far_psns;
    if (over_) return Use::unknown;
    if (shown_before(note)) return Use::shown_again;
    if (differs(note) || (whole_ && note.psn < facts_.began_with)) return Use::another;
    send(note);
    return answered_early();
  }
  if (!counts(note) || note.psn < first_) return Use::unknown;
  if (note.psn >= next_) {
    if (early_.size() < early_at_most) early_.push_back(note);
    return Use::unknown;
  }
  // Nothing had been answered: it was sent again until it was.
  if (!msn_known_) {
    over_ = sent_.empty();
    return over_ ? Use::unknown : Use::same;
  }
  return counted(note);
}

/// What the answers say that came before the request that was the last to come: a host hands over what it
/// received before what it sent.
Use AnotherUse::answered_early() {
  Use use = Use::unknown;
  std::erase_if(early_, [&](const Note& answer) {
    if (answer.psn >= next_) return false;
    if (use == Use::unknown && answer.psn >= first_ && msn_known_) use = counted(answer);
    return true;
  });
  return use;
}

}  // namespace roce::analyze::episode
