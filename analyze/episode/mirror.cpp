// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/mirror.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "analyze/episode/alike.hpp"
#include "analyze/episode/asked_for.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"
#include "dissect/types.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

/// How long after one that looks the same packets came that nobody sent again.
class Again {
 public:
  Again(std::span<const Note> notes, const Facts& facts) : notes_(notes), alike_(notes) {
    note_answers();
    for (const bool request : {true, false}) {
      if (alike_.ids_change(request, facts)) {
        look_at_ids(request);
      } else if (request) {
        look_at_requests();
      } else {
        look_at_answers(facts);
      }
    }
  }

  List<Lag> lags;

 private:
  void note_answers();
  [[nodiscard]] bool answered_twice(const Note& request, std::int64_t lag_ns) const;
  void add(std::int32_t before, std::size_t i, std::int64_t at_most_ns);
  void look_at_ids(bool request);
  void look_at_requests();
  void look_at_answers(const Facts& facts);

  std::span<const Note> notes_;
  Alike alike_;
  /// Answers: PSN, and how long after one that looks the same it came; -1: there was none.
  List<std::pair<std::int64_t, std::int64_t>> answers_;
};

void Again::note_answers() {
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].request || nak_of(notes_[i]) != Nak::none) continue;
    const std::span<const std::int32_t> same = alike_.before(i);
    answers_.emplace_back(notes_[i].psn, same.empty() ? -1 : alike_.lag(same.back(), i));
  }
  std::sort(answers_.begin(), answers_.end());
}

/// A responder answers a duplicate as well (IBTA 9.7.5.1.4), and a capture that shows packets twice shows its
/// two answers as far from each other as the two requests.
bool Again::answered_twice(const Note& request, std::int64_t lag_ns) const {
  const auto first = std::lower_bound(answers_.begin(), answers_.end(), std::pair{request.psn, INT64_MIN});
  for (auto each = first; each != answers_.end() && each->first == first->first; ++each) {
    if (each->second >= 0 && std::abs(each->second - lag_ns) > lag_ns / 8 + steady_ns) return true;
  }
  return false;
}

void Again::add(std::int32_t before, std::size_t i, std::int64_t at_most_ns) {
  const std::int64_t took = alike_.lag(before, i);
  if (took < 0 || took >= at_most_ns) return;
  const Note& note = notes_[i];
  const bool other_path = notes_[static_cast<std::size_t>(before)].path != note.path;
  lags.push_back({took, other_path, note.request && answered_twice(note, took)});
}

void Again::look_at_ids(bool request) {
  if (!alike_.any_id_twice(request)) return;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (notes_[i].request != request || notes_[i].before) continue;
    for (const std::int32_t before : alike_.before(i)) {
      if (notes_[static_cast<std::size_t>(before)].ip_id != notes_[i].ip_id) continue;
      add(before, i, quiet_ns);
      break;
    }
  }
}

/// Requests that nothing asked for and no timer sent again: of rows, but for those between which something
/// new was sent, the first only. What comes again behind a NAK of it, or of one before it, was asked for.
void Again::look_at_requests() {
  struct Row {
    bool asked = false;
    std::int64_t top = 0;
    bool over = false;  ///< it went on
  };
  const AskedFor asked_for(notes_);
  Map<std::int64_t, Row> rows;  // by the PSN that comes next in it
  std::int64_t top = 0;
  std::int64_t last = 0;  // where the row ends that the last one belonged to; 0: to none
  bool any = false;
  std::int32_t response = -1;                        // the last one
  List<std::pair<std::int64_t, std::int32_t>> naks;  // PSNs that rise, and when the last of each came
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    const Operation operation = dissect::opcode_info(note.opcode).operation;
    if (!note.request) {
      if (operation != Operation::acknowledge) response = static_cast<std::int32_t>(i);
      if (nak_of(note) != Nak::none) {
        // Of those before it that ask for no less only the last counts.
        while (!naks.empty() && naks.back().first >= note.psn) naks.pop_back();
        naks.emplace_back(note.psn, static_cast<std::int32_t>(i));
      }
      continue;
    }
    const std::int64_t end = note.psn + std::max(note.count, 1);
    if (!any || note.psn >= top) {
      top = end;
      last = 0;
      any = true;
      continue;
    }
    const auto row_at = [&](std::int64_t psn) {
      const auto row = rows.find(psn);
      return row != rows.end() && row->second.over ? rows.end() : row;
    };
    auto goes_on = row_at(note.psn);
    // What is missing of a row was lost, or comes late.
    constexpr std::int64_t late = 64;
    if (goes_on == rows.end() && last != 0 && last < note.psn + late) goes_on = row_at(last);
    const bool begins = goes_on == rows.end();
    const Row row{begins ? asked_for.has(note) : goes_on->second.asked, top};
    const std::span<const std::int32_t> same = alike_.before(i);
    // A response that comes before another one is missing asks for that one (implied NAK).
    const bool implied = answered_on_its_own(operation) && !same.empty() && response > same.back();
    const auto nak = std::upper_bound(naks.begin(), naks.end(), note.psn,
                                      [](std::int64_t psn, const auto& one) { return psn < one.first; });
    const bool refused = nak != naks.begin() && !same.empty() && std::prev(nak)->second > same.back();
    const bool tells = (begins || goes_on->second.top < top) && !implied && !refused;
    if (!row.asked && tells && !same.empty() && !note.before) add(same.back(), i, shortest_timer_ns);
    if (!begins) goes_on->second.over = true;
    rows[end] = row;
    last = end;
  }
}

