// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/explain.hpp"

#include <algorithm>
#include <utility>

#include "analyze/episode/scene.hpp"

namespace roce::analyze::episode {

void Scene::lose(const Loss& loss) {
  said.losses.push_back(loss);
  Ruling& ruling = ruling_at(loss.shown);
  const bool own = note_at(loss.shown).request == loss.request;
  if (loss.where == Lost::by_capture) {
    ++(own ? ruling.missed_own : ruling.missed_other);
  } else {
    ++(loss.where == Lost::before_capture ? ruling.lost_before : ruling.lost_after);
  }
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

}  // namespace

Explanation explain(std::span<const Note> notes, Facts& facts) {
  Scene scene(notes, facts);
  explain_requests(scene);
  explain_responses(scene);
  gather_passes(scene, true);
  gather_passes(scene, false);
  std::stable_sort(scene.said.passes.begin(), scene.said.passes.end(),
                   [](const Pass& a, const Pass& b) { return a.begins < b.begins; });
  return std::move(scene.said);
}

}  // namespace roce::analyze::episode
