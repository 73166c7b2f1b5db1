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

/// What every page begins with: the sentence of the worst diagnosis, as in the reports; without any, that
/// nothing is wrong, or what was counted.
struct Health {
  bool shown = false;                     ///< show the icon: there is RoCE, or the capture is incomplete
  std::optional<analyze::Severity> sign;  ///< nullopt: healthy
  QString line;
  QString counts;  ///< of findings, in small print below a diagnosis: "1 finding (fatal) in 12 RoCE packets"
};
[[nodiscard]] Health health_of(const analyze::Snapshot& snapshot);
/// Why not all of the capture could be judged, one per line: where and why inputs failed, else the worst
/// diagnostic. Empty where the whole capture was read.
[[nodiscard]] QStringList what_was_lost(const analyze::Snapshot& snapshot);

/// Number of findings by the analyze::Severity that outputs show.
[[nodiscard]] std::array<std::uint64_t, 4> count_findings(const analyze::Snapshot& snapshot);

/// A name and its value, one row of a list of facts.
struct Fact {
  Fact(QString of, QString is, QString leads_to = {})
      : name(std::move(of)), text(std::move(is)), link(std::move(leads_to)) {}
  QString name;
  QString text;
  QString link;  ///< target of the name, see details.hpp; empty: no link
};
using Facts = std::vector<Fact>;
/// What was captured: files, packets, time, drops, opcodes, markings, diagnostics; as in the report.
[[nodiscard]] Facts capture_facts(const analyze::Snapshot& snapshot);

/// Another name of shown_time().
[[nodiscard]] inline QString since_start(const analyze::Snapshot& snapshot, std::int64_t time_ns) {
  return shown_time(snapshot, time_ns);
}

[[nodiscard]] QString severity_text(analyze::Severity severity);

}  // namespace roce::gui