/// Who answers again counts what was executed since (MSN, IBTA 9.7.7.1): an answer that carries the count of
/// then is shown again.
void Again::look_at_answers(const Facts& facts) {
  bool known = facts.msn_known;
  std::uint32_t highest = facts.msn;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    const Note& note = notes_[i];
    if (note.request || !note.has_aeth || note.before) continue;
    const std::uint32_t msn = note.aeth & dissect::serial_mask;
    const std::int32_t ahead = known ? dissect::serial_distance(highest, msn) : 1;
    const std::span<const std::int32_t> same = alike_.before(i);
    if (ahead < 0 && !same.empty()) add(same.back(), i, quiet_ns);
    if (ahead > 0) highest = msn;
    known = true;
  }
}

}  // namespace

void Mirror::learn(std::span<const Note> notes, const Facts& facts) {
  const Scratch scratch;
  const Again again(notes, facts);
  notes_ += notes.size();
  if (again.lags.empty()) return;
  for (const Lag& lag : again.lags) lags_[count_++ % lags_.size()] = lag;
  look();
}

void Mirror::look() {
  List<Lag> lags(lags_.begin(), lags_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, lags_.size())));
  std::sort(lags.begin(), lags.end(), [](const Lag& a, const Lag& b) { return a.ns < b.ns; });
  std::span<const Lag> steady;
  for (std::size_t from = 0, to = 0; to < lags.size(); ++to) {
    while (lags[to].ns - lags[from].ns > lags[from].ns / 8 + steady_ns) ++from;
    if (to + 1 - from > steady.size()) steady = std::span(lags).subspan(from, to + 1 - from);
  }
  constexpr std::size_t some = 4;
  if (steady.size() < some || steady.size() * 10 < lags.size() * 6) return;
  // A host that was held up sends at once what its timer made it send twice. A second point shows all twice,
  // in each direction after a time of its own.
  const auto sent_twice =
      std::count_if(steady.begin(), steady.end(), [](const Lag& lag) { return lag.answered_twice; });
  constexpr std::size_t part = 4;
  if (part * count_ < notes_ && part * static_cast<std::size_t>(sent_twice) >= steady.size()) return;
  // Nearest to each other is the half that has least to do with chance.
  std::span<const Lag> half = steady;
  for (std::size_t from = 0, size = steady.size() / 2 + 1; from + size <= steady.size(); ++from) {
    const std::span<const Lag> other = steady.subspan(from, size);
    if (other.back().ns - other.front().ns < half.back().ns - half.front().ns) half = other;
  }
  const bool whole_us =
      std::all_of(half.begin(), half.end(), [](const Lag& lag) { return lag.ns % 1000 == 0; });
  // A second point, which shows much again, does so as late as a packet in the way, and its own length, make
  // it.
  constexpr std::size_t much = 32;
  const bool second_point = count_ * much >= notes_;
  const std::int64_t room =
      2 * (half.back().ns - half.front().ns) +
      std::max<std::int64_t>({half.front().ns / 32, whole_us ? 1000 : 0, second_point ? steady_ns : 0});
  fact_.least_lag_ns = half.front().ns - room;
  fact_.most_lag_ns = half.back().ns + room;
  fact_.witnesses = static_cast<std::uint32_t>(steady.size());
  fact_.other_path = std::any_of(steady.begin(), steady.end(), [](const Lag& lag) { return lag.other_path; });
  fact_.same_path = std::any_of(steady.begin(), steady.end(), [](const Lag& lag) { return !lag.other_path; });
}

}  // namespace roce::analyze::episode
