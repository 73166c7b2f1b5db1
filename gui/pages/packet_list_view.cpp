// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/packet_list_view.hpp"

#include <QAccessible>
#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QStyle>
#include <QTextDocument>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>

#include "gui/charts/packet_colours.hpp"
#include "gui/charts/theme.hpp"
#include "gui/pages/packet_map.hpp"

namespace roce::gui {

PacketListView::PacketListView(PacketListModel& model, QWidget* parent)
    : QAbstractScrollArea(parent),
      model_(model),
      header_(new QHeaderView(Qt::Horizontal, this)),
      map_(new PacketMap(model, this)) {
  setAccessibleName(tr("Packets"));
  setFocusPolicy(Qt::StrongFocus);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  viewport()->setMouseTracking(false);
  header_->setModel(&model_);
  header_->setSectionsMovable(true);
  header_->setStretchLastSection(true);
  header_->setHighlightSections(false);
  header_->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  header_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(header_, &QWidget::customContextMenuRequested, this, [this](const QPoint& where) {
    Q_EMIT header_menu_wanted(header_->logicalIndexAt(where), header_->mapToGlobal(where));
  });
  const auto resized = [this] {
    update_bars();
    viewport()->update();
  };
  connect(header_, &QHeaderView::sectionResized, this, resized);
  connect(header_, &QHeaderView::sectionMoved, this, resized);
  connect(&model_, &QAbstractItemModel::modelReset, this, &PacketListView::forget_rows);
  connect(&model_, &QAbstractItemModel::rowsInserted, this, &PacketListView::rows_came);
  connect(&model_, &QAbstractItemModel::dataChanged, viewport(), qOverload<>(&QWidget::update));
  connect(map_, &PacketMap::row_wanted, this, [this](int row) {
    set_follows(false);
    verticalScrollBar()->setValue(row - visible_rows() / 2);
  });
  measure();
}

PacketListView::~PacketListView() = default;

void PacketListView::measure() {
  const QFontMetrics metrics(font());
  row_height_ = metrics.height() + 4;
  margin_ = row_height_ * 27 / 10;
  place_parts();
}

void PacketListView::place_parts() {
  const int head = header_->sizeHint().height();
  const int map = map_->sizeHint().width();
  setViewportMargins(0, head, map, 0);
  const QRect inside = viewport()->geometry();
  header_->setGeometry(inside.left() + margin_, inside.top() - head, inside.width() - margin_, head);
  map_->setGeometry(inside.right() + 1, inside.top(), map, inside.height());
  Q_EMIT room_changed();
  update_bars();
}

int PacketListView::visible_rows() const {
  return std::max(1, viewport()->height() / row_height_);
}

int PacketListView::first_visible_row() const {
  return verticalScrollBar()->value();
}

void PacketListView::update_bars() {
  const int rows = model_.rowCount();
  own_scroll_ = true;
  verticalScrollBar()->setPageStep(visible_rows());
  verticalScrollBar()->setSingleStep(1);
  verticalScrollBar()->setRange(0, std::max(0, rows - visible_rows()));
  if (follows_) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
  own_scroll_ = false;
  horizontalScrollBar()->setPageStep(std::max(1, room()));
  horizontalScrollBar()->setSingleStep(20);
  horizontalScrollBar()->setRange(0, std::max(0, header_->length() - room()));
  map_->set_visible_rows(first_visible_row(), visible_rows());
}

void PacketListView::forget_rows() {
  const bool had = current_ >= 0;
  current_ = anchor_ = -1;
  toggled_.clear();
  all_ = false;
  update_bars();
  viewport()->update();
  if (had) Q_EMIT current_changed(-1);
  Q_EMIT selection_changed();
}

void PacketListView::rows_came() {
  const int shown_to = first_visible_row() + visible_rows();
  update_bars();
  if (follows_ || model_.rowCount() <= shown_to + 1 || first_visible_row() == 0) viewport()->update();
  if (all_) Q_EMIT selection_changed();
}

QIcon PacketListView::sign(PacketMeaning meaning) const {
  const int size = row_height_;
  QPixmap pixmap(size, size);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  paint_meaning(painter, QRectF(2, 2, size - 4, size - 4), meaning, palette());
  return QIcon(pixmap);
}

void PacketListView::set_follows(bool follows) {
  if (follows == follows_) return;
  follows_ = follows;
  if (follows_) update_bars();
  Q_EMIT follows_changed(follows_);
}

void PacketListView::scroll_to(int row) {
  if (row < 0) return;
  const int first = first_visible_row();
  if (row >= first && row < first + visible_rows()) return;
  set_follows(false);
  // Near the visible rows: scroll as little as needed; else centre it.
  const bool near = row >= first - 2 && row <= first + visible_rows() + 1;
  verticalScrollBar()->setValue(!near         ? row - visible_rows() / 2
                                : row < first ? row
                                              : row - visible_rows() + 1);
}

void PacketListView::set_current_row(int row) {
  const bool changed = row != current_;
  if (row >= 0) set_follows(false);  // keep the row visible
  current_ = anchor_ = row;
  toggled_.clear();
  all_ = false;
  scroll_to(row);
  viewport()->update();
  if (changed) Q_EMIT current_changed(row);
  Q_EMIT selection_changed();
  if (row >= 0 && changed && QAccessible::isActive()) {
    QStringList cells;
    for (int i = 0; i < model_.columnCount(); ++i)
      cells << model_.index(row, i).data(Qt::AccessibleTextRole).toString();
    setAccessibleDescription(cells.join(QStringLiteral(", ")));
    QAccessibleEvent told(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&told);
  }
}

void PacketListView::select_all() {
  all_ = model_.rowCount() > 0;
  viewport()->update();
  Q_EMIT selection_changed();
}

bool PacketListView::is_selected(int row) const {
  if (all_) return true;
  if (toggled_.count(row) != 0) return true;
  return anchor_ >= 0 && current_ >= 0 && toggled_.empty() && row >= std::min(anchor_, current_) &&
         row <= std::max(anchor_, current_);
}

std::vector<std::pair<int, int>> PacketListView::selected() const {
  if (all_) return {{0, model_.rowCount() - 1}};
  std::vector<std::pair<int, int>> ranges;
  for (const int row : toggled_) {
    if (!ranges.empty() && ranges.back().second + 1 == row) {
      ranges.back().second = row;
    } else {
      ranges.emplace_back(row, row);
    }
  }
  if (toggled_.empty() && current_ >= 0 && anchor_ >= 0) {
    ranges.emplace_back(std::min(anchor_, current_), std::max(anchor_, current_));
  }
  return ranges;
}

qint64 PacketListView::selected_count() const {
  qint64 count = 0;
  for (const auto& [first, last] : selected()) count += qint64{last} - first + 1;
  return count;
}

void PacketListView::choose(int row, Qt::KeyboardModifiers modifiers) {
  if (row < 0 || row >= model_.rowCount()) return;
  if ((modifiers & Qt::ControlModifier) != 0) {
    // The rows selected so far become individual ones.
    constexpr int most = 100'000;
    if (toggled_.empty() && selected_count() < most) {
      for (const auto& [first, last] : selected()) {
        for (int i = first; i <= last; ++i) toggled_.insert(i);
      }
    }
    all_ = false;
    if (toggled_.erase(row) == 0) toggled_.insert(row);
    current_ = anchor_ = row;
  } else if ((modifiers & Qt::ShiftModifier) != 0 && anchor_ >= 0) {
    toggled_.clear();
    all_ = false;
    current_ = row;
  } else {
    set_current_row(row);
    return;
  }
  scroll_to(row);
  viewport()->update();
  Q_EMIT current_changed(current_);
  Q_EMIT selection_changed();
}

int PacketListView::row_at(int y) const {
  const int row = first_visible_row() + y / row_height_;
  return y >= 0 && row < model_.rowCount() ? row : -1;
}

QString PacketListView::empty_text() const {
  const PacketListModel::State& state = model_.state();
  if (model_.store() == nullptr) return tr("No capture is open");
  if (state.waits_for_analysis)
    return tr("This filter needs results of the analysis: it starts when the capture has been read");
  if (!state.complete) return tr("Searching...");
  if (!state.filtered) return tr("The capture contains no packets");
  if (!model_.time()) return tr("No packet matches the filter");
  return model_.filter().trimmed().isEmpty() ? tr("No packet in the time range")
                                             : tr("No packet in the time range matches the filter");
}

void PacketListView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  const int rows = model_.rowCount();
  const int first = first_visible_row();
  const RelatedPackets related =
      current_ >= 0 ? model_.related(model_.number_of(current_)) : RelatedPackets{};
  for (int row = first, y = 0; row < rows && y < viewport()->height(); ++row, y += row_height_) {
    paint_row(painter, row, y);
    paint_margin(painter, row, y, related);
    if (model_.marks_of(row).has(PacketMarks::commented)) paint_comment_sign(painter, row, y);
  }
  if (rows == 0) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap, empty_text());
  }
}

