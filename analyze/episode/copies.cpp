// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/copies.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

/// What is the same in all that show one transmission.
using Looks = std::tuple<bool, std::int64_t, std::uint8_t, std::uint32_t>;

bool is_acknowledge(const Note& note) noexcept {
  return dissect::opcode_info(note.opcode).operation == Operation::acknowledge;
}

/// Of what is remembered from before an episode, only acknowledgements have an AETH.
Looks looks_of(const Note& note) noexcept {
  return {note.request, note.psn, note.opcode, is_acknowledge(note) ? note.aeth : 0};
}

class Copies {
 public:
  Copies(std::span<const Note> notes, Facts& facts) : notes_(notes), facts_(facts), said_(notes.size()) {
    alike_.resize(notes.size());
    std::map<Looks, std::vector<std::int32_t>> seen;
    std::int32_t responses = 0;
    for (std::size_t i = 0; i < notes.size(); ++i) {
      responses_before_.push_back(responses);
      if (!notes[i].request && !is_acknowledge(notes[i])) ++responses;
      std::vector<std::int32_t>& same = seen[looks_of(notes[i])];
      const std::size_t from = same.size() - std::min(same.size(), looked_back);
      alike_[i].assign(same.begin() + static_cast<std::ptrdiff_t>(from), same.end());
      same.push_back(static_cast<std::int32_t>(i));
    }
  }

  std::vector<Copied> find() {
    for (const bool request : {true, false}) {
      if (ids_change(request)) {
        by_ids(request);
        ids_[request ? 1 : 0] = true;
      } else {
        by_path(request);
      }
    }
    if (!ids_[0] || !ids_[1]) {
      witness();
      by_lag();
      if (!ids_[1]) of_forgotten();
    }
    return std::move(said_);
  }

 private:
  static constexpr std::size_t looked_back = 4;

  [[nodiscard]] const Note& at(std::int32_t i) const noexcept { return notes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t lag(std::int32_t from, std::size_t to) const noexcept {
    const bool timed = at(from).time_ns != capture::no_time && notes_[to].time_ns != capture::no_time;
    return timed ? notes_[to].time_ns - at(from).time_ns : -1;
  }

  [[nodiscard]] bool copied(std::int32_t i) const noexcept {
    return said_[static_cast<std::size_t>(i)].rule != Rule::none;
  }
  void say(std::size_t i, Rule rule, std::int32_t of) {
    said_[i] = {rule, of};
    if (of >= 0) shown_.insert(of);
  }

  [[nodiscard]] bool ids_change(bool request) const;
  void by_ids(bool request);
  void by_path(bool request);
  void of_forgotten();
  [[nodiscard]] bool forgotten(std::size_t i) const noexcept;
  [[nodiscard]] std::int32_t on_other_path(std::size_t i) const noexcept;
  void witness();
  void by_lag();
  [[nodiscard]] std::vector<std::int64_t> unasked_lags() const;
  void add_counted_lags(std::vector<std::int64_t>& lags) const;
  [[nodiscard]] bool asked_for(const Note& request) const noexcept;
  [[nodiscard]] bool response_between(std::int32_t from, std::size_t to) const noexcept {
    return responses_before_[static_cast<std::size_t>(from)] != responses_before_[to];
  }

  std::span<const Note> notes_;
  Facts& facts_;
  std::vector<Copied> said_;
  std::vector<std::int32_t> responses_before_;    ///< by note
  std::vector<std::vector<std::int32_t>> alike_;  ///< by note: the last ones before that look the same
  std::array<bool, 2> ids_{};                     ///< of answers, of requests: they change
  std::set<std::int32_t> shown_;                  ///< those of which there is a copy
  std::set<std::int64_t> starts_;                 ///< first PSNs of messages
  std::set<std::int64_t> asked_;                  ///< PSNs of NAKs
};

/// Whether IPv4 IDs differ from one transmission to the next.
bool Copies::ids_change(bool request) const {
  std::uint32_t changes = 0;
  std::uint32_t constant = 0;
  const Note* last = nullptr;
  for (const Note& note : notes_) {
    if (note.request != request) continue;
    if (!note.has_ip_id) return false;
    // Those that look the same may be the same.
    if (last != nullptr && looks_of(*last) != looks_of(note))
      ++(last->ip_id == note.ip_id ? constant : changes);
    last = &note;
  }
  constexpr std::uint32_t enough = 12;
  if (changes + constant < enough) {
    const StreamFact& fact = request ? facts_.requests : facts_.responses;
    changes += fact.id_forward + fact.id_other;
    constant += fact.id_constant;
  }
  return changes > constant;
}

/// Equal IDs of those that look the same, unless 16 bits may have gone around.
void Copies::by_ids(bool request) {
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].request != request) continue;
    for (const std::int32_t before : alike_[i]) {
      if (at(before).ip_id != notes_[i].ip_id || lag(before, i) >= turned_ns) continue;
      say(i, Rule::same_id, copied(before) ? said_[static_cast<std::size_t>(before)].of : before);
      break;
    }
  }
}

