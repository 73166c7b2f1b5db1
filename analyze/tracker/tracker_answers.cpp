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

#include "analyze/tracker/tracker_impl.hpp"
#include "dissect/aeth.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t candidates_of_flow = 16 * 1024;
constexpr std::size_t candidates_of_all = 512 * 1024;
constexpr std::int64_t looks_a_packet = 256;
constexpr std::int64_t most_looks = std::int64_t{1} << 22U;
/// So many answers of a flow often tell: a search that is begun can be finished, rather than many that are
/// not.
constexpr std::int64_t looks_in_advance = 3;

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
constexpr double hopeless = -15;
/// Answer after answer at the right place proves no more than that: who is ahead of another stays ahead.
constexpr double most = 16;
constexpr std::uint32_t fewest_answers = 2;
/// A sequence that does not begin near 0 has a number of its own: 2^24 over what may be under way.
constexpr double own_number = 5;
constexpr std::uint32_t low_psn = 65'536;

enum class Told : std::uint8_t { nothing, fits, contradicts, never_sent };

/// What one answer tells of one candidate.
struct Look {
  Told place = Told::nothing;
  Told count = Told::nothing;
  Told pace = Told::nothing;
  Told steady = Told::nothing;  ///< as soon as others, nearly to the same
  double delay_ns = 0;
  std::optional<std::uint32_t> messages;
};

RequestTrace::Answer kind_of(const PacketRecord& answer) {
  switch (dissect::opcode_info(answer.opcode).operation) {
    case dissect::Operation::read_response:
      return RequestTrace::Answer::read_response;
    case dissect::Operation::atomic_acknowledge:
      return RequestTrace::Answer::atomic_acknowledge;
    default:
      return dissect::aeth_kind(static_cast<std::uint8_t>(answer.aeth >> 24U)) == dissect::AethKind::ack
                 ? RequestTrace::Answer::acknowledge
                 : RequestTrace::Answer::none;
  }
}

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
  const RequestTrace::Answer kind = kind_of(answer);
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
    if (answer.has(PacketRecord::has_aeth)) look.messages = found.messages;
    if (found.time_ns != capture::no_time && answer.time_ns != capture::no_time) {
      look.delay_ns = std::max(1.0, static_cast<double>(answer.time_ns - found.time_ns));
    }
  }
  return look;
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

void Tracker::Impl::note_request(std::uint32_t place, const PacketRecord& request) {
  Unpaired* const waiting = states[place].unpaired.get();
  if (waiting == nullptr || waiting->icrc_awaited || !believed(place, request)) return;
  const bool first = waiting->requests.empty();
  waiting->requests.add(request, dissect::opcode_info(request.opcode), trace_budget);
  if (first && waiting->listed && !waiting->requests.empty()) unpaired.add_requester(waiting->first);
}

/// Whether the flow's answers can be looked at now. What the first ones will take is set aside.
bool Tracker::Impl::may_look(Unpaired& waiting) {
  if (waiting.answers == 0 && waiting.looks == 0) {
    const auto all = static_cast<std::int64_t>(unpaired.between(waiting.first).size());
    waiting.looks = std::min(looks_in_advance * all, most_looks / 2);
    looks -= waiting.looks;
    if (looks >= 0) return true;
    looks += std::exchange(waiting.looks, 0);
    return false;
  }
  return waiting.looks > 0 || looks >= 0;
}

void Tracker::Impl::pay(Unpaired& waiting, std::size_t looked_at) {
  const auto price = static_cast<std::int64_t>(looked_at);
  const std::int64_t in_advance = std::min(waiting.looks, price);
  waiting.looks -= in_advance;
  looks -= price - in_advance;
}

/// Flows that came since the last look. False if there is no room for all of them: the right one may be
/// missing then, and nothing can be said.
bool Tracker::Impl::find_candidates(std::uint32_t place, const PacketRecord& answer) {
  Unpaired& waiting = *states[place].unpaired;
  if (waiting.looked_at == listings) return true;
  std::uint64_t newest = waiting.looked_until;
  const std::span<const std::uint32_t> others = unpaired.between(answer);
  pay(waiting, others.size());
  const auto is_fresh = [&](std::uint32_t other) {
    return flows.at(other).id >= waiting.looked_until && opposite(place, other);
  };
  // Of very many only those that have sent what it answers, though the capture may have missed it: most are
  // told apart at once.
  constexpr std::size_t very_many = 64;
  const bool choosy = others.size() > very_many && !waiting.in_hindsight;
  const auto is_possible = [&](std::uint32_t other) {
    if (!is_fresh(other)) return false;
    if (!choosy) return true;
    const Told told = look_at(states[other].unpaired->requests, answer).place;
    return told == Told::fits || told == Told::nothing;
  };
  const auto fresh = static_cast<std::size_t>(std::count_if(others.begin(), others.end(), is_possible));
  const std::size_t had = waiting.candidates.capacity();
  const std::size_t wanted = waiting.candidates.size() + fresh;
  if (wanted > candidates_of_flow || (wanted > had && candidate_slots + wanted - had > candidates_of_all)) {
    return false;
  }
  if (wanted > had) waiting.candidates.reserve(wanted);
  candidate_slots += waiting.candidates.capacity() - had;
  waiting.looked_at = listings;
  for (const std::uint32_t other : others) {
    if (!is_fresh(other)) continue;
    const std::uint64_t id = flows.at(other).id;
    newest = std::max(newest, id + 1);
    ++waiting.tried;
    if (!is_possible(other)) continue;
    Candidate candidate;
    candidate.place = other;
    candidate.flow = id;
    // It had sent nothing when the answers before this one came.
    const double missed = 2.0 * waiting.answers;
    candidate.fit = static_cast<float>(-std::min(missed, -hopeless / 2));
    waiting.candidates.push_back(candidate);
  }
  waiting.looked_until = newest;
  return true;
}

