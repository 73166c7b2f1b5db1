// SPDX-License-Identifier: Apache-2.0
// The command that shows the packets which prove a finding: exactly those, or the text before it names the
// others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analyze/findings/shared/grouping.hpp"

namespace roce::analyze {

/// The packets that prove a finding, as a display filter and as counts.
struct Shown {
  /// Who sends them, relative to the side that a case is about.
  enum class By : std::uint8_t {
    side,    ///< this side
    other,   ///< the peer: answers to this side
    either,  ///< both
  };
  std::string test;
  By by = By::side;
  /// How many of them `sender` of the connection sent, or, with By::either, are about `sender`.
  std::function<std::uint64_t(const Connection& connection, unsigned sender)> packets;
  /// Second copies of such packets pass the test but are not counted.
  bool copies_pass = false;
  /// So are packets with a wrong ICRC, which are not trusted.
  bool damaged_pass = false;
  /// With By::either: the filter field that distinguishes the two directions, compared with "a_to_b".
  std::string_view whose = {};
};

/// The largest packet number that a filter can name.
inline constexpr std::uint64_t last_filtered_frame = 0xffff'ffff;

/// Packets flagged by the analysis: `event` counts them, the display filter `test` shows them.
[[nodiscard]] Shown shown_by_flag(std::string_view test, Event event, Shown::By by = Shown::By::side);
/// Retransmitted packets.
[[nodiscard]] Shown shown_by_repeats();
/// Answers with an AETH that pass `test`, counted as `event`.
[[nodiscard]] Shown shown_by_answers(std::string_view test, Event event);

/// "The packets: roceanalyze packets FILE -Y '...'" for what="The packets". If they are not as many as the
/// finding's figure, their number: "The NAKs (4): roceanalyze ...". Where no filter separates them from those
/// of other connections, the text says that it shows these too.
[[nodiscard]] std::string show_command(const Snapshot& snapshot, const Group& group, std::string_view what,
                                       const Shown& shown);
/// The same for losses: one packet may show several.
[[nodiscard]] std::string show_losses(const Snapshot& snapshot, const Group& group, const Shown& shown,
                                      Event event);

/// "The packets (4): roceanalyze packets FILE -Y 'TEST'", without the number if it is the figure.
[[nodiscard]] std::string show_command(const Snapshot& snapshot, std::string_view what, std::uint64_t packets,
                                       std::uint64_t figure, std::string_view test);
/// "roceanalyze packets FILE -Y 'TEST'", within the filter, time range and options of this analysis.
[[nodiscard]] std::string packets_command(const Snapshot& snapshot, std::string_view test);

/// `test` without duplicates made by the capture or the network, if the capture has any.
[[nodiscard]] std::string without_copies(const Snapshot& snapshot, std::string test);

}  // namespace roce::analyze
