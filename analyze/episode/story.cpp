// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/story.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze::episode {
namespace {

/// Without initial values: of a story's places for them most are never used.
struct Gap {
  std::int64_t from, to;
  std::int32_t pass;
  std::uint32_t by : 31;  ///< index in `sent` of what was captured behind it
  bool first : 1;         ///< of what had never been sent
};
static_assert(sizeof(Gap) == 24, "each story has several");

/// A story so far, but for its gaps.
struct Standing {
  float bits = 0;
  std::int32_t origin = -1;  ///< in the arena: the step that led here
  Move last = Move::next;
  std::int64_t cursor = 0;
  std::int64_t top = 0;
  std::int64_t bottom = 0;      ///< the lowest PSN sent: what lies before may come late
  std::int64_t row = -1;        ///< the next of a row of copies or late ones
  std::int64_t row_lag_ns = 0;  ///< of the last copy
  std::int32_t pass = 0;
  std::int32_t passes = 0;
  std::int32_t told_by = -1;  ///< Sent::told_by of the last one that began a pass
  std::int32_t turned = -1;   ///< index in `sent` of what began the pass that has not come to `top` yet
  std::uint32_t pass_length = 0;
  std::uint8_t gaps = 0;
};

/// A story so far.
struct State : Standing {
  static constexpr std::size_t gaps_at_most = 20;
  std::array<Gap, gaps_at_most> gap;

  State() = default;
  State(const State& other) : Standing(other) { copy_gaps(other); }
  State& operator=(const State& other) {
    Standing::operator=(other);
    copy_gaps(other);
    return *this;
  }
  ~State() = default;

  void copy_gaps(const State& other) noexcept { std::copy_n(other.gap.begin(), other.gaps, gap.begin()); }
  void miss(std::int64_t from, std::int64_t to, std::uint32_t by, bool first) noexcept {
    if (gaps == gaps_at_most) {
      std::copy(gap.begin() + 1, gap.end(), gap.begin());
      --gaps;
    }
    gap[gaps++] = {from, to, pass, by & 0x7fffffffU, first};
  }
  /// The last gap with all of it; gaps if there is none.
  [[nodiscard]] std::size_t gap_of(std::int64_t from, std::int64_t to) const noexcept {
    for (std::size_t i = gaps; i-- > 0;) {
      if (gap[i].from <= from && to <= gap[i].to) return i;
    }
    return gaps;
  }
  void fill(std::size_t i, std::int64_t from, std::int64_t to) noexcept {
    const Gap whole = gap[i];
    const bool before = whole.from < from;
    const bool behind = to < whole.to;
    if (before) gap[i].to = from;
    if (behind && before && gaps < gaps_at_most) {
      std::copy_backward(gap.begin() + static_cast<std::ptrdiff_t>(i) + 1, gap.begin() + gaps,
                         gap.begin() + gaps + 1);
      gap[i + 1] = {to, whole.to, whole.pass, whole.by, whole.first};
      ++gaps;
    } else if (behind) {
      gap[i].from = to;
    } else if (!before) {
      std::copy(gap.begin() + static_cast<std::ptrdiff_t>(i) + 1, gap.begin() + gaps,
                gap.begin() + static_cast<std::ptrdiff_t>(i));
      --gaps;
    }
  }
};

/// Only what a sender is told during a pass makes it go on at another place.
bool may_begin(const Sent& each, std::int64_t cursor, std::int32_t told_by) noexcept {
  return each.psn < cursor || each.told_by > told_by;
}

std::int64_t begins_at(const Sent& each) noexcept {
  return each.back_from >= 0 ? each.back_from : each.psn;
}

struct Taken {
  std::int32_t origin = -1;
  Placed told;
};

float bits_of(std::int64_t count) noexcept {
  return std::log2(static_cast<float>(std::max<std::int64_t>(count, 1)));
}

class Search {
 public:
  Search(std::span<const Sent> sent, const StoryFacts& facts) : sent_(sent), facts_(facts) {}

  List<Placed> run() {
    if (sent_.empty()) return {};
    State first;
    first.cursor = first.top = sent_[0].psn;
    if (facts_.top > sent_[0].psn) first.cursor = first.top = facts_.top;
    first.bottom = std::min(facts_.bottom, sent_[0].psn);
    for (std::size_t i = 0; i < facts_.before; ++i) follow(first, sent_[i]);
    List<State> beam{first};
    List<State> grown;
    for (const Sent& each : sent_.subspan(facts_.before)) {
      grown.clear();
      for (const State& state : beam) grow(state, each, grown);
      narrow(grown, beam);
      const float least = beam.front().bits;
      for (State& state : beam) state.bits -= least;
    }
    List<Placed> story(sent_.size());
    std::int32_t at = beam.front().origin;
    for (std::size_t i = sent_.size(); i-- > 0;) {
      story[i] = arena_[static_cast<std::size_t>(at)].told;
      at = arena_[static_cast<std::size_t>(at)].origin;
    }
    return story;
  }

 private:
  static constexpr std::size_t width = 16;

