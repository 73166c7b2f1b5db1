// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/replay.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyze/episode/scratch.hpp"

namespace roce::analyze::episode {

namespace {

enum class Arrival : std::uint8_t { certain, open, lost };
/// What a responder expects next (ePSN, IBTA 9.7.4.1.1), if it received just that. It throws away what comes
/// early, or keeps it.
class Receiver {
 public:
  explicit Receiver(bool keeps) : keeps_(keeps) {}
  [[nodiscard]] std::int64_t next() const noexcept { return next_; }
  void begin_at(std::int64_t psn) {
    next_ = std::max(next_, psn);
    take_kept();
  }
  void go_back_to(std::int64_t psn) { next_ = std::min(next_, psn); }
  void receive(std::int64_t from, std::int64_t to) {
    if (from <= next_) {
      next_ = std::max(next_, to);
      take_kept();
    } else if (keeps_) {
      std::int64_t& end = kept_[from];
      end = std::max(end, to);
    }
  }

 private:
  void take_kept() {
    auto first = kept_.begin();
    if (first == kept_.end() || first->first > next_) return;
    for (; first != kept_.end() && first->first <= next_; ++first) next_ = std::max(next_, first->second);
    kept_.erase_to(next_);
  }
  bool keeps_;
  std::int64_t next_ = std::numeric_limits<std::int64_t>::min() / 2;
  Map<std::int64_t, std::int64_t> kept_;  ///< early ones: from, to
};

/// All that may have been: what is left open came in its turn (`most_`), or did not (`least_`).
class Replay {
 public:
  Replay(std::span<const Note> notes, const Explanation& said, const Facts& facts, bool keeps)
      : notes_(notes), said_(said), facts_(facts), least_(keeps), most_(keeps) {
    arrivals();
    refuse();
  }
  [[nodiscard]] std::vector<ImpossibleAnswer> run();

 private:
  [[nodiscard]] const Note& at(std::size_t i) const noexcept { return notes_[i]; }
  [[nodiscard]] std::int64_t end_of(const Note& request) const noexcept;
  void arrivals();
  void refuse();
  void begin(std::size_t live);
  void receive(std::size_t i);
  void answer(std::size_t i);
  void pass_unseen();
  void early(std::int64_t psn);
  [[nodiscard]] bool may_ask(std::int64_t psn) const;
  void contradict(std::size_t i, Undecided why) { found_.push_back({static_cast<std::int32_t>(i), why}); }

