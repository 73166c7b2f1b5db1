// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/sent_before.hpp"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "analyze/compare/repeat_runs.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using dissect::Operation;
using dissect::Psn;

struct SentKeyHash {
  std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
};
struct PairKey {
  dissect::IpAddress src, dst;
  bool operator==(const PairKey&) const noexcept = default;
};
struct PairHash {
  std::size_t operator()(const PairKey& key) const noexcept {
    FlowKey both;
    both.src = key.src;
    both.dst = key.dst;
    return both.hash();
  }
};

constexpr std::size_t most_arrivals = 64;
constexpr std::size_t most_of_reordered = 1024;
constexpr std::size_t most_reordered = 1024;  ///< maximum of flows with more arrivals
constexpr std::size_t most_open = 64;

}  // namespace

bool is_sequenced(const dissect::OpcodeInfo& info) noexcept {
  using dissect::Service;
  if (info.service != Service::rc && info.service != Service::xrc && info.service != Service::uc)
    return false;
  return info.request || info.operation == Operation::read_response ||
         info.operation == Operation::atomic_acknowledge;
}
bool is_answer(const dissect::OpcodeInfo& info) noexcept {
  return info.operation == Operation::read_response || info.operation == Operation::atomic_acknowledge ||
         info.operation == Operation::acknowledge;
}

namespace {

bool is_acknowledge(const dissect::OpcodeInfo& info) noexcept {
  return info.operation == Operation::acknowledge;
}

bool is_read(std::uint8_t opcode) noexcept {
  return dissect::opcode_info(opcode).operation == Operation::read_request;
}

/// Remembers an answer for the repeats that come.
const Answer& note_answer(SentFlow& flow, const Passage& passage, bool data, bool again) {
  std::vector<Answer>& answers = flow.answers;
  const Answer answer{.psn = Psn(passage.psn),
                      .kind = passage.answer,
                      .outcome = passage.outcome,
                      .data = data,
                      .again = again,
                      .opcode = passage.opcode,
                      .number = passage.number,
                      .time_ns = passage.time_ns,
                      .arrival_number = passage.arrival_number,
                      .arrival_ns = passage.arrival_ns};
  if (passage.arrived() && (!flow.heard || answer.psn.distance_from(*flow.heard) > 0)) {
    flow.heard = answer.psn;
    flow.heard_ns = answer.arrival_ns;
  }
  // Responses come in rows and have their own places among the packets; the last one is enough.
  if (data && !answers.empty() && answers.back().data && answers.back().outcome == answer.outcome) {
    answers.back() = answer;
    return answers.back();
  }
  if (answers.size() >= SentFlow::most_answers)
    answers.erase(answers.begin(), answers.begin() + SentFlow::most_answers / 2);
  return answers.emplace_back(answer);
}

}  // namespace

struct SentBefore::Impl {
  explicit Impl(std::size_t repeats_limit) : runs(sent, repeats_limit) {}

  tsl::robin_map<FlowKey, std::uint32_t, SentKeyHash> places;
  tsl::robin_map<PairKey, std::uint32_t, PairHash> pair_places;
  SentFlows sent;
  std::vector<SentFlow>& flows = sent.flows;
  SlotTable& slots = sent.slots;
  std::vector<AddressPair> pairs;
  RepeatRuns runs;
  std::size_t reordered = 0;               ///< flows
  std::uint32_t turn = 0;                  ///< Slot::turn
  std::vector<std::uint32_t> lost_before;  ///< by listed packet: the transmission lost before; as Slot::lost

