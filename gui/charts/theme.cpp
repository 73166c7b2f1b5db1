// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/theme.hpp"

#include <QApplication>
#include <QFontDatabase>
#include <QPainter>
#include <QPixmap>
#include <QPolygonF>
#include <QProxyStyle>
#include <QStyle>
#include <map>
#include <utility>

namespace roce::gui {
namespace {

QPalette dark_palette() {
  const QColor window(0x25, 0x28, 0x2c), base(0x1b, 0x1e, 0x21), text(0xe6, 0xe6, 0xe6),
      faint(0x8a, 0x8f, 0x96);
  QPalette p(text, window, window.lighter(150), window.darker(160), QColor(0x6c, 0x72, 0x79), text, Qt::white,
             base, window);
  p.setColor(QPalette::Button, QColor(0x32, 0x36, 0x3b));
  p.setColor(QPalette::AlternateBase, QColor(0x21, 0x24, 0x28));
  p.setColor(QPalette::ToolTipBase, QColor(0x32, 0x36, 0x3b));
  p.setColor(QPalette::ToolTipText, text);
  p.setColor(QPalette::PlaceholderText, faint);
  p.setColor(QPalette::Link, QColor(0x6c, 0xc0, 0xf0));
  p.setColor(QPalette::LinkVisited, QColor(0x6c, 0xc0, 0xf0));
  p.setColor(QPalette::Highlight, QColor(0x1f, 0x5f, 0x8f));
  p.setColor(QPalette::HighlightedText, Qt::white);
  for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, role, QColor(0x70, 0x75, 0x7b));
  return p;
}

QPalette light_palette() {
  const QColor window(0xf2, 0xf3, 0xf5), text(0x1a, 0x1c, 0x1e);
  QPalette p(text, window, Qt::white, QColor(0xb4, 0xb8, 0xbd), QColor(0x8c, 0x91, 0x97), text, Qt::white,
             Qt::white, window);
  p.setColor(QPalette::AlternateBase, QColor(0xf6, 0xf7, 0xf9));
  p.setColor(QPalette::ToolTipBase, QColor(0xff, 0xff, 0xf0));
  p.setColor(QPalette::ToolTipText, text);
  p.setColor(QPalette::PlaceholderText, QColor(0x6f, 0x75, 0x7c));
  p.setColor(QPalette::Link, QColor(0x00, 0x5a, 0x9c));
  p.setColor(QPalette::LinkVisited, QColor(0x00, 0x5a, 0x9c));
  p.setColor(QPalette::Highlight, QColor(0x00, 0x6f, 0xb5));
  p.setColor(QPalette::HighlightedText, Qt::white);
  for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, role, QColor(0x9a, 0x9f, 0xa5));
  return p;
}

/// Wider margins of table cells: right-aligned numbers stand next to left-aligned texts.
class RoomyStyle final : public QProxyStyle {
 public:
  using QProxyStyle::QProxyStyle;

  [[nodiscard]] int pixelMetric(PixelMetric metric, const QStyleOption* option,
                                const QWidget* widget) const override {
    constexpr int air = 3;
    const bool wanted = metric == PM_FocusFrameHMargin || metric == PM_HeaderMargin;
    return QProxyStyle::pixelMetric(metric, option, widget) + (wanted ? air : 0);
  }
};

struct Sign {
  const QColor Colours::*colour;
  int corners;  ///< of the shape; 0: round
  double turn;  ///< degrees
  const char* glyph;
};
/// By analyze::Severity; the last one: healthy.
constexpr Sign signs[] = {{&Colours::info, 0, 0, "i"},
                          {&Colours::notice, 4, 45, "i"},
                          {&Colours::warning, 3, -90, "!"},
                          {&Colours::error, 8, 22.5, "×"},
                          {&Colours::good, 0, 0, "✓"}};

void draw_icon(QPainter& painter, const Sign& sign, const Colours& all, double size) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(all.*sign.colour);
  const QPointF middle(size / 2, size / 2 + (sign.corners == 3 ? size * 0.1 : 0));
  const double radius = size * (sign.corners == 3 ? 0.56 : sign.corners == 4 ? 0.56 : 0.48);
  if (sign.corners == 0) {
    painter.drawEllipse(middle, radius, radius);
  } else {
    QPolygonF shape;
    for (int i = 0; i < sign.corners; ++i) {
      QLineF ray(middle, middle + QPointF(radius, 0));
      ray.setAngle(-sign.turn + 360.0 * i / sign.corners + (sign.corners == 4 ? 45 : 0));
      shape << ray.p2();
    }
    painter.drawPolygon(shape);
  }
  QFont font = QApplication::font();
  font.setBold(true);
  font.setPixelSize(static_cast<int>(size * 0.66));
  painter.setFont(font);
  // The colour of warnings is light in every theme.
  painter.setPen((all.*sign.colour).lightness() > 120 ? Qt::black : Qt::white);
  const double down = sign.corners == 3 ? size * 0.1 : 0;
  painter.drawText(QRectF(0, down, size, size), Qt::AlignCenter, QString::fromUtf8(sign.glyph));
}

}  // namespace

