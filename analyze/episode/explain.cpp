// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/explain.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyze/episode/copies.hpp"
#include "analyze/episode/replay.hpp"
#include "analyze/episode/scene.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "analyze/episode/wire_order.hpp"

namespace roce::analyze::episode {

void Scene::lose(const Loss& loss) {
  said.losses.push_back(loss);
  Ruling& ruling = ruling_at(loss.shown);
  const bool own = note_at(loss.shown).request == loss.request;
  if (loss.where == Lost::by_capture) {
    ++(own ? ruling.missed_own : ruling.missed_other);
  } else {
    ++(loss.where != Lost::before_capture ? ruling.lost_after
       : loss.or_missed                   ? ruling.lost_or_missed
                                          : ruling.lost_before);
  }
}

void Scene::lose_trimmed() {
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    if (!notes[i].trimmed || notes[i].before || ruling_at(index).what == Ruling::What::copy) continue;
    if (arrived_all_the_same(index)) continue;
    ruling_at(index).trimmed = true;
    const auto again = std::find_if(notes.begin() + index + 1, notes.end(), [&](const Note& note) {
      return note.request == notes[i].request && note.psn == notes[i].psn && !is_acknowledgement(note);
    });
    const auto needed = again == notes.end() ? -1 : static_cast<std::int32_t>(again - notes.begin());
    said.losses.push_back({Lost::trimmed, notes[i].request, notes[i].psn, index, index, needed});
  }
}

/// Whether it was confirmed though nobody sent it whole, or a response is not asked for again: then not a
/// switch on its way has cut it, but one that only shows it here.
bool Scene::arrived_all_the_same(std::int32_t i) const {
  const Note& note = note_at(i);
  if (!note.request) return taken_all_the_same(i);
  const std::int32_t confirmed = answers.confirmed_at(note.psn);
  if (confirmed < i) return false;
  return std::none_of(notes.begin(), notes.begin() + confirmed, [&](const Note& other) {
    return other.request && !other.trimmed && other.psn == note.psn;
  });
}

bool Scene::taken_all_the_same(std::int32_t i) const {
  const Note& note = note_at(i);
  bool went_on = false;
  for (auto later = notes.begin() + i + 1; later != notes.end(); ++later) {
    const bool same = later->psn <= note.psn && note.psn < later->psn + std::max(later->count, 1);
    if (same && !is_acknowledgement(*later)) return false;
    went_on = went_on || later->request;
  }
  const Note& last = notes.back();
  const bool timed_both = note.time_ns != capture::no_time && last.time_ns != capture::no_time;
  return went_on && timed_both && last.time_ns - note.time_ns >= at_once_ns;
}

namespace {

/// Of a stream's repeats in the order of capture.
void gather_passes(Scene& scene, bool request) {
  std::int32_t open = -1;
  for (std::size_t i = 0; i < scene.notes.size(); ++i) {
    const Note& note = scene.notes[i];
    const Ruling& ruling = scene.said.rulings[i];
    if (note.request != request || ruling.what != Ruling::What::repeat) continue;
    const auto index = static_cast<std::int32_t>(i);
    if (open < 0 || ruling.begins_pass) {
      open = static_cast<std::int32_t>(scene.said.passes.size());
      scene.said.passes.push_back(
          {request, index, index, ruling.trigger, ruling.rule, ruling.cause, note.psn, note.psn, 0});
    }
    Pass& pass = scene.said.passes[static_cast<std::size_t>(open)];
    pass.ends = index;
    pass.from = std::min(pass.from, note.psn);
    pass.to = std::max(pass.to, note.psn + std::max(note.count, 1));
    ++pass.packets;
  }
}

Explanation explain_transmissions(std::span<const Note> notes, Facts& facts, const LeftOut& copies) {
  Scene scene(notes, facts, copies);
  explain_requests(scene);
  explain_responses(scene);
  explain_acknowledgements(scene);
  scene.lose_trimmed();
  judge_costs(scene);
  gather_passes(scene, true);
  gather_passes(scene, false);
  std::stable_sort(scene.said.passes.begin(), scene.said.passes.end(),
                   [](const Pass& a, const Pass& b) { return a.begins < b.begins; });
  return std::move(scene.said);
}

/// What is said of some notes, told of all: note i of them is `from[i]`.
void told_of(Explanation& said, const List<std::int32_t>& from, std::size_t count) {
  const auto move = [&](std::int32_t& note) {
    if (note >= 0) note = from[static_cast<std::size_t>(note)];
  };
  std::vector<Ruling> rulings(count);
  for (std::size_t i = 0; i < from.size(); ++i) {
    move(said.rulings[i].trigger);
    rulings[static_cast<std::size_t>(from[i])] = said.rulings[i];
  }
  said.rulings = std::move(rulings);
  for (Loss& loss : said.losses) {
    move(loss.note);
    move(loss.shown);
    move(loss.needed);
  }
  for (MissingRow& row : said.missing) {
    move(row.from);
    move(row.to);
  }
  for (Hole& hole : said.holes) move(hole.shown);
  for (std::int32_t& note : said.late_behind) move(note);
  for (ImpossibleAnswer& each : said.contradictions) move(each.note);
  for (Pass& pass : said.passes) {
    move(pass.begins);
    move(pass.ends);
    move(pass.trigger);
  }
}

/// Copies are left out, and told of the others.
Explanation explain_with_copies(std::span<const Note> notes, const List<Copied>& copied, Facts& facts) {
  List<Note> each;
  List<std::int32_t> from;
  LeftOut left_out;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const Rule rule = copied[i].rule;
    const bool proved = rule == Rule::same_id || rule == Rule::other_path || rule == Rule::sent_earlier;
    if (rule != Rule::none && !proved) left_out[notes[i].request ? 1 : 0].insert(notes[i].psn);
    if (rule != Rule::none) continue;
    each.push_back(notes[i]);
    from.push_back(static_cast<std::int32_t>(i));
  }
  // Who made copies is told by how many there are, in this episode and before it.
  for (std::size_t i = 0; i < notes.size(); ++i) {
    StreamFact& fact = notes[i].request ? facts.requests : facts.responses;
    const bool copy = copied[i].rule != Rule::none && !copied[i].alone;
    if (!notes[i].before) ++(copy ? fact.copied : fact.captured);
  }
  Explanation said = explain_transmissions(each, facts, left_out);
  told_of(said, from, notes.size());
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (copied[i].rule == Rule::none) continue;
    Ruling& ruling = said.rulings[i];
    ruling = {.what = Ruling::What::copy, .rule = copied[i].rule};
    if (copied[i].of < 0) continue;
    const Note& original = notes[static_cast<std::size_t>(copied[i].of)];
    ruling.original = original.frame;
    ruling.by_network = made_by_network(notes[i], original, facts);
  }
  return said;
}

