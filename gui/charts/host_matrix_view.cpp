// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/host_matrix_view.hpp"

#include <QHelpEvent>
#include <QImage>
#include <QKeyEvent>
#include <QLinearGradient>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/charts/theme.hpp"

namespace roce::gui {
namespace {

constexpr double matrix_air = 4;

QColor mixed_colour(const QColor& a, const QColor& b, double part) {
  const auto mix = [part](int from, int to) {
    return static_cast<int>(std::lround(from + (to - from) * std::clamp(part, 0.0, 1.0)));
  };
  return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

/// By index of matrix_measures().
constexpr QColor Colours::*colour_of_measure[] = {&Colours::error,   &Colours::retransmitted,
                                                  &Colours::cnp,     &Colours::ce,
                                                  &Colours::warning, &Colours::throughput};
static_assert(std::size(colour_of_measure) == matrix_measure_count);

}  // namespace

HostMatrixView::HostMatrixView(QWidget* parent) : QWidget(parent), matrix_(std::make_shared<HostMatrix>()) {
  setFocusPolicy(Qt::StrongFocus);
}

void HostMatrixView::show_matrix(std::shared_ptr<const HostMatrix> matrix) {
  const auto pair_of = [](const HostMatrix& of, std::size_t cell) {
    return std::pair(of.host(of.cells()[cell].from), of.host(of.cells()[cell].to));
  };
  const bool same = matrix->size() == matrix_->size() && !view_.isEmpty();
  std::optional<std::size_t> kept;
  if (current_) {
    const auto [from, to] = pair_of(*matrix_, *current_);
    kept = matrix->cell(from, to);
  }
  matrix_ = std::move(matrix);
  current_ = kept;
  scale_ = matrix_scale(*matrix_, measure_);
  const auto whole = static_cast<double>(matrix_->size());
  if (!same) view_ = QRectF(0, 0, whole, whole);
  update();
}

void HostMatrixView::set_measure(std::size_t measure) {
  measure_ = measure;
  scale_ = matrix_scale(*matrix_, measure_);
  update();
}

void HostMatrixView::say(const QString& text) {
  said_ = text;
  update();
}

void HostMatrixView::set_current(std::optional<std::size_t> cell) {
  if (cell == current_) return;
  current_ = cell;
  if (current_) keep_in_view(matrix_->cells()[*current_]);
  update();
}

void HostMatrixView::choose(std::optional<std::size_t> cell) {
  if (!cell || cell == current_) return;
  set_current(cell);
  setAccessibleDescription(cell_text(*cell));
  Q_EMIT pair_chosen();
}

/// Shows it by moving no more than needed.
void HostMatrixView::keep_in_view(const HostMatrix::Cell& cell) {
  const auto needed = [](double at, double from, double length) {
    return at < from ? at - from : std::max(0.0, at + 1 - (from + length));
  };
  view_ = moved_matrix(
      view_, {needed(cell.to, view_.left(), view_.width()), needed(cell.from, view_.top(), view_.height())},
      matrix_->size());
}

QString HostMatrixView::cell_text(std::size_t cell) const {
  const HostMatrix::Cell& of = matrix_->cells()[cell];
  QString text = tr("%1 → %2").arg(matrix_->name(of.from), matrix_->name(of.to));
  for (std::size_t i = 0; i < matrix_measure_count; ++i) {
    const MatrixMeasure& measure = matrix_measures()[i];
    QString value;
    if (of.values[i]) {
      value = measure_text(measure, *of.values[i]);
    } else if (measure.of_all_packets) {
      value = tr("cannot be told");
    }
    if (!value.isEmpty()) text += QStringLiteral("\n%1: %2").arg(measure_heading(measure), value);
  }
  return text + QLatin1Char('\n') +
         tr("hosts that send to %1: %2").arg(matrix_->name(of.to)).arg(matrix_->senders(of.to));
}

HostMatrixView::Rooms HostMatrixView::rooms(const QSizeF& size) const {
  const QFontMetricsF font(this->font());
  const double line = font.height();
  double name = 0;
  // Addresses of one fabric are about as long: a few tell the width.
  const std::size_t step = std::max<std::size_t>(1, matrix_->size() / 64);
  for (std::size_t i = 0; i < matrix_->size(); i += step)
    name = std::max(name, font.horizontalAdvance(matrix_->name(i)));
  name = std::min(name, std::min(size.width(), size.height()) * 0.3);
  Rooms rooms;
  const double left = name + 2 * matrix_air;
  const double top = name + 2 * matrix_air;
  const double below = 2 * line + 3 * matrix_air + line;
  const double width = std::max(1.0, size.width() - left - matrix_air);
  const double height = std::max(1.0, size.height() - top - below);
  // Squares, unless rows and columns are too many to be told apart anyhow.
  const double side = std::min(width, height);
  rooms.squares = QRectF(left, top, side, side);
  rooms.senders = QRectF(0, top, left - matrix_air, side);
  rooms.receivers = QRectF(left, 0, side, top - matrix_air);
  rooms.fan_in = QRectF(left, top + side + matrix_air, side, line);
  rooms.legend = QRectF(left, rooms.fan_in.bottom() + matrix_air, width, 2 * line);
  return rooms;
}

QColor HostMatrixView::colour_of(const MatrixBin& bin) const {
  const QColor base = palette().color(QPalette::Base);
  if (!bin.any) return base;
  // What sends, but has nothing of this, is a shade of grey.
  const QColor none = mixed_colour(base, palette().color(QPalette::Text), 0.1);
  if (!bin.value || *bin.value <= 0) return none;
  constexpr double faintest = 0.25;
  return mixed_colour(none, colours(palette()).*colour_of_measure[measure_],
                      faintest + (1 - faintest) * scale_.shade(*bin.value));
}

void HostMatrixView::paint_squares(QPainter& painter, const QRectF& room) const {
  // One bin a pixel at most; hosts that share one show the worst of them.
  const int columns = std::max(1, static_cast<int>(std::min(room.width(), std::ceil(view_.width()) * 64)));
  const int rows = std::max(1, static_cast<int>(std::min(room.height(), std::ceil(view_.height()) * 64)));
  const std::vector<MatrixBin> bins = matrix_bins(*matrix_, measure_, view_, columns, rows);
  QImage image(columns, rows, QImage::Format_RGB32);
  for (int y = 0; y < rows; ++y) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (int x = 0; x < columns; ++x)
      line[x] = colour_of(bins[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                               static_cast<std::size_t>(x)])
                    .rgb();
  }
  painter.drawImage(room, image);
  const double side = room.width() / view_.width();
  constexpr double least_for_lines = 8;
  QColor quiet = palette().color(QPalette::Text);
  quiet.setAlphaF(0.15F);
  painter.setPen(QPen(quiet, 0));
  if (side >= least_for_lines) {
    for (double i = std::ceil(view_.left()); i <= view_.right(); ++i) {
      const double x = room.left() + (i - view_.left()) * side;
      painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()));
    }
    for (double i = std::ceil(view_.top()); i <= view_.bottom(); ++i) {
      const double y = room.top() + (i - view_.top()) * side;
      painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y));
    }
  }
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(room);
  // What a host sends to itself.
  painter.save();
  painter.setClipRect(room);
  painter.drawLine(QPointF(room.left() - view_.left() * side, room.top() - view_.top() * side),
                   QPointF(room.left() + (static_cast<double>(matrix_->size()) - view_.left()) * side,
                           room.top() + (static_cast<double>(matrix_->size()) - view_.top()) * side));
  if (current_) {
    const HostMatrix::Cell& cell = matrix_->cells()[*current_];
    const double shown = std::max(side, 5.0);
    const QPointF middle(room.left() + (cell.to + 0.5 - view_.left()) * side,
                         room.top() + (cell.from + 0.5 - view_.top()) * side);
    painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
    painter.drawRect(QRectF(middle.x() - shown / 2, middle.y() - shown / 2, shown, shown));
  }
  // A value that fits is written.
  const QFontMetricsF font(this->font());
  if (side >= font.height() * 1.5) {
    for (const HostMatrix::Cell& cell : matrix_->cells()) {
      const std::optional<float>& value = cell.values[measure_];
      const QRectF square(room.left() + (cell.to - view_.left()) * side,
                          room.top() + (cell.from - view_.top()) * side, side, side);
      if (!square.intersects(room)) continue;
      QString text;
      if (value && *value > 0) text = measure_text(matrix_measures()[measure_], *value);
      if (!value && matrix_measures()[measure_].of_all_packets) text = QStringLiteral("?");
      if (text.isEmpty() || font.horizontalAdvance(text) > side - 4) continue;
      painter.setPen(colour_of({value, true}).lightness() > 120 ? Qt::black : Qt::white);
      painter.drawText(square, Qt::AlignCenter, text);
    }
  }
  painter.restore();
}

