// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/losses.hpp"
#include "analyze/episode/ranges.hpp"
#include "analyze/episode/scratch.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

namespace {

class Losses {
 public:
  Losses(Scene& scene, const Stream& stream) : scene_(scene), stream_(stream) {
    for (const Issue& issue : scene.issues) reads_.add(issue.first, issue.end);
    reads_.settle();
    count_alone_ = stream.count_alone();
    for (std::size_t i = 0; i < stream.story.size(); ++i) {
      if (stream.story[i].move == Move::back) backs_.push_back(i);
    }
  }
  void of_gaps();
  void settle_rows();
  void judge_holes();

 private:
  void note_row(std::size_t begin, std::size_t at);
  [[nodiscard]] bool were_sent(std::size_t i) const noexcept;
  [[nodiscard]] bool is_late(const Loss& loss, const Sent& shows) const;
  [[nodiscard]] bool may_be_late(std::size_t i) const;
  [[nodiscard]] bool came_early(std::size_t begins) const;
  [[nodiscard]] bool came_before(std::int64_t psn, std::size_t began_at) const;
  [[nodiscard]] bool comes_before(std::int32_t answer, std::int32_t repeat) const noexcept;
  [[nodiscard]] bool never_came(std::int64_t psn, const Sent& shows) const noexcept;
  [[nodiscard]] bool thrown_away(std::int64_t psn, std::int32_t before) const;
  [[nodiscard]] bool inside_answer(std::int64_t psn) const noexcept;
  [[nodiscard]] bool had_before(std::int64_t psn, std::size_t at, std::int32_t nak) const;
  [[nodiscard]] std::int32_t asked_by(const Loss& hole, std::size_t at) const noexcept;
  [[nodiscard]] bool asked_for(const Loss& hole, std::size_t at) const noexcept {
    return asked_by(hole, at) >= 0;
  }
  [[nodiscard]] bool unrepaired(std::int64_t psn, std::size_t at) const noexcept;
  [[nodiscard]] std::int32_t gone_back_before(std::int64_t psn, std::size_t at) const noexcept;
  [[nodiscard]] bool gone_back_to(const Loss& hole) const noexcept;

  static constexpr std::uint32_t many = 6;  ///< in a row: as likely not captured as lost

  /// What is missing in front of sent[at]: holes_[begin, end).
  struct Row {
    std::size_t begin = 0, end = 0, at = 0;
    std::uint32_t delivered = 0;
    bool asked = false;  ///< the responder asked for some of it

    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(end - begin); }
  };

  Scene& scene_;
  const Stream& stream_;
  Ranges reads_;
  bool count_alone_ = false;  ///< Stream::count_alone()
  List<std::size_t> backs_;   ///< of the stream: where passes begin
  List<Loss> holes_;          ///< what is missing in passes
  List<Row> rows_;
};

