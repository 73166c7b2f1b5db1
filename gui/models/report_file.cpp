// SPDX-License-Identifier: Apache-2.0
#include "gui/models/report_file.hpp"

#include <QCoreApplication>
#include <QFileInfo>
#include <QSaveFile>
#include <algorithm>

#include "analyze/report/html/html_report.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/report/perfetto/perfetto_report.hpp"
#include "gui/models/version.hpp"

namespace roce::gui {
namespace {

struct ReportFileWords {
  Q_DECLARE_TR_FUNCTIONS(ReportFile)
};

constexpr std::size_t enough = 1U << 16U;  // bytes handed on at a time

analyze::HtmlOptions html_options() {
  analyze::HtmlOptions options;
  options.program = QStringLiteral("roceanalyze %1").arg(version()).toStdString();
  return options;
}

}  // namespace

std::optional<ReportFormat> report_format_of(const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (ending == QLatin1String("html") || ending == QLatin1String("htm")) return ReportFormat::html;
  if (ending == QLatin1String("perfetto")) return ReportFormat::perfetto;
  return ending == QLatin1String("json") ? std::optional(ReportFormat::json) : std::nullopt;
}

QString write_whole(const QString& path, const std::function<void(QIODevice&)>& fill) {
  const auto refused = [&](const QString& why) {
    return ReportFileWords::tr("%1 was not written: %2").arg(path, why);
  };
  const QFileInfo facts(path);
  if (facts.isDir()) return refused(ReportFileWords::tr("it is a folder"));
  // QSaveFile could replace a read-only file, but it is meant to stay.
  if (facts.exists() && !facts.isWritable()) return refused(ReportFileWords::tr("the file is read-only"));
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return refused(file.errorString());
  fill(file);
  return file.commit() ? QString() : refused(file.errorString());
}

QString write_report(const analyze::Snapshot& snapshot, ReportFormat format, const QString& path) {
  return write_whole(path, [&](QIODevice& device) {
    std::string text;
    const auto hand_on = [&] {
      device.write(text.data(), static_cast<qint64>(text.size()));  // commit() reports failures
      text.clear();
    };
    const auto step = [&] {
      if (text.size() >= enough) hand_on();
    };
    if (format == ReportFormat::html) {
      analyze::html_report(snapshot, html_options(), {text, step});
    } else if (format == ReportFormat::perfetto) {
      analyze::perfetto_report(snapshot, {text, step});
    } else {
      analyze::report_json(snapshot, false, {text, step});
    }
    hand_on();
  });
}

QString report_document(const analyze::Snapshot& snapshot, const QString& timeline) {
  analyze::HtmlOptions options = html_options();
  options.form = analyze::HtmlOptions::Form::document;
  options.timeline = timeline.toStdString();
  std::string text;
  analyze::html_report(snapshot, options, {text, nullptr});
  return QString::fromStdString(text);
}

bool is_one_of(const QString& path, const QStringList& files) {
  const QFileInfo wanted(path);
  // The canonical path of a missing file is empty.
  return std::any_of(files.begin(), files.end(), [&](const QString& file) {
    const QFileInfo other(file);
    return wanted.absoluteFilePath() == other.absoluteFilePath() ||
           (wanted.exists() && wanted.canonicalFilePath() == other.canonicalFilePath());
  });
}

}  // namespace roce::gui
