// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/packet_map.hpp"

#include <QCoreApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <chrono>

#include "gui/charts/packet_colours.hpp"

namespace roce::gui {

std::vector<std::uint32_t> packet_map(const PacketListModel& model, int buckets) {
  std::vector<std::uint32_t> map(static_cast<std::size_t>(std::max(buckets, 0)), 0);
  const qint64 rows = model.rowCount();
  if (rows == 0) return map;
  for (qint64 i = 0; i < buckets; ++i) {
    const qint64 first = i * rows / buckets;
    const qint64 last = std::max(first, (i + 1) * rows / buckets - 1);
    map[static_cast<std::size_t>(i)] = model.meanings_of(static_cast<int>(first), static_cast<int>(last));
  }
  return map;
}

PacketMap::PacketMap(PacketListModel& model, QWidget* parent) : QWidget(parent), model_(model) {
  setAccessibleName(tr("Map of the packet list"));
  setCursor(Qt::PointingHandCursor);
  // Limits updates while packets arrive.
  later_.setSingleShot(true);
  later_.setInterval(std::chrono::milliseconds(200));
  connect(&later_, &QTimer::timeout, this, [this] {
    outdated_ = true;
    update();
  });
  const auto soon = [this] {
    if (!later_.isActive()) later_.start();
  };
  connect(&model_, &QAbstractItemModel::rowsInserted, this, soon);
  connect(&model_, &QAbstractItemModel::dataChanged, this, soon);
  connect(&model_, &QAbstractItemModel::modelReset, this, soon);
}

void PacketMap::set_visible_rows(int first, int count) {
  if (first == first_ && count == count_) return;
  first_ = first;
  count_ = count;
  update();
}

int PacketMap::row_at(int y) const {
  const qint64 rows = model_.rowCount();
  if (rows == 0 || height() == 0) return -1;
  return static_cast<int>(std::clamp<qint64>(y * rows / height(), 0, rows - 1));
}

void PacketMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  if (outdated_ || static_cast<int>(buckets_.size()) != height()) {
    buckets_ = packet_map(model_, height());
    outdated_ = false;
  }
  for (int y = 0; y < height(); ++y) {
    const PacketMeaning meaning = worst_meaning(buckets_[static_cast<std::size_t>(y)]);
    if (meaning == PacketMeaning::plain || meaning == PacketMeaning::other) continue;
    painter.fillRect(2, y, width() - 3, 1, meaning_colour(meaning, palette()));
  }
  const double rows = model_.rowCount();
  if (rows > count_) {
    QColor frame = palette().color(QPalette::Text);
    frame.setAlpha(140);
    painter.setPen(frame);
    const int top = static_cast<int>(first_ / rows * height());
    const int tall = std::max(3, static_cast<int>(count_ / rows * height()));
    painter.drawRect(0, std::min(top, height() - tall - 1), width() - 1, tall);
  }
}

void PacketMap::mousePressEvent(QMouseEvent* event) {
  if (const int row = row_at(qRound(event->position().y())); row >= 0) Q_EMIT row_wanted(row);
}

void PacketMap::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) != 0) mousePressEvent(event);
}

void PacketMap::resizeEvent(QResizeEvent*) {
  outdated_ = true;
}

bool PacketMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto y = static_cast<std::size_t>(std::max(0, help->pos().y()));
  QStringList lines;
  if (y < buckets_.size()) {
    for (std::size_t i = 1; i + 1 < meaning_count; ++i) {
      if ((buckets_[y] >> i & 1U) != 0)
        lines << QCoreApplication::translate("PacketMeaning", meaning_text(static_cast<PacketMeaning>(i)));
    }
  }
  const std::uint64_t number = model_.number_of(row_at(help->pos().y()));
  if (number != 0) lines.prepend(tr("Around packet %1").arg(number));
  QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
  return true;
}

}  // namespace roce::gui
