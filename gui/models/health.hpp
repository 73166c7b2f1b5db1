// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QStringList>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/results/snapshot.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {

/// How a capture is, in one line.
struct Health {
  bool shown = false;                     ///< there is something to judge, or a reason why there is not
  std::optional<analyze::Severity> sign;  ///< nullopt: healthy
  QString line;
};
[[nodiscard]] Health health_of(const analyze::Snapshot& snapshot);
/// Why not all of the capture could be judged, a line each: where and why inputs failed, else the worst that
/// was skipped. Empty where it was read whole.
[[nodiscard]] QStringList what_was_lost(const analyze::Snapshot& snapshot);

/// Findings by analyze::Severity.
[[nodiscard]] std::array<std::uint64_t, 4> count_findings(const analyze::Snapshot& snapshot);

/// A row of a name and what is known of it.
struct Fact {
  Fact(QString of, QString is, QString leads_to = {})
      : name(std::move(of)), text(std::move(is)), link(std::move(leads_to)) {}
  QString name;
  QString text;
  QString link;  ///< where the name leads to, see details.hpp; empty: nowhere
};
using Facts = std::vector<Fact>;
/// What was captured, as the report has it.
[[nodiscard]] Facts capture_facts(const analyze::Snapshot& snapshot);

/// Another name of shown_time().
[[nodiscard]] inline QString since_start(const analyze::Snapshot& snapshot, std::int64_t time_ns) {
  return shown_time(snapshot, time_ns);
}

[[nodiscard]] QString severity_text(analyze::Severity severity);

}  // namespace roce::gui
