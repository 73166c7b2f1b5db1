// SPDX-License-Identifier: Apache-2.0
// How a packet's meaning looks: a colour, and a shape for whoever does not see colours.
#pragma once

#include <QColor>
#include <QPainter>
#include <QPalette>
#include <QRectF>

#include "gui/models/packet_marks.hpp"

namespace roce::gui {

/// Of its sign and its place in a map; invalid: it has none.
[[nodiscard]] QColor meaning_colour(PacketMeaning meaning, const QPalette& palette);
/// Behind its text; invalid: as rows are.
[[nodiscard]] QColor meaning_background(PacketMeaning meaning, const QPalette& palette);
/// A shape of its own for each meaning, as large as `place`; nothing for ordinary packets.
void paint_meaning(QPainter& painter, const QRectF& place, PacketMeaning meaning, const QPalette& palette);
/// Of several in one place, which is shown: the worst. `meanings` has a bit of each PacketMeaning.
[[nodiscard]] PacketMeaning worst_meaning(std::uint32_t meanings) noexcept;

}  // namespace roce::gui