void PacketListView::paint_row(QPainter& painter, int row, int y) {
  const QRect line(0, y, viewport()->width(), row_height_);
  const PacketMeaning meaning = meaning_of(model_.marks_of(row));
  const bool selected = is_selected(row);
  if (const QColor tint = meaning_background(meaning, palette()); tint.isValid() && !selected)
    painter.fillRect(line, tint);
  if (selected)
    painter.fillRect(
        line, palette().color(hasFocus() ? QPalette::Active : QPalette::Inactive, QPalette::Highlight));
  const bool quiet = meaning == PacketMeaning::other || meaning == PacketMeaning::odd;
  painter.setPen(palette().color(selected ? QPalette::HighlightedText
                                 : quiet  ? QPalette::PlaceholderText
                                          : QPalette::Text));
  const int left = margin_ - horizontalScrollBar()->value();
  const QFontMetrics metrics(font());
  painter.setFont(font());
  painter.save();
  painter.setClipRect(QRect(margin_, y, viewport()->width() - margin_, row_height_));
  for (int visual = 0; visual < header_->count(); ++visual) {
    const int column = header_->logicalIndex(visual);
    if (header_->isSectionHidden(column)) continue;
    const QRect cell(left + header_->sectionPosition(column), y, header_->sectionSize(column), row_height_);
    if (cell.right() < margin_ || cell.left() > viewport()->width()) continue;
    const QModelIndex index = model_.index(row, column);
    const QRect inner = cell.adjusted(4, 0, -4, 0);
    const QString text = metrics.elidedText(index.data().toString(), Qt::ElideRight, inner.width());
    painter.drawText(inner, index.data(Qt::TextAlignmentRole).toInt() | Qt::TextSingleLine, text);
  }
  painter.restore();
  if (row == current_ && hasFocus()) {
    QPen dots(palette().color(selected ? QPalette::HighlightedText : QPalette::Text), 1, Qt::DotLine);
    painter.setPen(dots);
    painter.drawRect(line.adjusted(0, 0, -1, -1));
  }
}

