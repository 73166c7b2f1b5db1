// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTimer>
#include <QWidget>
#include <vector>

#include "gui/models/packet_list_model.hpp"

namespace roce::gui {

/// Meanings (bits of PacketMeaning) by position in the list: bucket i of `buckets` begins at row
/// i * rows / buckets. Examines a bounded number of rows and blocks, however long the list is.
[[nodiscard]] std::vector<std::uint32_t> packet_map(const PacketListModel& model, int buckets);

/// Map of the whole list beside the scroll bar, coloured by meaning. A click scrolls there.
class PacketMap : public QWidget {
  Q_OBJECT

 public:
  explicit PacketMap(PacketListModel& model, QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override { return {12, 100}; }
  /// Sets the visible rows, which are framed.
  void set_visible_rows(int first, int count);

 Q_SIGNALS:
  void row_wanted(int row);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] int row_at(int y) const;

  PacketListModel& model_;
  QTimer later_;
  std::vector<std::uint32_t> buckets_;
  bool outdated_ = true;
  int first_ = 0;
  int count_ = 0;
};

}  // namespace roce::gui
