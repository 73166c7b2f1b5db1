// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/sent_before.hpp"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "dissect/headers/infiniband.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using dissect::Operation;
using dissect::Psn;

/// PSN spaces of a flow: its side's requests, and its responses to the peer's requests.
enum Space : unsigned { requests, answers, spaces };

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

/// A run of retransmissions with a common cause, that of the first one.
struct Run {
  bool active = false;
  Psn last;
  std::uint64_t RepeatCauses::*cause = nullptr;
};

/// The range of PSNs from the first one seen to the highest.
struct Range {
  bool any = false;
  Psn first, highest;

  /// Adds a PSN; true if it is the highest.
  bool add(Psn psn) noexcept {
    if (any && psn.distance_from(highest) <= 0) return false;
    if (!any) first = psn;
    any = true;
    highest = psn;
    return true;
  }
};

struct Sequence : Range {
  Run run;
};

/// A packet after which others passed the second point; `number` is in that file.
struct Arrival {
  std::uint64_t number = 0;
  std::int64_t time_ns = 0;
  std::uint64_t first_number = 0;  ///< at the first point
};

struct SentFlow {
  FlowKey key;
  std::uint32_t pair = 0;
  Sequence sequence[spaces];
  Range confirmed;                       ///< requests of the other direction that its responses acknowledge
  std::optional<Psn> delivered[spaces];  ///< see Impl::delivered()
  bool delivered_known[spaces]{};
  std::vector<Arrival> arrivals;                 ///< ascending
  bool reorders = false;                         ///< more arrivals are kept
  std::vector<std::uint32_t> open_acknowledges;  ///< lost ACKs not covered yet; indices in the list
};

constexpr std::size_t most_arrivals = 64;
constexpr std::size_t most_of_reordered = 1024;
constexpr std::size_t most_reordered = 1024;  ///< maximum of flows with more arrivals
constexpr std::size_t most_open = 64;

/// The last transmission of a PSN. A direct-mapped cache: a PSN with the same slot replaces it.
struct Slot {
  std::uint32_t flow = SentBefore::none;
  std::uint32_t psn_space = 0;  ///< PSN and Space
  std::uint32_t lost = 0;       ///< index in the list plus one, if it was lost and is listed
  bool arrived = false;
  bool any_arrived = false;  ///< it or an earlier transmission arrived
};
constexpr std::size_t slot_count = std::size_t{1} << 19U;

std::size_t slot_of(std::uint32_t flow, unsigned space, Psn psn) noexcept {
  return (flow * std::size_t{0x9e3779b1U} + space * std::size_t{0x85ebca6bU} + psn.value()) &
         (slot_count - 1);
}

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

}  // namespace

struct SentBefore::Impl {
  tsl::robin_map<FlowKey, std::uint32_t, SentKeyHash> places;
  tsl::robin_map<PairKey, std::uint32_t, PairHash> pair_places;
  std::vector<SentFlow> flows;
  std::vector<AddressPair> pairs;
  std::size_t reordered = 0;  ///< flows
  std::vector<Slot> slots = std::vector<Slot>(slot_count);
  std::vector<std::uint32_t> lost_before;  ///< by listed packet: the transmission lost before; as Slot::lost

  /// `arrivals` ascends in both numbers: packets that were not overtaken by later ones.
  void order(SentFlow& flow, const Passage& passage, CompareDirection& direction) {
    std::vector<Arrival>& arrivals = flow.arrivals;
    // Nearly always at the end, since packets come in the order of the first point.
    auto place = arrivals.end();
    while (place != arrivals.begin() && (place - 1)->first_number > passage.number) --place;
    const auto is_late = [&](std::uint64_t first_number, std::int64_t time_ns, std::int64_t overtaker_ns) {
      direction.late.add(first_number, time_ns);
      direction.most_late_ns = std::max(direction.most_late_ns, time_ns - overtaker_ns);
      if (!flow.reorders && reordered < most_reordered) {
        flow.reorders = true;
        ++reordered;
      }
    };
    if (place != arrivals.end() && place->number < passage.arrival_number) {
      is_late(passage.number, passage.arrival_ns, place->time_ns);
      return;
    }
    auto overtaken = place;
    while (overtaken != arrivals.begin() && (overtaken - 1)->number > passage.arrival_number) {
      --overtaken;
      is_late(overtaken->first_number, overtaken->time_ns, passage.arrival_ns);
    }
    place = arrivals.erase(overtaken, place);
    arrivals.insert(place, {passage.arrival_number, passage.arrival_ns, passage.number});
    const std::size_t most = flow.reorders ? most_of_reordered : most_arrivals;
    if (arrivals.size() >= most)
      arrivals.erase(arrivals.begin(), arrivals.begin() + static_cast<std::ptrdiff_t>(most / 2));
  }

