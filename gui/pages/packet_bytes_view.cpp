// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/packet_bytes_view.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "gui/charts/theme.hpp"

namespace roce::gui {

PacketBytesView::PacketBytesView(QWidget* parent) : QAbstractScrollArea(parent) {
  setAccessibleName(tr("Bytes of the packet"));
  setFocusPolicy(Qt::StrongFocus);
  measure();
}

void PacketBytesView::measure() {
  fixed_ = fixed_font(font());
  const QFontMetrics metrics(fixed_);
  line_height_ = metrics.height() + 1;
  char_width_ = metrics.horizontalAdvance(QLatin1Char('0'));
  update_bars();
}

void PacketBytesView::update_bars() {
  const int seen = std::max(1, viewport()->height() / line_height_);
  verticalScrollBar()->setPageStep(seen);
  verticalScrollBar()->setRange(0, std::max(0, lines() - seen));
  const int wide = text_column(a_line + 1) * char_width_;
  horizontalScrollBar()->setPageStep(viewport()->width());
  horizontalScrollBar()->setSingleStep(char_width_);
  horizontalScrollBar()->setRange(0, std::max(0, wide - viewport()->width()));
}

void PacketBytesView::show_bytes(const QByteArray& bytes) {
  bytes_ = bytes;
  lit_offset_ = lit_length_ = 0;
  update_bars();
  viewport()->update();
}

void PacketBytesView::light_up(int offset, int length) {
  lit_offset_ = offset;
  lit_length_ = length;
  if (length > 0) {
    const int first = offset / a_line;
    const int last = (offset + length - 1) / a_line;
    const int seen = verticalScrollBar()->pageStep();
    const int top = verticalScrollBar()->value();
    if (last >= top + seen) verticalScrollBar()->setValue(last - seen + 1);
    if (first < verticalScrollBar()->value()) verticalScrollBar()->setValue(first);
  }
  viewport()->update();
}

void PacketBytesView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  painter.setFont(fixed_);
  constexpr char digits[] = "0123456789abcdef";
  const int shift = horizontalScrollBar()->value() - char_width_ / 2;
  const auto lit = [this](int i) { return i >= lit_offset_ && i < lit_offset_ + lit_length_; };
  const auto place = [&](int column, int y, int characters) {
    return QRect(column * char_width_ - shift, y, characters * char_width_, line_height_);
  };
  int y = 0;
  for (int line = verticalScrollBar()->value(); line < lines() && y < viewport()->height();
       ++line, y += line_height_) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(place(0, y, 5), Qt::AlignLeft,
                     QStringLiteral("%1").arg(line * a_line, 4, 16, QLatin1Char('0')));
    for (int i = 0; i < a_line && line * a_line + i < bytes_.size(); ++i) {
      const int at = line * a_line + i;
      const auto byte = static_cast<unsigned char>(bytes_[at]);
      const QRect hex = place(digit_column(i), y, 2);
      const QRect text = place(text_column(i), y, 1);
      if (lit(at)) {
        const bool more = i + 1 < a_line && lit(at + 1);
        const int to_next = more ? (digit_column(i + 1) - digit_column(i)) * char_width_ : hex.width();
        painter.fillRect(QRect(hex.left(), y, to_next, line_height_), palette().color(QPalette::Highlight));
        painter.fillRect(text, palette().color(QPalette::Highlight));
      }
      painter.setPen(palette().color(lit(at) ? QPalette::HighlightedText : QPalette::Text));
      const char pair[] = {digits[byte >> 4U], digits[byte & 15U], 0};
      painter.drawText(hex, Qt::AlignLeft, QString::fromLatin1(pair));
      const bool printable = byte >= 0x20 && byte < 0x7f;
      painter.drawText(text, Qt::AlignLeft, QChar::fromLatin1(printable ? static_cast<char>(byte) : '.'));
    }
  }
}

void PacketBytesView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  update_bars();
}

int PacketBytesView::byte_at(const QPoint& where) const {
  const int line = verticalScrollBar()->value() + where.y() / line_height_;
  const int column = (where.x() + horizontalScrollBar()->value() - char_width_ / 2) / char_width_;
  for (int i = 0; i < a_line; ++i) {
    const bool here = (column >= digit_column(i) && column < digit_column(i) + 3) || column == text_column(i);
    if (here && line * a_line + i < bytes_.size()) return line * a_line + i;
  }
  return -1;
}

void PacketBytesView::mousePressEvent(QMouseEvent* event) {
  if (const int byte = byte_at(event->position().toPoint()); byte >= 0) Q_EMIT byte_chosen(byte);
}

void PacketBytesView::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Left    ? -1
                   : event->key() == Qt::Key_Right ? 1
                   : event->key() == Qt::Key_Up    ? -a_line
                   : event->key() == Qt::Key_Down  ? a_line
                                                   : 0;
  if (step == 0) {
    QAbstractScrollArea::keyPressEvent(event);
    return;
  }
  const int from = step > 0 && lit_length_ > 0 && (step == 1) ? lit_offset_ + lit_length_ - 1 : lit_offset_;
  const int to = from + step;
  if (to >= 0 && to < bytes_.size()) Q_EMIT byte_chosen(to);
}

void PacketBytesView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::FontChange) measure();
}

}  // namespace roce::gui
