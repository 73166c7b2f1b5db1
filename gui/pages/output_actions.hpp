// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QMenu>
#include <QObject>
#include <QPointer>
#include <QPrinter>
#include <QTimer>
#include <functional>
#include <memory>

#include "gui/models/analysis_session.hpp"

namespace roce::gui {

/// Exports: the report as HTML, JSON or a trace for Perfetto, graphs as PNG or SVG, and printing of both.
class OutputActions : public QObject {
  Q_OBJECT

 public:
  /// Questions to the user; tests replace them.
  struct Questions {
    /// The path to write to; empty: cancelled. Arguments: title, suggested path, filters.
    std::function<QString(QWidget*, const QString&, const QString&, const QString&)> file_to_write;
    /// Sets up the printer; false: cancelled.
    std::function<bool(QWidget*, QPrinter&)> printer;
  };

  OutputActions(QWidget& window, AnalysisSession& session);

  void set_questions(Questions questions) { questions_ = std::move(questions); }
  void add_to(QMenu* menu);
  /// Gives every graph of the window a context menu, unless it has one already.
  void offer_on_charts();

  /// Starts writing the report in the background and reports the result by says(). The extension selects HTML
  /// or JSON.
  void export_report(const QString& path);
  void export_chart(QWidget* chart, const QString& path);
  void print_report(QPrinter& printer) const;
  static void print_chart(QWidget* chart, QPrinter& printer);
  /// Whether a report is being written.
  [[nodiscard]] bool is_writing() const noexcept { return writing_ != nullptr; }

 Q_SIGNALS:
  void says(const QString& message);

 private:
  struct Writing;
  using Handler = void (OutputActions::*)();

  QAction* add(QMenu* menu, const char* name, const QString& text, const QString& help, Handler handler);
  void enable();
  void look();
  [[nodiscard]] QString suggested(const QString& ending) const;
  void save_chart_as(QWidget* chart);
  void ask_report();
  void ask_chart();
  void copy_chart();
  void preview();
  void print();
  void print_front_chart();

  QWidget& window_;
  AnalysisSession& session_;
  Questions questions_;
  QList<QAction*> of_report_;
  std::shared_ptr<Writing> writing_;
  QTimer timer_;
};

}  // namespace roce::gui
