// SPDX-License-Identifier: Apache-2.0
// What a capture shows of an error that an application saw.
#pragma once

#include <cstdint>
#include <string>

#include "analyze/errors/logged_error.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

struct WireEvidence {
  bool shown = false;              ///< the wire shows this very failure
  std::string text;                ///< what it shows, also if that is nothing
  std::string brief;               ///< of a failure that is shown: the same in a few words
  std::uint64_t first_packet = 0;  ///< of what shows it
  std::uint64_t last_packet = 0;
};

/// How the requests of a side failed for good; not shown: they did not.
[[nodiscard]] WireEvidence failure_on_wire(const Snapshot& snapshot, const Connection& connection,
                                           unsigned side);

/// What the wire shows of an error that the application or driver of a side logged.
[[nodiscard]] WireEvidence wire_evidence_of(const Snapshot& snapshot, const Connection& connection,
                                            unsigned side, const LoggedError& error);

}  // namespace roce::analyze
