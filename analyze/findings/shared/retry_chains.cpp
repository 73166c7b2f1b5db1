// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/retry_chains.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dissect/cm.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

std::string timer_text(unsigned code) {
  return fmt::format("{} (4.096 µs · 2^{} = {})", code, code,
                     wait_text(dissect::cm_timeout_ns(static_cast<std::uint8_t>(code))));
}

/// "packets 15 and 21", "from packet 120 to 180", "packet 15; the first transmission is unknown".
std::string copies_text(const RetryChain& chain) {
  const std::uint64_t captured = std::uint64_t{chain.resends} + (chain.first_seen ? 1 : 0);
  std::string text = captured == 1 ? fmt::format("packet {}", chain.last_frame)
                     : captured == 2
                         ? fmt::format("packets {} and {}", chain.first_frame, chain.last_frame)
                         : fmt::format("from packet {} to {}", chain.first_frame, chain.last_frame);
  if (!chain.first_seen) text += "; the first transmission is unknown";
  return text;
}

}  // namespace

std::string chain_text(const Snapshot& snapshot, const Connection& connection, unsigned side) {
  const RetryChain& chain = connection.requester[side].trouble->worst_chain;
  if (chain.resends == 0) return {};
  std::string text =
      chain.reissued_after != 0
          ? fmt::format("{} with PSN {} was reissued {} from PSN {} on ({})",
                        dissect::operation_name(chain.opcode),
                        (chain.psn - chain.reissued_after) & dissect::serial_mask, times_text(chain.resends),
                        chain.psn, copies_text(chain))
          : fmt::format("{} with PSN {} was sent {}{} ({})", dissect::operation_name(chain.opcode), chain.psn,
                        chain.first_seen ? "" : "at least ", times_text(std::uint64_t{chain.resends} + 1),
                        copies_text(chain));
  if (chain.min_spacing_ns == 0) {
    const std::int64_t span = span_ns(chain.first_time_ns, chain.last_time_ns);
    return chain.resends == 1 && span != 0 ? text + ", " + duration_text(span) + " apart" : text;
  }
  text += ", " + wait_text(chain.min_spacing_ns);
  if (chain.max_spacing_ns != chain.min_spacing_ns) text += " to " + wait_text(chain.max_spacing_ns);
  text += " apart";
  // The timer cannot expire early, so the shortest spacing is closest to it. Code 0 means no timer (IBTA
  // 9.7.6.1.3). One that grows is made by the NIC, and need not be of that form.
  const bool grows = 2 * chain.max_spacing_ns >= 3 * chain.min_spacing_ns;
  if (grows)
    text += ", not constant, as adaptive retransmission has it: no local ACK timeout can be told from it";
  else if (const unsigned code = timeout_code_of(chain.min_spacing_ns); code != 0)
    text += ", which matches local ACK timeout " + timer_text(code);
  const CmExchange* cm = exchange_of(snapshot, connection);
  if (cm != nullptr && cm->ack_timeout_code) {
    text += *cm->ack_timeout_code == 0 ? std::string("; the CM set 0 (no timeout)")
                                       : "; the CM set " + timer_text(*cm->ack_timeout_code);
  }
  return text;
}

std::string missing_text(const Connection& connection, unsigned side) {
  const RetryChain& chain = connection.requester[side].trouble->worst_chain;
  if (chain.missing_before == 0 || chain.answered) return {};
  const std::string from = address_text(connection.ends[side].address);
  const bool one = chain.missing_before == 1;
  return fmt::format(
      " Each time {} before it, which {} waits for, {} lost on the way from {} to the capture point: "
      "something drops {} every time, whatever follows (because of the length: a path MTU black hole; "
      "because of the content: a bad link or memory; a filter).",
      one ? fmt::format("PSN {}", (chain.psn - 1) & dissect::serial_mask)
          : plural(chain.missing_before, "packet", "packets"),
      address_text(connection.ends[1 - side].address), one ? "was" : "were", from, one ? "it" : "them");
}

bool gave_up(const Connection& connection, unsigned side) noexcept {
  const Requester& requester = connection.requester[side];
  if (!requester.retries_exhausted) return false;
  // A requester with retries left did not give up: its program ended, or the capture did.
  return requester.trouble->worst_chain.resends >= least_retries(connection);
}

bool has_no_retry_left(const Connection& connection, unsigned side) noexcept {
  constexpr std::uint32_t most = 7;  // the retry counter has 3 bits (IBTA 11.2.5.2)
  const RetryChain& chain = connection.requester[side].trouble->worst_chain;
  return !chain.answered && !chain.needless && chain.resends >= connection.retry_count.value_or(most);
}

bool answers_other_psns(const Snapshot& snapshot, const Connection& connection, unsigned side) noexcept {
  const Requester& requester = connection.requester[side];
  const RetryChain& chain = requester.trouble->worst_chain;
  if (chain.answered || connection.pairing.answered != 0 || requester.acks <= chain.resends) return false;
  // Answers to what was sent before the capture do not come for as long as this.
  const Flow* const back = flow_of(snapshot, connection, 1 - side);
  return back != nullptr && back->any_time && back->last_time_ns > chain.last_time_ns;
}

}  // namespace roce::analyze
