// SPDX-License-Identifier: Apache-2.0
// Writes the report of a snapshot to a file: the output of `roceanalyze report --html` and `--json`.
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <optional>

#include "analyze/results/snapshot.hpp"

class QIODevice;

namespace roce::gui {

enum class ReportFormat { html, json, perfetto };
/// By the file's extension (.html, .htm, .json, .perfetto); nullopt: another one.
[[nodiscard]] std::optional<ReportFormat> report_format_of(const QString& path);

/// Replaces the file as a whole or leaves it untouched. Returns an error with the path; empty on success.
/// Callable from any thread.
[[nodiscard]] QString write_report(const analyze::Snapshot& snapshot, ReportFormat format,
                                   const QString& path);

/// The report as HTML for a QTextDocument; the timeline is the image at that URL, left out if it is empty.
[[nodiscard]] QString report_document(const analyze::Snapshot& snapshot, const QString& timeline);

/// Writes a file with `fill`; the same guarantees and result as write_report().
[[nodiscard]] QString write_whole(const QString& path, const std::function<void(QIODevice&)>& fill);

/// Whether `path` refers to one of these files, also through links or another spelling.
[[nodiscard]] bool is_one_of(const QString& path, const QStringList& files);

}  // namespace roce::gui