void HostMatrixView::paint_names(QPainter& painter, const Rooms& rooms) const {
  const QFontMetricsF font(this->font());
  const double side = rooms.squares.width() / view_.width();
  // Every so many, as they fit.
  const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(font.height() / side)));
  painter.setPen(palette().color(QPalette::Text));
  const auto first = static_cast<std::size_t>(std::max(0.0, std::floor(view_.top())));
  for (std::size_t i = (first + step - 1) / step * step; i < matrix_->size(); i += step) {
    const double y = rooms.squares.top() + (static_cast<double>(i) + 0.5 - view_.top()) * side;
    if (y < rooms.squares.top() || y > rooms.squares.bottom()) continue;
    const QRectF room(rooms.senders.left(), y - font.height() / 2, rooms.senders.width() - matrix_air,
                      font.height());
    painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter,
                     font.elidedText(matrix_->name(i), Qt::ElideLeft, room.width()));
  }
  const auto first_column = static_cast<std::size_t>(std::max(0.0, std::floor(view_.left())));
  for (std::size_t i = (first_column + step - 1) / step * step; i < matrix_->size(); i += step) {
    const double x = rooms.squares.left() + (static_cast<double>(i) + 0.5 - view_.left()) * side;
    if (x < rooms.squares.left() || x > rooms.squares.right()) continue;
    painter.save();
    painter.translate(x, rooms.receivers.bottom());
    painter.rotate(-90);
    const QRectF room(0, -font.height() / 2, rooms.receivers.height(), font.height());
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                     font.elidedText(matrix_->name(i), Qt::ElideLeft, room.width()));
    painter.restore();
  }
  painter.setPen(palette().color(QPalette::PlaceholderText));
  const QRectF corner(0, 0, rooms.senders.width() - matrix_air, rooms.receivers.height());
  painter.drawText(corner, Qt::AlignRight | Qt::AlignBottom, tr("to →\nfrom ↓"));
}

