// SPDX-License-Identifier: Apache-2.0
// Times as the user wants to read them, the same on all pages.
#pragma once

#include <QString>
#include <cstdint>

#include "analyze/results/snapshot.hpp"
#include "analyze/show/packet_line.hpp"

namespace roce::gui {

enum class TimeDisplay {
  relative,  ///< "+1.203896 s" after the first packet: as `packets` has it and --from takes it
  utc,       ///< "2026-11-20 11:08:53.886729"
  local,     ///< the same in the time zone of this computer, which is named
};

/// How shown_time() shows times from now on. Used on the thread of the window only.
void set_time_display(TimeDisplay display) noexcept;
[[nodiscard]] TimeDisplay time_display() noexcept;

/// A time of a capture; nanoseconds since the epoch, shown in microseconds.
[[nodiscard]] QString shown_time(const analyze::Snapshot& snapshot, std::int64_t time_ns);
/// The same where the time of the capture's first packet is all that is known of it.
[[nodiscard]] QString shown_time(std::int64_t first_ns, std::int64_t time_ns);
/// For narrow columns whose heading is time_heading(): "1.203896", "11:08:53.886729".
[[nodiscard]] QString short_time(std::int64_t first_ns, std::int64_t time_ns);
[[nodiscard]] QString time_heading();
/// How the list of packets writes times, as long as the capture's resolution makes them.
[[nodiscard]] analyze::TimeFormat listed_time_format() noexcept;
[[nodiscard]] QString format_time(TimeDisplay display, std::int64_t first_ns, std::int64_t time_ns);

}  // namespace roce::gui