  /// `arrivals` ascends in both numbers: packets that were not overtaken by later ones.
  void order(SentFlow& flow, const Passage& passage, CompareDirection& direction) {
    std::vector<PassedSecond>& arrivals = flow.arrivals;
    // Nearly always at the end, since packets come in the order of the first point.
    auto place = arrivals.end();
    while (place != arrivals.begin() && (place - 1)->first_number > passage.number) --place;
    const std::uint32_t psn_space = SlotTable::key_of(
        dissect::opcode_info(passage.opcode).request ? requests : answers, Psn(passage.psn));
    const auto is_late = [&](const PassedSecond& late, std::int64_t overtaker_ns) {
      direction.late.add(late.first_number, late.time_ns);
      direction.most_late_ns = std::max(direction.most_late_ns, late.time_ns - overtaker_ns);
      if (!flow.reorders && reordered < most_reordered) {
        flow.reorders = true;
        ++reordered;
      }
      const unsigned space = late.psn_space >> 24U;
      std::vector<LateArrival>& known = flow.late[space];
      const std::size_t most = flow.reorders ? most_of_reordered : most_arrivals;
      if (known.size() >= most)
        known.erase(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(most / 2));
      Slot* slot = slots.find(passage.flow, space, Psn(late.psn_space));
      known.push_back({Psn(late.psn_space), late.first_number, late.time_ns, late.opcode});
      if (slot != nullptr && slot->number == late.first_number) slot->overtaken = true;
    };
    const PassedSecond arrival{passage.arrival_number, passage.arrival_ns, passage.number, psn_space,
                               passage.opcode};
    if (place != arrivals.end() && place->number < passage.arrival_number) {
      is_late(arrival, place->time_ns);
      return;
    }
    auto overtaken = place;
    while (overtaken != arrivals.begin() && (overtaken - 1)->number > passage.arrival_number) {
      --overtaken;
      is_late(*overtaken, passage.arrival_ns);
    }
    place = arrivals.erase(overtaken, place);
    arrivals.insert(place, arrival);
    const std::size_t most = flow.reorders ? most_of_reordered : most_arrivals;
    if (arrivals.size() >= most)
      arrivals.erase(arrivals.begin(), arrivals.begin() + static_cast<std::ptrdiff_t>(most / 2));
  }

  static void repair(LostPacket& lost, std::uint64_t by, CompareDirection& direction) {
    if (lost.repaired_by) return;
    lost.repaired_by = by;
    ++direction.repaired;
  }

  void repeats(Sequence& sequence, Space space, const Passage& passage,
               std::optional<std::uint32_t> lost_place, unsigned direction, CompareResult& result) {
    std::vector<LostPacket>& lost = result.lost;
    const Psn psn(passage.psn);
    const std::uint32_t psn_space = SlotTable::key_of(space, psn);
    Slot& slot = slots.at(passage.flow, space, psn);
    const bool newer = sequence.add(psn);
    // One of the PSNs' round before is another packet.
    const Slot* known = !newer && slot.flow == passage.flow && slot.psn_space == psn_space ? &slot : nullptr;
    std::optional<RepeatCause> cause;
    std::optional<Psn>& after_repeats = flows[passage.flow].after_repeats;
    if (newer) {
      if (sequence.run) runs.end(sequence);
      if (space == requests && !after_repeats) after_repeats = psn;
      if (is_read(passage.opcode)) cause = runs.asks_again(passage, direction);
    } else if (passage.shown_first) {
      if (space == requests) after_repeats.reset();
      cause = runs.repeat(passage, space, known, direction);
    }
    const std::uint32_t waiting = known != nullptr ? known->lost : 0;
    const bool arrived_before = known != nullptr && known->any_arrived;
    if (waiting != 0) lost[waiting - 1].sent_again = true;
    if (lost_place && arrived_before) lost[*lost_place].arrived_before = true;
    slot = {.flow = passage.flow,
            .psn_space = psn_space,
            .turn = ++turn,
            .number = passage.number,
            .time_ns = passage.time_ns,
            .arrival_ns = passage.arrival_ns,
            .outcome = passage.outcome,
            .cause = cause.value_or(RepeatCause::unknown),
            .repeat = cause.has_value(),
            .any_arrived = passage.arrived() || arrived_before,
            .opcode = passage.opcode};
    if (passage.arrived()) {
      for (std::uint32_t one = waiting; one != 0; one = lost_before[one - 1])
        repair(lost[one - 1], passage.number, result.directions[direction]);
      return;
    }
    // A retransmission that is lost too waits for the same repair as the ones before it.
    slot.lost = waiting;
    if (!lost_place) return;
    if (lost_before.size() <= *lost_place) lost_before.resize(*lost_place + 1);
    lost_before[*lost_place] = waiting;
    slot.lost = *lost_place + 1;
  }