/// What a pass left out was lost upstream if it was needed again, and not captured if nobody missed it.
void Losses::of_gaps() {
  // What a responder needs again if it takes in order only, and then confirms, came by.
  const bool in_order = scene_.facts.capture.has_holes() && scene_.facts.keeps <= 0;
  const StreamFact& fact = scene_.facts.requests;
  const bool rarely_late = std::uint64_t{fact.late} * 64 < fact.single && scene_.facts.disorder_ns == 0;
  // Else what seems to be missing of a pass may be there, among the packets of another.
  const bool in_turn = stream_.ids == Ids::order || rarely_late;
  constexpr std::int64_t looked_at = 4096;
  std::int64_t began = std::numeric_limits<std::int64_t>::max();  // the pass
  std::size_t began_at = 0;
  std::int64_t unseen = 0;  // by IPv4 IDs, so many new ones may have been sent where something else came next
  for (std::size_t i = 0; i < stream_.sent.size(); ++i) {
    const Placed& told = stream_.story[i];
    const Sent& shows = stream_.sent[i];
    if (stream_.ids == Ids::order && i != 0 && told.move != Move::ahead &&
        stream_.sent[i - 1].end == told.top)
      unseen = std::min(unseen + stream_.room_before(i), looked_at);
    if (told.move == Move::back) {
      began = told.cursor;
      began_at = i;
    }
    // A few packets and then new ones is all that selective repeat sends; a longer pass goes on to them.
    constexpr std::uint32_t few = 3;
    const bool whole = told.length > few || scene_.facts.keeps < -1;
    const bool gap = told.move == Move::ahead || (told.move == Move::back && told.cursor < shows.psn) ||
                     (told.move == Move::home && whole);
    if (!gap || shows.psn - told.cursor > looked_at) continue;
    if (stream_.note_of(shows).before || (told.move == Move::back && came_early(i))) continue;
    const bool goes_home = told.cursor < told.top && shows.psn > told.top && !whole;
    // Who goes back sends all that was not confirmed by then, also what nobody needs. Where answers are not
    // in the capture, messages may have been confirmed up to this one.
    const dissect::OpcodeInfo& info = dissect::opcode_info(stream_.note_of(shows).opcode);
    const bool within = told.move != Move::home && shows.psn < told.top;
    const bool known = scene_.facts.answers_captured || !info.starts_message();
    const bool must_be_sent = known && (whole || (within && scene_.facts.keeps <= 0));
    // On to the next that is not answered: a requester may leave out what it has heard to be confirmed.
    if (within && answered_on_its_own(info.operation) && scene_.answers.acked_before(shows.note) >= shows.psn)
      continue;
    std::int64_t room = stream_.room_before(i);
    if (stream_.ids == Ids::order && told.cursor >= told.top) room += std::exchange(unseen, 0);
    const std::size_t first_hole = holes_.size();
    List<std::int64_t> open;  // not asked for so far: a NAK names the first that is missing (IBTA 9.7.5.2.8)
    bool never = false;
    // What a mirror lost is missing here as well, and was not lost by the network, unless it is asked for.
    const bool by_mirror = stream_.mirror_gap_before(i);
    const auto miss = [&](const Loss& loss) {
      --room;
      if (is_late(loss, shows)) return;
      if (!by_mirror || loss.where != Lost::before_capture || asked_for(loss, i)) holes_.push_back(loss);
    };
    const auto missed = [&](const Loss& loss) {
      if (scene_.among_copies(true, loss.psn)) {
        --room;
        scene_.said.losses.push_back({Lost::undecided, true, loss.psn, -1, shows.note, -1});
      } else {
        miss(loss);
      }
    };
    for (std::int64_t psn = goes_home ? told.top : told.cursor; psn < shows.psn && room > 0; ++psn) {
      if (reads_.within(psn) || stream_.comes_late(psn, began_at) || came_before(psn, began_at)) continue;
      const bool first = psn >= told.top;
      const std::ptrdiff_t next = stream_.next_of(psn, i);
      const std::int32_t confirmed = scene_.answers.confirmed_at(psn);
      if (!first && (began <= shows.done ? shows.done : scene_.answers.acked_before(shows.note)) > psn) {
        // No need to send it any more, unless IDs leave room for just these.
        if (next < 0 && were_sent(i)) {
          miss({Lost::before_capture, true, psn, -1, shows.note, -1});
        } else {
          scene_.said.holes.push_back({psn, shows.note});
        }
        continue;
      }
      const bool needed = first || in_order || thrown_away(psn, shows.note);
      if (next < 0 && confirmed >= 0 && needed && (first || in_turn)) {
        if (!inside_answer(psn)) missed({Lost::by_capture, true, psn, -1, confirmed, -1});
        continue;
      }
      const std::int32_t again = next < 0 ? -1 : stream_.sent[static_cast<std::size_t>(next)].note;
      if (again >= 0 && scene_.said.rulings[static_cast<std::size_t>(again)].what != Ruling::What::repeat)
        continue;  // it was only late
      if (next >= 0 && may_be_late(static_cast<std::size_t>(next))) continue;
      if (again >= 0 && !comes_before(confirmed, again)) {
        miss({Lost::before_capture, true, psn, -1, again, again});
      } else if (again >= 0 && (first || in_order)) {
        missed({Lost::by_capture, true, psn, -1, confirmed, again});
      } else if (rarely_late && (first ? never_came(psn, shows) : must_be_sent)) {
        never = never || first;
        miss({Lost::before_capture, true, psn, -1, shows.note, -1});
      } else if (next < 0 && first) {
        open.push_back(psn);
      } else {
        scene_.said.holes.push_back({psn, shows.note});
      }
    }
    for (const std::int64_t psn : open)
      if (never) scene_.said.losses.push_back({Lost::undecided, true, psn, -1, shows.note, -1});
    note_row(first_hole, i);
  }
}

