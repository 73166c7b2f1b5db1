// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTextBrowser>

namespace roce::gui {

/// Shows texts of details.hpp in the colours of the theme. Follows no link by itself: anchorClicked() tells.
class DetailView : public QTextBrowser {
  Q_OBJECT

 public:
  explicit DetailView(QWidget* parent = nullptr);

  /// The same text again leaves reader and selection where they are.
  void show_html(const QString& html);
  [[nodiscard]] const QString& html() const noexcept { return html_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void render();

  QString html_;
};

}  // namespace roce::gui
