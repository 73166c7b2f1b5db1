// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/incident_groups.hpp"
#include "analyze/episode/scratch.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

Grouping::Sets::Sets(std::size_t size) : parent_(size) {
  std::iota(parent_.begin(), parent_.end(), 0);
}

std::int32_t Grouping::Sets::find(std::int32_t i) {
  while (parent_[static_cast<std::size_t>(i)] != i) {
    std::int32_t& up = parent_[static_cast<std::size_t>(i)];
    up = parent_[static_cast<std::size_t>(up)];
    i = up;
  }
  return i;
}

void Grouping::Sets::join(std::int32_t a, std::int32_t b) {
  a = find(a);
  b = find(b);
  parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
}

Grouping::Grouping(std::span<const Note> notes, const Explanation& said, std::int64_t acked)
    : notes_(notes),
      said_(said),
      answers_(notes, acked),
      sets_(notes.size()),
      member_(notes.size()),
      by_frame_(std::is_sorted(notes.begin(), notes.end(),
                               [](const Note& a, const Note& b) { return a.frame < b.frame; })) {
  gather_passes();
  join_strays();
  join_passes();
  join_losses();
  join_naks();
  join_originals();
}

/// Both are of one incident.
void Grouping::take(std::int32_t a, std::int32_t b) {
  take(a);
  take(b);
  if (a >= 0 && b >= 0) sets_.join(a, b);
}

std::int32_t Grouping::original_of(std::int32_t repeat) const {
  const std::uint64_t frame = ruling(repeat).original;
  if (frame == 0) return -1;
  // Trimmed packets stand where they were sent, not where they were captured.
  const auto found =
      by_frame_ ? std::lower_bound(notes_.begin(), notes_.end(), frame,
                                   [](const Note& note, std::uint64_t wanted) { return note.frame < wanted; })
                : std::find_if(notes_.begin(), notes_.end(),
                               [frame](const Note& note) { return note.frame == frame; });
  if (found == notes_.end() || found->frame != frame || found->psn != at(repeat).psn) return -1;
  return static_cast<std::int32_t>(found - notes_.begin());
}

std::int32_t Grouping::request_before(std::int64_t psn, std::int32_t note) const {
  if (previous_.empty()) {
    previous_.resize(notes_.size(), -1);
    for (std::int32_t i = 0; i < size(); ++i) {
      if (!at(i).request) continue;
      const auto [last, fresh] = requests_.try_emplace(at(i).psn, i);
      if (!fresh) previous_[static_cast<std::size_t>(i)] = std::exchange(last->second, i);
    }
  }
  const auto last = requests_.find(psn);
  std::int32_t request = last == requests_.end() ? -1 : last->second;
  while (request >= note) request = previous_[static_cast<std::size_t>(request)];
  return request;
}

std::int32_t Grouping::first_beyond(bool request, std::int64_t psn, std::int32_t before) const {
  std::int32_t first = -1;
  for (std::int32_t i = before - 1; i >= 0 && !at(i).before; --i) {
    const bool answer = is_acknowledgement(at(i));
    if (at(i).request != request || answer || ruling(i).what == Ruling::What::copy) continue;
    if (at(i).psn <= psn) break;
    first = i;
  }
  return first;
}

void Grouping::gather_passes() {
  for (const Pass& pass : said_.passes) {
    LivePass live{&pass, -1, 0, 0};
    for (std::int32_t i = pass.begins; i <= pass.ends && i >= 0; ++i) {
      if (at(i).request != pass.request || !repeated(i)) continue;
      const std::int64_t end = at(i).psn + std::max(at(i).count, 1);
      if (live.begins < 0) live = {&pass, i, at(i).psn, end};
      live.from = std::min(live.from, at(i).psn);
      live.to = std::max(live.to, end);
      take(live.begins, i);
    }
    if (live.begins >= 0) passes_.push_back(live);
  }
  std::sort(passes_.begin(), passes_.end(),
            [](const LivePass& a, const LivePass& b) { return a.begins < b.begins; });
}

/// A pass may have been captured in another order than it was sent: what came behind its last packet is of
/// it, too.
void Grouping::join_strays() {
  for (std::int32_t i = 0; i < size(); ++i) {
    if (!repeated(i) || member_[static_cast<std::size_t>(i)]) continue;
    const LivePass* of = nullptr;
    for (const LivePass& pass : passes_) {
      if (pass.begins > i) break;
      const bool repeats = pass.pass->from <= at(i).psn && at(i).psn < pass.pass->to;
      if (pass.pass->request == at(i).request && repeats) of = &pass;
    }
    take(of != nullptr ? of->begins : i, i);
  }
}

/// A pass that goes back as far as one before, or comes before what that one repairs is confirmed, follows
/// from it. What is missing after that is another incident, although the PSNs overlap.
void Grouping::join_passes() {
  std::multimap<std::int64_t, std::size_t> begun;  // first PSN -> pass
  for (std::size_t k = 0; k < passes_.size(); ++k) {
    const LivePass& pass = passes_[k];
    if (pass.pass->trigger >= 0 && !at(pass.pass->trigger).before) take(pass.pass->trigger, pass.begins);
    if (!pass.pass->request && join_asking(k)) continue;
    const std::int64_t acked = answers_.acked_before(pass.begins);
    for (auto open = begun.lower_bound(acked); open != begun.end() && open->first < pass.from; ++open) {
      if (passes_[open->second].to > pass.from) sets_.join(passes_[open->second].begins, pass.begins);
    }
    for (auto same = begun.lower_bound(pass.from); same != begun.end() && same->first < pass.to;) {
      sets_.join(passes_[same->second].begins, pass.begins);
      same = begun.erase(same);
    }
    begun.emplace(pass.from, k);
  }
}

