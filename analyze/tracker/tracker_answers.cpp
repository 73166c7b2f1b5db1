// SPDX-License-Identifier: Apache-2.0
// Whose requests a flow answers, where neither the CM nor a port tells. Parallel connections may well use
// the same PSNs, so that a PSN was sent says little. Each answer is held against every flow whose requests
// it could be to: was the PSN sent before, is it of that kind of request, did the answer come as promptly
// as others, and did the responder count as many messages (MSN) as ended there? What a flow's answers say
// is summed up as the logarithm of a likelihood ratio: true partner against a flow that has nothing to do
// with it. How often the latter fits by chance is seen from all candidates: what fits all tells nothing.
#include <algorithm>
#include <cmath>
#include <utility>

#include "analyze/episode/thresholds.hpp"
#include "analyze/tracker/tracker_impl.hpp"
#include "dissect/aeth.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t looks_a_packet = 256;
constexpr std::int64_t most_looks = std::int64_t{1} << 22U;

/// How often the true partner passes each test: losses, copies, stalls and captures that miss packets spoil
/// some. How often another flow does, as long as there are few others to see it from: a flow that is ahead
/// of another is so for long.
struct AnswerTest {
  double right;
  double chance;
  double weight;  ///< of `chance`, in flows
};
constexpr AnswerTest of_place{0.95, 0.8, 5}, of_count{0.9, 0.5, 4}, of_pace{0.8, 0.45, 5},
    of_port{0.8, 0.45, 5}, of_steady{0.8, 0.45, 5};
/// Answers that come as soon as those before prove little more than those did: connections in lockstep have
/// one pace.
constexpr double most_pace = 3;
/// Hosts differ in how steady they are, so it speaks for a flow, but never against one.
constexpr double most_steady = 5;
/// Not even then has an answer come to what nobody sent, unless the capture missed that very request.
constexpr double of_nothing = 4;
/// Some flow will be the best by chance; it must be better than chance, and than the next.
constexpr double enough = 7, margin = 7;
constexpr double hopeless = Candidate::hopeless;
/// Answer after answer at the right place proves no more than that: who is ahead of another stays ahead.
constexpr double most = 16;
constexpr std::uint32_t fewest_answers = 2;
/// An answer to a READ begins with the READ's own PSN, wherever among its many another flow's answers are.
/// Once for all: where numbers run alike they do so again and again.
constexpr AnswerTest of_begin{0.95, 1.0 / 64, 5};
constexpr std::uint32_t many_psns = 64;
constexpr double most_begin = 4;
/// A sequence that does not begin near 0 has a number of its own: 2^24 over what may be under way.
constexpr double own_number = 5;
constexpr std::uint32_t low_psn = 65'536;

enum class Told : std::uint8_t { nothing, fits, contradicts, never_sent };

/// What one answer tells of one candidate.
struct Look {
  Told place = Told::nothing;
  Told count = Told::nothing;
  Told pace = Told::nothing;
  Told begin = Told::nothing;   ///< an answer to a READ begins where the READ does
  Told steady = Told::nothing;  ///< as soon as others, nearly to the same
  double delay_ns = 0;          ///< 0: none; below: it came before the request
  std::optional<std::uint32_t> messages;
};

Look look_at(const RequestTrace& requests, const PacketRecord& answer) {
  Look look;
  if (requests.empty()) {
    look.place = Told::contradicts;
    return look;
  }
  const RequestTrace::Found found = requests.find(answer.psn);
  switch (found.place) {
    case RequestTrace::Place::elsewhere:
    case RequestTrace::Place::beyond:
      look.place = Told::never_sent;
      return look;
    case RequestTrace::Place::before:
      return look;
    case RequestTrace::Place::among:
      break;
  }
  const RequestTrace::Answer kind = answered_by(answer);
  if (kind == RequestTrace::Answer::none && answer.has(PacketRecord::has_aeth)) {
    // What a NAK asks for need not have been captured; it counts the messages before it (IBTA 9.7.7.1).
    const RequestTrace::Found before = requests.find((answer.psn - 1) & dissect::serial_mask);
    if (before.answer != RequestTrace::Answer::none) {
      look.place = Told::fits;
      look.messages = before.messages;
      return look;
    }
  }
  if (found.answer == RequestTrace::Answer::none) return look;  // so long ago that it is forgotten
  look.place = Told::fits;
  if (kind != RequestTrace::Answer::none) {
    if (found.answer != kind) {
      look.place = Told::contradicts;
      return look;
    }
    if (found.begins >= many_psns) look.begin = Told::fits;
    if (found.of_read && found.begins == 0) look.begin = Told::contradicts;
    if (answer.has(PacketRecord::has_aeth)) look.messages = found.messages;
    if (found.time_ns != capture::no_time && answer.time_ns != capture::no_time) {
      const auto took_ns = static_cast<double>(answer.time_ns - found.time_ns);
      look.delay_ns = took_ns != 0 ? took_ns : 1;
    }
  }
  return look;
}