/// Holds an answer against all candidates.
void Tracker::Impl::judge(Unpaired& waiting, const PacketRecord& answer) {
  constexpr double patience = 8, slack_ns = 10'000, steady = 3, stamp_ns = 1'000;
  const std::uint32_t msn = answer.aeth & dissect::serial_mask;
  std::vector<Candidate>& candidates = waiting.candidates;
  std::vector<Look> looked(candidates.size());
  double promptest = 0;
  for (const Candidate& c : candidates) {
    if (c.delay_ns > 0 && (promptest == 0 || c.delay_ns < promptest)) promptest = c.delay_ns;
  }
  Crowd at_place{of_place}, at_count{of_count}, at_pace{of_pace}, at_port{of_port}, at_steady{of_steady};
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
    if (waiting.in_hindsight) look.delay_ns = 0;  // the order of time is not known
    if (look.delay_ns > 0) {
      if (promptest > 0 && look.delay_ns > patience * promptest + slack_ns) look.place = Told::contradicts;
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
  }
  if (answer.has(PacketRecord::has_aeth)) {
    waiting.psn_ahead = dissect::serial_steps(msn, answer.psn);
    waiting.last_msn = msn;
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Candidate& c = candidates[i];
    const Look& look = looked[i];
    double gain = at_place.gain(look.place);
    c.pace_fit = static_cast<float>(std::clamp(c.pace_fit + at_pace.gain(look.pace), -most_pace, most_pace));
    c.steady_fit =
        static_cast<float>(std::clamp(c.steady_fit + at_steady.gain(look.steady), -most_steady, most_steady));
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
  looks -= static_cast<std::int64_t>(others.size());
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
  looks = std::min(looks + looks_a_packet, most_looks);
  // What follows the first response to a READ is to be expected, and so is what was answered before.
  if (!dissect::opcode_info(answer.opcode).starts_message()) return;
  const std::uint32_t advance = dissect::serial_steps(waiting->last_answer, answer.psn);
  if (waiting->answers != 0 && (advance == 0 || advance > 0x7fffffU)) return;
  waiting->last_answer = answer.psn;
  if (!may_look(*waiting) || !find_candidates(place, answer)) return;
  if (++waiting->answers == 1) ++answering;

  pay(*waiting, waiting->candidates.size());
  drop_taken(*waiting);
  if (!waiting->candidates.empty()) judge(*waiting, answer);
  choose(place, waiting->tried);
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
  std::vector<Candidate>& judged = waiting->candidates;
  std::erase_if(judged, [](const Candidate& c) { return c.score() < hopeless; });
  if (judged.capacity() > 2 * judged.size() + 16) {
    candidate_slots -= judged.capacity();
    judged.shrink_to_fit();
    candidate_slots += judged.capacity();
  }

  const Candidate* best = nullptr;
  for (const Candidate& c : judged) {
    if (best == nullptr || c.score() > best->score()) best = &c;
  }
  prefer(place, best != nullptr ? best->place : no_place);
  if (best == nullptr) return false;
  waiting->favourite_score = best->score();
  // The partner may not have been captured at all, which is the likelier the fewer flows have found theirs.
  const double presence = (1.0 + static_cast<double>(answered)) / (1.0 + static_cast<double>(answering));
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
  if (!alone || best->score() + seen_from(best->place, place) < needed || waiting->answers < fewest_answers)
    return false;
  doubt(wanted_elsewhere(place, *best));
  if (!waiting->ambiguous) pair(place, best->place, Evidence::answers);
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
      if (states[place].unpaired == nullptr) continue;
      drop_taken(*states[place].unpaired);
      more = choose(place, possible_partners(place)) || more;
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
    candidate_slots -= of.candidates.capacity();
    of.candidates = {};
    of.looked_until = of.looked_at = 0;
    of.tried = 0;
    prefer(place, no_place);
    of.ambiguous = false;
    if (of.answers != 0) --answering;
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
