// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/packet_colours.hpp"

#include <QPolygonF>
#include <array>

#include "gui/charts/theme.hpp"

namespace roce::gui {
namespace {

enum class Shape { none, octagon, arrow_back, cross, square, triangle, drop, diamond, circle, dash };

struct Look {
  QColor Colours::*colour;
  Shape shape;
  int tint;  ///< alpha of the background
};
/// By PacketMeaning.
constexpr std::array<Look, meaning_count> colour_looks{{{nullptr, Shape::none, 0},
                                                        {&Colours::error, Shape::octagon, 60},
                                                        {&Colours::retransmitted, Shape::arrow_back, 32},
                                                        {&Colours::lost, Shape::cross, 28},
                                                        {&Colours::notice, Shape::square, 36},
                                                        {&Colours::ce, Shape::triangle, 44},
                                                        {&Colours::cnp, Shape::drop, 44},
                                                        {&Colours::info, Shape::diamond, 30},
                                                        {&Colours::good, Shape::circle, 26},
                                                        {&Colours::info, Shape::dash, 0}}};

const Look& look_of(PacketMeaning meaning) {
  return colour_looks[static_cast<std::size_t>(meaning)];
}

QPolygonF regular(const QPointF& middle, double radius, int corners, double turn) {
  QPolygonF shape;
  for (int i = 0; i < corners; ++i) {
    QLineF ray(middle, middle + QPointF(radius, 0));
    ray.setAngle(turn + 360.0 * i / corners);
    shape << ray.p2();
  }
  return shape;
}

}  // namespace

QColor meaning_colour(PacketMeaning meaning, const QPalette& palette) {
  const Look& look = look_of(meaning);
  return look.colour == nullptr ? QColor() : colours(palette).*look.colour;
}

QColor meaning_background(PacketMeaning meaning, const QPalette& palette) {
  const Look& look = look_of(meaning);
  if (look.colour == nullptr || look.tint == 0) return {};
  QColor colour = colours(palette).*look.colour;
  colour.setAlpha(look.tint);
  return colour;
}

void paint_meaning(QPainter& painter, const QRectF& place, PacketMeaning meaning, const QPalette& palette) {
  const Look& look = look_of(meaning);
  if (look.shape == Shape::none) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor colour = colours(palette).*look.colour;
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  const QPointF middle = place.center();
  const double r = std::min(place.width(), place.height()) / 2;
  const QPen line(colour, std::max(1.5, r * 0.4), Qt::SolidLine, Qt::RoundCap);
  switch (look.shape) {
    case Shape::octagon:
      painter.drawPolygon(regular(middle, r, 8, 22.5));
      break;
    case Shape::arrow_back: {  // retransmission: an arrow that turns back
      painter.setPen(line);
      painter.setBrush(Qt::NoBrush);
      painter.drawArc(QRectF(middle.x() - r * 0.75, middle.y() - r * 0.75, r * 1.5, r * 1.5), 40 * 16,
                      280 * 16);
      painter.setPen(Qt::NoPen);
      painter.setBrush(colour);
      painter.drawPolygon(regular(middle + QPointF(r * 0.65, -r * 0.55), r * 0.6, 3, 0));
      break;
    }
    case Shape::cross:
      painter.setPen(line);
      painter.drawLine(middle + QPointF(-r, -r) * 0.7, middle + QPointF(r, r) * 0.7);
      painter.drawLine(middle + QPointF(-r, r) * 0.7, middle + QPointF(r, -r) * 0.7);
      break;
    case Shape::square:
      painter.drawRect(QRectF(middle.x() - r * 0.8, middle.y() - r * 0.8, r * 1.6, r * 1.6));
      break;
    case Shape::triangle:
      painter.drawPolygon(regular(middle + QPointF(0, r * 0.15), r, 3, 90));
      break;
    case Shape::drop:
      painter.drawPolygon(regular(middle - QPointF(0, r * 0.15), r, 3, -90));
      break;
    case Shape::diamond:
      painter.drawPolygon(regular(middle, r, 4, 0));
      break;
    case Shape::circle:
      painter.drawEllipse(middle, r * 0.75, r * 0.75);
      break;
    case Shape::dash:
      painter.setPen(line);
      painter.drawLine(middle - QPointF(r * 0.6, 0), middle + QPointF(r * 0.6, 0));
      break;
    case Shape::none:
      break;
  }
  painter.restore();
}

PacketMeaning worst_meaning(std::uint32_t meanings) noexcept {
  for (std::size_t i = 1; i < meaning_count; ++i) {
    if ((meanings >> i & 1U) != 0) return static_cast<PacketMeaning>(i);
  }
  return PacketMeaning::plain;
}

}  // namespace roce::gui
