// SPDX-License-Identifier: Apache-2.0
// What the user prefers, and profiles: named sets of preferences, layout and columns.
#pragma once

#include <QSettings>
#include <QString>
#include <QStringList>
#include <cstdint>

#include "gui/models/time_format.hpp"

namespace roce::gui {

struct Preferences {
  QString theme = QStringLiteral("system");  ///< "light", "dark"
  TimeDisplay time = TimeDisplay::relative;
  bool check_icrc = true;
  unsigned jobs = 0;                 ///< threads, 0 = one a core
  std::uint64_t link_speed_bps = 0;  ///< of links with PAUSE and PFC frames; 0 = as the capture says
  QString policy;                    ///< that windows begin with: a file or a profile; empty: none

  [[nodiscard]] bool operator==(const Preferences&) const noexcept = default;

  /// What is missing or makes no sense is as above.
  [[nodiscard]] static Preferences load(const QSettings& settings);
  void save(QSettings& settings) const;
};

/// By name, as they were saved.
[[nodiscard]] QStringList profiles(QSettings& settings);
/// Keeps preferences, layout and columns as they are in the settings now under that name, in place of what
/// was there. A name without letters is refused.
[[nodiscard]] bool save_profile(QSettings& settings, const QString& name);
/// Puts what was kept into the settings' place; false: there is no such profile.
[[nodiscard]] bool choose_profile(QSettings& settings, const QString& name);
void remove_profile(QSettings& settings, const QString& name);

}  // namespace roce::gui
