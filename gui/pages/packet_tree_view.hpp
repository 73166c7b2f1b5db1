// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSet>
#include <QTreeWidget>

#include "analyze/packet/packet_view.hpp"

namespace roce::gui {

/// A packet as a tree of fields (analyze/show/packet_tree.hpp). Collapsed branches stay so for other packets.
class PacketTreeView : public QTreeWidget {
  Q_OBJECT

 public:
  enum Role { offset_role = Qt::UserRole + 1, length_role, field_role };

  explicit PacketTreeView(QWidget* parent = nullptr);

  void show_packet(const analyze::PacketView& packet);
  /// Shows a line of text instead of a packet.
  void show_text(const QString& text);
  /// Selects the innermost field that contains this byte.
  void choose_byte(int offset);
  /// The whole tree as text.
  [[nodiscard]] QString text() const;

 Q_SIGNALS:
  void line_chosen(int offset, int length);
  void menu_wanted(const QString& field, const QPoint& where);  ///< global coordinates

 private:
  [[nodiscard]] static QString key_of(const QTreeWidgetItem& item);
  QSet<QString> closed_;
  QString chosen_;  ///< key of the selected line
  bool filling_ = false;
};

}  // namespace roce::gui