  State& step(const State& from, Move move, float bits, List<State>& grown) {
    Placed told;
    told.move = move;
    told.pass = from.pass;
    told.cursor = from.cursor;
    told.top = from.top;
    told.length = from.pass_length;
    grown.push_back(from);
    State& state = grown.back();
    state.bits += bits;
    state.last = move;
    pending_.push_back({from.origin, told});
    return state;
  }

  void note_gap(State& state, std::int64_t to, std::uint32_t by, bool first) const {
    const std::int64_t from = std::max(state.cursor, facts_.acked);
    if (from < to) state.miss(from, to, by, first);
  }

  /// What was judged before the episode began.
  void follow(State& state, const Sent& each) {
    Placed told;
    told.pass = state.pass;
    told.cursor = state.cursor;
    told.top = state.top;
    const std::size_t gap = state.gap_of(each.psn, each.end);
    if (each.again && gap < state.gaps) state.fill(gap, each.psn, each.end);
    if (!each.again && each.psn != state.cursor && gap < state.gaps) {
      told.move = Move::late;
      told.of_first = state.gap[gap].first;
      state.fill(gap, each.psn, each.end);
    } else {
      if (each.psn > state.cursor) {
        told.move = Move::ahead;
        note_gap(state, each.psn, index_of(each), state.cursor >= state.top);
      } else if (each.psn < state.cursor) {
        told.move = Move::back;
        state.pass_length = 0;
        told.pass = state.pass = ++state.passes;
        note_gap(state, state.top, index_of(each), false);
      }
      told.length = state.pass_length++;
      state.cursor = each.end;
      state.top = std::max(state.top, each.end);
    }
    arena_.push_back({state.origin, told});
    state.origin = static_cast<std::int32_t>(arena_.size()) - 1;
  }

  [[nodiscard]] std::uint32_t index_of(const Sent& each) const noexcept {
    return static_cast<std::uint32_t>(&each - sent_.data());
  }
  /// Since the packet behind the gap was captured.
  [[nodiscard]] std::int64_t late_by(const Sent& each, const Gap& gap) const noexcept {
    return since(each, gap.by);
  }
  [[nodiscard]] std::int64_t since(const Sent& each, std::uint32_t other) const noexcept {
    const std::int64_t then = sent_[other].time_ns;
    return then == capture::no_time || each.time_ns == capture::no_time ? 0 : each.time_ns - then;
  }

  State& begin_pass(const State& from, const Sent& each, float bits, List<State>& grown) {
    const std::uint32_t index = index_of(each);
    State& state = step(from, Move::back, bits, grown);
    if (from.cursor < from.top) state.miss(from.cursor, from.top, index, false);
    state.pass = ++state.passes;
    state.told_by = std::max(state.told_by, each.told_by);
    pending_.back().told.pass = state.pass;
    pending_.back().told.cursor = begins_at(each);
    if (begins_at(each) < each.psn) state.miss(begins_at(each), each.psn, index, false);
    state.pass_length = 0;
    state.turned = static_cast<std::int32_t>(index);
    state.bottom = std::min(state.bottom, each.psn);
    state.row = -1;
    return state;
  }