/// A bar for each receiver: how many send to it.
void HostMatrixView::paint_fan_in(QPainter& painter, const Rooms& rooms) const {
  if (matrix_->most_senders() == 0) return;
  const double side = rooms.squares.width() / view_.width();
  painter.save();
  painter.setClipRect(rooms.fan_in);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colours(palette()).throughput);
  const auto first = static_cast<std::size_t>(std::max(0.0, std::floor(view_.left())));
  const auto last = std::min(matrix_->size(), static_cast<std::size_t>(std::ceil(view_.right())));
  for (std::size_t i = first; i < last; ++i) {
    const double height = rooms.fan_in.height() * matrix_->senders(i) / matrix_->most_senders();
    const double gap = side > 6 ? 1 : 0;
    painter.drawRect(QRectF(rooms.fan_in.left() + (static_cast<double>(i) - view_.left()) * side + gap,
                            rooms.fan_in.bottom() - height, std::max(1.0, side - 2 * gap), height));
  }
  painter.restore();
}

void HostMatrixView::paint_legend(QPainter& painter, const QRectF& room) const {
  const QFontMetricsF font(this->font());
  const double line = font.height();
  const MatrixMeasure& measure = matrix_measures()[measure_];
  painter.setPen(palette().color(QPalette::Text));
  if (scale_.most <= 0) {
    painter.drawText(room, Qt::AlignLeft | Qt::AlignTop, tr("%1: none").arg(measure_heading(measure)));
    return;
  }
  const bool share = measure.unit == MatrixMeasure::Unit::share;
  const QString least = share ? tr("≤ %1").arg(tr("0.001 %")) : measure_text(measure, scale_.least);
  const QString most =
      share ? tr("≥ %1").arg(measure_text(measure, scale_.most)) : measure_text(measure, scale_.most);
  const QRectF bar(room.left(), room.top(), std::min(room.width() / 2, 16 * line), line * 0.7);
  QLinearGradient shades(bar.topLeft(), bar.topRight());
  constexpr int steps = 16;
  for (int i = 0; i <= steps; ++i) {
    const double part = static_cast<double>(i) / steps;
    const double value = scale_.least * std::pow(scale_.most / scale_.least, part);
    shades.setColorAt(part, colour_of({static_cast<float>(value), true}));
  }
  painter.fillRect(bar, shades);
  const QRectF texts(bar.left(), bar.bottom(), bar.width(), line);
  painter.drawText(texts, Qt::AlignLeft | Qt::AlignTop, least);
  painter.drawText(texts, Qt::AlignRight | Qt::AlignTop, most);
  painter.setPen(palette().color(QPalette::PlaceholderText));
  const QRectF notes(bar.right() + 3 * matrix_air, bar.top(), room.right() - bar.right() - 3 * matrix_air,
                     2 * line);
  painter.drawText(
      notes, Qt::AlignLeft | Qt::AlignTop,
      tr("grey: traffic, none of this\nbars: up to %1 senders to one").arg(matrix_->most_senders()));
}

void HostMatrixView::draw_chart(QPainter& painter, const QSize& size) {
  painter.setFont(font());
  painter.fillRect(QRect(QPoint(), size), palette().color(QPalette::Base));
  if (!said_.isEmpty() || matrix_->size() == 0) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(QRectF(QPointF(), size), Qt::AlignCenter | Qt::TextWordWrap, said_);
    return;
  }
  const Rooms all = rooms(size);
  paint_squares(painter, all.squares);
  paint_names(painter, all);
  paint_fan_in(painter, all);
  paint_legend(painter, all.legend);
}

