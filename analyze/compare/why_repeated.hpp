// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/compare/sent_flow.hpp"

// Internal to compare: why a sender sent again, by what the two points had shown until then.
namespace roce::analyze {

struct RepeatReason {
  RepeatCause cause = RepeatCause::unknown;
  bool settled = true;  ///< false: it passed both points, and what is answered next tells why it was repeated
  bool nak_lost = false;
  bool passed = false;  ///< an answer had come to the sender's point
  std::optional<RepeatRun::Evidence> evidence;
  std::optional<std::int64_t> waited_ns, answered_ns;
};

/// Why one was sent again whose transmission before had that outcome, or the answer to it.
[[nodiscard]] RepeatCause cause_if(Outcome outcome, RepeatCause if_lost) noexcept;

/// Whether it is a READ or an ATOMIC: only its own response answers it.
[[nodiscard]] bool has_own_response(std::uint8_t opcode) noexcept;

class WhyRepeated {
 public:
  explicit WhyRepeated(SentFlows& sent) : sent_(sent) {}

  /// `before`: the transmission before this one; nullptr if none is known. `direction`: of the request.
  [[nodiscard]] RepeatReason of_request(const Passage& passage, const Slot* before, unsigned direction);
  /// Of a response whose request was not repeated for another reason.
  [[nodiscard]] RepeatReason of_response(const Passage& passage, const Slot* before,
                                         unsigned direction) const;
  /// Why the responder sent that NAK.
  [[nodiscard]] RepeatReason of_nak(std::uint32_t flow, const Answer& nak, unsigned direction) const;
  /// The last transmission of the request to which that PSN belongs; nullptr if it is not known.
  [[nodiscard]] const Slot* request_of(std::uint32_t flow, dissect::Psn psn) const;
  /// The flow with the answers to a flow's requests, or with the requests that it answers: known by PSNs, and
  /// by the UDP source port where several queue pairs use the same ones. Slot::none if it is not certain.
  [[nodiscard]] std::uint32_t partner_of(std::uint32_t flow, Space own);

 private:
  struct Question;
  [[nodiscard]] bool sent_long_before(std::uint32_t flow, unsigned space, dissect::Psn psn,
                                      std::int64_t now_ns) const;
  [[nodiscard]] bool never_shown(std::uint32_t flow, unsigned space, dissect::Psn psn) const;
  [[nodiscard]] static bool concerns(const Question& question, const Answer& answer);
  [[nodiscard]] std::optional<RepeatReason> by_naks(const Question& question);
  [[nodiscard]] std::optional<RepeatReason> by_responses(const Question& question) const;
  [[nodiscard]] std::optional<RepeatReason> by_acknowledges(const Question& question) const;
  [[nodiscard]] std::optional<RepeatReason> by_later_requests(const Question& question) const;
  [[nodiscard]] const LateArrival* late_beside(std::uint32_t flow, Space space, const Slot& slot,
                                               std::int64_t until_ns) const;
  [[nodiscard]] const LateArrival* late_unconfirmed(std::uint32_t flow, const Answer& nak) const;
  [[nodiscard]] bool fits(const SentFlow& asking, const SentFlow& answering) const;

  SentFlows& sent_;
};

}  // namespace roce::analyze
