// SPDX-License-Identifier: Apache-2.0
// What a repeat cost and whether it was needed, who made a copy, and what each refers to.
#include <algorithm>
#include <array>
#include <utility>

#include "analyze/episode/scene.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

class Costs {
 public:
  explicit Costs(Scene& scene) : scene_(scene), previous_(scene.notes.size(), -1) {}

  void judge() {
    for (const Loss& loss : scene_.said.losses) {
      if (loss.where == Lost::after_capture && loss.note >= 0)
        scene_.ruling_at(loss.shown).lost_frame = scene_.note_at(loss.note).frame;
    }
    if (!any_again()) return;
    for (std::size_t k = 0; k < scene_.notes.size(); ++k) {
      const auto i = static_cast<std::int32_t>(k);
      const Note& note = scene_.notes[k];
      Ruling& ruling = scene_.ruling_at(i);
      if (ruling.what == Ruling::What::copy) {
        judge_copy(note, ruling);
        continue;
      }
      if (repeated(k)) judge_repeat(i);
      const auto [last, fresh] = last_[note.request ? 1 : 0].try_emplace(note.psn, i);
      if (!fresh) previous_[k] = std::exchange(last->second, i);
      if (!note.request) {
        last_answer_ = i;
        if (dissect::opcode_info(note.opcode).operation != Operation::acknowledge)
          answered_ = std::max(answered_, note.psn + 1);
      } else {
        last_request_ = i;
      }
    }
  }