/// Where nearly all is shown twice, what was lost behind the capture and shown once was lost behind one of
/// the two points that it has, or of one mirror that missed it: nobody knows where.
void tell_shown_once(std::span<const Note> notes, const Facts& facts, Explanation& said) {
  const std::uint64_t captured = facts.requests.captured + std::uint64_t{facts.responses.captured};
  const std::uint64_t copied = facts.requests.copied + std::uint64_t{facts.responses.copied};
  const bool all_twice = copied != 0 && 4 * copied >= 3 * captured;  // of all that came so far
  Set<std::uint64_t> twice;
  std::uint64_t copies = 0, others = 0;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (notes[i].before) continue;
    const Ruling& ruling = said.rulings[i];
    const bool copy = ruling.what == Ruling::What::copy && !ruling.by_network;
    ++(copy ? copies : others);
    if (copy) twice.insert(ruling.original);
  }
  if (4 * copies < 3 * others && !all_twice) return;
  for (Loss& loss : said.losses) {
    if (loss.where != Lost::after_capture || loss.note < 0) continue;
    if (twice.contains(notes[static_cast<std::size_t>(loss.note)].frame)) continue;
    Ruling& ruling = said.rulings[static_cast<std::size_t>(loss.shown)];
    if (ruling.lost_after == 0) continue;
    --ruling.lost_after;
    ++ruling.lost_behind_one;
    loss.behind_one = true;
  }
  for (Ruling& ruling : said.rulings)
    ruling.doubt_behind_one = ruling.doubt != Doubt::none && !twice.contains(ruling.doubt_frame);
}

/// What only the second point shows did not come to the first one, where the others are followed, but it was
/// sent: lost between the two, so that nothing tells of which it was lost upstream.
void tell_alone(std::span<const Note> notes, const List<Copied>& copied, Explanation& said) {
  for (std::size_t i = 0; i < copied.size(); ++i) {
    if (!copied[i].alone) continue;
    said.rulings[i] = {.what = Ruling::What::first, .rule = Rule::first};
    const auto lost = std::find_if(said.losses.begin(), said.losses.end(), [&](const Loss& loss) {
      return loss.where == Lost::before_capture && !loss.or_missed && loss.request == notes[i].request &&
             loss.psn == notes[i].psn;
    });
    if (lost == said.losses.end()) continue;
    Ruling& shown = said.rulings[static_cast<std::size_t>(lost->shown)];
    if (shown.lost_before == 0) continue;
    --shown.lost_before;
    ++shown.lost_or_missed;
    lost->or_missed = true;
  }
}

}  // namespace

void settle_times(std::span<Note> notes) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  const auto usable = [](const Note& note) { return note.time_ns >= -most && note.time_ns <= most; };
  if (std::all_of(notes.begin(), notes.end(), usable)) return;
  for (Note& note : notes) note.time_ns = capture::no_time;
}

Explanation explain(std::span<const Note> notes, Facts& facts) {
  const Scratch scratch;
  facts.nanoseconds = std::any_of(notes.begin(), notes.end(), [](const Note& note) {
    return note.time_ns != capture::no_time && note.time_ns % 1000 != 0;
  });
  for (const bool request : {true, false}) {
    StreamFact& fact = request ? facts.requests : facts.responses;
    const auto noted =
        static_cast<std::uint32_t>(std::count_if(notes.begin(), notes.end(), [&](const Note& note) {
          return note.before && note.request == request;
        }));
    fact.forgotten = std::max(fact.captured + fact.copied, noted) - noted;
  }
  const WireOrder order = wire_order(notes, facts);
  const List<Copied> copied = find_copies(order.notes, facts);
  const bool none =
      std::all_of(copied.begin(), copied.end(), [](const Copied& each) { return each.rule == Rule::none; });
  Explanation said =
      none ? explain_transmissions(order.notes, facts, {}) : explain_with_copies(order.notes, copied, facts);
  tell_shown_once(order.notes, facts, said);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (!order.overtaken[i]) continue;
    said.late_behind.push_back(static_cast<std::int32_t>(i));
    Ruling& ruling = said.rulings[i];
    if (ruling.what != Ruling::What::first || ruling.rule == Rule::none) continue;
    ruling.what = Ruling::What::late;
    ruling.rule = Rule::fills_gap;
  }
  said.contradictions = replay(order.notes, said, facts);
  tell_alone(order.notes, copied, said);
  if (!std::is_sorted(order.from.begin(), order.from.end())) told_of(said, order.from, notes.size());
  return said;
}

}  // namespace roce::analyze::episode
