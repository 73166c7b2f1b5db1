// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/packet_tree_view.hpp"

#include <QHeaderView>
#include <QTreeWidgetItemIterator>
#include <algorithm>
#include <utility>
#include <vector>

#include "analyze/show/packet_tree.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

/// The lines with what is said of the packet (in brackets, as it is not in its bytes) right behind its
/// comments and frame: the tree is rarely high enough for all headers.
std::vector<analyze::TreeLine> verdicts_first(std::vector<analyze::TreeLine> lines) {
  std::vector<std::pair<int, std::size_t>> order;  // rank, line
  int rank = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const analyze::TreeLine& line = lines[i];
    if (line.depth == 0) rank = line.field.starts_with("frame.") ? 0 : line.text.starts_with('[') ? 1 : 2;
    order.emplace_back(rank, i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<analyze::TreeLine> sorted;
  sorted.reserve(lines.size());
  for (const auto& [of, i] : order) sorted.push_back(std::move(lines[i]));
  return sorted;
}

}  // namespace

PacketTreeView::PacketTreeView(QWidget* parent) : QTreeWidget(parent) {
  setAccessibleName(tr("The packet, field by field"));
  setColumnCount(1);
  header()->hide();
  // The carrier protocols start collapsed, so that RDMA is in sight.
  closed_ = {QStringLiteral("frame.number"), QStringLiteral("eth"), QStringLiteral("ip"),
             QStringLiteral("ipv6"), QStringLiteral("udp")};
  setUniformRowHeights(true);
  header()->setStretchLastSection(false);
  header()->setSectionResizeMode(QHeaderView::ResizeToContents);
  setContextMenuPolicy(Qt::CustomContextMenu);
  connect(this, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
    if (item == nullptr || filling_) return;
    chosen_ = key_of(*item);
    Q_EMIT line_chosen(item->data(0, offset_role).toInt(), item->data(0, length_role).toInt());
  });
  connect(this, &QTreeWidget::itemCollapsed, this, [this](QTreeWidgetItem* item) {
    if (!filling_) closed_.insert(key_of(*item));
  });
  connect(this, &QTreeWidget::itemExpanded, this, [this](QTreeWidgetItem* item) {
    if (!filling_) closed_.remove(key_of(*item));
  });
  connect(this, &QWidget::customContextMenuRequested, this, [this](const QPoint& where) {
    if (const QTreeWidgetItem* item = itemAt(where))
      Q_EMIT menu_wanted(item->data(0, field_role).toString(), viewport()->mapToGlobal(where));
  });
}

/// Identifies the same line in other packets: its field, or its text up to the first value.
QString PacketTreeView::key_of(const QTreeWidgetItem& item) {
  const QString field = item.data(0, field_role).toString();
  return field.isEmpty() ? item.text(0).section(QLatin1Char(','), 0, 0).section(QLatin1Char(':'), 0, 0)
                         : field;
}

void PacketTreeView::show_packet(const analyze::PacketView& packet) {
  filling_ = true;
  const QString wanted = chosen_;
  clear();
  QTreeWidgetItem* chosen = nullptr;
  std::vector<QTreeWidgetItem*> above;
  for (const analyze::TreeLine& line : verdicts_first(analyze::packet_tree(packet))) {
    above.resize(std::min<std::size_t>(line.depth, above.size()));
    QTreeWidgetItem* item = above.empty() ? new QTreeWidgetItem(this) : new QTreeWidgetItem(above.back());
    item->setText(0, to_qt(line.text));
    item->setData(0, offset_role, line.offset);
    item->setData(0, length_role, line.length);
    item->setData(0, field_role, to_qt(line.field));
    if (!line.field.empty()) item->setToolTip(0, to_qt(line.field));
    above.push_back(item);
    if (chosen == nullptr && !wanted.isEmpty() && key_of(*item) == wanted) chosen = item;
  }
  for (QTreeWidgetItemIterator it(this); *it != nullptr; ++it)
    (*it)->setExpanded(!closed_.contains(key_of(**it)));
  if (chosen != nullptr) setCurrentItem(chosen);
  filling_ = false;
  const bool none = chosen == nullptr;
  Q_EMIT line_chosen(none ? 0 : chosen->data(0, offset_role).toInt(),
                     none ? 0 : chosen->data(0, length_role).toInt());
}

void PacketTreeView::show_text(const QString& text) {
  filling_ = true;
  clear();
  if (!text.isEmpty()) new QTreeWidgetItem(this, {text});
  filling_ = false;
}

void PacketTreeView::choose_byte(int offset) {
  QTreeWidgetItem* best = nullptr;
  int fewest = 0;
  for (QTreeWidgetItemIterator it(this); *it != nullptr; ++it) {
    const int first = (*it)->data(0, offset_role).toInt();
    const int length = (*it)->data(0, length_role).toInt();
    if (length == 0 || offset < first || offset >= first + length) continue;
    if (best == nullptr || length <= fewest) {
      best = *it;
      fewest = length;
    }
  }
  if (best == nullptr) return;
  setCurrentItem(best);
  scrollToItem(best);
}

QString PacketTreeView::text() const {
  QString all;
  for (QTreeWidgetItemIterator it(const_cast<PacketTreeView*>(this)); *it != nullptr; ++it) {
    int depth = 0;
    for (const QTreeWidgetItem* up = (*it)->parent(); up != nullptr; up = up->parent()) ++depth;
    all += QString(depth * 4, QLatin1Char(' ')) + (*it)->text(0) + QLatin1Char('\n');
  }
  return all;
}

}  // namespace roce::gui
