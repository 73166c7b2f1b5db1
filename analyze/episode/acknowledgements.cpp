// SPDX-License-Identifier: Apache-2.0
// ACKs and NAKs: they are sent again by rule, so only what tells two transmissions apart makes one a copy.
#include <algorithm>
#include <utility>
#include <vector>

#include "analyze/episode/ranges.hpp"
#include "analyze/episode/scene.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

namespace {

class Acknowledgements {
 public:
  explicit Acknowledgements(Scene& scene) : scene_(scene), next_(scene.notes.size(), -1) {
    const StreamFact& ids = scene.facts.responses;
    const std::uint32_t changes = ids.id_forward + ids.id_other;
    constexpr std::uint32_t some = 4;
    ids_tell_ = changes + ids.id_constant < some ? true : changes > ids.id_constant;
    twice_ = scene.facts.requests.doubled != 0 &&
             std::uint64_t{scene.facts.requests.doubled} * 3 >= scene.facts.requests.single;
    ids_rise_ =
        ids.id_forward >= some && ids.id_forward > 8 * (std::uint64_t{ids.id_other} + ids.id_constant);
  }

  void explain() {
    for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
      const Note& note = scene_.notes[i];
      if (note.request && scene_.said.rulings[i].what != Ruling::What::copy)
        captured_.add(note.psn, note.psn + std::max(note.count, 1));
    }
    captured_.settle();
    for (std::size_t i = 0; i < scene_.notes.size(); ++i) rule(static_cast<std::int32_t>(i));
  }

 private:
  void rule(std::int32_t i) {
    const Note& note = scene_.note_at(i);
    if (note.request) return;
    if (!is_acknowledgement(note)) {
      scene_.ruling_at(i).unseen = !captured_.hold(note.psn);
    } else {
      Ruling& ruling = scene_.ruling_at(i);
      if (const Twin twin = twin_of(note); twin.of != nullptr) {
        ruling.what = Ruling::What::copy;
        ruling.rule = twin.rule;
        ruling.original = twin.of->frame;
        return;
      }
      const auto [seen, fresh] = seen_.try_emplace(note.psn, {i, i});
      if (!fresh) next_[static_cast<std::size_t>(std::exchange(seen->second.last, i))] = i;
      ruling.rule = Rule::first;
      // What was sent before the others confirms no more than they did.
      const std::int64_t lag =
          last_ != nullptr && note.time_ns != capture::no_time && last_->time_ns != capture::no_time
              ? note.time_ns - last_->time_ns
              : 0;
      const bool behind = last_ != nullptr && note.has_ip_id && ids_rise_ &&
                          static_cast<std::uint16_t>(note.ip_id - last_->ip_id) >= 0x8000U;
      if (behind && scene_.answers.acked_before(i) > note.psn + 1 && lag >= held_back_ns) {
        ruling.what = Ruling::What::copy;  // of one that is forgotten, of another capture that was merged
        ruling.rule = Rule::sent_earlier;
        return;
      }
      if (behind && scene_.answers.acked_before(i) > note.psn && lag < turned_ns) {
        ruling.what = Ruling::What::late;
        ruling.rule = Rule::sent_earlier;
        return;
      }
      const unsigned kind = note.aeth >> 29U & 3U;
      if (note.has_aeth) ruling.unseen = !captured_.hold(kind == 0 ? note.psn : note.psn - 1);
    }
    if (note.has_ip_id && scene_.ruling_at(i).what != Ruling::What::late) last_ = &note;
  }

  struct Twin {
    const Note* of = nullptr;
    Rule rule = Rule::none;
  };

  [[nodiscard]] Twin twin_of(const Note& note) {
    const auto seen = seen_.find(note.psn);
    for (std::int32_t k = seen == seen_.end() ? -1 : seen->second.first; k >= 0;
         k = next_[static_cast<std::size_t>(k)]) {
      const Note& other = scene_.note_at(k);
      if (other.has_aeth && note.has_aeth && other.aeth != note.aeth) continue;
      const bool ids = ids_tell_ && note.has_ip_id && other.has_ip_id && note.ip_id != 0;
      if (ids && note.ip_id == other.ip_id) return {&other, Rule::same_id};
      if (!ids && note.path != other.path) return {&other, Rule::other_path};
      if (same_record(note, other, scene_.facts)) return {&other, Rule::in_turn};
      // Where the capture shows every request twice it shows each answer twice.
      const std::int64_t lag = note.time_ns - other.time_ns;
      if (!ids && twice_ && lag < quiet_ns && twins_.insert(k)) return {&other, Rule::in_turn};
    }
    return {};
  }

  Scene& scene_;
  bool ids_tell_ = false;
  bool twice_ = false;  ///< the capture shows requests twice
  Set<std::int32_t> twins_;
  bool ids_rise_ = false;
  const Note* last_ = nullptr;  ///< answer that was not overtaken
  Ranges captured_;             ///< requests
  struct Seen {
    std::int32_t first = -1, last = -1;  ///< notes
  };
  Map<std::int64_t, Seen> seen_;  ///< by PSN
  List<std::int32_t> next_;       ///< by note: the next of its PSN; -1: none
};

}  // namespace

void explain_acknowledgements(Scene& scene) {
  Acknowledgements(scene).explain();
}

}  // namespace roce::analyze::episode
