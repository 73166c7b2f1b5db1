// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/incidents.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "analyze/episode/answers.hpp"
#include "analyze/episode/incident_groups.hpp"
#include "analyze/episode/incident_losses.hpp"
#include "analyze/episode/scratch.hpp"
#include "analyze/episode/thresholds.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze::episode {

using dissect::Operation;

namespace {

[[nodiscard]] std::int64_t between(std::int64_t from_ns, std::int64_t to_ns) noexcept {
  if (from_ns == capture::no_time || to_ns == capture::no_time) return Incident::unknown_ns;
  return std::max<std::int64_t>(to_ns - from_ns, 0);
}

/// The first NAK of that kind in a group; -1: there is none.
[[nodiscard]] std::int32_t first_nak(const Grouping& all, const Group& group, Nak kind) {
  const auto found = std::find_if(group.naks.begin(), group.naks.end(),
                                  [&](std::int32_t i) { return nak_of(all.at(i)) == kind; });
  return found == group.naks.end() ? -1 : *found;
}

class Judge {
 public:
  Judge(const Grouping& all, const Facts& facts) : all_(all), facts_(facts), answers_(all.answers()) {}
  [[nodiscard]] Incident describe(const Group& group) const;
  [[nodiscard]] std::uint64_t asked_before(const Group& group) const;

 private:
  void count(const Group& group, Incident& incident) const;
  void judge(const Group& group, Incident& incident) const;
  void judge_loss(const Group& group, Incident& incident) const;
  void judge_asked(const Group& group, std::int32_t nak, Incident& incident) const;
  void judge_silence(const Group& group, Incident& incident) const;
  void learn_how(const Group& group, Incident& incident) const;
  void measure(const Group& group, Incident& incident) const;
  void measure_stall(const Group& group, Incident& incident) const;
  [[nodiscard]] std::int32_t recovered_at(const Group& group) const;
  [[nodiscard]] bool answered_late(const LivePass& pass) const;
  [[nodiscard]] std::int64_t waited(const LivePass& pass) const;
  [[nodiscard]] bool by_missing_response(const LivePass& pass) const;
  [[nodiscard]] std::int32_t confirmed_at(const LivePass& pass) const;
  [[nodiscard]] const Note& at(std::int32_t i) const noexcept { return all_.at(i); }

