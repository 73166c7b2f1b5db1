// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/output_actions.hpp"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QPrintDialog>
#include <QPrintPreviewDialog>
#include <QTextDocument>
#include <atomic>

#include "gui/charts/chart.hpp"
#include "gui/charts/master_timeline.hpp"
#include "gui/models/report_file.hpp"
#include "gui/models/worker_threads.hpp"
#include "gui/pages/page.hpp"

namespace roce::gui {
namespace {

QString ask_file(QWidget* parent, const QString& title, const QString& path, const QString& filters) {
  QFileDialog dialog(parent, title, path, filters);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  // A name typed without an extension gets that of the selected filter.
  const auto take_ending = [&dialog](const QString& filter) {
    dialog.setDefaultSuffix(filter.mid(filter.indexOf(QLatin1Char('.')) + 1).section(QLatin1Char(')'), 0, 0));
  };
  QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, take_ending);
  take_ending(dialog.selectedNameFilter());
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
  return dialog.selectedFiles().front();
}

bool ask_printer(QWidget* parent, QPrinter& printer) {
  return QPrintDialog(&printer, parent).exec() == QDialog::Accepted;
}

/// A light palette for paper, whatever the theme.
QPalette paper() {
  QPalette palette(Qt::black, Qt::white, Qt::white, Qt::darkGray, Qt::gray, Qt::black, Qt::white, Qt::white,
                   Qt::white);
  palette.setColor(QPalette::PlaceholderText, QColor(0x60, 0x60, 0x60));
  return palette;
}

}  // namespace

/// Shared with the writing thread.
struct OutputActions::Writing {
  QString path;
  QString error;
  std::atomic<bool> done{false};
};

OutputActions::OutputActions(QWidget& window, AnalysisSession& session)
    : QObject(&window), window_(window), session_(session), questions_{ask_file, ask_printer} {
  constexpr int look_ms = 50;
  timer_.setInterval(look_ms);
  connect(&timer_, &QTimer::timeout, this, &OutputActions::look);
  connect(&session_, &AnalysisSession::snapshot_changed, this, &OutputActions::enable);
}

QAction* OutputActions::add(QMenu* menu, const char* name, const QString& text, const QString& help,
                            Handler handler) {
  QAction* action = menu->addAction(text);
  action->setObjectName(QString::fromLatin1(name));
  action->setStatusTip(help);
  action->setToolTip(help);
  connect(action, &QAction::triggered, this, handler);
  return action;
}

void OutputActions::add_to(QMenu* menu) {
  of_report_ << add(menu, "export_report", tr("Export re&port..."),
                    tr("Write the report as one HTML file, as JSON, or as a trace for Perfetto"),
                    &OutputActions::ask_report);
  add(menu, "export_graph", tr("Export &graph..."), tr("Write the visible graph as PNG or SVG"),
      &OutputActions::ask_chart);
  add(menu, "copy_graph", tr("Copy grap&h"), tr("Copy the visible graph as an image"),
      &OutputActions::copy_chart);
  menu->addSeparator();
  of_report_ << add(menu, "print_preview", tr("Print pre&view..."),
                    tr("Show the report as it will be printed"), &OutputActions::preview);
  QAction* paper = add(menu, "print", tr("&Print report..."), tr("Print the report, or write it as PDF"),
                       &OutputActions::print);
  paper->setShortcut(QKeySequence::Print);
  of_report_ << paper;
  add(menu, "print_graph", tr("Print grap&h..."), tr("Print the visible graph, or write it as PDF"),
      &OutputActions::print_front_chart);
  menu->addSeparator();
  enable();
}

void OutputActions::enable() {
  for (QAction* action : of_report_) action->setEnabled(session_.snapshot() != nullptr);
}

void OutputActions::offer_on_charts() {
  for (QWidget* chart : charts_in(&window_)) {
    if (chart->contextMenuPolicy() != Qt::DefaultContextMenu) continue;  // it has its own menu
    chart->setContextMenuPolicy(Qt::ActionsContextMenu);
    const auto offer = [this, chart](const QString& text, auto&& handler) {
      auto* action = new QAction(text, chart);
      connect(action, &QAction::triggered, this, handler);
      chart->addAction(action);
    };
    offer(tr("Save graph as..."), [this, chart] { save_chart_as(chart); });
    offer(tr("Copy graph"), [this, chart] {
      QApplication::clipboard()->setImage(chart_image(chart));
      Q_EMIT says(tr("Copied: %1").arg(chart_title(chart)));
    });
    offer(tr("Print graph..."), [this, chart] {
      QPrinter printer(QPrinter::HighResolution);
      if (questions_.printer(&window_, printer)) print_chart(chart, printer);
    });
  }
}

QString OutputActions::suggested(const QString& ending) const {
  const QStringList& files = session_.files();
  if (files.isEmpty()) return documents_folder() + QStringLiteral("/graph") + ending;
  // Beside the capture, without its extensions (.pcapng.zst).
  const QFileInfo file(files.front());
  QString name = file.fileName();
  for (const char* known : {".gz", ".zst", ".lz4", ".pcap", ".pcapng", ".cap"}) {
    if (name.endsWith(QLatin1String(known))) name.chop(static_cast<int>(qstrlen(known)));
  }
  // The recording of a live capture lies in a folder that is deleted with it.
  const QString folder = session_.is_recording() ? documents_folder() : file.absolutePath();
  return folder + QLatin1Char('/') + name + ending;
}

