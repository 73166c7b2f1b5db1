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
      "A record has contradictory lengths, so nothing after it can be trusted: reading stopped there. Take a "
      "fresh copy of the file, or truncate it before that offset."}},
    {Incident::shrunk_while_read,
     {"shrunk_while_read", error,
      "The file became shorter while it was read: the part that vanished was not used. Read it again when no "
      "program writes to it."}},
    {Incident::time_backwards,
     {"time_backwards", info,
      "A record is older than the one before it in the same file: times between such records are not "
      "reliable. reordercap sorts a file by time."}},
    {Incident::no_timestamp,
     {"no_timestamp", data_loss,
      "Frames without a timestamp (Simple Packet Blocks, or timestamps of 0 before any other one): they are "
      "counted, but have no place on the time axis, and nothing that needs a time is measured from them."}},
    {Incident::unknown_block,
     {"unknown_block", info,
      "pcapng blocks of unknown types were skipped by their length. They hold no frames that could be "
      "used."}},
    {Incident::unknown_interface,
     {"unknown_interface", data_loss,
      "Packets name an interface that the capture never describes (or the 65 537th and later ones of one "
      "section), so their link type and time are unknown: they were skipped, and count as dropped by the "
      "capture."}},
    {Incident::bad_option,
     {"bad_option", info,
      "A pcapng option does not fit into its block or has the wrong size: it and the options after it in the "
      "block were ignored."}},
    {Incident::captured_more_than_wire,
     {"captured_more_than_wire", info,
      "A record has a captured length above its length on the wire: the wire length was raised to the "
      "captured length."}},
    {Incident::decompression_failed,
     {"decompression_failed", error,
      "The compressed stream is damaged or cut short: what was decompressed before that point was used."}},
    {Incident::oversized_record,
     {"oversized_record", error,
      "A record is too large to be valid (a frame above 256 KiB, a block above 16 MiB), so the file is "
      "damaged: reading stopped there."}},
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
