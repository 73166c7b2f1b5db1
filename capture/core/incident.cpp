// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "capture/core/source.hpp"

namespace roce::capture {
namespace {

struct Row {
  Incident incident;
  IncidentInfo info;
};

using enum IncidentSeverity;

// In the order of the enumeration, which the assertion below keeps.
constexpr std::array<Row, static_cast<std::size_t>(Incident::count_)> rows = {{
    {Incident::cut_short,
     {"cut_short", data_loss,
      "The capture ends inside a record: all whole records before it were used. It was probably copied "
      "while it was being written, or the disk was full."}},
    {Incident::damaged_record,
     {"damaged_record", error,
      "A record contradicts itself, so nothing after it can be trusted: reading stopped there. Take a fresh "
      "copy of the file, or cut it before that offset."}},
    {Incident::shrunk_while_read,
     {"shrunk_while_read", error,
      "The file became shorter while it was read: the part that vanished was not used. Read it again when "
      "nobody writes to it."}},
    {Incident::time_backwards,
     {"time_backwards", info,
      "A record is older than the one before it in the same file: times between such records are not "
      "reliable. reordercap sorts a file."}},
    {Incident::no_timestamp,
     {"no_timestamp", data_loss,
      "Frames without a time (Simple Packet Blocks, or stamps of 0 before any other): they count, but have "
      "no place on "
      "the time axis, and what takes time to tell is not told of them."}},
    {Incident::unknown_block,
     {"unknown_block", info,
      "pcapng blocks of a type that is not known were skipped by their length. They hold no frames that "
      "could be used."}},
    {Incident::unknown_interface,
     {"unknown_interface", data_loss,
      "Packets name an interface that the capture never describes (or the 65 537th and later ones of one "
      "section), so their link type and time are unknown: they were skipped, and count as dropped by the "
      "capture."}},
    {Incident::bad_option,
     {"bad_option", info,
      "A pcapng option does not fit its block or has the wrong size: it and what follows it in the block "
      "were ignored."}},
    {Incident::captured_more_than_wire,
     {"captured_more_than_wire", info,
      "A record claims more captured bytes than the frame had on the wire: the wire length was raised to "
      "the captured one."}},
    {Incident::decompression_failed,
     {"decompression_failed", error,
      "The compressed stream is damaged or cut: what came out before that point was used."}},
    {Incident::oversized_record,
     {"oversized_record", error,
      "A record is larger than any sane one (a frame above 256 KiB, a block above 16 MiB), which means "
      "damage: reading stopped there."}},
}};

constexpr bool rows_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].incident) != i) return false;
  }
  return true;
}
static_assert(rows_in_order());

}  // namespace

const IncidentInfo& incident_info(Incident incident) noexcept {
  return rows[static_cast<std::size_t>(incident)].info;
}

}  // namespace roce::capture
