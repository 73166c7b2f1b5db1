// SPDX-License-Identifier: Apache-2.0
// Details of a connection, finding or diagnosis as rich text for QTextDocument. Links: "connection:12",
// "finding:KEY" and "packet:7" show what they name, "graph:12" the graph of connection 12, "graph:12:7"
// packet 7 in it, "packets:FILTER" the packets that match a display filter, "markings:" the page of markings;
// "copy:TEXT" copies the text. Page::follow() handles them.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>

#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"
#include "gui/models/health.hpp"

namespace roce::gui {

/// A link of the kind "packet", "finding" and so on (above) to what is percent-encoded here.
[[nodiscard]] QString link_html(const QString& kind, const QString& target, const QString& text);

[[nodiscard]] QString facts_html(const Facts& facts);

/// The display filter of all packets that prove a finding, of which it names only the first few; empty: its
/// advice has none.
[[nodiscard]] QString evidence_filter(const analyze::Finding& finding);

/// Identity, findings that name it, latencies, figures, the CM exchange, and why its directions are paired.
/// Empty if there is no such connection.
[[nodiscard]] QString connection_html(const analyze::Snapshot& snapshot, std::uint32_t id);

/// Explanation, evidence, advice with its commands. `evidence`: the label of the packets; "Packets" if empty.
[[nodiscard]] QString finding_html(const analyze::Snapshot& snapshot, const analyze::Finding& finding,
                                   const QStringList& files, const QString& evidence = QString());

/// What is wrong, in the parts of the report: facts, what is left open, evidence, cost, what to do.
[[nodiscard]] QString diagnosis_html(const analyze::Snapshot& snapshot, const analyze::Diagnosis& diagnosis,
                                     const QStringList& files);

/// The commands of a finding's advice, ready for a shell, one per entry.
[[nodiscard]] QStringList finding_commands(const analyze::Finding& finding, const QStringList& files);
/// Those of a diagnosis.
[[nodiscard]] QStringList diagnosis_commands(const analyze::Diagnosis& diagnosis, const QStringList& files);

}  // namespace roce::gui
