// SPDX-License-Identifier: Apache-2.0
// What the responder sent of responses with PSNs of their own: which were given again, and which were lost.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "analyze/episode/scene.hpp"
#include "analyze/episode/stream.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

class Responses {
 public:
  explicit Responses(Scene& scene) : scene_(scene) {}
  void explain();

 private:
  struct Range {
    std::int64_t first = 0, end = 0, base = 0;
  };
  [[nodiscard]] float asked_again(const Stream& stream, const Sent& sent, std::size_t given) const;
  [[nodiscard]] std::size_t asked_times(std::int64_t psn, std::int32_t before) const noexcept;
  [[nodiscard]] std::int32_t issue_of(std::int64_t psn, std::int32_t before) const noexcept;
  void rule_responses(const Stream& stream);
  void lose_responses(const Stream& stream);
  void lose_reissued(const Stream& stream);
  [[nodiscard]] std::int64_t dense(std::int64_t psn) const noexcept;
  void find_ranges();

  Scene& scene_;
  std::vector<Range> ranges_;  ///< of PSNs that have responses
};

/// The last request before that note whose answer has this PSN; -1: none was captured.
std::int32_t Responses::issue_of(std::int64_t psn, std::int32_t before) const noexcept {
  for (auto issue = scene_.issues.rbegin(); issue != scene_.issues.rend(); ++issue) {
    if (issue->note < before && issue->first <= psn && psn < issue->end)
      return static_cast<std::int32_t>(scene_.issues.rend() - issue) - 1;
  }
  return -1;
}

/// Between the responses of two READs lie PSNs of other requests: the responses are numbered without them.
void Responses::find_ranges() {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  all.reserve(scene_.issues.size());
  for (const Issue& issue : scene_.issues) all.emplace_back(issue.first, issue.end);
  for (const Note& note : scene_.notes) {
    if (!note.request && dissect::opcode_info(note.opcode).operation != Operation::acknowledge)
      all.emplace_back(note.psn, note.psn + 1);
  }
  std::sort(all.begin(), all.end());
  for (const auto& [first, end] : all) {
    if (ranges_.empty() || first > ranges_.back().end) {
      const std::int64_t base =
          ranges_.empty() ? 0 : ranges_.back().base + ranges_.back().end - ranges_.back().first;
      ranges_.push_back({first, end, base});
    } else {
      ranges_.back().end = std::max(ranges_.back().end, end);
    }
  }
}

std::int64_t Responses::dense(std::int64_t psn) const noexcept {
  const auto behind = std::upper_bound(ranges_.begin(), ranges_.end(), psn,
                                       [](std::int64_t at, const Range& range) { return at < range.first; });
  const Range& range = *std::prev(behind);
  return range.base + psn - range.first;
}

/// Whether the responder was asked for it more often than it has answered so far: `given` times.
float Responses::asked_again(const Stream& stream, const Sent& sent, std::size_t given) const {
  const std::int64_t psn = stream.note_of(sent).psn;
  std::size_t asked = 0;
  bool begins = false;
  for (const Issue& issue : scene_.issues) {
    if (issue.note > sent.note) break;
    if (psn < issue.first || psn >= issue.end) continue;
    ++asked;
    begins = begins || issue.first == psn;
  }
  return asked > 1 && asked > given ? (begins ? 1.0F : 7.0F) : asked == 0 ? 10.0F : 13.0F;
}

/// How often it was asked for before that note.
std::size_t Responses::asked_times(std::int64_t psn, std::int32_t before) const noexcept {
  return static_cast<std::size_t>(std::count_if(
      scene_.issues.begin(), scene_.issues.end(),
      [&](const Issue& issue) { return issue.note < before && issue.first <= psn && psn < issue.end; }));
}

void Responses::explain() {
  Stream stream;
  stream.notes = scene_.notes;
  find_ranges();
  for (std::size_t i = 0; i < scene_.notes.size(); ++i) {
    const Note& note = scene_.notes[i];
    if (note.request || dissect::opcode_info(note.opcode).operation == Operation::acknowledge) continue;
    Sent sent;
    sent.psn = dense(note.psn);
    sent.end = sent.psn + 1;
    sent.time_ns = note.time_ns;
    sent.note = static_cast<std::int32_t>(i);
    stream.sent.push_back(sent);
  }
  if (stream.sent.empty()) return;
  stream.put_in_order(scene_.facts.responses);
  std::unordered_map<std::int64_t, std::size_t> given;
  for (Sent& sent : stream.sent) sent.back = asked_again(stream, sent, given[sent.psn]++);
  stream.tell(scene_.facts.responses, stream.sent.front().psn, stream.sent.front().psn,
              scene_.facts.keeps > 0 ? 1.0F : 5.0F);
  stream.learn(scene_.facts.responses);
  rule_responses(stream);
  lose_responses(stream);
  lose_reissued(stream);
}

