// SPDX-License-Identifier: Apache-2.0
// Colours of packet meanings, and a symbol for each, so that colour is never the only sign.
#pragma once

#include <QColor>
#include <QPainter>
#include <QPalette>
#include <QRectF>

#include "gui/models/packet_marks.hpp"

namespace roce::gui {

/// Colour of its symbol and in the map; invalid: none.
[[nodiscard]] QColor meaning_colour(PacketMeaning meaning, const QPalette& palette);
/// Background of its row; invalid: the default.
[[nodiscard]] QColor meaning_background(PacketMeaning meaning, const QPalette& palette);
/// Paints the symbol of a meaning as large as `place`; nothing for ordinary packets.
void paint_meaning(QPainter& painter, const QRectF& place, PacketMeaning meaning, const QPalette& palette);
/// The worst of several meanings, which is shown where they coincide. `meanings`: a bit per PacketMeaning.
[[nodiscard]] PacketMeaning worst_meaning(std::uint32_t meanings) noexcept;

}  // namespace roce::gui