/// Left: the symbol of the packet's meaning. Right: a line from the current packet to related ones, with a
/// symbol for each kind of relation.
void PacketListView::paint_margin(QPainter& painter, int row, int y, const RelatedPackets& related) {
  const double size = row_height_ * 0.55;
  const double inset = (row_height_ - size) / 2;
  const bool selected = is_selected(row);
  const PacketMeaning meaning = meaning_of(model_.marks_of(row));
  if (selected && meaning != PacketMeaning::plain) {
    painter.fillRect(QRectF(2, y + 1, row_height_ - 3, row_height_ - 2), palette().color(QPalette::Base));
  }
  paint_meaning(painter, QRectF(inset, y + inset, size, size), meaning, palette());
  if (current_ < 0) return;
  const std::uint64_t number = model_.number_of(row);
  const std::uint64_t from = model_.number_of(current_);
  const std::uint64_t all[] = {related.request, related.response, related.original};
  std::uint64_t low = from, high = from;
  for (const std::uint64_t one : all) {
    if (one == 0) continue;
    low = std::min(low, one);
    high = std::max(high, one);
  }
  if (low == high || number < low || number > high) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor ink = palette().color(selected ? QPalette::HighlightedText : QPalette::Text);
  const double x = row_height_ * 1.35;
  const double middle = y + row_height_ / 2.0;
  painter.setPen(QPen(ink, 1));
  painter.drawLine(QPointF(x, number == low ? middle : y),
                   QPointF(x, number == high ? middle : y + row_height_));
  painter.setBrush(ink);
  const double r = row_height_ * 0.2;
  const QPointF at(x + r * 1.6, middle);
  if (number == from) {
    painter.drawEllipse(QPointF(x, middle), r * 0.8, r * 0.8);
  } else if (number == related.original) {
    painter.drawLine(QPointF(x, middle), at);
    painter.drawText(QRectF(at.x() - r, y, row_height_ * 0.6, row_height_), Qt::AlignCenter,
                     QStringLiteral("="));
  } else if (number == related.request || number == related.response) {
    // An arrow out of the request, into the response.
    const double tip = number == related.response ? r * 1.4 : -r * 1.4;
    painter.drawLine(QPointF(x, middle), QPointF(at.x() + r, middle));
    QPolygonF head;
    head << QPointF(at.x() + tip / 2, middle) << QPointF(at.x() - tip / 2, middle - r)
         << QPointF(at.x() - tip / 2, middle + r);
    painter.drawPolygon(head);
  }
  painter.restore();
}

/// A sheet of paper with two lines, beside the packet's first cell.
void PacketListView::paint_comment_sign(QPainter& painter, int row, int y) const {
  painter.save();
  const QColor ink = palette().color(is_selected(row) ? QPalette::HighlightedText : QPalette::Text);
  const double size = row_height_ * 0.55;
  const QRectF sheet(margin_ - size - 3, y + (row_height_ - size) / 2, size, size);
  painter.setPen(QPen(ink, 1));
  painter.drawRect(sheet);
  for (const double at : {0.35, 0.65}) {
    const double line = sheet.top() + sheet.height() * at;
    painter.drawLine(QPointF(sheet.left() + 2.5, line), QPointF(sheet.right() - 2.5, line));
  }
  painter.restore();
}