void Losses::note_row(std::size_t begin, std::size_t at) {
  Row row{begin, holes_.size(), at, 0, false};
  for (std::size_t k = begin; k < row.end; ++k) {
    if (holes_[k].where == Lost::by_capture) {
      ++row.delivered;
    } else {
      const std::int32_t nak = asked_by(holes_[k], at);
      const bool asked = nak >= 0 && !(row.size() >= many && had_before(holes_[k].psn, at, nak));
      holes_[k].or_missed = !stream_.mirror_had_all_before(at) && !asked;
      row.asked = row.asked || !holes_[k].or_missed;
    }
  }
  if (row.size() != 0) rows_.push_back(row);
}

/// What is missing in one place is missing for one reason. Where some of it was delivered, the capture missed
/// it. Where the responder asked for some, the network lost it. Where it would have thrown all of it away, or
/// nothing asked for it, many in a row may as well not be captured: if nothing else was captured meanwhile,
/// and no so many were lost anywhere else.
void Losses::settle_rows() {
  constexpr std::uint32_t more = 4;
  std::array<std::uint32_t, 2> most{scene_.facts.there.row, 0};  // and second
  for (const Row& row : rows_) {
    std::uint32_t lost = row.delivered != 0 ? 0 : row.size();
    if (lost > most[0]) std::swap(most[0], lost);
    most[1] = std::max(most[1], lost);
  }
  scene_.facts.there.row = most[0];
  const bool in_order =
      stream_.ids == Ids::order || (scene_.facts.disorder_ns == 0 && !scene_.facts.there.shuffles());
  for (const Row& row : rows_) {
    // What the mirror says that it lost itself tells nothing of the rest.
    if (row.delivered != 0 && !stream_.mirror_gap_before(row.at)) scene_.facts.capture.miss(row.delivered);
    const std::uint32_t elsewhere = row.size() == most[0] ? most[1] : most[0];
    const bool odd = row.size() >= many && row.size() >= more * elsewhere && !row.asked &&
                     stream_.stops_before(row.at, row.size());
    if (row.delivered == 0 && !odd) continue;
    std::uint32_t again = 0, open = 0;
    for (std::size_t k = row.begin; k < row.end; ++k) {
      Loss& hole = holes_[k];
      if (hole.where == Lost::by_capture) {
        again += hole.psn < stream_.story[row.at].top ? 1U : 0U;
      } else if (hole.or_missed) {
        hole.where = Lost::none;
        open += scene_.among_copies(true, hole.psn) ? 0U : 1U;
      }
    }
    if (!in_order || scene_.facts.capture.is_sample()) continue;
    const std::int32_t from = row.at == 0 ? -1 : stream_.sent[row.at - 1].note;
    // Those that are sent for the first time are a gap of the space.
    if (again != 0) scene_.said.missing.push_back({from, stream_.sent[row.at].note, again, true});
    if (open != 0) scene_.said.missing.push_back({from, stream_.sent[row.at].note, open, false});
  }
  for (const Loss& hole : holes_) {
    if (hole.where == Lost::none) scene_.said.holes.push_back({hole.psn, hole.shown});
  }
  std::erase_if(holes_, [](const Loss& hole) { return hole.where == Lost::none; });
}

