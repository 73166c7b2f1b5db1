// SPDX-License-Identifier: Apache-2.0
// What is said of each packet of an episode written down as text.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/mirror.hpp"
#include "tests/analyze/episode/episode_text.hpp"

namespace roce::analyze::episode {

inline std::string said(const Ruling& ruling) {
  std::string text;
  switch (ruling.what) {
    case Ruling::What::first:
      break;
    case Ruling::What::late:
      text = "late";
      break;
    case Ruling::What::copy:
      text = "copy";
      break;
    case Ruling::What::repeat:
      text = std::string(cause_name(ruling.cause));
      break;
  }
  const auto add = [&](const char* word, std::uint32_t count) {
    if (count != 0) text += (text.empty() ? "" : " ") + std::string(word) + "=" + std::to_string(count);
  };
  // Whether the capture misses packets tells whether what nobody asked for itself was lost as well.
  add("before", ruling.lost_before + ruling.lost_or_missed);
  add("after", ruling.lost_after + ruling.lost_behind_one);
  add("missed", ruling.missed_own + ruling.missed_other);
  if (ruling.doubt != Doubt::none) text += text.empty() ? "open" : " open";
  return text;
}

inline void expect_said(const std::string& text, Facts facts = {}) {
  const std::vector<EpisodeLine> lines = parse_episode(text);
  std::vector<Note> notes;
  for (const EpisodeLine& line : lines) notes.push_back(line.note);
  facts.first = notes.front().psn;
  facts.acked = facts.acked == 0 ? notes.front().psn : facts.acked;
  Mirror mirror;
  mirror.learn(notes, facts);
  if (facts.mirror.witnesses == 0) facts.mirror = mirror.fact();
  const std::vector<Ruling> rulings = explain(notes, facts).rulings;
  ASSERT_EQ(rulings.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(said(rulings[i]), lines[i].expected) << "line " << i + 1 << ", PSN " << lines[i].note.psn;
  }
}

}  // namespace roce::analyze::episode