/// What it asks for again, if it is a sequence NAK or an RNR NAK.
std::optional<Asked> asked_by(const PacketRecord& answer) {
  if (dissect::opcode_info(answer.opcode).operation != dissect::Operation::acknowledge) return {};
  if (!answer.has(PacketRecord::has_aeth) || answer.time_ns == capture::no_time) return {};
  const dissect::AethKind kind = dissect::aeth_kind(static_cast<std::uint8_t>(answer.aeth >> 24U));
  const bool sequence = kind == dissect::AethKind::nak && (answer.aeth >> 24U & 31U) == 0;
  if (!sequence && kind != dissect::AethKind::rnr_nak) return {};
  return Asked{answer.time_ns, answer.psn};
}

/// All candidates that took a test.
struct Crowd {
  AnswerTest test;
  unsigned tested = 0;
  unsigned passed = 0;

  void add(Told told) {
    if (told == Told::nothing) return;
    ++tested;
    if (told == Told::fits) ++passed;
  }
  /// What the outcome of one of them is worth: by chance it does as the others.
  [[nodiscard]] double gain(Told own) const {
    if (own == Told::nothing) return 0;
    const unsigned fits = own == Told::fits ? 1 : 0;
    const double by_chance = (test.chance * test.weight + passed - fits) / (test.weight + tested - 1);
    if (own == Told::fits) return std::log(test.right / by_chance);
    return std::log((1 - test.right) / (1 - by_chance)) - (own == Told::never_sent ? of_nothing : 0);
  }
};

}  // namespace