/// Responses given again follow from the last pass of requests that asked for them. False: none did.
bool Grouping::join_asking(std::size_t responses) {
  const LivePass& again = passes_[responses];
  for (std::size_t k = responses; k-- > 0;) {
    const LivePass& asked = passes_[k];
    if (!asked.pass->request || asked.to <= again.from || asked.from >= again.to) continue;
    sets_.join(asked.begins, again.begins);
    return true;
  }
  return false;
}

/// The request that a NAK is about, if it was captured since the last pass began; -1: it was not.
std::int32_t Grouping::refused_by(std::int32_t nak) const {
  const std::int64_t psn = at(nak).psn;
  std::int32_t since = 0;
  for (const LivePass& pass : passes_) {
    if (pass.pass->request && pass.begins < nak) since = pass.begins;
  }
  for (std::int32_t i = nak - 1; i >= since; --i) {
    if (at(i).request && at(i).psn <= psn && psn < at(i).psn + std::max(at(i).count, 1)) return i;
  }
  return -1;
}

void Grouping::join_losses() {
  for (const Loss& loss : said_.losses) {
    if (loss.where == Lost::by_capture || loss.where == Lost::undecided) continue;
    if (loss.shown < 0 || at(loss.shown).before) continue;
    take(loss.shown);
    if (loss.needed >= 0) take(loss.needed, loss.shown);
    if (const std::int32_t shows = shown_by(loss); shows >= 0 && !repeated(shows)) take(shows, loss.shown);
  }
}

/// The first packet that shows that it is missing: itself, if it was captured, else the one behind it.
std::int32_t Grouping::shown_by(const Loss& loss) const {
  if (loss.note >= 0) return loss.note;
  std::int32_t until = loss.needed >= 0 ? loss.needed : loss.shown;
  for (const LivePass& pass : passes_) {
    if (pass.begins > until) break;
    if (pass.pass->request == loss.request && pass.pass->ends >= until)
      return first_beyond(loss.request, loss.psn, pass.begins);
  }
  return first_beyond(loss.request, loss.psn, until);
}

/// The pass that sends it again, or that had just done so; -1: none does. By note.
std::int32_t Grouping::sent_again_by(std::int32_t i) const {
  std::int32_t found = -1;
  for (const LivePass& pass : passes_) {
    if (at(i).psn < pass.from || at(i).psn >= pass.to) continue;
    found = pass.begins;
    if (pass.begins > i) break;
  }
  return found;
}

/// NAKs and late packets of what was sent again, and of one PSN.
void Grouping::join_naks() {
  Map<std::int64_t, std::int32_t> asked;
  List<bool> triggers(notes_.size());
  for (const LivePass& pass : passes_) {
    if (pass.pass->trigger >= 0) triggers[static_cast<std::size_t>(pass.pass->trigger)] = true;
  }
  for (std::int32_t i = 0; i < size(); ++i) {
    if (at(i).before || nak_of(at(i)) == Nak::none) continue;
    take(i);
    if (const std::int32_t refused = refused_by(i); refused >= 0 && !repeated(refused)) take(refused, i);
    const auto [first, fresh] = asked.try_emplace(at(i).psn, i);
    if (triggers[static_cast<std::size_t>(i)]) continue;
    if (const std::int32_t again = sent_again_by(i); again >= 0) {
      take(again, i);
    } else if (!fresh) {
      sets_.join(first->second, i);
    }
  }
  for (std::int32_t i = 0; i < size(); ++i) {
    if (at(i).before || ruling(i).what != Ruling::What::late) continue;
    if (const std::int32_t again = sent_again_by(i); again >= 0) {
      take(again, i);
    } else if (const auto nak = asked.find(at(i).psn); at(i).request && nak != asked.end()) {
      take(nak->second, i);
    }
  }
}

/// What was sent again had been sent before: it was lost, or thrown away. Not what came before the pass
/// before: that is of another incident.
void Grouping::join_originals() {
  for (const bool request : {true, false}) {
    std::int32_t last = -1;
    std::int32_t before_last = -1;
    for (std::int32_t i = 0; i < size(); ++i) {
      if (at(i).request != request || !repeated(i)) continue;
      if (ruling(i).begins_pass) before_last = std::exchange(last, i);
      const std::int32_t original = original_of(i);
      if (original >= 0 && original > before_last && !repeated(original)) take(original, i);
    }
  }
}

List<Group> Grouping::groups() {
  List<Group> all;
  Map<std::int32_t, std::size_t> by_root;
  const auto group_of = [&](std::int32_t i) -> Group& { return all[by_root.find(sets_.find(i))->second]; };
  for (std::int32_t i = 0; i < size(); ++i) {
    if (!member_[static_cast<std::size_t>(i)]) continue;
    const auto [place, fresh] = by_root.try_emplace(sets_.find(i), all.size());
    if (fresh) all.emplace_back();
    Group& group = all[place->second];
    group.notes.push_back(i);
    if (!at(i).before && nak_of(at(i)) != Nak::none) group.naks.push_back(i);
  }
  for (const LivePass& pass : passes_) group_of(pass.begins).passes.push_back(pass);
  for (const Loss& loss : said_.losses) {
    if (loss.shown < 0 || at(loss.shown).before) continue;
    if (loss.where == Lost::undecided) {
      if (member_[static_cast<std::size_t>(loss.shown)]) ++group_of(loss.shown).open;
    } else if (loss.where != Lost::by_capture) {
      group_of(loss.shown).losses.push_back(&loss);
    } else if (loss.needed >= 0 && member_[static_cast<std::size_t>(loss.needed)]) {
      group_of(loss.needed).missed = true;
    }
  }
  return all;
}

}  // namespace roce::analyze::episode
