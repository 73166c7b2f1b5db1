// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractScrollArea>
#include <QHeaderView>
#include <QIcon>
#include <QTimer>
#include <set>
#include <utility>
#include <vector>

#include "gui/models/packet_list_model.hpp"

namespace roce::gui {

class PacketMap;

/// Shows a PacketListModel. QTableView keeps at least eight bytes per row, too much for a hundred million
/// rows; here all rows have the same height, and only visible ones are requested. The margin shows the
/// meaning of packets, those related to the current one, and comments. See docs/decisions/0010.
class PacketListView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit PacketListView(PacketListModel& model, QWidget* parent = nullptr);
  ~PacketListView() override;
  PacketListView(const PacketListView&) = delete;
  PacketListView& operator=(const PacketListView&) = delete;

  /// The width that all columns have in common, in pixels.
  [[nodiscard]] int room() const { return viewport()->width() - margin_; }
  [[nodiscard]] QHeaderView& header() noexcept { return *header_; }
  /// Row of the current packet; -1: none.
  [[nodiscard]] int current_row() const noexcept { return current_; }
  [[nodiscard]] QString empty_text() const;  ///< why no packet is listed
  /// Makes it the current and only selected row and scrolls to it. -1: none.
  void set_current_row(int row);
  void scroll_to(int row);
  void select_all();
  /// Selected rows, ascending, as closed ranges.
  [[nodiscard]] std::vector<std::pair<int, int>> selected() const;
  [[nodiscard]] qint64 selected_count() const;
  [[nodiscard]] int first_visible_row() const;
  [[nodiscard]] int visible_rows() const;
  /// The symbol of a meaning, for the legend.
  [[nodiscard]] QIcon sign(PacketMeaning meaning) const;
  /// Auto-scroll to new packets, until the user scrolls or selects one.
  void set_follows(bool follows);
  [[nodiscard]] bool follows() const noexcept { return follows_; }

 Q_SIGNALS:
  void current_changed(int row);
  void selection_changed();
  void menu_wanted(int row, int column, const QPoint& where);  ///< global coordinates
  void header_menu_wanted(int column, const QPoint& where);
  void activated(int row);
  void follows_changed(bool follows);
  void room_changed();  ///< for columns, in pixels or for a text of another size

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  void measure();
  void place_parts();
  void update_bars();
  void forget_rows();
  void rows_came();
  [[nodiscard]] int row_at(int y) const;
  [[nodiscard]] bool is_selected(int row) const;
  void choose(int row, Qt::KeyboardModifiers modifiers);
  void paint_row(QPainter& painter, int row, int y);
  void paint_margin(QPainter& painter, int row, int y, const RelatedPackets& related);
  void paint_comment_sign(QPainter& painter, int row, int y) const;

  PacketListModel& model_;
  QHeaderView* header_;
  PacketMap* map_;
  int row_height_ = 18;
  int margin_ = 34;
  int current_ = -1;
  int anchor_ = -1;
  std::set<int> toggled_;  ///< rows selected individually
  bool all_ = false;
  bool follows_ = false;
  bool own_scroll_ = false;  ///< scrolling is done by code, not by the user
  int wheel_rest_ = 0;
};

}  // namespace roce::gui