/// Holds an answer against all candidates.
void Tracker::Impl::judge(Unpaired& waiting, const PacketRecord& answer) {
  constexpr double steady = 3, stamp_ns = 1'000;
  const std::uint32_t msn = answer.aeth & dissect::serial_mask;
  std::vector<Candidate>& candidates = waiting.candidates;
  std::vector<Look> looked(candidates.size());
  const double patience_ns = patience_of(waiting, answer);
  Crowd at_place{of_place}, at_count{of_count}, at_pace{of_pace}, at_port{of_port}, at_steady{of_steady},
      at_begin{of_begin};
  const auto on_port = [&](const Candidate& c) {
    const PacketRecord& first = states[c.place].unpaired->first;
    if (!answer.has(PacketRecord::has_ports) || !first.has(PacketRecord::has_ports)) return Told::nothing;
    return answer.udp_source == first.udp_source ? Told::fits : Told::contradicts;
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate& c = candidates[i];
    at_port.add(on_port(c));
    Look& look = looked[i];
    look = look_at(states[c.place].unpaired->requests, answer);
    if (look.delay_ns != 0) {
      // Two clocks differ by one amount: in hindsight each answer comes before its request, and by as much.
      const bool too_late = waiting.in_hindsight ? look.delay_ns > 0 : look.delay_ns > patience_ns;
      if (too_late) look.place = Told::contradicts;
      look.delay_ns = std::max(1.0, waiting.in_hindsight ? -look.delay_ns : look.delay_ns);
      const double usual = c.delay_ns;
      if (usual > 0) {
        const bool as_ever = look.delay_ns > usual / steady && look.delay_ns < usual * steady;
        look.pace = as_ever ? Told::fits : Told::contradicts;
        const bool alike = std::abs(look.delay_ns - usual) < usual / 8 + stamp_ns;
        look.steady = alike ? Told::fits : Told::contradicts;
      }
      c.delay_ns = c.delay_ns == 0 ? static_cast<float>(look.delay_ns)
                                   : c.delay_ns + (static_cast<float>(look.delay_ns) - c.delay_ns) / 8;
    }
    if (look.messages) {
      const std::uint32_t ahead = dissect::serial_steps(*look.messages, msn);
      if (c.counted) look.count = ahead == c.messages_ahead ? Told::fits : Told::contradicts;
      // Messages of one packet each are everywhere.
      const bool one_each = dissect::serial_steps(msn, answer.psn) == waiting.psn_ahead;
      if ((look.count == Told::fits && one_each) || msn == waiting.last_msn) look.count = Told::nothing;
      c.counted = true;
      c.messages_ahead = ahead;
    }
    at_place.add(look.place);
    at_count.add(look.count);
    at_pace.add(look.pace);
    at_steady.add(look.steady);
    at_begin.add(look.begin);
  }
  if (waiting.among_many) {
    const std::size_t all = unpaired.requesters_to(waiting.first);
    at_place.tested += static_cast<unsigned>(all - std::min(all, candidates.size()));
  }
  if (answer.has(PacketRecord::has_aeth)) {
    waiting.psn_ahead = dissect::serial_steps(msn, answer.psn);
    waiting.last_msn = msn;
  }
  // Answers to one row of requests fit together or not at all: of very many flows, two begin such a row at
  // once.
  constexpr double a_row_ns = 20'000;
  double news = 1;
  if (waiting.among_many && waiting.judged_ns != capture::no_time)
    news = std::clamp(static_cast<double>(answer.time_ns - waiting.judged_ns) / a_row_ns, 0.0, 1.0);
  waiting.judged_ns = answer.time_ns;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate& c = candidates[i];
    const Look& look = looked[i];
    double gain = at_place.gain(look.place);
    if (gain > 0) gain *= news;
    c.pace_fit = static_cast<float>(std::clamp(c.pace_fit + at_pace.gain(look.pace), -most_pace, most_pace));
    c.steady_fit =
        static_cast<float>(std::clamp(c.steady_fit + at_steady.gain(look.steady), -most_steady, most_steady));
    c.begin_fit =
        static_cast<float>(std::clamp(c.begin_fit + at_begin.gain(look.begin), -most_begin, most_begin));
    // Said once: each answer comes from the same. Where nobody has it, each direction chose its own.
    c.port_fit = at_port.passed == 0 ? 0 : static_cast<float>(at_port.gain(on_port(c)));
    if (look.place == Told::fits && !std::exchange(c.fitted, true) && at_place.passed == 1 &&
        !states[c.place].unpaired->requests.begins_below(low_psn)) {
      c.has_own_number = true;
      gain += own_number;
    }
    c.fit = static_cast<float>(std::min(c.fit + gain, c.has_own_number ? most + own_number : most));
    c.count_fit = static_cast<float>(std::max(c.count_fit + at_count.gain(look.count), hopeless));
  }
}

/// The flow's answers fit `favourite` best.
void Tracker::Impl::prefer(std::uint32_t place, std::uint32_t favourite) {
  Unpaired& waiting = *states[place].unpaired;
  unpaired.change_favourite(place, waiting.favourite, favourite, no_place);
  waiting.favourite = favourite;
}

/// Whether another flow's answers fit the same requests about as well.
bool Tracker::Impl::wanted_elsewhere(std::uint32_t place, const Candidate& best) {
  const Unpaired& own = *states[place].unpaired;
  const std::span<const std::uint32_t> others = unpaired.with_favourite(best.place);
  search.looks -= static_cast<std::int64_t>(others.size());
  return std::any_of(others.begin(), others.end(), [&](std::uint32_t other) {
    const Unpaired& waiting = *states[other].unpaired;
    // The place may have been another flow's, between other addresses, when it became the favourite.
    const bool same_hosts =
        opposite(place, other) ||
        (waiting.first.key.src == own.first.key.src && waiting.first.key.dst == own.first.key.dst &&
         waiting.first.key.transport == own.first.key.transport);
    return other != place && waiting.listed && same_hosts && waiting.favourite_score > best.score() - margin;
  });
}