/// Captured before, and confirmed, so long ago that it is forgotten.
bool Copies::forgotten(std::size_t i) const noexcept {
  const Note& note = notes_[i];
  return note.request && alike_[i].empty() && !note.before && note.psn >= facts_.first &&
         note.psn + std::max(note.count, 1) <= facts_.acked;
}

/// The first one before it on another path that has no copy yet; -1: there is none.
std::int32_t Copies::on_other_path(std::size_t i) const noexcept {
  for (const std::int32_t before : alike_[i]) {
    const std::int64_t took = lag(before, i);
    if (at(before).path != notes_[i].path && took >= 0 && took < quiet_ns && !copied(before) &&
        !shown_.contains(before))
      return before;
  }
  return -1;
}

/// A path on which hardly anything comes that was not shown before on another: of a second capture point.
void Copies::by_path(bool request) {
  struct Path {
    std::uint32_t all = 0, again = 0;
  };
  std::map<std::uint32_t, Path> paths;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].request != request) continue;
    Path& path = paths[notes_[i].path];
    ++path.all;
    if (forgotten(i) || on_other_path(i) >= 0) ++path.again;
  }
  if (paths.size() < 2) return;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].request != request) continue;
    const Path& path = paths[notes_[i].path];
    if (path.again * 10 < path.all * 9) continue;
    const std::int32_t before = on_other_path(i);
    if (before >= 0 || forgotten(i)) say(i, Rule::other_path, before);
  }
}

/// Nobody sends again what was confirmed, if nothing asks for it and no timer ran. But a READ or atomic whose
/// answer was lost behind the capture is asked for again at once.
void Copies::of_forgotten() {
  std::int64_t last_ns = capture::no_time;
  std::int64_t last_end = -1;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (!note.request || copied(static_cast<std::int32_t>(i))) continue;
    const bool soon = note.time_ns != capture::no_time && last_ns != capture::no_time &&
                      note.time_ns - last_ns < shortest_timer_ns;
    const bool awaits = answered_on_its_own(dissect::opcode_info(note.opcode).operation);
    // What follows a packet that was sent again goes with it.
    if (forgotten(i) && soon && note.psn != last_end && !awaits && !asked_for(note)) {
      say(i, Rule::confirmed_before, -1);
    } else {
      last_ns = note.time_ns;
      last_end = note.psn + std::max(note.count, 1);
    }
  }
}

/// Whether a NAK or RNR NAK, early or late, asks for it, for what comes behind it in its message, or for one
/// shortly before it: that may have been lost again.
bool Copies::asked_for(const Note& request) const noexcept {
  constexpr std::int64_t shortly = 32;
  const auto asked = asked_.lower_bound(request.psn - shortly);
  if (asked == asked_.end()) return false;
  if (*asked < request.psn + std::max(request.count, 1)) return true;
  const auto next = starts_.upper_bound(request.psn);
  return starts_.contains(request.psn) && next != starts_.end() && *asked < *next;
}