  /// The PSN up to which the flow's packets were delivered, by the acknowledgements of all flows that may be
  /// the other direction of its connection, since it is not known which one is.
  std::optional<Psn> delivered(std::uint32_t place, Space space) {
    SentFlow& flow = flows[place];
    if (std::exchange(flow.delivered_known[space], true)) return flow.delivered[space];
    constexpr std::int32_t in_flight = 1 << 16;
    constexpr std::uint32_t asked_ahead = 64;  // a requester retransmits long before it has sent so much more
    const Range& own = flow.sequence[space];
    std::optional<Psn>& least = flow.delivered[space];
    if (!own.any) return least;
    for (const SentFlow& other : flows) {
      if (other.key.src != flow.key.dst || other.key.dst != flow.key.src) continue;
      const Range& back = space == requests ? other.confirmed : other.sequence[requests];
      if (!back.any || std::abs(own.highest.distance_from(back.highest)) > in_flight ||
          std::abs(own.first.distance_from(back.first)) > in_flight)
        continue;
      const Psn to = space == requests ? back.highest : back.highest + (Psn::modulus - asked_ahead);
      if (!least || to.distance_from(*least) < 0) least = to;
    }
    return least;
  }

  void acknowledges(SentFlow& flow, const Passage& passage, std::optional<std::uint32_t> lost_place,
                    std::vector<LostPacket>& lost, CompareDirection& direction) {
    if (passage.arrived()) {
      std::erase_if(flow.open_acknowledges, [&](std::uint32_t place) {
        if (Psn(passage.psn).distance_from(Psn(lost[place].psn)) < 0) return false;
        repair(lost[place], passage.number, direction);
        return true;
      });
    } else if (lost_place && dissect::opcode_info(passage.opcode).operation == Operation::acknowledge &&
               flow.open_acknowledges.size() < most_open) {
      flow.open_acknowledges.push_back(*lost_place);
    }
  }
};

SentBefore::SentBefore(std::size_t repeats_limit) : impl_(std::make_unique<Impl>(repeats_limit)) {}
SentBefore::~SentBefore() = default;

AddressPair* SentBefore::pair(const dissect::IpAddress& src, const dissect::IpAddress& dst) {
  const PairKey key{src, dst};
  const auto found = impl_->pair_places.find(key);
  if (found != impl_->pair_places.end()) return &impl_->pairs[found->second];
  if (impl_->pairs.size() >= most_pairs) return nullptr;
  const auto place = static_cast<std::uint32_t>(impl_->pairs.size());
  impl_->pair_places.emplace(key, place);
  SentFlows::Pair& flows = impl_->sent.pairs.emplace_back();
  if (const auto back = impl_->pair_places.find({dst, src}); back != impl_->pair_places.end()) {
    flows.reverse = back->second;
    impl_->sent.pairs[back->second].reverse = place;
  }
  AddressPair& made = impl_->pairs.emplace_back();
  made.src = src;
  made.dst = dst;
  return &made;
}

void SentBefore::count_kind(std::uint32_t flow, std::uint8_t opcode) noexcept {
  const SentFlow& state = impl_->flows[flow];
  AddressPair& pair = impl_->pairs[state.pair];
  const dissect::OpcodeInfo& info = dissect::opcode_info(opcode);
  const bool reliable = info.service == dissect::Service::rc || info.service == dissect::Service::xrc;
  const bool cm = state.key.dst_qp == dissect::gsi_qpn;
  if (cm || (reliable && info.request)) ++pair.requests;
  if (cm || is_answer(info)) ++pair.answers;
}

