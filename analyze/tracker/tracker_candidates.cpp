// SPDX-License-Identifier: Apache-2.0
// Which flows an answer may be to: what tracker_answers.cpp judges. Of a few between two hosts it is all of
// them; of very many those that sent just before what is answered.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyze/tracker/tracker_impl.hpp"
#include "dissect/aeth.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t candidates_of_flow = 16 * 1024;
constexpr std::size_t candidates_of_all = 512 * 1024;
/// So many answers of a flow often tell: a search that is begun can be finished, rather than many that are
/// not.
constexpr std::int64_t looks_in_advance = 3, looks_at_most = 1024;
/// Of more flows than that between two hosts only those are looked at that sent lately what is answered.
constexpr std::size_t very_many = 64;

/// What speaks against a flow that had sent nothing when the answers before came.
double missed_by_new(const Unpaired& waiting) {
  return std::min(2.0 * waiting.answers, -Candidate::hopeless / 2);
}

}  // namespace

RequestTrace::Answer answered_by(const PacketRecord& answer) {
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

double promptest_of(std::span<const Candidate> candidates) {
  double promptest = 0;
  for (const Candidate& c : candidates) {
    if (c.delay_ns > 0 && (promptest == 0 || c.delay_ns < promptest)) promptest = c.delay_ns;
  }
  return promptest;
}

double patience(double promptest_ns) {
  constexpr double times = 8, slack_ns = 10'000;
  return promptest_ns > 0 ? times * promptest_ns + slack_ns : std::numeric_limits<double>::infinity();
}

/// Of very many flows some requester is always ahead of what is answered: how soon others of the same hosts
/// get their answers bounds it as well.
double Tracker::Impl::patience_of(const Unpaired& waiting, const PacketRecord& answer) const {
  const double own = patience(promptest_of(waiting.candidates));
  if (!waiting.among_many) return own;
  const auto known = search.delays_ns.find(way_of(answer.key));
  return known == search.delays_ns.end() ? own : std::min(own, patience(known->second));
}

/// A flow of very many found its partner.
void Tracker::Impl::note_delay(const FlowKey& answers, double delay_ns) {
  if (delay_ns <= 0) return;
  double& slowest = search.delays_ns.try_emplace(way_of(answers), delay_ns).first->second;
  slowest = std::max(slowest, delay_ns);
}

void Tracker::Impl::note_request(std::uint32_t place, const PacketRecord& request) {
  Unpaired* const waiting = states[place].unpaired.get();
  if (waiting == nullptr || waiting->icrc_awaited || !believed(place, request)) return;
  const bool first = waiting->requests.empty();
  waiting->requests.add(request, dissect::opcode_info(request.opcode), search.trace_budget);
  if (unpaired.between(request).size() > very_many / 2)
    search.recent.add(way_of(request.key), request.psn, {flows.at(place).id, request.time_ns, place});
  if (first && waiting->listed && !waiting->requests.empty()) unpaired.add_requester(waiting->first);
}

/// Whether the flow's answers can be looked at now. What the first ones will take is set aside.
bool Tracker::Impl::may_look(Unpaired& waiting) {
  if (waiting.answers == 0 && waiting.looks == 0) {
    const auto all = static_cast<std::int64_t>(unpaired.between(waiting.first).size());
    waiting.looks = looks_in_advance * std::min(all, looks_at_most);
    search.looks -= waiting.looks;
    if (search.looks >= 0) return true;
    search.looks += std::exchange(waiting.looks, 0);
    return false;
  }
  return waiting.looks > 0 || search.looks >= 0;
}

void Tracker::Impl::pay(Unpaired& waiting, std::size_t looked_at) {
  const auto price = static_cast<std::int64_t>(looked_at);
  const std::int64_t in_advance = std::min(waiting.looks, price);
  waiting.looks -= in_advance;
  search.looks -= price - in_advance;
}

/// False if there is no room for so many more: the right one may be missing then, and nothing can be said.
bool Tracker::Impl::make_room(Unpaired& waiting, std::size_t more) {
  const std::size_t had = waiting.candidates.capacity();
  const std::size_t wanted = waiting.candidates.size() + more;
  if (wanted > candidates_of_flow ||
      (wanted > had && search.candidate_slots + wanted - had > candidates_of_all))
    return false;
  if (wanted > had) waiting.candidates.reserve(wanted);
  search.candidate_slots += waiting.candidates.capacity() - had;
  return true;
}

/// `missed`: what speaks against it so far.
void Tracker::Impl::add_candidate(Unpaired& waiting, std::uint32_t place, std::uint64_t flow, double missed) {
  Candidate candidate;
  candidate.place = place;
  candidate.flow = flow;
  candidate.fit = static_cast<float>(-missed);
  waiting.candidates.push_back(candidate);
}

/// Flows that came since the last look; of very many, those that sent lately what it answers.
bool Tracker::Impl::find_candidates(std::uint32_t place, const PacketRecord& answer) {
  Unpaired& waiting = *states[place].unpaired;
  const std::span<const std::uint32_t> others = unpaired.between(answer);
  if (others.size() > very_many && !waiting.in_hindsight) return find_recent(place, answer);
  if (waiting.looked_at == search.listings) return true;
  std::uint64_t newest = waiting.looked_until;
  pay(waiting, others.size());
  const auto is_fresh = [&](std::uint32_t other) {
    return flows.at(other).id >= waiting.looked_until && opposite(place, other);
  };
  if (!make_room(waiting, static_cast<std::size_t>(std::count_if(others.begin(), others.end(), is_fresh))))
    return false;
  waiting.looked_at = search.listings;
  for (const std::uint32_t other : others) {
    if (!is_fresh(other)) continue;
    const std::uint64_t id = flows.at(other).id;
    newest = std::max(newest, id + 1);
    ++waiting.tried;
    add_candidate(waiting, other, id, missed_by_new(waiting));
  }
  waiting.looked_until = newest;
  return true;
}

/// Of thousands of flows most are told apart by when they sent: few did so just before the answer. Who did so
/// long before, or never, does as if it had been looked at and did not fit.
bool Tracker::Impl::find_recent(std::uint32_t place, const PacketRecord& answer) {
  constexpr std::size_t most_recent = 128, most_passed = 1024, steps_a_look = 4;
  Unpaired& waiting = *states[place].unpaired;
  waiting.among_many = true;
  waiting.tried = static_cast<std::uint32_t>(std::max<std::size_t>(waiting.tried, possible_partners(place)));
  const std::uint64_t new_since = std::exchange(waiting.looked_until, search.listed_until);
  // Who was there and was not among those that fitted, or was given up, had its turn.
  const double missed_by_old = 3.0 * waiting.answers;
  const std::uint64_t candidate = ++search.rounds, seen = ++search.rounds;
  search.met.resize(std::max(search.met.size(), states.size()));
  for (const Candidate& c : waiting.candidates) search.met[c.place] = candidate;
  const double patience_ns = patience_of(waiting, answer);
  std::vector<RecentRequests::Sent> found;
  const auto look = [&](const RecentRequests::Sent& sent) {
    if (static_cast<double>(answer.time_ns) - static_cast<double>(sent.time_ns) > patience_ns) return false;
    const std::uint64_t before = std::exchange(search.met[sent.place], seen);
    if (before == seen) return true;
    const Unpaired* const other = states[sent.place].unpaired.get();
    if (other == nullptr || !flows.at(sent.place).in_use || flows.at(sent.place).id != sent.flow ||
        !opposite(place, sent.place))
      return true;
    const bool had_its_turn = sent.flow < new_since && missed_by_old >= -Candidate::hopeless;
    if (!had_its_turn && before != candidate) found.push_back(sent);
    return found.size() < most_recent;
  };
  const std::uint64_t way = way_of(answer.key, true);
  std::size_t passed = search.recent.newest_first(way, answer.psn, most_passed, look);
  // What a NAK asks for need not have been captured.
  if (answered_by(answer) == RequestTrace::Answer::none)
    passed += search.recent.newest_first(way, (answer.psn - 1) & dissect::serial_mask, most_passed, look);
  pay(waiting, passed / steps_a_look);
  if (!make_room(waiting, found.size())) return false;
  for (const RecentRequests::Sent& sent : found)
    add_candidate(waiting, sent.place, sent.flow,
                  sent.flow < new_since ? missed_by_old : missed_by_new(waiting));
  return true;
}

}  // namespace roce::analyze