/// What the answers of `place` say of `other`: of a connection with requests in both directions the other
/// half of the evidence.
double Tracker::Impl::seen_from(std::uint32_t place, std::uint32_t other) {
  const Unpaired& waiting = *states[place].unpaired;
  if (waiting.answers < fewest_answers) return 0;
  const auto known = std::find_if(waiting.candidates.begin(), waiting.candidates.end(),
                                  [&](const Candidate& c) { return c.place == other; });
  if (known != waiting.candidates.end()) return known->score();
  return flows.at(other).id < waiting.looked_until ? hopeless : 0;
}

/// An answer narrows down whose requests it answers.
void Tracker::Impl::consider(std::uint32_t place, const PacketRecord& answer) {
  Unpaired* waiting = states[place].unpaired.get();
  if (waiting == nullptr || waiting->icrc_awaited || !believed(place, answer)) return;
  const FlowKey& own = flows.at(place).key;
  if (cm_peers.find({own.dst, own.dst_qp}) != cm_peers.end()) return;
  // Many flows that cannot be told apart must not make every packet a search.
  search.looks = std::min(search.looks + looks_a_packet, most_looks);
  waiting->asked = asked_by(answer);
  // What follows the first response to a READ is to be expected, and so is what was answered before.
  if (!dissect::opcode_info(answer.opcode).starts_message()) return;
  const std::uint32_t advance = dissect::serial_steps(waiting->last_answer, answer.psn);
  if (waiting->answers != 0 && (advance == 0 || advance > 0x7fffffU)) return;
  waiting->last_answer = answer.psn;
  if (!may_look(*waiting) || !find_candidates(place, answer)) return;
  if (++waiting->answers == 1) ++search.answering;

  pay(*waiting, waiting->candidates.size());
  drop_taken(*waiting);
  if (!waiting->candidates.empty()) judge(*waiting, answer);
  choose(place, waiting->tried);
}

/// A requester without a partner went back: it may have heard a NAK for that very PSN, which nobody else did.
void Tracker::Impl::hear(std::uint32_t place, const PacketRecord& request) {
  // Few go back to that PSN by chance, and just then: but connections in lockstep lose alike.
  constexpr float heard_once = 4, heard_at_most = 12;
  const Unpaired& own = *states[place].unpaired;
  if (!own.use.went_back()) return;
  const std::span<const std::uint32_t> others = unpaired.between(own.first);
  search.looks -= static_cast<std::int64_t>(others.size());
  if (search.looks < 0) return;
  std::vector<std::uint32_t> heard;
  for (const std::uint32_t other : others) {
    Unpaired* const waiting = states[other].unpaired.get();
    if (waiting == nullptr || !waiting->asked || !opposite(place, other)) continue;
    const Asked& asked = *waiting->asked;
    if (asked.psn != request.psn || asked.time_ns > request.time_ns) continue;
    if (request.time_ns - asked.time_ns > episode::held_back_ns) continue;
    const auto by = static_cast<std::uint32_t>(asked.time_ns);
    const auto known =
        std::find_if(waiting->candidates.begin(), waiting->candidates.end(),
                     [&](const Candidate& c) { return c.place == place && c.flow == flows.at(place).id; });
    if (known == waiting->candidates.end() || std::exchange(known->heard, by) == by) continue;
    known->heard_fit = std::min(known->heard_fit + heard_once, heard_at_most);
    heard.push_back(other);
  }
  for (const std::uint32_t other : heard) {
    if (states[other].unpaired != nullptr) choose(other, states[other].unpaired->tried);
  }
}

/// Candidates that left, or found another partner.
void Tracker::Impl::drop_taken(Unpaired& waiting) {
  std::erase_if(waiting.candidates, [&](const Candidate& c) {
    return !flows.at(c.place).in_use || flows.at(c.place).id != c.flow || states[c.place].unpaired == nullptr;
  });
}