/// Whether the repeat that a loss needed comes no later than packets here come behind others that were sent
/// after them, and no ID tells the order: then it may be what seems to be missing.
bool Losses::is_late(const Loss& loss, const Sent& shows) const {
  if (stream_.ids == Ids::order || scene_.facts.disorder_ns <= 0 || loss.needed < 0) return false;
  const Note& needed = scene_.note_at(loss.needed);
  return timed(needed, stream_.note_of(shows)) &&
         needed.time_ns - shows.time_ns <= 2 * scene_.facts.disorder_ns;
}

/// Whether it came twice at once, though nothing had asked for it again: where IDs do not tell the order of
/// sending, one of the two may be the transmission that seems to be missing, overtaken by its own repeat.
bool Losses::may_be_late(std::size_t i) const {
  if (stream_.ids == Ids::order || scene_.facts.disorder_ns != 0) return false;
  const Sent& once = stream_.sent[i];
  const std::ptrdiff_t next = stream_.next_of(once.psn, i);
  if (next < 0) return false;
  const Sent& more = stream_.sent[static_cast<std::size_t>(next)];
  if (more.time_ns - once.time_ns >= shortest_timer_ns) return false;
  // Where the sender sends what is asked for alone, what is late stands alone, too; what is among its
  // neighbours is of another pass.
  const auto at = static_cast<std::size_t>(next);
  const bool behind_own = at != i + 1 && stream_.sent[at - 1].end == more.psn;
  const bool before_own = at + 1 < stream_.sent.size() && stream_.sent[at + 1].psn == more.end;
  if (at != i + 1 && (behind_own || before_own || stream_.ids == Ids::nothing || scene_.facts.keeps <= 0))
    return false;
  const auto asked = scene_.answers.asked_before(more.note);
  return std::none_of(asked.begin(), asked.end(),
                      [&](const Asked& each) { return each.psn == once.psn && each.note > once.note; });
}

/// Whether what seems to be a pass whose head is missing overtook that head: the sender goes back to just
/// there, though nothing has asked for it since and no timer can have run out. One cause makes one pass.
bool Losses::came_early(std::size_t begins) const {
  if (stream_.ids == Ids::order) return false;
  const auto again = std::upper_bound(backs_.begin(), backs_.end(), begins);
  if (again == backs_.end()) return false;
  const Sent& early = stream_.sent[begins];
  const Sent& head = stream_.sent[*again];
  if (head.psn >= early.psn || head.psn > stream_.story[begins].cursor) return false;
  // Two passes would both have it, unless much is lost.
  constexpr std::size_t seldom = 16;
  if (holes_.size() * seldom > begins) return false;
  const std::ptrdiff_t once_more = stream_.next_of(early.psn, begins);
  const bool last = std::next(again) == backs_.end();
  const std::size_t ends = last ? stream_.sent.size() : *std::next(again);
  if (once_more >= 0 && static_cast<std::size_t>(once_more) < ends) return false;
  if (!timed(stream_.note_of(early), stream_.note_of(head))) return false;
  if (head.time_ns - early.time_ns >= shortest_timer_ns) return false;
  const auto asked = scene_.answers.asked_before(head.note);
  if (!asked.empty() && asked.back().note > early.note) return false;
  // A response asks for what is missing before it (IBTA 9.7.5.1.1, implied NAK).
  for (std::int32_t i = early.note + 1; i < head.note; ++i) {
    if (!scene_.note_at(i).request && !is_acknowledgement(scene_.note_at(i))) return false;
  }
  return true;
}

/// Whether that PSN overtook the pass that begins at sent[began_at], or one shortly before that.
bool Losses::came_before(std::int64_t psn, std::size_t began_at) const {
  constexpr std::size_t few = 64;
  for (std::size_t i = began_at; i-- > 0 && began_at - i <= few;) {
    if (stream_.sent[i].psn != psn) continue;
    const auto behind = std::upper_bound(backs_.begin(), backs_.end(), i);
    return behind != backs_.begin() && came_early(*std::prev(behind));
  }
  return false;
}

