// SPDX-License-Identifier: Apache-2.0
// The report of a snapshot as a file: the same that `roceanalyze report --html` and `--json` print.
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <optional>

#include "analyze/results/snapshot.hpp"

class QIODevice;

namespace roce::gui {

enum class ReportFormat { html, json };
/// By the file's ending; nullopt: it says neither.
[[nodiscard]] std::optional<ReportFormat> report_format_of(const QString& path);

/// Writes the whole file or leaves what was there. Empty when that is done, else why it could not be, with
/// the path. Callable from any thread.
[[nodiscard]] QString write_report(const analyze::Snapshot& snapshot, ReportFormat format,
                                   const QString& path);

/// The report for a QTextDocument, as HTML; its timeline is an image at that address, none if it is empty.
[[nodiscard]] QString report_document(const analyze::Snapshot& snapshot, const QString& timeline);

/// Writes what `fill` writes to a device, as above.
[[nodiscard]] QString write_whole(const QString& path, const std::function<void(QIODevice&)>& fill);

/// Whether it is one of these files, however it is called.
[[nodiscard]] bool is_one_of(const QString& path, const QStringList& files);

}  // namespace roce::gui
