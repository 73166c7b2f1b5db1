// SPDX-License-Identifier: Apache-2.0
// Theme and all colours of the window.
#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QPalette>
#include <QString>
#include <optional>

#include "analyze/results/finding.hpp"

namespace roce::gui {

enum class Theme { system, light, dark };
/// "system", "light" or "dark"; any other name: system.
[[nodiscard]] Theme theme_named(const QString& name);
[[nodiscard]] QString theme_name(Theme theme);

/// Sets style and palette of the whole application. System: those of the desktop.
void apply_theme(Theme theme);
[[nodiscard]] bool is_dark(const QPalette& palette);

/// Colours with a meaning: the palette of Okabe and Ito, distinguishable with any kind of colour vision,
/// adapted to the background. A colour is never the only sign of what it means.
struct Colours {
  QColor throughput, goodput, retransmitted, lost, ce, cnp;
  QColor selection;  ///< of a time range; translucent
  QColor error, warning, notice, info, good;
};
[[nodiscard]] const Colours& colours(const QPalette& palette);

/// A font for commands, bytes and logs, in the size of another.
[[nodiscard]] QFont fixed_font(const QFont& like);

/// An icon with its own shape for each severity; nullopt: healthy.
[[nodiscard]] QIcon severity_icon(std::optional<analyze::Severity> severity, const QPalette& palette);

/// Style sheet for the texts of details.hpp.
[[nodiscard]] QString document_style(const QPalette& palette);

}  // namespace roce::gui
