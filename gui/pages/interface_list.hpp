// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractScrollArea>
#include <QString>

#include "gui/models/interface_rates.hpp"

namespace roce::gui {

/// The interfaces of this host with what passed them in the last minute, as a line and as a rate. One of them
/// is chosen by a click, a double click or Enter.
class InterfaceList : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit InterfaceList(QWidget* parent = nullptr);

  [[nodiscard]] InterfaceRates& rates() noexcept { return rates_; }
  [[nodiscard]] QSize sizeHint() const override;

 Q_SIGNALS:
  void chosen(const QString& name);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;

 private:
  [[nodiscard]] int row_height() const;
  void show_rates();
  void fit_bar();
  void set_current(int row);

  InterfaceRates rates_;
  int current_ = 0;
};

}  // namespace roce::gui