void OutputActions::ask_report() {
  const QString path =
      questions_.file_to_write(&window_, tr("Export report"), suggested(QStringLiteral("-report.html")),
                               tr("HTML, one file (*.html);;JSON (*.json);;Perfetto trace (*.perfetto)"));
  if (!path.isEmpty()) export_report(path);
}

void OutputActions::export_report(const QString& path) {
  const auto& snapshot = session_.snapshot();
  if (!snapshot || writing_) {
    Q_EMIT says(writing_ ? tr("%1 is still being written").arg(writing_->path)
                         : tr("There is no report to export: open a capture first"));
    return;
  }
  const auto format = report_format_of(path);
  if (!format) {
    Q_EMIT says(tr("%1 was not written: end the name with .html, .json or .perfetto").arg(path));
    return;
  }
  if (is_one_of(path, session_.files())) {
    Q_EMIT says(tr("%1 was not written: that is the capture itself").arg(path));
    return;
  }
  writing_ = std::make_shared<Writing>();
  writing_->path = path;
  timer_.start();
  Q_EMIT says(tr("Writing %1").arg(path));
  run_in_background([writing = writing_, snapshot, format = *format] {
    writing->error = write_report(*snapshot, format, writing->path);
    writing->done = true;
  });
}

void OutputActions::look() {
  if (!writing_ || !writing_->done) return;
  timer_.stop();
  const std::shared_ptr<Writing> ended = std::move(writing_);
  writing_ = nullptr;
  Q_EMIT says(ended->error.isEmpty() ? tr("Written: %1").arg(ended->path) : ended->error);
}

void OutputActions::export_chart(QWidget* chart, const QString& path) {
  if (is_one_of(path, session_.files())) {
    Q_EMIT says(tr("%1 was not written: that is the capture itself").arg(path));
    return;
  }
  const QString error = save_chart(chart, path);
  Q_EMIT says(error.isEmpty() ? tr("Written: %1").arg(path) : error);
}

void OutputActions::save_chart_as(QWidget* chart) {
  const QString path =
      questions_.file_to_write(&window_, tr("Export graph"), suggested(QStringLiteral(".png")),
                               tr("PNG image (*.png);;SVG drawing (*.svg)"));
  if (!path.isEmpty()) export_chart(chart, path);
}

void OutputActions::ask_chart() {
  if (QWidget* chart = chart_in_front(&window_)) {
    save_chart_as(chart);
  } else {
    Q_EMIT says(tr("No graph is visible"));
  }
}

void OutputActions::copy_chart() {
  QWidget* chart = chart_in_front(&window_);
  if (chart != nullptr) QApplication::clipboard()->setImage(chart_image(chart));
  Q_EMIT says(chart != nullptr ? tr("Copied: %1").arg(chart_title(chart)) : tr("No graph is visible"));
}

void OutputActions::print_report(QPrinter& printer) const {
  const auto& snapshot = session_.snapshot();
  if (!snapshot) return;
  const QString address = QStringLiteral("timeline:graph");
  MasterTimeline timeline;
  timeline.setPalette(paper());
  timeline.show_snapshot(snapshot, nullptr, true);
  timeline.resize(1000, timeline.sizeHint().height());
  QTextDocument document;
  document.setDefaultFont(QFont(QStringLiteral("sans-serif"), 9));
  document.addResource(QTextDocument::ImageResource, QUrl(address), chart_image(&timeline, 2));
  document.setDefaultStyleSheet(QStringLiteral(
      "h1 { font-size: 16pt; } h2 { font-size: 13pt; } h3 { font-size: 11pt; } .quiet { color: #444444; }"
      ".severity { font-weight: bold; } table { border-collapse: collapse; font-size: 7pt; }"
      "pre { font-size: 8pt; white-space: pre-wrap; }"));
  document.setHtml(report_document(*snapshot, address));
  document.print(&printer);
}

void OutputActions::print_chart(QWidget* chart, QPrinter& printer) {
  printer.setPageOrientation(QPageLayout::Landscape);
  draw_chart(chart, printer, printer.pageLayout().paintRectPixels(printer.resolution()));
}

void OutputActions::preview() {
  if (!session_.snapshot()) return;
  QPrinter printer(QPrinter::HighResolution);
  QPrintPreviewDialog dialog(&printer, &window_);
  connect(&dialog, &QPrintPreviewDialog::paintRequested, this, [this](QPrinter* on) { print_report(*on); });
  dialog.resize(1000, 760);
  dialog.exec();
}

void OutputActions::print() {
  if (!session_.snapshot()) return;
  QPrinter printer(QPrinter::HighResolution);
  if (questions_.printer(&window_, printer)) print_report(printer);
}

void OutputActions::print_front_chart() {
  QWidget* chart = chart_in_front(&window_);
  if (chart == nullptr) {
    Q_EMIT says(tr("No graph is visible"));
    return;
  }
  QPrinter printer(QPrinter::HighResolution);
  if (questions_.printer(&window_, printer)) print_chart(chart, printer);
}

}  // namespace roce::gui