  const Grouping& all_;
  const Facts& facts_;
  const Answers& answers_;
};

/// The answer that shows that what was missing has come; -1: none was captured.
std::int32_t Judge::recovered_at(const Group& group) const {
  std::int32_t from = group.notes.back();
  std::int64_t psn = at(from).psn;
  if (!group.passes.empty()) {
    from = group.passes.back().begins;
    for (const LivePass& pass : group.passes)
      psn = &pass == group.passes.data() ? pass.from : std::max(psn, pass.from);
  } else if (!group.naks.empty()) {
    from = group.naks.back();
    psn = at(from).psn;
  }
  for (std::int32_t i = from; i < all_.size(); ++i) {
    if (at(i).request || (i == from && nak_of(at(i)) != Nak::none)) continue;
    const std::int64_t beyond = nak_of(at(i)) == Nak::none ? at(i).psn + 1 : at(i).psn;
    if (beyond > psn) return i;
  }
  return -1;
}

void Judge::count(const Group& group, Incident& incident) const {
  std::uint32_t behind_one = 0;
  for (const Loss* loss : group.losses) {
    if (loss->behind_one) {
      ++behind_one;
      continue;
    }
    ++(loss->where == Lost::after_capture ? incident.lost_after : incident.lost_before);
    if (loss->or_missed) ++incident.lost_or_missed;
  }
  incident.lost_row = longest_row(group);
  incident.lost_least_bytes = least_lost_bytes(all_, group);
  incident.lost_again = lost_again(group);
  List<std::int32_t> lost;
  for (const Loss* loss : group.losses) lost.push_back(loss->note);
  std::sort(lost.begin(), lost.end());
  Map<std::int64_t, std::uint32_t> times;
  std::uint32_t most = 0;
  for (const std::int32_t i : group.notes) {
    if (!all_.repeated(i)) continue;
    ++incident.repeated_packets;
    incident.repeated_bytes += at(i).bytes;
    most = std::max(most, ++times[at(i).psn * 2 + (at(i).request ? 1 : 0)]);
    if (all_.ruling(i).original == 0 || std::binary_search(lost.begin(), lost.end(), all_.original_of(i)))
      continue;
    ++incident.discarded_packets;
    incident.discarded_bytes += at(i).bytes;
  }
  incident.retries = most;
  incident.lost_at_most = incident.lost_at_least() + behind_one + group.open;
}

/// Whether the answer to what was asked again was on its way: it came sooner than an answer can, or more
/// often than it was asked for since. That it was executed just then says nothing: so it is where the request
/// had been lost. Nor do answers to what had been confirmed before: duplicates are confirmed without being
/// executed, and without what delays acknowledgements (IBTA 9.7.5.1.1).
bool Judge::answered_late(const LivePass& pass) const {
  const Note& asked = at(pass.begins);
  if (!asked.request) return false;
  const bool on_its_own = answered_on_its_own(dissect::opcode_info(asked.opcode).operation);
  if (on_its_own && answers_.response_before(pass.from, pass.begins) >= 0) return false;
  if (!on_its_own && answers_.acked_before(pass.begins) > pass.from) return false;
  std::uint32_t times_asked = 1;
  std::uint32_t answers = 0;
  for (std::int32_t i = pass.begins + 1; i < all_.size(); ++i) {
    const Note& note = at(i);
    if (all_.ruling(i).what == Ruling::What::copy) continue;
    if (note.request && note.psn <= pass.from && pass.from < note.psn + std::max(note.count, 1))
      ++times_asked;
    if (note.request) continue;
    const std::int64_t took = between(asked.time_ns, note.time_ns);
    const bool too_soon = took != Incident::unknown_ns && took < facts_.fastest_answer_ns / 2;
    if (!on_its_own) {
      if (nak_of(note) == Nak::none && note.psn >= pass.from) return too_soon;
      continue;
    }
    if (note.psn != pass.from || is_acknowledgement(note)) continue;
    if (++answers > times_asked || (answers == 1 && too_soon)) return true;
  }
  return false;
}

/// How long the requester had waited for what a pass begins with; unknown_ns if its transmission is
/// forgotten.
std::int64_t Judge::waited(const LivePass& pass) const {
  const std::int32_t since = all_.original_of(pass.begins);
  return since < 0 ? Incident::unknown_ns : between(at(since).time_ns, at(pass.begins).time_ns);
}

/// Whether a READ or atomic was asked for again because a response was missing (an implied NAK,
/// IBTA 9.7.5.1.1): one behind it had come, or no timer can have run so soon.
bool Judge::by_missing_response(const LivePass& pass) const {
  if (!answered_on_its_own(dissect::opcode_info(at(pass.begins).opcode).operation)) return false;
  if (pass.pass->rule != Rule::read_asked_again && pass.pass->rule != Rule::timer) return false;
  if (all_.first_beyond(false, at(pass.begins).psn, pass.begins) >= 0) return true;
  // Timers begin anew with each response.
  const std::int32_t response = answers_.response_before(pass.from, pass.begins);
  const std::int64_t ns =
      response >= 0 ? between(at(response).time_ns, at(pass.begins).time_ns) : waited(pass);
  return ns != Incident::unknown_ns &&
         (ns < shortest_timer_ns || (facts_.timer.witnesses > 1 && ns < facts_.timer.typical_ns / 2));
}

void Judge::judge_loss(const Group& group, Incident& incident) const {
  incident.what = IncidentKind::loss;
  incident.of_responses = !group.losses.front()->request;
  incident.place = incident.lost_before == 0  ? IncidentPlace::after_capture
                   : incident.lost_after == 0 ? IncidentPlace::before_capture
                                              : IncidentPlace::several;
  for (const Loss* loss : group.losses) {
    incident.known_by(loss->where == Lost::trimmed          ? PlaceEvidence::trimmed
                      : loss->where == Lost::before_capture ? PlaceEvidence::gap_sent_again
                      : loss->request                       ? PlaceEvidence::nak_names_it
                                                            : PlaceEvidence::asked_for_again);
  }
  if (incident.lost_after != 0 && incident.discarded_packets != 0) {
    incident.lost_at_most += incident.discarded_packets;
    incident.leave_open(Undecided::further_losses);
  }
  if (group.open != 0)
    incident.leave_open(incident.of_responses ? Undecided::request_or_answer : Undecided::further_losses);
  incident.confidence = incident.lost_after == 0 ? 0.99F : 0.95F;
}

/// Sent again because a sequence NAK asked for it, and yet it was not lost.
void Judge::judge_asked(const Group& group, std::int32_t nak, Incident& incident) const {
  const std::int64_t psn = at(nak).psn;
  const bool late = std::any_of(group.notes.begin(), group.notes.end(),
                                [&](std::int32_t i) { return all_.ruling(i).what == Ruling::What::late; });
  const std::int32_t again = group.passes.empty() ? all_.size() - 1 : group.passes.front().begins;
  incident.what = IncidentKind::reordering;
  if (late) {
    incident.place = IncidentPlace::before_capture;
    incident.known_by(PlaceEvidence::came_late);
    incident.confidence = 0.95F;
  } else if (answers_.acked_before(again) > psn) {
    incident.place = IncidentPlace::after_capture;
    incident.known_by(PlaceEvidence::confirmed_before);
    incident.confidence = 0.9F;
  } else {
    const bool captured = std::any_of(all_.notes().begin(), all_.notes().begin() + nak,
                                      [&](const Note& note) { return note.request && note.psn == psn; });
    incident.what = captured ? IncidentKind::loss_or_reordering : IncidentKind::unexplained;
    incident.leave_open(captured ? Undecided::lost_or_late : Undecided::capture_incomplete);
    if (captured) incident.place = IncidentPlace::after_capture;
    incident.lost_at_most = std::max(incident.repeated_packets, 1U);
    incident.confidence = 0.5F;
  }
}

/// The first answer before a pass that confirms what it begins with; -1: none is among the notes.
std::int32_t Judge::confirmed_at(const LivePass& pass) const {
  for (std::int32_t i = 0; i < pass.begins; ++i) {
    const Note& note = at(i);
    if (!note.request && nak_of(note) == Nak::none && note.psn >= pass.from) return i;
  }
  return -1;
}

/// Sent again because nothing came.
void Judge::judge_silence(const Group& group, Incident& incident) const {
  const LivePass& first = group.passes.front();
  const bool silent = first.pass->rule == Rule::timer || first.pass->rule == Rule::read_asked_again;
  const bool missing = by_missing_response(first);
  const bool late = std::any_of(group.notes.begin(), group.notes.end(), [&](std::int32_t i) {
    const bool asked_for = !at(i).request && !at(i).before && at(i).psn == first.from;
    return asked_for && all_.ruling(i).what == Ruling::What::late;
  });
  if (missing && late) {
    incident.what = IncidentKind::reordering;
    incident.place = IncidentPlace::before_capture;
    incident.of_responses = true;
    incident.known_by(PlaceEvidence::came_late);
    incident.confidence = 0.95F;
  } else if (!missing && answered_late(first)) {
    incident.what = IncidentKind::slow_responder;
    incident.place = IncidentPlace::responder;
    incident.known_by(PlaceEvidence::answered_after_all);
    incident.confidence = 0.9F;
  } else if (!missing && answers_.acked_before(first.begins) > first.from && at(first.begins).request) {
    incident.what = IncidentKind::needless_repeat;
    incident.place = IncidentPlace::after_capture;
    incident.of_responses = true;
    incident.known_by(PlaceEvidence::confirmed_before);
    incident.lost_at_most = 1;
    const std::int32_t answer = confirmed_at(first);
    if (answer >= 0) incident.confirmed_ago_ns = between(at(answer).time_ns, at(first.begins).time_ns);
    incident.confidence = 0.9F;
  } else if (all_.ruling(first.begins).doubt != Doubt::none ||
             (missing && answers_.response_before(first.from, first.begins) >= 0)) {
    incident.what = IncidentKind::loss_or_reordering;
    incident.place = IncidentPlace::after_capture;
    incident.of_responses = true;
    incident.leave_open(Undecided::lost_or_late);
    incident.lost_at_most = std::max(incident.repeated_packets, 1U);
    incident.confidence = 0.5F;
  } else if (silent) {
    incident.what = IncidentKind::timeout;
    incident.leave_open(Undecided::request_or_answer);
    incident.lost_at_most = std::max(incident.repeated_packets, 1U);
    incident.confidence = 0.8F;
  } else {
    incident.what = IncidentKind::unexplained;
    incident.leave_open(Undecided::cause_not_captured);
    incident.lost_at_most = incident.repeated_packets;
    incident.confidence = 0.5F;
  }
}

void Judge::judge(const Group& group, Incident& incident) const {
  const auto nak = [&](Nak kind) { return first_nak(all_, group, kind); };
  if (nak(Nak::fatal) >= 0 || (group.losses.empty() && nak(Nak::rnr) >= 0)) {
    incident.what = nak(Nak::fatal) >= 0 ? IncidentKind::refused_request : IncidentKind::rnr;
    incident.place = IncidentPlace::responder;
    incident.known_by(PlaceEvidence::nak);
    incident.confidence = 0.99F;
  } else if (!group.losses.empty()) {
    judge_loss(group, incident);
  } else if (nak(Nak::sequence) >= 0) {
    judge_asked(group, nak(Nak::sequence), incident);
  } else if (!group.passes.empty()) {
    judge_silence(group, incident);
  }
  if (group.missed) {
    incident.leave_open(Undecided::capture_incomplete);
    incident.confidence -= 0.1F;
  }
}

/// How the sender came to send again, and how long that took.
void Judge::learn_how(const Group& group, Incident& incident) const {
  const Pass* const pass = group.passes.empty() ? nullptr : group.passes.front().pass;
  const std::int32_t begins = group.passes.empty() ? -1 : group.passes.front().begins;
  Rule rule = Rule::none;
  if (pass != nullptr) {
    rule = all_.ruling(begins).rule == Rule::none ? pass->rule : all_.ruling(begins).rule;
    incident.cause = all_.ruling(begins).cause;
    incident.rule = static_cast<std::uint8_t>(rule);
    incident.learned = LearnedBy::not_captured;
  }
  const auto nak_of_kind = [&](Nak kind) { return first_nak(all_, group, kind); };
  const auto by_nak = [&](LearnedBy how, std::int32_t nak) {
    incident.learned = how;
    const bool shown = nak > group.notes.front() || !group.losses.empty();  // before the NAK says so
    if (nak >= 0 && shown) incident.learned_after_ns = between(incident.start_ns, at(nak).time_ns);
  };
  if (const std::int32_t fatal = nak_of_kind(Nak::fatal); fatal >= 0) {
    by_nak(LearnedBy::fatal_nak, fatal);
  } else if (rule == Rule::sequence_nak || rule == Rule::nak_of_message) {
    by_nak(LearnedBy::sequence_nak, nak_of_kind(Nak::sequence));
  } else if (rule == Rule::rnr_nak || (pass == nullptr && nak_of_kind(Nak::rnr) >= 0)) {
    by_nak(LearnedBy::rnr_nak, nak_of_kind(Nak::rnr));
  } else if (pass == nullptr && nak_of_kind(Nak::sequence) >= 0) {
    by_nak(LearnedBy::nothing, nak_of_kind(Nak::sequence));
  } else if (rule == Rule::timer || rule == Rule::read_asked_again) {
    // A timer runs from the transmission; if that is forgotten, nobody knows since when.
    std::int32_t since = all_.original_of(begins);
    const bool missing = by_missing_response(group.passes.front());
    incident.learned = missing ? LearnedBy::missing_response : LearnedBy::timer;
    if (missing) since = std::max(since, all_.first_beyond(false, at(begins).psn, begins));
    const std::int64_t took =
        since < 0 ? Incident::unknown_ns : between(at(since).time_ns, at(begins).time_ns);
    // A host that was held up sends at once what it was late with and what its timer made it send again.
    if (missing || took >= shortest_timer_ns) incident.learned_after_ns = took;
  }
  if (const std::int32_t rnr = nak_of_kind(Nak::rnr); rnr >= 0) {
    for (const Asked& asked : answers_.asked()) {
      if (asked.note == rnr) incident.rnr_wait_ns = asked.wait_ns;
    }
  }
}

/// From when to when.
void Judge::measure(const Group& group, Incident& incident) const {
  const auto note_time = [&](std::int32_t i) {
    const std::int64_t time = at(i).time_ns;
    if (time == capture::no_time) return;
    if (incident.start_ns == capture::no_time || time < incident.start_ns) incident.start_ns = time;
    if (incident.end_ns == capture::no_time || time > incident.end_ns) incident.end_ns = time;
  };
  for (const std::int32_t i : group.notes) note_time(i);
  for (const Loss* loss : group.losses) {
    if (const std::int32_t shows = all_.shown_by(*loss); shows >= 0) note_time(shows);
  }
  const std::int32_t recovered = recovered_at(group);
  incident.over = recovered >= 0;
  // Where interfaces have clocks of their own, frames are not in the order of the notes.
  const auto by_frame = [&](std::int32_t a, std::int32_t b) { return at(a).frame < at(b).frame; };
  const auto [first, last] = std::minmax_element(group.notes.begin(), group.notes.end(), by_frame);
  incident.first_frame = at(*first).frame;
  incident.last_frame = std::max(at(*last).frame, recovered >= 0 ? at(recovered).frame : 0);
  if (recovered >= 0) {
    note_time(recovered);
    incident.recovery_ns = between(incident.start_ns, at(recovered).time_ns);
  }
  measure_stall(group, incident);
}

/// How long what is missing was not sent again.
void Judge::measure_stall(const Group& group, Incident& incident) const {
  std::int64_t since = incident.start_ns;
  std::int32_t looked_at = group.notes.front();
  for (const LivePass& pass : group.passes) {
    if (pass.pass->request != group.passes.front().pass->request) continue;
    const std::int64_t waited = between(since, at(pass.begins).time_ns);
    if (waited != Incident::unknown_ns) incident.stalled_ns += waited;
    // The next time something is missing is when the first behind it comes by.
    looked_at = pass.begins;
    since = at(looked_at).time_ns;
    const auto next = std::find_if(group.passes.begin(), group.passes.end(),
                                   [&](const LivePass& each) { return each.begins > looked_at; });
    for (std::int32_t i = looked_at; next != group.passes.end() && i < next->begins; ++i) {
      if (at(i).request != next->pass->request || at(i).psn <= next->from) continue;
      since = at(i).time_ns;
      break;
    }
  }
}

/// Where all passes are of responses, the request that they answer again, from before the episode: its frame.
std::uint64_t Judge::asked_before(const Group& group) const {
  if (group.passes.empty() || group.passes.front().pass->request) return 0;
  const LivePass& again = group.passes.front();
  for (std::int32_t i = again.begins - 1; i >= 0; --i) {
    const Note& note = at(i);
    if (!note.request || note.psn > again.from || note.psn + std::max(note.count, 1) <= again.from) continue;
    return note.before && all_.ruling(i).what == Ruling::What::repeat ? note.frame : 0;
  }
  return 0;
}

Incident Judge::describe(const Group& group) const {
  Incident incident;
  count(group, incident);
  measure_answers(all_, group, incident);
  judge(group, incident);
  measure(group, incident);
  learn_how(group, incident);
  // A refusal ends the connection: nothing will repair it.
  if (incident.what == IncidentKind::refused_request) incident.over = true;
  if (!incident.over) incident.leave_open(Undecided::end_not_captured);
  return incident;
}

/// What is said of the incident of that answer, or of the last one before it, cannot be all.
void contradict(Incidents& found, std::span<const Note> notes, const ImpossibleAnswer& each) {
  for (std::int32_t i = each.note; i >= 0; --i) {
    const std::int32_t of = found.of_note[static_cast<std::size_t>(i)];
    if (of < 0 || notes[static_cast<std::size_t>(i)].before) continue;
    Incident& incident = found.all[static_cast<std::size_t>(of)];
    incident.leave_open(each.why);
    constexpr float doubtful = 0.5F;
    incident.confidence = std::min(incident.confidence, doubtful);
    return;
  }
}

bool nothing_happened(std::span<const Note> notes, const Explanation& said) {
  if (!said.passes.empty() || !said.losses.empty()) return false;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (notes[i].before) continue;
    if (said.rulings[i].what == Ruling::What::late || nak_of(notes[i]) != Nak::none) return false;
  }
  return true;
}

}  // namespace

