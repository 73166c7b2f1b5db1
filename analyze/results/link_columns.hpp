// SPDX-License-Identifier: Apache-2.0
// The tables of pauses and of DCBX announcements, see columns.hpp.
#pragma once

#include <span>
#include <vector>

#include "analyze/link/dcbx.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/pause_facts.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// One priority of one port, or its global PAUSE. Refers to the snapshot.
struct PauseRow {
  const Snapshot* snapshot = nullptr;
  const PausePort* port = nullptr;
  unsigned lane = 0;  ///< PausePort::global is PAUSE
  [[nodiscard]] const PauseLane& counts() const noexcept { return *port->lanes[lane]; }
};
using PauseColumn = Column<PauseRow>;
[[nodiscard]] std::span<const PauseColumn> pause_columns() noexcept;
/// By port, in order of first appearance, and priority.
[[nodiscard]] std::vector<PauseRow> pause_rows(const Snapshot& snapshot);

/// Announcements of one port in one version of DCBX; one row with Version::none for a port without any.
/// Refers to the snapshot.
struct DcbxRow {
  enum class Version : std::uint8_t { none, ieee, cee };
  const DcbxPort* port = nullptr;
  Version version = Version::none;
  [[nodiscard]] const DcbxSettings& settings() const noexcept {
    return version == Version::cee ? port->cee : port->ieee;
  }
};
using DcbxColumn = Column<DcbxRow>;
[[nodiscard]] std::span<const DcbxColumn> dcbx_columns() noexcept;
/// By port, in order of first appearance.
[[nodiscard]] std::vector<DcbxRow> dcbx_rows(const Snapshot& snapshot);

}  // namespace roce::analyze