/// Whether that answer was captured before that repeat.
bool Losses::comes_before(std::int32_t answer, std::int32_t repeat) const noexcept {
  if (answer < 0 || answer >= repeat) return false;
  const Note& then = scene_.note_at(answer);
  const Note& again = scene_.note_at(repeat);
  return !timed(again, then) || again.time_ns >= then.time_ns;
}

/// Whether the responder asked for it, and it would have come by now, however late: the capture ends before
/// it is sent again.
bool Losses::never_came(std::int64_t psn, const Sent& shows) const noexcept {
  const Note& last = scene_.notes.back();
  const std::int64_t until_ns = std::max(last.time_ns, scene_.facts.until_ns);
  const bool long_ago =
      timed(last, scene_.note_at(shows.note)) && until_ns - shows.time_ns >= shortest_timer_ns;
  const auto asked = scene_.answers.asked_before(static_cast<std::int32_t>(scene_.notes.size()) - 1);
  return long_ago && std::any_of(asked.begin(), asked.end(), [&](const Asked& each) {
           return !each.rnr && each.psn == psn && each.note > shows.note;
         });
}

/// Whether IPv4 IDs show that all between this one and the one before it were sent.
bool Losses::were_sent(std::size_t i) const noexcept {
  if (i == 0 || !count_alone_) return false;
  const std::int64_t missing = stream_.sent[i].psn - stream_.sent[i - 1].end;
  return missing > 0 && stream_.room_before(i) == missing;
}

/// Whether a responder that takes in order only had thrown away all that was sent of it before: it came
/// behind what a NAK asked for. One that comes sooner than any answer to what was sent again before it is of
/// the time before.
bool Losses::thrown_away(std::int64_t psn, std::int32_t before) const {
  if (scene_.facts.keeps > 0) return false;
  std::int32_t last = -1;
  stream_.back_through(psn, [&](std::size_t i) {
    if (stream_.sent[i].note < before) last = std::max(last, stream_.sent[i].note);
    return false;
  });
  const auto crossed = [&](const Asked& each) {
    std::int32_t again = -1;
    stream_.back_through(each.psn, [&](std::size_t i) {
      if (stream_.sent[i].note < last) again = std::max(again, stream_.sent[i].note);
      return false;
    });
    if (again < 0 || !timed(scene_.note_at(each.note), scene_.note_at(again))) return false;
    return scene_.note_at(each.note).time_ns - scene_.note_at(again).time_ns < scene_.facts.fastest_answer_ns;
  };
  const auto asked = scene_.answers.asked_before(before);
  return last >= 0 && std::any_of(asked.begin(), asked.end(), [&](const Asked& each) {
           return !each.rnr && each.psn < psn && each.note > last &&
                  scene_.answers.acked_before(before) <= each.psn && !crossed(each);
         });
}

/// Whether a request with that PSN would be inside a READ of which only the responses were captured.
bool Losses::inside_answer(std::int64_t psn) const noexcept {
  const std::int32_t last =
      scene_.answers.response_before(psn, static_cast<std::int32_t>(scene_.notes.size()));
  return last >= 0 && !dissect::opcode_info(scene_.note_at(last).opcode).starts_message();
}

/// What the capture misses itself is no loss, nor does it show one.
void Losses::judge_holes() {
  CaptureFact& capture = scene_.facts.capture;
  capture.captured += static_cast<std::uint32_t>(stream_.sent.size());
  // Where the order is lost and no ID tells it, what is missing of a pass came among those of another.
  const bool lost_order = scene_.facts.there.shuffles() || scene_.facts.disorder_ns >= paths_differ_ns;
  if (capture.is_sample() || (stream_.ids != Ids::order && lost_order)) return;
  for (Loss& hole : holes_) {
    hole.or_missed = hole.or_missed && !gone_back_to(hole);
    if (hole.or_missed && capture.has_holes()) {
      scene_.said.holes.push_back({hole.psn, hole.shown});
      continue;
    }
    scene_.lose(hole);
  }
}

