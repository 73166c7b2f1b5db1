// SPDX-License-Identifier: Apache-2.0
// What the explanations of requests and of responses work on together.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/answers.hpp"
#include "analyze/episode/executions.hpp"
#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// PSNs of which something was left out as a copy that no ID and no path of its own proves: by request (1) or
/// response (0).
using LeftOut = std::array<Set<std::int64_t>, 2>;

struct Scene {
  Scene(std::span<const Note> all, Facts& path, const LeftOut& copies)
      : notes(all), facts(path), answers(all, path.acked), left_out(copies) {
    said.rulings.resize(all.size());
  }

  std::span<const Note> notes;
  Facts& facts;
  Answers answers;
  const LeftOut& left_out;
  Explanation said;
  List<Issue> issues;

  [[nodiscard]] const Note& note_at(std::int32_t i) const noexcept {
    return notes[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] Ruling& ruling_at(std::int32_t i) noexcept {
    return said.rulings[static_cast<std::size_t>(i)];
  }
  /// Whether a transmission of that PSN that seems not to be captured may be among the copies.
  [[nodiscard]] bool among_copies(bool request, std::int64_t psn) const {
    return left_out[request ? 1 : 0].contains(psn);
  }
  /// Notes a loss, and in the ruling of the packet that shows it.
  void lose(const Loss& loss);
  /// What a switch trimmed did not arrive: that is known of itself.
  void lose_trimmed();
  /// That packet behind the capture, or it came late there.
  void leave_open(std::int32_t note, std::int32_t shown, Doubt doubt) {
    ruling_at(shown).doubt = doubt;
    ruling_at(shown).doubt_frame = note_at(note).frame;
  }

 private:
  [[nodiscard]] bool arrived_all_the_same(std::int32_t i) const;
  [[nodiscard]] bool taken_all_the_same(std::int32_t i) const;
};

/// Requests first: what they were tells what the responses answer.
void explain_requests(Scene& scene);
void explain_responses(Scene& scene);
void explain_acknowledgements(Scene& scene);
/// What is said of each packet besides, when all are ruled.
void judge_costs(Scene& scene);
/// Whether two notes are one record that is there twice.
[[nodiscard]] bool same_record(const Note& a, const Note& b, const Facts& facts) noexcept;
/// Whether the network made that copy of a packet; else the capture shows it twice.
[[nodiscard]] bool made_by_network(const Note& copy, const Note& original, const Facts& facts);

}  // namespace roce::analyze::episode
