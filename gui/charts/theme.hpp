// SPDX-License-Identifier: Apache-2.0
// All colours of the window, in one place.
#pragma once

#include <QColor>
#include <QIcon>
#include <QPalette>
#include <QString>
#include <optional>

#include "analyze/results/finding.hpp"

namespace roce::gui {

enum class Theme { system, light, dark };
/// "system", "light", "dark"; anything else is system.
[[nodiscard]] Theme theme_named(const QString& name);
[[nodiscard]] QString theme_name(Theme theme);

/// Gives the whole application the theme's style and palette. System: what the desktop says.
void apply_theme(Theme theme);
[[nodiscard]] bool is_dark(const QPalette& palette);

/// Colours with a meaning: those of Okabe and Ito, which people with any kind of colour vision tell apart,
/// lighter or darker where the background asks for it. None of them is the only sign of what it means.
struct Colours {
  QColor throughput, goodput, retransmitted, lost, ce, cnp;
  QColor selection;  ///< of a time range; see-through
  QColor error, warning, notice, info, good;
};
[[nodiscard]] const Colours& colours(const QPalette& palette);

/// A sign of its own shape for each severity; nullopt: nothing wrong.
[[nodiscard]] QIcon severity_icon(std::optional<analyze::Severity> severity, const QPalette& palette);

/// Style sheet for the texts of details.hpp.
[[nodiscard]] QString document_style(const QPalette& palette);

}  // namespace roce::gui
