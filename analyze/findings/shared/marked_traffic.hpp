// SPDX-License-Identifier: Apache-2.0
// What the rules on markings share: which packets of which flows, by pair of addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/findings/shared/common.hpp"
#include "analyze/flow/marking.hpp"

namespace roce::analyze {

/// Packets of flows from one address to another that show what a rule looks for.
struct Marked {
  dissect::IpAddress src;
  dissect::IpAddress dst;
  std::vector<std::uint64_t> flows;  ///< ids, ascending
  std::vector<std::string> tests;    ///< display filters, any of which such a packet passes; see test_of()
  std::vector<std::uint32_t> connections;  ///< the first few
  std::uint64_t of = 0;                    ///< packets that could have shown it
  Proof proof;
  std::string note;       ///< for the rule's own use: describes the first packet
  bool meant = true;      ///< for the rule's own use: a policy intends all of it, see meant_so()
  bool doubtful = false;  ///< for the rule's own use: some may be of several senders
  bool majority = true;   ///< for the rule's own use: the others of each flow are more than these
  bool only_tags = true;  ///< for the rule's own use: the DSCPs are the same in all of it

  /// Counts a row of a flow. Add all rows of one flow before those of the next.
  void add(const Flow& flow, const MarkRow& row);
  /// The same for packets of that class that pass `test`.
  void add(const Flow& flow, const MarkRow& row, std::string test);
};

/// By pair of addresses.
using MarkedPairs = std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, Marked>;
[[nodiscard]] Marked& marked_of(MarkedPairs& pairs, const Flow& flow);

/// "roce.class == data && roce.dscp == 26 && roce.pcp == 3": class, DSCP and tag of a row.
[[nodiscard]] std::string test_of(const MarkRow& row);
/// The same with the ECN codepoint alone.
[[nodiscard]] std::string ecn_test_of(const MarkRow& row);
/// "DSCP 26, PCP 3", "DSCP 26, untagged" if `tags`.
[[nodiscard]] std::string label_text(const Marks& marks, bool tags);

/// `test` without duplicates made by the capture, which are not counted, if there are any. Duplicates made by
/// the network do count.
[[nodiscard]] std::string without_mirrored(const Snapshot& snapshot, std::string test);
/// `test` without damaged packets, of which no marking is counted, if there are any. As it is if packets with
/// a wrong ICRC are counted as well, since no filter tells them apart.
[[nodiscard]] std::string without_damaged(const Snapshot& snapshot, std::string test);

/// Classes that carry or request payload: what is usually called "RoCE data".
[[nodiscard]] constexpr bool carries(TrafficClass of) noexcept {
  return of == TrafficClass::data || of == TrafficClass::response || of == TrafficClass::atomic;
}
/// DSCP, and PCP if there is a tag: what switches classify packets by.
struct Label {
  std::uint8_t dscp = 0;
  std::optional<std::uint8_t> pcp;
  [[nodiscard]] auto operator<=>(const Label&) const noexcept = default;
};
[[nodiscard]] constexpr Label label_of(const Marks& marks) noexcept {
  return {marks.dscp, marks.pcp};
}
/// Whether no switch can distinguish it from best-effort traffic.
[[nodiscard]] constexpr bool unmarked(const Label& label) noexcept {
  return label.dscp == 0 && label.pcp.value_or(0) == 0;
}

/// Whether a policy covers DSCP or priority of packets of this row and allows them: then they are intended,
/// whatever other packets have.
[[nodiscard]] bool meant_so(const Snapshot& snapshot, const Flow& flow, const MarkRow& row);

/// One finding per pair while there are few, else one that describes the pair with most packets. The command
/// is added to the advice that `describe` returns.
void report_marked(FindingSink& sink, const Snapshot& snapshot, const MarkedPairs& pairs,
                   const std::function<Words(const Marked&)>& describe);

}  // namespace roce::analyze