/// How long after the first of its kind a request came that nothing asked for and no timer sent again: of
/// rows, but for those between which something new was sent, the first only.
std::vector<std::int64_t> Copies::unasked_lags() const {
  struct Row {
    bool asked = false;
    std::int64_t top = 0;
  };
  std::vector<std::int64_t> lags;
  std::unordered_map<std::int64_t, Row> rows;  // by the PSN that comes next in it
  std::int64_t top = 0;
  std::int64_t last = 0;  // where the row ends that the last one belonged to; 0: to none
  bool any = false;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (!note.request || copied(static_cast<std::int32_t>(i))) continue;
    const std::int64_t end = note.psn + std::max(note.count, 1);
    if (!any || note.psn >= top) {
      top = end;
      last = 0;
      any = true;
      continue;
    }
    auto goes_on = rows.find(note.psn);
    // What is missing of a row was lost, or comes late.
    constexpr std::int64_t late = 64;
    if (goes_on == rows.end() && last != 0 && last < note.psn + late) goes_on = rows.find(last);
    const bool begins = goes_on == rows.end();
    const Row row{begins ? asked_for(note) : goes_on->second.asked, top};
    // A response that comes before another one is missing asks for that one (implied NAK).
    const bool implied = answered_on_its_own(dissect::opcode_info(note.opcode).operation) &&
                         !alike_[i].empty() && response_between(alike_[i].back(), i);
    const bool tells = (begins || goes_on->second.top < top) && !implied;
    if (!row.asked && tells && !alike_[i].empty() && !note.before) {
      const std::int64_t took = lag(alike_[i].back(), i);
      if (took >= 0 && took < shortest_timer_ns) lags.push_back(took);
    }
    if (!begins) rows.erase(goes_on);
    rows[end] = row;
    last = end;
  }
  return lags;
}

/// A responder that gives a response again counts what it has executed since (MSN, IBTA 9.7.7.1): one that
/// carries the count of then is shown again.
void Copies::add_counted_lags(std::vector<std::int64_t>& lags) const {
  constexpr std::uint32_t half = 1U << 23U;
  const auto behind = [](std::uint32_t count, std::uint32_t other) {
    const std::uint32_t ahead = (other - count) & 0xffffffU;
    return ahead != 0 && ahead < half;
  };
  const Note* highest = nullptr;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (note.request || !note.has_aeth || note.before) continue;
    if (highest != nullptr && behind(note.aeth, highest->aeth) && !is_acknowledge(note) &&
        !alike_[i].empty()) {
      const Note& first = at(alike_[i].back());
      const std::int64_t took = lag(alike_[i].back(), i);
      const bool same = first.has_aeth && !first.before && first.aeth == note.aeth;
      if (same && took >= 0 && took < quiet_ns) lags.push_back(took);
    }
    if (highest == nullptr || behind(highest->aeth, note.aeth)) highest = &note;
  }
}

/// Mirrors are steady: most that was shown twice unasked came after the same time.
void Copies::witness() {
  for (const Note& note : notes_) {
    if (note.request && dissect::opcode_info(note.opcode).starts_message()) starts_.insert(note.psn);
    const bool nak = !note.request && is_acknowledge(note) && note.has_aeth && (note.aeth >> 29U & 3U) != 0;
    if (nak) asked_.insert(note.psn);
  }
  std::vector<std::int64_t> lags = unasked_lags();
  add_counted_lags(lags);
  std::sort(lags.begin(), lags.end());
  std::size_t most = 0;
  std::size_t begin = 0;
  for (std::size_t from = 0, to = 0; to < lags.size(); ++to) {
    while (lags[to] - lags[from] > lags[from] / 8 + steady_ns) ++from;
    if (to + 1 - from > most) {
      most = to + 1 - from;
      begin = from;
    }
  }
  constexpr std::size_t some = 4;
  if (most < some || most * 10 < lags.size() * 6) return;
  MirrorFact& mirror = facts_.mirror;
  mirror.least_lag_ns = lags[begin];
  mirror.most_lag_ns = lags[begin + most - 1];
  mirror.witnesses = static_cast<std::uint32_t>(std::min<std::size_t>(mirror.witnesses + most, 1U << 20U));
}

/// Where a mirror is known, what comes again after its lag is its copy; each of one.
void Copies::by_lag() {
  const MirrorFact& mirror = facts_.mirror;
  if (mirror.witnesses == 0) return;
  const std::int64_t room = (mirror.most_lag_ns - mirror.least_lag_ns) / 2 + mirror.least_lag_ns / 32;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (ids_[notes_[i].request ? 1 : 0] || copied(static_cast<std::int32_t>(i))) continue;
    for (const std::int32_t before : alike_[i]) {
      const std::int64_t took = lag(before, i);
      if (took < mirror.least_lag_ns - room || took > mirror.most_lag_ns + room || copied(before) ||
          shown_.contains(before))
        continue;
      say(i, Rule::steady_lag, before);
      break;
    }
  }
}

}  // namespace

std::vector<Copied> find_copies(std::span<const Note> notes, Facts& facts) {
  return Copies(notes, facts).find();
}

}  // namespace roce::analyze::episode
