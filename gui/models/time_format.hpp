// SPDX-License-Identifier: Apache-2.0
// Times in the format of the preferences, the same on all pages.
#pragma once

#include <QString>
#include <cstdint>

#include "analyze/results/snapshot.hpp"
#include "analyze/show/packet_line.hpp"

namespace roce::gui {

enum class TimeDisplay {
  relative,  ///< "+1.203896 s" since the first packet: as `packets` prints it and --from takes it
  utc,       ///< "2026-11-20 11:08:53.886729 UTC"
  local,     ///< the same in the time zone of this computer, with its abbreviation
};

/// Sets the format of shown_time() for the whole program. GUI thread only.
void set_time_display(TimeDisplay display) noexcept;
[[nodiscard]] TimeDisplay time_display() noexcept;

/// A time of a capture in nanoseconds since the epoch; shown with microseconds.
[[nodiscard]] QString shown_time(const analyze::Snapshot& snapshot, std::int64_t time_ns);
/// The same, given the time of the capture's first packet.
[[nodiscard]] QString shown_time(std::int64_t first_ns, std::int64_t time_ns);
/// For narrow columns with the heading time_heading(): "1.203896", "11:08:53.886729".
[[nodiscard]] QString short_time(std::int64_t first_ns, std::int64_t time_ns);
[[nodiscard]] QString time_heading();
/// The format of times in the packet list, which has the full resolution of the capture.
[[nodiscard]] analyze::TimeFormat listed_time_format() noexcept;
[[nodiscard]] QString format_time(TimeDisplay display, std::int64_t first_ns, std::int64_t time_ns);

}  // namespace roce::gui
