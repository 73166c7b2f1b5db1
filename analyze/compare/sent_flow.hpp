// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/compare/compare.hpp"
#include "dissect/opcode.hpp"
#include "dissect/types.hpp"

// Internal to compare: what is remembered of the packets of a flow.
namespace roce::analyze {

/// PSN spaces of a flow: its side's requests, and its responses to the peer's requests.
enum Space : unsigned { requests, answers, spaces };

/// What became of a packet between the points.
enum class Outcome : std::uint8_t {
  arrived,
  lost,
  damaged,
  trimmed,  ///< by a switch between the points
  unknown,  ///< the second point was not capturing
};

/// What an AETH says (IBTA 9.7.5.2.8).
enum class AnswerKind : std::uint8_t { acknowledge, receiver_not_ready, nak, other };

/// A packet at the first point.
struct Passage {
  std::uint32_t flow = 0;
  std::uint8_t opcode = 0;
  std::uint32_t psn = 0;
  AnswerKind answer = AnswerKind::other;  ///< of a response; `other` too where the AETH was not captured
  bool shown_first = true;                ///< false: the capture at the first point missed it
  Outcome outcome = Outcome::arrived;
  std::uint64_t number = 0;  ///< frame number at the first point
  std::int64_t time_ns = 0;  ///< by its clock
  // At the second point, where it was shown:
  std::uint64_t arrival_number = 0;
  std::int64_t arrival_ns = 0;

  [[nodiscard]] bool arrived() const noexcept { return outcome == Outcome::arrived; }
};

/// The last transmission of a PSN. A direct-mapped cache: a PSN with the same slot replaces it.
struct Slot {
  static constexpr std::uint32_t none = 0xffff'ffff;
  std::uint32_t flow = none;
  std::uint32_t psn_space = 0;  ///< PSN and Space
  std::uint32_t lost = 0;       ///< index in the list of lost packets plus one, if it is listed there
  std::uint32_t turn = 0;       ///< ascends with the transmissions of all flows
  std::uint64_t number = 0;     ///< frame number at the first point; 0: its capture missed it
  std::int64_t time_ns = 0;     ///< there
  std::int64_t arrival_ns = 0;  ///< at the second point, if it arrived
  Outcome outcome = Outcome::arrived;
  RepeatCause cause = RepeatCause::unknown;  ///< of a repeat
  bool repeat = false;
  bool any_arrived = false;  ///< it or an earlier transmission arrived
  bool overtaken = false;    ///< between the points, by a packet sent after it
  std::uint8_t opcode = 0;

  [[nodiscard]] bool stayed_between() const noexcept {
    return outcome == Outcome::lost || outcome == Outcome::damaged || outcome == Outcome::trimmed;
  }
};

class SlotTable {
 public:
  [[nodiscard]] Slot& at(std::uint32_t flow, unsigned space, dissect::Psn psn) noexcept {
    return slots_[place_of(flow, space, psn)];
  }
  /// The last transmission of that PSN; nullptr if none is remembered.
  [[nodiscard]] Slot* find(std::uint32_t flow, unsigned space, dissect::Psn psn) noexcept {
    Slot& slot = at(flow, space, psn);
    return slot.flow == flow && slot.psn_space == key_of(space, psn) ? &slot : nullptr;
  }
  [[nodiscard]] static std::uint32_t key_of(unsigned space, dissect::Psn psn) noexcept {
    return psn.value() | space << 24U;
  }

 private:
  static constexpr std::size_t count = std::size_t{1} << 19U;
  static std::size_t place_of(std::uint32_t flow, unsigned space, dissect::Psn psn) noexcept {
    return (flow * std::size_t{0x9e3779b1U} + space * std::size_t{0x85ebca6bU} + psn.value()) & (count - 1);
  }
  std::vector<Slot> slots_ = std::vector<Slot>(count);
};

/// The range of PSNs from the first one seen to the highest.
struct Range {
  bool any = false;
  dissect::Psn first, highest;