/// Pairs the flow with its best candidate, if that is good enough, the more there are of them the better.
/// True if so.
bool Tracker::Impl::choose(std::uint32_t place, std::size_t of) {
  Unpaired* waiting = states[place].unpaired.get();
  drop_taken(*waiting);  // while it waited its candidates may have found others
  std::vector<Candidate>& judged = waiting->candidates;
  std::erase_if(judged, [](const Candidate& c) { return c.score() < hopeless; });
  if (judged.capacity() > 2 * judged.size() + 16) {
    search.candidate_slots -= judged.capacity();
    judged.shrink_to_fit();
    search.candidate_slots += judged.capacity();
  }

  const Candidate* best = nullptr;
  for (const Candidate& c : judged) {
    if (best == nullptr || c.score() > best->score()) best = &c;
  }
  prefer(place, best != nullptr ? best->place : no_place);
  if (best == nullptr) return false;
  waiting->favourite_score = best->score();
  // The partner may not have been captured at all, which is the likelier the fewer flows have found theirs.
  const double presence =
      (1.0 + static_cast<double>(search.answered)) / (1.0 + static_cast<double>(search.answering));
  const double needed =
      enough + std::log(std::max<std::size_t>(of, 1)) - std::min(std::log(presence), enough / 2);
  const bool alone = std::all_of(judged.begin(), judged.end(), [&](const Candidate& c) {
    return &c == best || c.score() < best->score() - margin;
  });
  const auto doubt = [&](bool ambiguous) {
    waiting->ambiguous = ambiguous;
    const std::uint32_t followed = states[place].connection;
    if (followed != no_place) tracks[followed].result.pairing.ambiguous = ambiguous;
  };
  doubt(best->score() > 0 && !alone);
  // Without the order of time only numbers prove anything: those that nobody else has, or counts of messages.
  if (waiting->in_hindsight && !best->has_own_number && best->count_fit < enough / 2) return false;
  // The next answer to a long READ comes too late: else both directions were followed alone by then.
  const bool one_tells = waiting->waits_too_long() && best->has_own_number && best->begin_fit >= most_begin;
  const bool enough_answers = waiting->answers >= (one_tells ? 1 : fewest_answers);
  if (!alone || best->score() + seen_from(best->place, place) < needed || !enough_answers) return false;
  doubt(wanted_elsewhere(place, *best));
  if (waiting->ambiguous) return false;
  if (waiting->among_many && !waiting->in_hindsight) note_delay(flows.at(place).key, best->delay_ns);
  pair(place, best->place, Evidence::answers);
  return states[place].unpaired == nullptr;
}

/// Unpaired flows with requests that this one's answers could be to. Counted as they come and go: at the end
/// there may be as many as flows that ask.
std::size_t Tracker::Impl::possible_partners(std::uint32_t place) {
  const Unpaired& waiting = *states[place].unpaired;
  const std::size_t all = unpaired.requesters_to(waiting.first);
  const bool itself_too =
      waiting.listed && !waiting.requests.empty() && waiting.first.key.src == waiting.first.key.dst;
  return itself_too ? all - 1 : all;
}

/// At the end: who has found its partner is nobody else's, and may have been what made others unsure.
void Tracker::Impl::pair_the_rest() {
  std::vector<std::uint32_t> left;
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    if (states[place].unpaired != nullptr && states[place].unpaired->answers >= fewest_answers)
      left.push_back(place);
  }
  for (bool more = true; more;) {
    more = false;
    for (const std::uint32_t place : left) {
      if (states[place].unpaired != nullptr) more = choose(place, possible_partners(place)) || more;
    }
  }
}

/// Answers to nothing that had been sent by then: perhaps the clocks of two interfaces differ by more than an
/// answer takes. Looks at them once more, at everything that was sent. True if that found the partner.
bool Tracker::Impl::consider_again(std::uint32_t place) {
  Unpaired& waiting = *states[place].unpaired;
  const bool known = waiting.favourite != no_place && waiting.favourite_score > 0;
  if (waiting.answers < fewest_answers || known || waiting.in_hindsight) return false;
  const std::vector<Held> held_now = waiting.held;  // pairing takes them away
  const auto start_anew = [&](Unpaired& of) {
    search.candidate_slots -= of.candidates.capacity();
    of.candidates = {};
    of.looked_until = of.looked_at = 0;
    of.tried = 0;
    prefer(place, no_place);
    of.ambiguous = false;
    if (of.answers != 0) --search.answering;
    of.answers = 0;
  };
  start_anew(waiting);
  waiting.in_hindsight = true;
  for (const Held& packet : held_now) {
    if (!dissect::opcode_info(packet.record.opcode).response) continue;
    consider(place, packet.record);
    if (states[place].unpaired != nullptr && states[place].connection == no_place) continue;
    if (states[place].connection != no_place) tracks[states[place].connection].result.answers_first = true;
    return true;
  }
  start_anew(waiting);
  waiting.in_hindsight = false;
  return false;
}

}  // namespace roce::analyze