Incidents incidents_of(std::span<const Note> notes, const Explanation& said, const Facts& facts,
                       std::span<const Damaged> damaged) {
  const Scratch scratch;
  Incidents found;
  found.of_note.assign(notes.size(), -1);
  found.of_damaged.assign(damaged.size(), -1);
  if (nothing_happened(notes, said)) return found;
  Grouping all(notes, said, facts.acked);
  const Judge judge(all, facts);
  for (const Group& group : all.groups()) {
    const bool live = std::any_of(group.notes.begin(), group.notes.end(),
                                  [&](std::int32_t i) { return !all.at(i).before; });
    if (!live) continue;
    const auto index = static_cast<std::int32_t>(found.all.size());
    Incident& incident = found.all.emplace_back(judge.describe(group));
    found.asked_by.push_back(judge.asked_before(group));
    for (const std::int32_t i : group.notes) found.of_note[static_cast<std::size_t>(i)] = index;
    for (std::size_t k = 0; k < damaged.size(); ++k) {
      const Damaged& broken = damaged[k];
      const bool missed = std::any_of(group.losses.begin(), group.losses.end(), [&](const Loss* loss) {
        return loss->request == broken.request && loss->psn == broken.psn;
      });
      if (!missed || broken.frame > incident.last_frame) continue;
      incident.what = IncidentKind::corruption;
      incident.known_by(PlaceEvidence::icrc_wrong);
      incident.first_frame = std::min(incident.first_frame, broken.frame);
      found.of_damaged[k] = index;
    }
  }
  for (const ImpossibleAnswer& each : said.contradictions) contradict(found, notes, each);
  return found;
}

Incident incident_of(const Damaged& damaged) {
  Incident incident;
  incident.what = IncidentKind::corruption;
  incident.place = IncidentPlace::before_capture;
  incident.known_by(PlaceEvidence::icrc_wrong);
  incident.of_responses = !damaged.request;
  incident.start_ns = incident.end_ns = damaged.time_ns;
  incident.first_frame = incident.last_frame = damaged.frame;
  incident.lost_before = incident.lost_at_most = 1;
  incident.leave_open(Undecided::end_not_captured);
  incident.confidence = 0.9F;
  return incident;
}

}  // namespace roce::analyze::episode