  /// Adds a PSN; true if it is the highest.
  bool add(dissect::Psn psn) noexcept {
    if (any && psn.distance_from(highest) <= 0) return false;
    if (!any) first = psn;
    any = true;
    highest = psn;
    return true;
  }
};

struct Sequence : Range {
  std::optional<std::uint32_t> run;  ///< of repeats, which goes on: its place in RepeatRuns
};

/// An acknowledgement, NAK or response on its way back.
struct Answer {
  dissect::Psn psn;
  AnswerKind kind = AnswerKind::other;
  Outcome outcome = Outcome::arrived;
  bool data = false;   ///< a response with a PSN of its own
  bool again = false;  ///< an acknowledgement that confirms nothing new
  std::uint8_t opcode = 0;
  std::uint64_t number = 0;          ///< frame number at the point near the responder; 0: missed there
  std::int64_t time_ns = 0;          ///< there
  std::uint64_t arrival_number = 0;  ///< at the point near the requester, if it arrived
  std::int64_t arrival_ns = 0;
};

/// A packet after which others passed the second point; `number` is in that file.
struct PassedSecond {
  std::uint64_t number = 0;
  std::int64_t time_ns = 0;
  std::uint64_t first_number = 0;  ///< at the first point
  std::uint32_t psn_space = 0;
  std::uint8_t opcode = 0;
};

/// One that others had overtaken, where it arrived.
struct LateArrival {
  dissect::Psn psn;
  std::uint64_t first_number = 0;  ///< at the first point
  std::int64_t time_ns = 0;        ///< at the second point
  std::uint8_t opcode = 0;
};

struct SentFlow {
  static constexpr std::uint32_t none = 0xffff'ffff;
  static constexpr std::size_t most_answers = 32;  ///< a requester that waits has few under way

  FlowKey key;
  std::uint32_t pair = 0;
  std::uint16_t port = 0;                        ///< UDP source port
  std::uint32_t partner[spaces] = {none, none};  ///< see WhyRepeated::partner_of()
  std::size_t partners_then[spaces]{};           ///< how many flows it was chosen from
  std::uint32_t partner_asked[spaces]{};         ///< how often it was asked for since none was found
  Sequence sequence[spaces];
  Range confirmed;  ///< requests of the other direction that its responses acknowledge
  std::optional<dissect::Psn> delivered[spaces];  ///< see SentBefore::Impl::delivered()
  bool delivered_known[spaces]{};
  std::vector<PassedSecond> arrivals;            ///< ascending
  bool reorders = false;                         ///< more arrivals are kept
  std::vector<std::uint32_t> open_acknowledges;  ///< lost ACKs not covered yet; indices in the list
  std::vector<Answer> answers;                   ///< the last of its acknowledgements and responses
  std::optional<dissect::Psn> heard;             ///< the highest PSN whose answer arrived
  std::int64_t heard_ns = 0;                     ///< when, by the clock of the point near the requester
  std::optional<std::int64_t> reaction_ns;       ///< least time from a NAK to a repeat, at the first point
  std::vector<LateArrival> late[spaces];         ///< the last ones
  bool unpaired = false;                         ///< repeats wait for an answer, and its partner is not known
  std::optional<dissect::Psn> after_repeats;     ///< the first new request behind all repeats
  std::vector<std::uint32_t> waiting;            ///< runs whose cause the next answers tell; in RepeatRuns
};

/// All of them, and what each PSN was last.
struct SentFlows {
  struct Pair {
    std::vector<std::uint32_t> flows;
    std::uint32_t reverse = SentFlow::none;  ///< the same two addresses in the other direction
  };
  std::vector<SentFlow> flows;
  std::vector<Pair> pairs;
  SlotTable slots;
};

/// Whether it takes a PSN of its sender's, or is a response with one of the peer's.
[[nodiscard]] bool is_sequenced(const dissect::OpcodeInfo& info) noexcept;
[[nodiscard]] bool is_answer(const dissect::OpcodeInfo& info) noexcept;

}  // namespace roce::analyze
