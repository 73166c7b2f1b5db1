// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTextBrowser>

namespace roce::gui {

/// Shows texts of details.hpp in the colours of the theme. Links are only reported, by anchorClicked().
class DetailView : public QTextBrowser {
  Q_OBJECT

 public:
  explicit DetailView(QWidget* parent = nullptr);

  /// Setting the same text again keeps scroll position and selection.
  void show_html(const QString& html);
  [[nodiscard]] const QString& html() const noexcept { return html_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void render();

  QString html_;
};

}  // namespace roce::gui