void HostMatrixView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  draw_chart(painter, size());
  if (!hasFocus()) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(palette().color(QPalette::Highlight));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

QSize HostMatrixView::sizeHint() const {
  return {34 * fontMetrics().height(), 34 * fontMetrics().height()};
}

QSize HostMatrixView::minimumSizeHint() const {
  return {16 * fontMetrics().height(), 14 * fontMetrics().height()};
}

QPointF HostMatrixView::hosts_at(const QPointF& place, const QRectF& squares) const {
  return {view_.left() + (place.x() - squares.left()) * view_.width() / squares.width(),
          view_.top() + (place.y() - squares.top()) * view_.height() / squares.height()};
}

QPoint HostMatrixView::place_of(std::size_t cell) const {
  const QRectF squares = rooms(size()).squares;
  const HostMatrix::Cell& of = matrix_->cells()[cell];
  const double side = squares.width() / view_.width();
  return QPointF(squares.left() + (of.to + 0.5 - view_.left()) * side,
                 squares.top() + (of.from + 0.5 - view_.top()) * side)
      .toPoint();
}

std::optional<std::size_t> HostMatrixView::cell_at(const QPoint& place) const {
  const QRectF squares = rooms(size()).squares;
  if (!said_.isEmpty() || matrix_->size() == 0 || !squares.contains(place)) return std::nullopt;
  const QPointF at = hosts_at(place, squares);
  return matrix_->cell(static_cast<std::size_t>(std::max(0.0, at.y())),
                       static_cast<std::size_t>(std::max(0.0, at.x())));
}

bool HostMatrixView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto cell = cell_at(help->pos());
  cell ? QToolTip::showText(help->globalPos(), cell_text(*cell), this) : QToolTip::hideText();
  return true;
}

void HostMatrixView::wheelEvent(QWheelEvent* event) {
  const double turns = event->angleDelta().y() / 120.0;
  const QRectF squares = rooms(size()).squares;
  if (turns == 0 || matrix_->size() == 0) return event->ignore();
  view_ = zoomed_matrix(view_, std::pow(0.8, turns), hosts_at(event->position(), squares), matrix_->size());
  update();
  event->accept();
}

void HostMatrixView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  dragged_from_ = event->pos();
  dragged_ = false;
}

void HostMatrixView::mouseMoveEvent(QMouseEvent* event) {
  if (!dragged_from_ || matrix_->size() == 0) return;
  const QPoint by = event->pos() - *dragged_from_;
  constexpr int least = 4;
  if (!dragged_ && by.manhattanLength() < least) return;
  dragged_ = true;
  const QRectF squares = rooms(size()).squares;
  view_ = moved_matrix(view_, -QPointF(by) * view_.width() / squares.width(), matrix_->size());
  dragged_from_ = event->pos();
  update();
}

void HostMatrixView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && dragged_from_ && !dragged_) choose(cell_at(event->pos()));
  dragged_from_.reset();
}

void HostMatrixView::mouseDoubleClickEvent(QMouseEvent* event) {
  const auto cell = cell_at(event->pos());
  if (!cell) return;
  choose(cell);
  Q_EMIT pair_activated();
}

/// The next pair in that direction that has traffic.
void HostMatrixView::choose_beside(int down, int right) {
  const auto& cells = matrix_->cells();
  if (cells.empty()) return;
  if (!current_) return choose(0);
  const auto whole = static_cast<int>(matrix_->size());
  int from = static_cast<int>(cells[*current_].from);
  int to = static_cast<int>(cells[*current_].to);
  while (true) {
    from += down;
    to += right;
    if (from < 0 || to < 0 || from >= whole || to >= whole) return;
    const auto cell = matrix_->cell(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
    if (cell) return choose(cell);
  }
}

void HostMatrixView::keyPressEvent(QKeyEvent* event) {
  constexpr double step = 0.8;
  switch (event->key()) {
    case Qt::Key_Up:
      return choose_beside(-1, 0);
    case Qt::Key_Down:
      return choose_beside(1, 0);
    case Qt::Key_Left:
      return choose_beside(0, -1);
    case Qt::Key_Right:
      return choose_beside(0, 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_) Q_EMIT pair_activated();
      return;
    case Qt::Key_Plus:
    case Qt::Key_Minus:
      view_ = zoomed_matrix(view_, event->key() == Qt::Key_Plus ? step : 1 / step, view_.center(),
                            matrix_->size());
      return update();
    case Qt::Key_0:
    case Qt::Key_Home:
      view_ = QRectF(0, 0, static_cast<double>(matrix_->size()), static_cast<double>(matrix_->size()));
      return update();
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace roce::gui