  void grow(const State& from, const Sent& each, List<State>& grown) {
    const std::int64_t psn = each.psn;
    const std::uint32_t index = index_of(each);
    const auto goes_on = [&](State& state) {
      state.cursor = each.end;
      state.top = std::max(state.top, each.end);
      ++state.pass_length;
    };
    const bool begun = psn >= from.cursor && each.named && psn < from.top;
    if (begun) {
      // One by one, as the responder asks for them: no pass goes on there.
      goes_on(begin_pass(from, each, 0, grown));
    } else if (psn == from.cursor) {
      State& state = step(from, Move::next, 0, grown);
      if (each.silent) state.pass_length = 0;
      goes_on(state);
    } else if (psn > from.cursor && psn == from.top) {
      // Of a pass of one packet that is what selective repeat looks like.
      State& state = step(from, Move::home, facts_.home, grown);
      state.miss(from.cursor, psn, index, false);
      goes_on(state);
    } else if (psn > from.cursor) {
      const bool first = from.cursor >= from.top;
      // On with new packets, of which the first are missing.
      const bool goes_home = !first && psn > from.top;
      const bool skips = !first && psn <= each.acked;
      const std::int64_t missing = psn - (goes_home ? from.top : from.cursor);
      const float bits = skips ? facts_.skip + (each.silent ? facts_.pauses : 0)
                               : (goes_home ? facts_.home : 0) + facts_.ahead + bits_of(missing) / 2;
      State& state = step(from, Move::ahead, bits, grown);
      if (!first && psn > from.top) {
        state.miss(from.cursor, from.top, index, false);
        state.miss(from.top, psn, index, true);
      } else {
        state.miss(from.cursor, psn, index, first);
      }
      goes_on(state);
    }
    if (psn < from.top && !begun && each.back < Sent::never && may_begin(each, from.cursor, from.told_by)) {
      goes_on(begin_pass(from, each, each.back, grown));
    }
    if (each.late < Sent::never) {
      const std::size_t gap = from.gap_of(psn, each.end);
      const bool below = gap == from.gaps && each.end <= from.bottom;
      if (gap < from.gaps || below) {
        const bool row = from.row == psn;
        const bool of_first = below || from.gap[gap].first;
        const bool too_late = !below && late_by(each, from.gap[gap]) > facts_.late_by_ns;
        const float bits = (row ? facts_.late_again : each.late) + (of_first ? each.not_first : 0) +
                           (too_late ? facts_.too_late : 0);
        State& state = step(from, Move::late, bits, grown);
        pending_.back().told.of_first = of_first;
        if (!below) {
          pending_.back().told.pass = from.gap[gap].pass;
          pending_.back().told.late_ns = late_by(each, from.gap[gap]);
        }
        state.row = each.end;
        if (below) {
          state.bottom = psn;
          if (each.end < from.bottom) state.miss(each.end, from.bottom, index, true);
        } else {
          state.fill(gap, psn, each.end);
        }
      }
    }
    if (psn == from.top && from.cursor < from.top && from.turned >= 0 && each.late < Sent::never) {
      // The end of the pass before, which the first of this one overtook. A row of new packets is none.
      const std::int64_t late_ns = since(each, static_cast<std::uint32_t>(from.turned));
      const float bits =
          facts_.home + each.late + each.not_first + (late_ns > facts_.late_by_ns ? facts_.too_late : 0);
      State& state = step(from, Move::late, bits, grown);
      Placed& told = pending_.back().told;
      told.of_first = true;
      told.pass = from.pass - 1;
      told.late_ns = late_ns;
      state.top = each.end;
      state.row = -1;
    }
    if (each.previous >= 0 && each.copy < Sent::never) {
      // Whoever shows a row of packets again has the same lag all along.
      const std::int64_t apart = std::abs(each.lag_ns - from.row_lag_ns);
      const bool row = from.row == psn && (each.lag_ns < quiet_ns || apart < each.lag_ns / 8);
      State& state = step(from, Move::copy, row ? std::min(each.copy_again, each.copy) : each.copy, grown);
      state.row = each.end;
      state.row_lag_ns = each.lag_ns;
    }
    if (pending_.empty()) {  // neither: a stray, of which nothing follows
      State& state = step(from, Move::copy, 20, grown);
      state.row = -1;
    }
    // The steps in the arena, in the order of their states.
    const std::size_t base = grown.size() - pending_.size();
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      grown[base + i].origin = static_cast<std::int32_t>(arena_.size());
      arena_.push_back(pending_[i]);
    }
    pending_.clear();
  }

  /// The likeliest of them that differ, the likeliest first.
  void narrow(const List<State>& grown, List<State>& kept) {
    order_.clear();
    for (std::size_t i = 0; i < grown.size(); ++i) order_.emplace_back(grown[i].bits, i);
    std::sort(order_.begin(), order_.end());  // of those alike the first one
    kept.clear();
    constexpr float hopeless = 40;
    for (const auto& [bits, i] : order_) {
      if (kept.size() == width || bits > order_.front().first + hopeless) break;
      const State& state = grown[i];
      const bool known = std::any_of(kept.begin(), kept.end(), [&](const State& other) {
        return other.cursor == state.cursor && other.top == state.top && other.row == state.row &&
               other.gaps == state.gaps;
      });
      if (!known) kept.push_back(state);
    }
  }

  std::span<const Sent> sent_;
  const StoryFacts& facts_;
  List<Taken> arena_;
  List<Taken> pending_;
  List<std::pair<float, std::size_t>> order_;
};

}  // namespace

List<Placed> tell(std::span<const Sent> sent, const StoryFacts& facts) {
  return Search(sent, facts).run();
}

List<Placed> tell_in_order(std::span<const Sent> sent, std::int64_t sent_to) {
  List<Placed> story(sent.size());
  if (sent.empty()) return story;
  std::int64_t cursor = sent[0].psn;
  if (sent_to > cursor) cursor = sent_to;
  std::int64_t top = cursor;
  std::int32_t pass = 0;
  std::uint32_t length = 0;
  std::int32_t told_by = -1;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Sent& each = sent[i];
    Placed& told = story[i];
    told.cursor = cursor;
    told.top = top;
    constexpr float asked = 4;
    const bool begun = each.psn == cursor && each.named && each.psn < top;
    if (each.psn == cursor && !begun) {
      told.move = Move::next;
    } else if (begun || each.psn < cursor ||
               (each.psn < top && each.back <= asked && may_begin(each, cursor, told_by))) {
      told.move = Move::back;
      told_by = std::max(told_by, each.told_by);
      told.cursor = begins_at(each);
      ++pass;
    } else {
      told.move = each.psn == top && cursor < top ? Move::home : Move::ahead;
    }
    told.pass = pass;
    if (told.move == Move::back || (told.move == Move::next && each.silent)) length = 0;
    told.length = length++;
    cursor = each.end;
    top = std::max(top, cursor);
  }
  return story;
}

}  // namespace roce::analyze::episode
