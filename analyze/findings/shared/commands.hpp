// SPDX-License-Identifier: Apache-2.0
// The command that shows the packets which prove a finding: exactly those, or the words before it say which
// others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analyze/findings/shared/grouping.hpp"

namespace roce::analyze {

/// What the packets are that prove a finding, as a display filter and as counts.
struct Shown {
  /// Who sends them, seen from the side that a case is about.
  enum class By : std::uint8_t {
    side,    ///< that side
    other,   ///< the other one: answers to it
    either,  ///< either
  };
  std::string test;
  By by = By::side;
  /// How many of them `sender` of the connection sent, or, with By::either, are about `sender`.
  std::function<std::uint64_t(const Connection& connection, unsigned sender)> packets;
  /// A second copy of such a packet passes the test, but no counter has it.
  bool copies_pass = false;
  /// So does one with a wrong ICRC, which is not believed.
  bool damaged_pass = false;
  /// With By::either: the test that tells the two directions apart, before "a_to_b".
  std::string_view whose = {};
};

/// The largest packet number that a filter can name.
inline constexpr std::uint64_t last_filtered_frame = 0xffff'ffff;

/// Packets on which the analysis says `event`, in words of its own: `test`.
[[nodiscard]] Shown shown_by_flag(std::string_view test, Event event, Shown::By by = Shown::By::side);
/// Packets that were sent again.
[[nodiscard]] Shown shown_by_repeats();
/// Answers with an AETH that pass `test`, counted as `event`.
[[nodiscard]] Shown shown_by_answers(std::string_view test, Event event);

/// "The packets: roceanalyze packets FILE -Y '...'" for what="The packets". If they are not as many as the
/// finding's figure, their number: "The NAKs (4): roceanalyze ...". Where no filter tells them from those of
/// other connections, it says that it shows these too.
[[nodiscard]] std::string show_command(const Snapshot& snapshot, const Group& group, std::string_view what,
                                       const Shown& shown);
/// The same of losses: one packet may show several.
[[nodiscard]] std::string show_losses(const Snapshot& snapshot, const Group& group, const Shown& shown,
                                      Event event);

/// "The packets (4): roceanalyze packets FILE -Y 'TEST'", without the number if it is the figure.
[[nodiscard]] std::string show_command(const Snapshot& snapshot, std::string_view what, std::uint64_t packets,
                                       std::uint64_t figure, std::string_view test);
/// "roceanalyze packets FILE -Y 'TEST'": of the packets that the analysis was asked for, as it was asked.
[[nodiscard]] std::string packets_command(const Snapshot& snapshot, std::string_view test);

/// `test` without the copies that the capture or the network made, if there are any in the capture.
[[nodiscard]] std::string without_copies(const Snapshot& snapshot, std::string test);

}  // namespace roce::analyze