 private:
  [[nodiscard]] bool repeated(std::size_t i) const noexcept {
    const Note& note = scene_.notes[i];
    return note.request && !note.before && scene_.said.rulings[i].what == Ruling::What::repeat;
  }
  [[nodiscard]] bool any_again() const noexcept {
    for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
      if (scene_.said.rulings[i].what == Ruling::What::copy || repeated(i)) return true;
    }
    return false;
  }
  [[nodiscard]] std::int32_t last_of(bool request, std::int64_t psn) const noexcept {
    const auto& all = last_[request ? 1 : 0];
    const auto last = all.find(psn);
    return last == all.end() ? -1 : last->second;
  }

  /// The last one before with its ID, or else the last one.
  void judge_copy(const Note& note, Ruling& ruling) const {
    const std::int32_t last = last_of(note.request, note.psn);
    std::int32_t same = last;
    while (same >= 0 && scene_.note_at(same).ip_id != note.ip_id)
      same = previous_[static_cast<std::size_t>(same)];
    const Note* const original = last < 0 ? nullptr : &scene_.note_at(same >= 0 ? same : last);
    if (original != nullptr && ruling.original == 0) ruling.original = original->frame;
    ruling.by_network = original != nullptr && made_by_network(note, *original, scene_.facts);
  }

  void judge_repeat(std::int32_t i) {
    const Note& note = scene_.note_at(i);
    Ruling& ruling = scene_.ruling_at(i);
    const dissect::OpcodeInfo& info = dissect::opcode_info(note.opcode);
    const bool own_answer = answered_on_its_own(info.operation);
    const std::int64_t end = note.psn + std::max(note.count, 1);
    const std::int64_t acked = scene_.answers.acked_before(i);
    const bool asked_for = ruling.cause == Cause::nak || ruling.cause == Cause::rnr;
    if (ruling.trigger >= 0) {
      ruling.trigger_frame = scene_.note_at(ruling.trigger).frame;
      ruling.trigger_ns = scene_.note_at(ruling.trigger).time_ns;
    }
    if (ruling.begins_pass) {
      // What goes with a request whose answer is missing is repeated for good reason.
      for_answer_ = own_answer && !asked_for && answer_missing(i, end);
      implied_ = implied(i, info.operation);
      unheard_ = ruling.cause == Cause::timeout ? unheard_nak(i) : 0;
    }
    if (!asked_for) {
      ruling.implied = implied_;
      ruling.unheard_nak = unheard_;
    }
    ruling.spurious = acked >= end && !(own_answer && for_answer_);
    const std::int32_t before = last_of(true, note.psn);
    if (ruling.cause != Cause::nak || ruling.spurious || before < 0) return;
    const auto asked = scene_.answers.asked_before(i);
    ruling.thrown_away = std::none_of(asked.begin(), asked.end(), [&](const Asked& one) {
      return one.psn == note.psn && !one.rnr && one.note > before;
    });
  }

  [[nodiscard]] bool answer_missing(std::int32_t i, std::int64_t end) const {
    const Note& note = scene_.note_at(i);
    const Ruling& ruling = scene_.said.rulings[static_cast<std::size_t>(i)];
    if (ruling.lost_after != 0 || ruling.doubt != Doubt::none) return true;
    const std::int32_t asked = last_of(true, note.psn);
    if (asked >= 0 && scene_.note_at(asked).answered) return false;
    if (scene_.answers.response_missing(note.psn, end, i)) return true;
    const std::int32_t given = scene_.answers.response_before(note.psn, i);
    std::int32_t issued = -1;  // last
    for (const Issue& issue : scene_.issues) {
      if (issue.note < i && issue.first <= note.psn && note.psn < issue.end)
        issued = std::max(issued, issue.note);
    }
    if (given < issued) return true;  // since then
    // It had time to arrive, and is asked for nevertheless.
    if (given >= 0 && since(given, i) >= at_once_ns) return true;
    return given >= 0 && scene_.said.rulings[static_cast<std::size_t>(given)].what == Ruling::What::late;
  }

  [[nodiscard]] bool silent(std::int32_t i) const {
    return last_request_ >= 0 && since(last_request_, i) >= quiet_ns;
  }
  [[nodiscard]] std::int64_t since(std::int32_t then, std::int32_t now) const {
    const std::int64_t a = scene_.note_at(then).time_ns;
    const std::int64_t b = scene_.note_at(now).time_ns;
    return a == capture::no_time || b == capture::no_time ? -1 : b - a;
  }

  /// Whether an answer behind it made the requester ask: an implied NAK (IBTA 9.7.5.2.8). It asks soon after,
  /// where a timer starts anew with each answer.
  [[nodiscard]] bool implied(std::int32_t i, Operation operation) const {
    const Note& note = scene_.note_at(i);
    const Cause cause = scene_.said.rulings[static_cast<std::size_t>(i)].cause;
    if (!answered_on_its_own(operation) || last_answer_ < 0) return false;
    if (cause == Cause::read_retry && operation == Operation::read_request)
      return answered_ > note.psn + 1 && since(last_answer_, i) >= 0 && since(last_answer_, i) < at_once_ns;
    return cause == Cause::timeout && scene_.answers.acked_before(i) > note.psn + 1 && !silent(i);
  }

  /// The last NAK, if what it asks for is still missing and nobody went back since.
  [[nodiscard]] std::uint64_t unheard_nak(std::int32_t i) const {
    const auto asked = scene_.answers.asked_before(i);
    if (asked.empty() || asked.back().rnr || asked.back().psn != scene_.answers.acked_before(i)) return 0;
    for (std::int32_t k = asked.back().note; k < i; ++k) {
      const Ruling& ruling = scene_.said.rulings[static_cast<std::size_t>(k)];
      if (scene_.note_at(k).request && ruling.what == Ruling::What::repeat) return 0;
    }
    return scene_.note_at(asked.back().note).frame;
  }

  Scene& scene_;
  std::array<Map<std::int64_t, std::int32_t>, 2> last_;  ///< answers, requests: transmissions, by PSN
  List<std::int32_t> previous_;                          ///< of each the one of its PSN before; -1: none
  std::int32_t last_answer_ = -1;
  std::int32_t last_request_ = -1;
  std::int64_t answered_ = 0;  ///< behind the highest response
  bool for_answer_ = false;    ///< of the present pass
  bool implied_ = false;
  std::uint64_t unheard_ = 0;
};

}  // namespace

/// No wire carries two packets in one nanosecond. Coarser clocks do not tell.
bool same_record(const Note& a, const Note& b, const Facts& facts) noexcept {
  return facts.nanoseconds && a.time_ns == b.time_ns && a.time_ns != capture::no_time;
}

/// A capture that shows things twice does so nearly all the time, or after the same time; a network now and
/// then, and soon.
bool made_by_network(const Note& note, const Note& original, const Facts& facts) {
  const StreamFact& requests = facts.requests;
  const StreamFact& responses = facts.responses;
  const bool data = note.request || dissect::opcode_info(note.opcode).operation != Operation::acknowledge;
  constexpr unsigned often = 3;
  const bool usual = data ? (note.request ? requests : responses).twice(often)
                          : requests.twice(often) || responses.twice(often);
  // Without IDs not every copy of a response is known for one; where all requests come twice, it is.
  const bool as_requests = !note.request && requests.twice(often) && responses.twice(16);
  const bool timed_both = note.time_ns != capture::no_time && original.time_ns != capture::no_time;
  const std::int64_t lag = timed_both ? note.time_ns - original.time_ns : -1;
  return !(note.path != original.path || usual || as_requests || facts.mirror.shows(original, note) ||
           lag >= held_back_ns || same_record(note, original, facts));
}

void judge_costs(Scene& scene) {
  Costs(scene).judge();
}

}  // namespace roce::analyze::episode