/// The first note of the next pass behind sent[at] that has that PSN in it, or should; if there is none, the
/// number of all notes.
std::int32_t Losses::gone_back_before(std::int64_t psn, std::size_t at) const noexcept {
  for (auto back = std::upper_bound(backs_.begin(), backs_.end(), at); back != backs_.end(); ++back) {
    if (stream_.story[*back].cursor <= psn) return stream_.sent[*back].note;
  }
  return static_cast<std::int32_t>(scene_.notes.size());
}

/// Whether a sequence NAK asked for it last of all, and its requester was not heard of since: it has not
/// reacted when the capture ends. Who goes on has sent it again, though the capture has not.
bool Losses::unrepaired(std::int64_t psn, std::size_t at) const noexcept {
  const auto asked = scene_.answers.asked();
  if (asked.empty() || asked.back().rnr || asked.back().psn != psn) return false;
  const Note& nak = scene_.note_at(asked.back().note);
  const Note& last = stream_.note_of(stream_.sent.back());
  return asked.back().note > stream_.sent[at].note && timed(nak, last) &&
         last.time_ns - nak.time_ns < shortest_timer_ns;
}

/// Whether that NAK of it behind that pass may speak of the pass before, which had that PSN as well: nothing
/// had asked for it before this one, the responder had no reason to throw it away, and the NAK is not so late
/// that it cannot answer what was sent before, as behind a timer.
bool Losses::had_before(std::int64_t psn, std::size_t at, std::int32_t nak) const {
  const std::int32_t behind = stream_.sent[at].note;
  std::int32_t last = -1;
  stream_.back_through(psn, [&](std::size_t i) {
    if (stream_.sent[i].note < behind) last = std::max(last, stream_.sent[i].note);
    return false;
  });
  if (last < 0 || scene_.facts.keeps > 0) return false;
  const Note& before = stream_.note_of(stream_.sent[at - 1]);
  const Note& answer = scene_.note_at(nak);
  if (scene_.facts.slow_answer_ns > 0 && timed(answer, before)) {
    const std::int64_t longest = std::max(2 * scene_.facts.slow_answer_ns, shortest_timer_ns);
    if (answer.time_ns - before.time_ns > longest) return false;
  }
  const auto asked = scene_.answers.asked_before(behind);
  const bool asked_since = std::any_of(
      asked.begin(), asked.end(), [&](const Asked& each) { return each.psn == psn && each.note > last; });
  return !asked_since && !thrown_away(psn, behind);
}

/// The sequence NAK that asked for it before the next pass came to it: what that one lacks as well is asked
/// for again. One behind an RNR NAK of it asks for what came, and was not taken (IBTA 9.7.5.2.8). -1: none.
std::int32_t Losses::asked_by(const Loss& hole, std::size_t at) const noexcept {
  if (hole.needed < 0) return unrepaired(hole.psn, at) ? scene_.answers.asked().back().note : -1;
  const auto asked = scene_.answers.asked_before(std::min(hole.needed, gone_back_before(hole.psn, at)));
  const std::int32_t behind = stream_.sent[at].note;
  bool not_ready = false;
  for (const Asked& each : asked) {
    if (each.psn != hole.psn) continue;
    if (!each.rnr && !not_ready) return each.note;
    not_ready = not_ready || (each.rnr && each.note > behind);
  }
  return -1;
}

/// Whether a timer made the requester go back to that one: the oldest that nobody had confirmed.
bool Losses::gone_back_to(const Loss& hole) const noexcept {
  if (hole.needed < 0) return false;
  const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(hole.needed)];
  return how.begins_pass && how.cause == Cause::timeout;
}

}  // namespace

void lose_requests(Scene& scene, const Stream& stream) {
  Losses losses(scene, stream);
  losses.of_gaps();
  losses.settle_rows();
  losses.judge_holes();
  if (!scene.facts.capture.is_sample()) lose_named(scene, stream);
}

}  // namespace roce::analyze::episode