  static void repair(LostPacket& lost, std::uint64_t by, CompareDirection& direction) {
    if (lost.repaired_by) return;
    lost.repaired_by = by;
    ++direction.repaired;
  }

  void repeats(std::uint32_t place, Sequence& sequence, unsigned space, const Passage& passage,
               std::optional<std::uint32_t> lost_place, std::vector<LostPacket>& lost,
               CompareDirection& direction) {
    const Psn psn(passage.psn);
    Slot& slot = slots[slot_of(place, space, psn)];
    const std::uint32_t psn_space = passage.psn | space << 24U;
    const bool newer = sequence.add(psn);
    const bool known = !newer && slot.flow == place && slot.psn_space == psn_space;
    if (newer) {
      sequence.run.active = false;
    } else {
      Run& run = sequence.run;
      std::uint64_t RepeatCauses::*own = &RepeatCauses::unknown;
      if (known) {
        own = slot.arrived ? &RepeatCauses::behind : &RepeatCauses::between;
      } else if (dissect::opcode_info(passage.opcode).operation != Operation::read_request) {
        own = &RepeatCauses::before;  // a READ request may also request the rest of its responses
      }
      const bool goes_on = run.active && psn.distance_from(run.last) > 0;
      if (!goes_on || own == &RepeatCauses::between) run.cause = own;
      run.active = true;
      run.last = psn;
      ++(direction.repeats.*run.cause);
    }
    const std::uint32_t waiting = known ? slot.lost : 0;
    if (waiting != 0) lost[waiting - 1].sent_again = true;
    const bool arrived_before = known && slot.any_arrived;
    if (lost_place && arrived_before) lost[*lost_place].arrived_before = true;
    slot = {place, psn_space, 0, passage.arrived, passage.arrived || arrived_before};
    if (passage.arrived) {
      for (std::uint32_t one = waiting; one != 0; one = lost_before[one - 1])
        repair(lost[one - 1], passage.number, direction);
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
    const Range& sent = flow.sequence[space];
    std::optional<Psn>& least = flow.delivered[space];
    if (!sent.any) return least;
    for (const SentFlow& other : flows) {
      if (other.key.src != flow.key.dst || other.key.dst != flow.key.src) continue;
      const Range& back = space == requests ? other.confirmed : other.sequence[requests];
      if (!back.any || std::abs(sent.highest.distance_from(back.highest)) > in_flight ||
          std::abs(sent.first.distance_from(back.first)) > in_flight)
        continue;
      const Psn to = space == requests ? back.highest : back.highest + (Psn::modulus - asked_ahead);
      if (!least || to.distance_from(*least) < 0) least = to;
    }
    return least;
  }

  void acknowledges(SentFlow& flow, const Passage& passage, std::optional<std::uint32_t> lost_place,
                    std::vector<LostPacket>& lost, CompareDirection& direction) {
    if (passage.arrived) {
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

SentBefore::SentBefore() : impl_(std::make_unique<Impl>()) {}
SentBefore::~SentBefore() = default;

AddressPair* SentBefore::pair(const dissect::IpAddress& src, const dissect::IpAddress& dst) {
  const PairKey key{src, dst};
  const auto found = impl_->pair_places.find(key);
  if (found != impl_->pair_places.end()) return &impl_->pairs[found->second];
  if (impl_->pairs.size() >= most_pairs) return nullptr;
  impl_->pair_places.emplace(key, static_cast<std::uint32_t>(impl_->pairs.size()));
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

std::uint32_t SentBefore::place_of(const FlowKey& key) {
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
  return place;
}

const FlowKey& SentBefore::key_of(std::uint32_t flow) const noexcept {
  return impl_->flows[flow].key;
}
AddressPair& SentBefore::pair_of(std::uint32_t flow) noexcept {
  return impl_->pairs[impl_->flows[flow].pair];
}
std::vector<AddressPair>& SentBefore::pairs() noexcept {
  return impl_->pairs;
}

void SentBefore::sent(const Passage& passage, std::optional<std::uint32_t> lost_place,
                      std::vector<LostPacket>& lost, CompareDirection& direction) {
  SentFlow& flow = impl_->flows[passage.flow];
  const dissect::OpcodeInfo& info = dissect::opcode_info(passage.opcode);
  if (passage.arrived) impl_->order(flow, passage, direction);
  if (is_answer(info)) {
    impl_->acknowledges(flow, passage, lost_place, lost, direction);
    // A NAK acknowledges the PSNs before its own.
    flow.confirmed.add(Psn(passage.psn) + (passage.confirms ? 0U : Psn::modulus - 1U));
  }
  if (!is_sequenced(info)) return;
  const Space space = info.request ? requests : answers;
  impl_->repeats(passage.flow, flow.sequence[space], space, passage, lost_place, lost, direction);
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