std::uint32_t SentBefore::place_of(const FlowKey& key, std::uint16_t port) {
  const auto found = impl_->places.find(key);
  if (found != impl_->places.end()) return found->second;
  if (impl_->flows.size() >= most_flows) return none;
  const AddressPair* of = pair(key.src, key.dst);
  if (of == nullptr) return none;
  const auto place = static_cast<std::uint32_t>(impl_->flows.size());
  impl_->places.emplace(key, place);
  SentFlow& flow = impl_->flows.emplace_back();
  flow.key = key;
  flow.pair = static_cast<std::uint32_t>(of - impl_->pairs.data());
  flow.port = port;
  impl_->sent.pairs[flow.pair].flows.push_back(place);
  return place;
}

const FlowKey& SentBefore::key_of(std::uint32_t flow) const noexcept {
  return impl_->flows[flow].key;
}
AddressPair& SentBefore::pair_of(std::uint32_t flow) noexcept {
  return impl_->pairs[impl_->flows[flow].pair];
}
std::uint32_t SentBefore::pair_place(std::uint32_t flow) const noexcept {
  return impl_->flows[flow].pair;
}
std::vector<AddressPair>& SentBefore::pairs() noexcept {
  return impl_->pairs;
}

void SentBefore::sent(const Passage& passage, std::optional<std::uint32_t> lost_place, unsigned direction,
                      CompareResult& result) {
  SentFlow& flow = impl_->flows[passage.flow];
  const dissect::OpcodeInfo& info = dissect::opcode_info(passage.opcode);
  const bool shown_at_both = passage.outcome == Outcome::arrived || passage.outcome == Outcome::damaged;
  // Packets of MRC take many paths, and their receiver expects no order.
  const bool in_order = info.service != dissect::Service::mrc;
  if (passage.shown_first && shown_at_both && in_order)
    impl_->order(flow, passage, result.directions[direction]);
  if (is_sequenced(info)) {
    const Space space = info.request ? requests : answers;
    impl_->repeats(flow.sequence[space], space, passage, lost_place, direction, result);
  }
  if (!is_answer(info)) return;
  impl_->acknowledges(flow, passage, lost_place, result.lost, result.directions[direction]);
  // A NAK acknowledges the PSNs before its own.
  const bool confirms = passage.answer == AnswerKind::acknowledge;
  const bool fresh = flow.confirmed.add(Psn(passage.psn) + (confirms ? 0U : Psn::modulus - 1U));
  impl_->runs.answered(passage.flow, note_answer(flow, passage, !is_acknowledge(info), confirms && !fresh));
}

void SentBefore::finish_repeats(const std::optional<std::int64_t> (&ends_ns)[2], CompareResult& result) {
  impl_->runs.finish(ends_ns, result);
}

bool SentBefore::arrived(const LostPacket& lost) {
  // More than any sender may have in flight.
  constexpr std::int32_t far = 1 << 16;
  const dissect::OpcodeInfo& info = dissect::opcode_info(lost.opcode);
  const bool reliable = info.service == dissect::Service::rc || info.service == dissect::Service::xrc;
  if (!reliable || !is_sequenced(info) || lost.repaired_by || lost.sent_again || lost.arrived_before)
    return false;
  const auto found = impl_->places.find(lost.key);
  if (found == impl_->places.end()) return false;
  const Psn psn(lost.psn);
  const Space space = info.request ? requests : answers;
  const Sequence& sequence = impl_->flows[found->second].sequence[space];
  if (info.request && sequence.any && sequence.highest.distance_from(psn) > far) return true;
  const std::optional<Psn> delivered = impl_->delivered(found->second, space);
  return delivered && delivered->distance_from(psn) >= 0;
}

}  // namespace roce::analyze
