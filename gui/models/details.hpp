// SPDX-License-Identifier: Apache-2.0
// What is known of one thing, as rich text that QTextDocument understands. Links lead on: "connection:12",
// "finding:KEY" and "packet:7" to what they name, "graph:12" to the graph of connection 12, "graph:12:7" to
// packet 7 in it, "packets:FILTER" to the packets that pass a display filter, "markings:" to the marks,
// "copy:TEXT" copies.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>

#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"
#include "gui/models/health.hpp"

namespace roce::gui {

[[nodiscard]] QString facts_html(const Facts& facts);

/// Identity, what the CM agreed on, why its directions belong together, figures, latencies, and the findings
/// that name it. Empty if there is no such connection.
[[nodiscard]] QString connection_html(const analyze::Snapshot& snapshot, std::uint32_t id);

/// Explanation, evidence, advice with its commands. `evidence`: what its packets are called, "Packets" if
/// empty.
[[nodiscard]] QString finding_html(const analyze::Snapshot& snapshot, const analyze::Finding& finding,
                                   const QStringList& files, const QString& evidence = QString());

/// The commands of a finding's advice, ready to be typed; a line each.
[[nodiscard]] QStringList finding_commands(const analyze::Finding& finding, const QStringList& files);

}  // namespace roce::gui