void PacketListView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  place_parts();
}

void PacketListView::scrollContentsBy(int, int) {
  header_->setOffset(horizontalScrollBar()->value());
  map_->set_visible_rows(first_visible_row(), visible_rows());
  viewport()->update();
  // Scrolling back by hand ends auto-scroll.
  if (!own_scroll_ && follows_ && verticalScrollBar()->value() < verticalScrollBar()->maximum())
    set_follows(false);
}

void PacketListView::keyPressEvent(QKeyEvent* event) {
  const int last = model_.rowCount() - 1;
  const int page = visible_rows() - 1;
  // Without a current row, keys start from the visible rows.
  const int from = current_ >= 0 ? current_ : std::clamp(first_visible_row() + page, 0, std::max(0, last));
  // Control moves too: individual rows cannot be selected with keys.
  const Qt::KeyboardModifiers extend = event->modifiers() & Qt::ShiftModifier;
  int row = -1;
  if (event->matches(QKeySequence::SelectAll)) {
    select_all();
    return;
  }
  switch (event->key()) {
    case Qt::Key_Up:
      row = std::max(0, from - 1);
      break;
    case Qt::Key_Down:
      row = std::min(last, from + 1);
      break;
    case Qt::Key_PageUp:
      row = std::max(0, from - page);
      break;
    case Qt::Key_PageDown:
      row = std::min(last, from + page);
      break;
    case Qt::Key_Home:
      row = 0;
      break;
    case Qt::Key_End:
      row = last;
      break;
    case Qt::Key_Left:
      horizontalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepSub);
      return;
    case Qt::Key_Right:
      horizontalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_ >= 0) Q_EMIT activated(current_);
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
      return;
  }
  if (last >= 0) choose(row, extend);
}

void PacketListView::mousePressEvent(QMouseEvent* event) {
  const int row = row_at(qRound(event->position().y()));
  if (row < 0) return;
  if (event->button() == Qt::LeftButton || (event->button() == Qt::RightButton && !is_selected(row)))
    choose(row, event->button() == Qt::LeftButton ? event->modifiers() : Qt::NoModifier);
}

void PacketListView::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) == 0) return;
  const int y = std::clamp(qRound(event->position().y()), -row_height_, viewport()->height() + row_height_);
  const int row = std::clamp(first_visible_row() + (y < 0 ? -1 : y / row_height_), 0, model_.rowCount() - 1);
  if (row >= 0 && row != current_) choose(row, Qt::ShiftModifier);
}

void PacketListView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const int row = row_at(qRound(event->position().y())); row >= 0) Q_EMIT activated(row);
}

void PacketListView::contextMenuEvent(QContextMenuEvent* event) {
  const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
  const int row = by_key ? current_ : row_at(event->pos().y());
  const int x = event->pos().x() - margin_;
  if (row < 0) return;
  const QPoint at(margin_, (row - first_visible_row() + 1) * row_height_);
  Q_EMIT menu_wanted(row, by_key ? 0 : header_->logicalIndexAt(QPoint(x, 0)),
                     by_key ? viewport()->mapToGlobal(at) : event->globalPos());
}

void PacketListView::wheelEvent(QWheelEvent* event) {
  if (event->angleDelta().x() != 0 && event->angleDelta().y() == 0) {
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() - event->angleDelta().x() / 2);
    return;
  }
  // In eighths of a degree; a wheel click is 15 degrees and three rows.
  wheel_rest_ += event->angleDelta().y();
  const int rows = wheel_rest_ / 40;
  wheel_rest_ -= rows * 40;
  verticalScrollBar()->setValue(verticalScrollBar()->value() - rows);
  event->accept();
}

void PacketListView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) measure();
}

bool PacketListView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int row = row_at(help->pos().y());
  if (row < 0) return true;
  QString text;
  if (help->pos().x() < margin_) {
    text = QCoreApplication::translate("PacketMeaning", meaning_text(meaning_of(model_.marks_of(row))));
    const RelatedPackets related = model_.related(model_.number_of(row));
    if (related.request != 0) text += tr("\nAnswers packet %1").arg(related.request);
    if (related.response != 0) text += tr("\nAnswered by packet %1").arg(related.response);
    if (related.original != 0) text += tr("\nOriginal: packet %1").arg(related.original);
    for (const std::string& comment : model_.comments(model_.number_of(row)))
      text += QLatin1Char('\n') + QString::fromStdString(comment);
  } else {
    const int column = header_->logicalIndexAt(QPoint(help->pos().x() - margin_, 0));
    if (column >= 0) text = model_.index(row, column).data().toString();
  }
  // Plain text: it may contain bytes of the capture.
  QToolTip::showText(help->globalPos(), text.isEmpty() ? text : Qt::convertFromPlainText(text), viewport());
  return true;
}

}  // namespace roce::gui