  std::span<const Note> notes_;
  const Explanation& said_;
  const Facts& facts_;
  Receiver least_, most_;
  std::int64_t begins_ = 0;               ///< of what was before nothing is remembered
  List<Arrival> arrival_;                 ///< by note
  Map<std::int64_t, std::int64_t> sent_;  ///< captured requests: from, to
  Set<std::int64_t> told_;                ///< of these, and of those said to be lost, what is told so far
  /// What it may have asked for so far, since something came that was early then: from, to. In order.
  List<std::pair<std::int64_t, std::int64_t>> questions_;
  std::vector<ImpossibleAnswer> found_;
};

std::int64_t Replay::end_of(const Note& request) const noexcept {
  if (request.count > 0) return request.psn + request.count;
  const auto next = sent_.upper_bound(request.psn);
  return next == sent_.end() ? std::numeric_limits<std::int64_t>::max() / 2 : next->first;
}

void Replay::arrivals() {
  arrival_.assign(notes_.size(), Arrival::certain);
  bool all_known = true;
  for (const Note& note : notes_) {
    if (!note.request) continue;
    std::int64_t& end = sent_[note.psn];
    end = std::max(end, note.count > 0 ? end_of(note) : 0);
    all_known = all_known && note.count > 0;
  }
  for (const Note& note : notes_) {
    if (all_known || !note.request || note.count > 0) continue;
    std::int64_t& end = sent_[note.psn];
    end = std::max(end, end_of(note));
  }
  for (const std::int32_t i : said_.late_behind) arrival_[static_cast<std::size_t>(i)] = Arrival::open;
  // Where some are overtaken behind the capture, any may be.
  if (facts_.there.late != 0) std::fill(arrival_.begin(), arrival_.end(), Arrival::open);
  for (const Loss& loss : said_.losses) {
    if (loss.request && loss.where == Lost::before_capture) told_.insert(loss.psn);
    if (loss.request && (loss.where == Lost::after_capture || loss.where == Lost::trimmed) && loss.note >= 0)
      arrival_[static_cast<std::size_t>(loss.note)] = Arrival::lost;
  }
}

/// A request that was answered with an RNR NAK was not taken.
void Replay::refuse() {
  if (std::none_of(notes_.begin(), notes_.end(), [](const Note& note) { return nak_of(note) == Nak::rnr; }))
    return;
  Map<std::int64_t, List<std::size_t>> sent;
  for (std::size_t i = 0; i < notes_.size(); ++i) {
    if (at(i).request) {
      sent[at(i).psn].push_back(i);
    } else if (nak_of(at(i)) == Nak::rnr) {
      for (const std::size_t request : sent[at(i).psn]) {
        if (arrival_[request] == Arrival::certain) arrival_[request] = Arrival::open;
      }
    }
  }
}

/// What no capture shows may have come.
void Replay::pass_unseen() {
  const auto behind = sent_.upper_bound(most_.next());
  if (behind == sent_.end() || behind == sent_.begin() || most_.next() < std::prev(behind)->second) return;
  most_.begin_at(behind->first);
}

/// Something with that PSN came: whatever was expected before it may be asked for.
void Replay::early(std::int64_t psn) {
  const std::int64_t from = least_.next();
  const std::int64_t to = std::min(most_.next(), psn - 1);
  if (from > to) return;
  if (!questions_.empty() && from <= questions_.back().second + 1) {
    questions_.back().second = std::max(questions_.back().second, to);
  } else {
    questions_.emplace_back(from, to);
  }
}

bool Replay::may_ask(std::int64_t psn) const {
  const auto behind = std::upper_bound(
      questions_.begin(), questions_.end(), psn,
      [](std::int64_t value, const std::pair<std::int64_t, std::int64_t>& one) { return value < one.first; });
  return behind != questions_.begin() && psn <= std::prev(behind)->second;
}

void Replay::receive(std::size_t i) {
  const Note& note = at(i);
  told_.insert(note.psn);
  if (arrival_[i] == Arrival::lost) return;
  early(note.psn);
  const std::int64_t end = end_of(note);
  most_.receive(note.psn, end);
  pass_unseen();
  if (arrival_[i] == Arrival::certain) least_.receive(note.psn, end);
}

void Replay::answer(std::size_t i) {
  const Note& note = at(i);
  const Nak kind = nak_of(note);
  const std::int64_t confirmed = note.psn + (kind == Nak::none ? 1 : 0);
  if (most_.next() < confirmed) {
    // Of what was not captured nothing is said, nor of what was captured only when it was sent again.
    if (told_.contains(most_.next())) contradict(i, Undecided::confirms_lost);
    most_.begin_at(confirmed);
    pass_unseen();
  } else if (kind == Nak::sequence && note.psn >= begins_ && !may_ask(note.psn)) {
    contradict(i, Undecided::asks_for_taken);
    least_.go_back_to(note.psn);
    return;
  } else if (kind == Nak::rnr && note.psn >= begins_ && least_.next() > note.psn) {
    contradict(i, Undecided::not_ready_again);
  }
  least_.begin_at(confirmed);
}

/// What was captured before the episode was in order when it came.
void Replay::begin(std::size_t live) {
  const auto first =
      std::find_if(notes_.begin(), notes_.end(), [](const Note& note) { return note.request; });
  if (first == notes_.end()) return;
  begins_ = std::max(facts_.acked, first->psn);
  least_.begin_at(begins_);
  most_.begin_at(begins_);
  pass_unseen();
  for (std::size_t i = 0; i < live; ++i) {
    if (at(i).request) receive(i);
  }
}

std::vector<ImpossibleAnswer> Replay::run() {
  const auto live = std::find_if(notes_.begin(), notes_.end(), [](const Note& note) { return !note.before; });
  const auto from = static_cast<std::size_t>(live - notes_.begin());
  begin(from);
  for (std::size_t i = from; i < notes_.size(); ++i) {
    if (said_.rulings[i].what == Ruling::What::copy) continue;
    if (at(i).request) {
      receive(i);
    } else {
      answer(i);
    }
  }
  return std::move(found_);
}

}  // namespace

std::vector<ImpossibleAnswer> replay(std::span<const Note> notes, const Explanation& said,
                                     const Facts& facts) {
  const Scratch scratch;
  if (!facts.repeats || facts.capture.is_sample()) return {};
  std::vector<ImpossibleAnswer> found = Replay(notes, said, facts, facts.keeps > 0).run();
  if (found.empty()) return found;
  std::vector<ImpossibleAnswer> other = Replay(notes, said, facts, facts.keeps <= 0).run();
  return other.size() < found.size() ? other : found;
}

}  // namespace roce::analyze::episode
