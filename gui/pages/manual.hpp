// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QString>
#include <QTextBrowser>

#include "gui/pages/page.hpp"

namespace roce::gui {

/// The documentation of the project (docs/), which is compiled in, with its links, beside a list of contents
/// that a search narrows down. It stays open beside the window.
class Manual : public QDialog {
  Q_OBJECT

 public:
  explicit Manual(QWidget* parent = nullptr);

  /// The chapter about a page of the window.
  [[nodiscard]] static QString chapter_of(PageId page);
  /// The page about a rule of findings.
  [[nodiscard]] static QString chapter_of_rule(const QString& rule);

  /// Shows a file below docs/, at one of its headings: "usage.md#incidents". One that is no part of the
  /// manual is said so.
  void show_chapter(const QString& chapter);
  /// The page of keys, which the window writes.
  void set_keys(const QString& html);

  [[nodiscard]] QListWidget& contents() noexcept { return *contents_; }
  [[nodiscard]] QLineEdit& search() noexcept { return *search_; }
  [[nodiscard]] QTextBrowser& text() noexcept { return *text_; }
  /// The file that is shown, without its heading.
  [[nodiscard]] const QString& chapter() const noexcept { return chapter_; }

 private:
  void fill_contents();
  void find_text();
  void follow(const QUrl& link);
  void scroll_to(const QString& heading);
  void mark_words();

  QLineEdit* search_;
  QListWidget* contents_;
  QTextBrowser* text_;
  QString chapter_;
  QString keys_;
};

}  // namespace roce::gui
