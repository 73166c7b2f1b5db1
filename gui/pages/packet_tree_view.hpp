// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSet>
#include <QTreeWidget>

#include "analyze/packet/packet_view.hpp"

namespace roce::gui {

/// A packet as a tree (analyze/show/packet_tree.hpp). What is closed stays closed from packet to packet.
class PacketTreeView : public QTreeWidget {
  Q_OBJECT

 public:
  enum Role { offset_role = Qt::UserRole + 1, length_role, field_role };

  explicit PacketTreeView(QWidget* parent = nullptr);

  void show_packet(const analyze::PacketView& packet);
  /// One line that says why there is no tree.
  void show_text(const QString& text);
  /// Chooses the line that was read from the fewest bytes that hold this one.
  void choose_byte(int offset);
  /// The whole tree as text.
  [[nodiscard]] QString text() const;

 Q_SIGNALS:
  void line_chosen(int offset, int length);
  void menu_wanted(const QString& field, const QPoint& where);  ///< global

 private:
  [[nodiscard]] static QString key_of(const QTreeWidgetItem& item);
  QSet<QString> closed_;
  QString chosen_;  ///< key
  bool filling_ = false;
};

}  // namespace roce::gui