Theme theme_named(const QString& name) {
  if (name == QLatin1String("light")) return Theme::light;
  return name == QLatin1String("dark") ? Theme::dark : Theme::system;
}

QString theme_name(Theme theme) {
  return theme == Theme::light  ? QStringLiteral("light")
         : theme == Theme::dark ? QStringLiteral("dark")
                                : QStringLiteral("system");
}

void apply_theme(Theme theme) {
  // Read before the first change: afterwards Qt returns what was set.
  static const QString system_style = QApplication::style()->name();
  static const QPalette system_palette = QApplication::palette();
  QApplication::setStyle(new RoomyStyle(theme == Theme::system ? system_style : QStringLiteral("fusion")));
  QApplication::setPalette(theme == Theme::light  ? light_palette()
                           : theme == Theme::dark ? dark_palette()
                                                  : system_palette);
}

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Base).lightness() < palette.color(QPalette::Text).lightness();
}

const Colours& colours(const QPalette& palette) {
  static const Colours light{.throughput = QColor(0x00, 0x72, 0xb2),
                             .goodput = QColor(0x00, 0x9e, 0x73),
                             .retransmitted = QColor(0xd5, 0x5e, 0x00),
                             .lost = QColor(0x1a, 0x1c, 0x1e),
                             .ce = QColor(0xe6, 0x9f, 0x00),
                             .cnp = QColor(0xcc, 0x79, 0xa7),
                             .selection = QColor(0x00, 0x72, 0xb2, 0x30),
                             .error = QColor(0xc2, 0x4a, 0x00),
                             .warning = QColor(0xe6, 0x9f, 0x00),
                             .notice = QColor(0x00, 0x72, 0xb2),
                             .info = QColor(0x6f, 0x75, 0x7c),
                             .good = QColor(0x00, 0x80, 0x5c)};
  static const Colours dark{.throughput = QColor(0x56, 0xb4, 0xe9),
                            .goodput = QColor(0x1f, 0xc4, 0x94),
                            .retransmitted = QColor(0xf0, 0x7a, 0x1e),
                            .lost = QColor(0xff, 0xff, 0xff),
                            .ce = QColor(0xf0, 0xe4, 0x42),
                            .cnp = QColor(0xe0, 0x92, 0xbe),
                            .selection = QColor(0x56, 0xb4, 0xe9, 0x40),
                            .error = QColor(0xf0, 0x7a, 0x1e),
                            .warning = QColor(0xf0, 0xe4, 0x42),
                            .notice = QColor(0x56, 0xb4, 0xe9),
                            .info = QColor(0x9a, 0xa0, 0xa7),
                            .good = QColor(0x1f, 0xc4, 0x94)};
  return is_dark(palette) ? dark : light;
}

QFont fixed_font(const QFont& like) {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  if (like.pointSizeF() > 0) font.setPointSizeF(like.pointSizeF());
  return font;
}

QIcon severity_icon(std::optional<analyze::Severity> severity, const QPalette& palette) {
  const std::size_t place = severity ? static_cast<std::size_t>(*severity) : std::size(signs) - 1;
  // Never destroyed: pixmaps must not be destroyed after the application.
  static auto* const made = new std::map<std::pair<std::size_t, bool>, QIcon>;
  QIcon& icon = (*made)[{place, is_dark(palette)}];
  if (!icon.isNull()) return icon;
  for (const int size : {16, 24, 32, 48, 64}) {
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    draw_icon(painter, signs[place], colours(palette), size);
    icon.addPixmap(pixmap);
    icon.addPixmap(pixmap, QIcon::Selected);  // no tint in selected rows
  }
  return icon;
}

QString document_style(const QPalette& palette) {
  const QColor quiet = palette.color(QPalette::PlaceholderText);
  const QColor box =
      is_dark(palette) ? palette.color(QPalette::Base).lighter(150) : palette.color(QPalette::Window);
  const Colours& c = colours(palette);
  return QStringLiteral(
             "h2 { font-size: large; margin-bottom: 4px; } h3 { font-size: medium; margin-bottom: 2px; }"
             ".name { color: %1; } .command { background-color: %2; } a { color: %3; }"
             ".within, .degraded { background-color: %5; color: %8; } .fatal { background-color: %4; color: "
             "%8; }"
             ".odd { background-color: %6; color: %8; } .outside { background-color: %7; }")
      .arg(quiet.name(), box.name(), palette.color(QPalette::Link).name(), c.error.name(), c.warning.name(),
           c.notice.name(), palette.color(QPalette::Mid).name(), palette.color(QPalette::Base).name());
}

}  // namespace roce::gui