void Responses::rule_responses(const Stream& stream) {
  std::unordered_map<std::int64_t, std::uint64_t> last_frame;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Sent& sent = stream.sent[i];
    const Placed& told = stream.story[i];
    const Note& note = stream.note_of(sent);
    Ruling& ruling = scene_.ruling_at(sent.note);
    const auto known = last_frame.find(note.psn);
    if (known != last_frame.end()) ruling.original = known->second;
    if (told.move == Move::copy) {
      ruling.what = Ruling::What::copy;
      ruling.rule = Rule::in_turn;
      continue;
    }
    last_frame[note.psn] = note.frame;
    ruling.begins_pass = told.move == Move::back;
    const bool late = told.move == Move::late || stream.overtaken(i);
    // Confirmed by another answer before, it had been executed, and answered.
    const bool executed =
        !late && scene_.answers.acked_before(sent.note) > note.psn && asked_times(note.psn, sent.note) > 1;
    const bool again = told.move == Move::late ? !told.of_first : sent.psn < told.top || executed;
    if (!again) {
      ruling.what = late ? Ruling::What::late : Ruling::What::first;
      ruling.rule = told.move == Move::late ? Rule::fills_gap : late ? Rule::sent_earlier : Rule::first;
      continue;
    }
    ruling.what = Ruling::What::repeat;
    ruling.rule = Rule::responds_again;
    const bool read = dissect::opcode_info(note.opcode).operation == Operation::read_response;
    ruling.cause = read ? Cause::read_retry : Cause::timeout;
    const std::int32_t issue = issue_of(note.psn, sent.note);
    if (issue >= 0) {
      const Ruling& asked =
          scene_.said.rulings[static_cast<std::size_t>(scene_.issues[static_cast<std::size_t>(issue)].note)];
      if (asked.what == Ruling::What::repeat && asked.cause != Cause::unknown) ruling.cause = asked.cause;
    }
  }
}

void Responses::lose_responses(const Stream& stream) {
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_psn;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    if (stream.story[i].move != Move::copy) by_psn[stream.sent[i].psn].push_back(i);
  }
  constexpr std::int64_t looked_at = 4096;
  for (std::size_t i = 0; i < stream.sent.size(); ++i) {
    const Placed& told = stream.story[i];
    const Sent& shows = stream.sent[i];
    if (told.move != Move::ahead || shows.psn - told.cursor > looked_at || stream.note_of(shows).before)
      continue;
    for (std::int64_t at = told.cursor; at < shows.psn; ++at) {
      std::ptrdiff_t next = -1;
      bool late = false;
      if (const auto all = by_psn.find(at); all != by_psn.end()) {
        for (const std::size_t k : all->second) {
          if (k <= i) continue;
          late = late || (stream.story[k].move == Move::late && stream.story[k].pass == told.pass);
          if (next < 0) next = static_cast<std::ptrdiff_t>(k);
        }
      }
      // If nobody asks for it again, it was delivered: the end of the capture tells.
      if (!late && next >= 0) {
        const std::int32_t again = stream.sent[static_cast<std::size_t>(next)].note;
        scene_.lose({Lost::before_capture, false, scene_.note_at(again).psn, -1, again, again});
      }
    }
  }
}

/// A READ that is issued again names the response that its requester lacks.
void Responses::lose_reissued(const Stream& stream) {
  std::unordered_map<std::int64_t, std::int32_t> claimed;
  for (std::size_t i = 0; i < scene_.issues.size(); ++i) {
    const Issue& issue = scene_.issues[i];
    const Ruling& how = scene_.said.rulings[static_cast<std::size_t>(issue.note)];
    if (how.what != Ruling::What::repeat || !how.begins_pass || scene_.note_at(issue.note).before) continue;
    if (how.cause == Cause::nak || how.cause == Cause::rnr) continue;
    const std::int64_t psn = issue.first;
    const std::int32_t given = scene_.answers.response_before(psn, issue.note);
    if (given < 0 || (claimed.contains(psn) && claimed[psn] == given)) continue;
    const Ruling& answer = scene_.said.rulings[static_cast<std::size_t>(given)];
    if (answer.what == Ruling::What::late) continue;
    // Since it was asked for last, or it is not what is missed now.
    std::int32_t asked = -1;
    bool within = false;
    for (std::size_t k = 0; k < i; ++k) {
      if (psn < scene_.issues[k].first || psn >= scene_.issues[k].end) continue;
      asked = scene_.issues[k].note;
      within = within || scene_.issues[k].first < psn;
    }
    if (given < asked) continue;
    bool later = false;
    std::int64_t last_ns = capture::no_time;
    const std::int64_t place = dense(psn);
    for (const Sent& sent : stream.sent) {
      if (sent.note >= issue.note || sent.note < given || sent.psn <= place) continue;
      later = true;
      last_ns = std::max(last_ns, sent.time_ns);
    }
    const Note& now = scene_.note_at(issue.note);
    const bool soon = last_ns != capture::no_time && now.time_ns - last_ns < at_once_ns;
    if (!within && !(later && soon)) continue;
    if (answer.what == Ruling::What::repeat && timed(now, scene_.note_at(given)) &&
        scene_.facts.ask_again_ns != 0 &&
        now.time_ns - scene_.note_at(given).time_ns < scene_.facts.ask_again_ns)
      continue;
    claimed[psn] = given;
    scene_.lose({Lost::after_capture, false, psn, given, issue.note, -1});
  }
}

}  // namespace

void explain_responses(Scene& scene) {
  Responses(scene).explain();
}

}  // namespace roce::analyze::episode
