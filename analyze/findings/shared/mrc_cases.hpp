// SPDX-License-Identifier: Apache-2.0
// What the rules on MRC have in common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyze/base/address_text.hpp"
#include "analyze/findings/shared/commands.hpp"
#include "analyze/findings/shared/port_cases.hpp"
#include "analyze/mrc/mrc.hpp"

namespace roce::analyze {

/// All streams from one address to another.
struct MrcWay {
  dissect::IpAddress src, dst;
  std::vector<const MrcStream*> streams;
};
/// In the order of their first packets; empty without MRC.
[[nodiscard]] std::vector<MrcWay> mrc_ways(const Snapshot& snapshot);

/// The packets of these losses; their count is that of the list, which is bounded.
[[nodiscard]] Proof losses_of(const Snapshot& snapshot, const MrcWay& way,
                              const std::function<bool(const MrcLoss&)>& wanted);
/// Adds what shows it.
void add_evidence(Proof& proof, const MrcEvidence& evidence);
/// A finding about that way. What is known of MRC on the wire is not from hardware.
[[nodiscard]] Finding mrc_finding(Severity severity, const MrcWay& way, const Proof& proof);
/// What the receiver of a way did not take.
struct MrcRefusals {
  Proof proof;
  std::string text;      ///< "NAK remote access error 5, NACK unexpected event 20"
  std::string filter;    ///< for the packets that say so
  std::uint64_t of = 0;  ///< packets sent
};
/// Of those that end the queue pair, or of the others; without a count if there are none.
[[nodiscard]] MrcRefusals refusals_of(const MrcWay& way, bool fatal);
/// A display filter for what goes that way.
[[nodiscard]] std::string way_filter(const MrcWay& way);

}  // namespace roce::analyze
