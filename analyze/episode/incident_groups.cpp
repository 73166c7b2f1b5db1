// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/incident_groups.hpp"

#include <numeric>

#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

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

Grouping::Grouping(std::span<const Note> notes, const Explanation& said)
    : notes_(notes), said_(said), sets_(notes.size()), member_(notes.size()) {
  for (std::int32_t i = 0; i < size(); ++i) {
    if (at(i).before || ruling(i).what == Ruling::What::copy) continue;
    if (!at(i).request && dissect::opcode_info(at(i).opcode).operation == Operation::acknowledge) continue;
    auto& rises = rises_[at(i).request ? 1 : 0];
    if (rises.empty() || at(i).psn > rises.back().first) rises.emplace_back(at(i).psn, i);
  }
  gather_passes();
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
  const auto found =
      std::lower_bound(notes_.begin(), notes_.end(), frame,
                       [](const Note& note, std::uint64_t wanted) { return note.frame < wanted; });
  if (found == notes_.end() || found->frame != frame || found->psn != at(repeat).psn) return -1;
  return static_cast<std::int32_t>(found - notes_.begin());
}

std::int32_t Grouping::first_beyond(bool request, std::int64_t psn, std::int32_t before) const {
  const auto& rises = rises_[request ? 1 : 0];
  const auto first =
      std::upper_bound(rises.begin(), rises.end(), psn,
                       [](std::int64_t wanted, const std::pair<std::int64_t, std::int32_t>& each) {
                         return wanted < each.first;
                       });
  return first != rises.end() && (before < 0 || first->second < before) ? first->second : -1;
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

/// Passes over the same PSNs follow from each other: what was sent again was lost again, or not heard.
void Grouping::join_passes() {
  for (const LivePass& pass : passes_) {
    std::int64_t from = pass.from;
    std::int64_t to = pass.to;
    auto at = again_.lower_bound(from);
    if (at != again_.begin() && std::prev(at)->second.first > from) --at;
    while (at != again_.end() && at->first < to) {
      from = std::min(from, at->first);
      to = std::max(to, at->second.first);
      sets_.join(at->second.second, pass.begins);
      at = again_.erase(at);
    }
    again_[from] = {to, pass.begins};
    if (pass.pass->trigger >= 0 && !this->at(pass.pass->trigger).before)
      take(pass.pass->trigger, pass.begins);
  }
}

void Grouping::join_losses() {
  for (const Loss& loss : said_.losses) {
    if (loss.where == Lost::by_capture || loss.shown < 0 || at(loss.shown).before) continue;
    take(loss.shown);
    if (loss.needed >= 0) take(loss.needed, loss.shown);
    if (loss.note >= 0) take(loss.note, loss.shown);
    const std::int32_t until = loss.needed >= 0 ? loss.needed : loss.shown;
    take(first_beyond(loss.request, loss.psn, until), loss.shown);
  }
}

/// If its PSN is one of those that were sent again.
bool Grouping::join_again(std::int32_t i) {
  const auto behind = again_.upper_bound(at(i).psn);
  if (behind == again_.begin() || std::prev(behind)->second.first <= at(i).psn) return false;
  take(std::prev(behind)->second.second, i);
  return true;
}

/// NAKs and late packets of what was sent again, and of one PSN.
void Grouping::join_naks() {
  std::map<std::int64_t, std::int32_t> asked;
  for (std::int32_t i = 0; i < size(); ++i) {
    if (at(i).before || nak_of(at(i)) == Nak::none) continue;
    take(i);
    join_again(i);
    const auto [first, fresh] = asked.try_emplace(at(i).psn, i);
    if (!fresh) sets_.join(first->second, i);
  }
  for (std::int32_t i = 0; i < size(); ++i) {
    if (at(i).before || ruling(i).what != Ruling::What::late) continue;
    if (join_again(i)) continue;
    if (const auto nak = asked.find(at(i).psn); at(i).request && nak != asked.end()) take(nak->second, i);
  }
}

/// What was sent again had been sent before: it was lost, or thrown away.
void Grouping::join_originals() {
  for (std::int32_t i = 0; i < size(); ++i) {
    if (repeated(i)) take(original_of(i), i);
  }
}

std::vector<Group> Grouping::groups() {
  std::vector<Group> all;
  std::map<std::int32_t, std::size_t> by_root;
  const auto group_of = [&](std::int32_t i) -> Group& { return all[by_root.at(sets_.find(i))]; };
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
    if (loss.where != Lost::by_capture) {
      group_of(loss.shown).losses.push_back(&loss);
    } else if (loss.needed >= 0 && member_[static_cast<std::size_t>(loss.needed)]) {
      group_of(loss.needed).missed = true;
    }
  }
  return all;
}

}  // namespace roce::analyze::episode
