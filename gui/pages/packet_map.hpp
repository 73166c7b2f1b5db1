// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTimer>
#include <QWidget>
#include <vector>

#include "gui/models/packet_list_model.hpp"

namespace roce::gui {

/// Meanings of rows, by their place in a list: bucket i of `buckets` covers rows from i * rows / buckets on.
/// Looks at a bounded number of rows and blocks, however long the list is.
[[nodiscard]] std::vector<std::uint32_t> packet_map(const PacketListModel& model, int buckets);

/// Beside the scroll bar: what is where in the whole list. A click goes there.
class PacketMap : public QWidget {
  Q_OBJECT

 public:
  explicit PacketMap(PacketListModel& model, QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override { return {12, 100}; }
  /// Which rows are seen, to be framed.
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
