// SPDX-License-Identifier: Apache-2.0
// Writes what a simulation tells as JSON lines, one object a line, keys absent where they would say no:
//
//   {"frame":N, "connection":I, "direction":"a_to_b", "kind":"write", "psn":P, ...} for each frame that is
//     "retransmission":CAUSE, "original":N, "previous":N (frames with that PSN; absent: none captured),
//       "decidable":false, "cause_decidable":false, "also":[CAUSE...] allowed by the definitions too,
//     "contract_silent":true  may or may not be called a retransmission,
//     "first_answer":true     of a READ that had to be issued again: no retransmission
//     "late_original":true    a first transmission captured behind its own retransmission,
//     "out_of_order":true, "duplicate_network":N, "duplicate_capture":N (the frame it doubles)
//   {"lost":WHERE, "frame":N or null, "connection":..., "direction":..., "kind":..., "psn":...,
//     "repeat":bool, "decidable":bool, "damaged":true}
//   {"connection":I, "a":{"address","qp","psn"}, "b":{...}, "udp_port":P, "posted":[A,B],
//     "completed":[A,B], "answered":[A,B], "frames":[A to B, B to A], "state":[A,B]} at the end
//   with options.marks (fault_marks.hpp), all flows and ports of which there is something to say:
//   {"marking":WHAT, "connection", "direction", "src", "dst", "dst_qp", "packets":N, "frame":first}
//   {"cnp_marking":WHAT, ... of the CNPs' own direction, "packets":N}
//   {"congestion":FAULT, ... of the data, "ce", "cnps", "without_ce", "delays", "least_delay",
//   "largest_delay"}
//   {"pause":KIND, "port":MAC, "priority", "xoff", "xon", "refreshed", "needless_xon", "paused_at_end",
//     "pauses":[[from, until, "xon" or "expired" or "capture"] ...]} in ns since the start
//   {"totals":{...}} last
#pragma once

#include <cstdio>
#include <string>

#include "tests/support/fault_options.hpp"
#include "tests/support/fault_simulator.hpp"

namespace roce::support {

class TruthFile {
 public:
  // Empty path: writes nothing. Throws std::system_error, close() too.
  TruthFile(const std::string& path, bool ipv6);
  TruthFile(const TruthFile&) = delete;
  TruthFile& operator=(const TruthFile&) = delete;
  ~TruthFile();

  void frame(const FrameTruth& truth);
  void lost(const LossTruth& truth);
  void connection(const ConnectionTruth& truth);
  void totals(const SimulatorTotals& totals);
  void line(const std::string& text);  // as it is
  void close();

 private:
  std::string path_;
  bool ipv6_;
  std::FILE* file_ = nullptr;
};

}  // namespace roce::support
