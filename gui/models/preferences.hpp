// SPDX-License-Identifier: Apache-2.0
// Preferences, and profiles: named sets of preferences, layout and columns. Keys of settings are a contract.
#pragma once

#include <QSettings>
#include <QString>
#include <QStringList>
#include <cstdint>

#include "analyze/policy/dissect_choice.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {

struct Preferences {
  QString theme = QStringLiteral("system");  ///< "light", "dark"
  TimeDisplay time = TimeDisplay::relative;
  bool check_icrc = true;
  unsigned jobs = 0;                  ///< threads, 0: one per core
  std::uint64_t link_speed_bps = 0;   ///< of links with PAUSE and PFC frames; 0: taken from the capture
  analyze::DissectChoice dissecting;  ///< what no packet says, and packets are read by
  QString host_names;                 ///< a file as hosts(5); empty: addresses are shown
  QString policy;                     ///< of new windows: a file or a policy profile; empty: none

  [[nodiscard]] bool operator==(const Preferences&) const noexcept = default;

  /// Missing or invalid values get the defaults above.
  [[nodiscard]] static Preferences load(const QSettings& settings);
  void save(QSettings& settings) const;
};

/// Names of the saved profiles.
[[nodiscard]] QStringList profiles(QSettings& settings);
/// Saves the current preferences, layout and columns under that name, replacing what was there. False: the
/// name is blank.
[[nodiscard]] bool save_profile(QSettings& settings, const QString& name);
/// Restores a profile into the settings; false: there is no such profile.
[[nodiscard]] bool choose_profile(QSettings& settings, const QString& name);
void remove_profile(QSettings& settings, const QString& name);

}  // namespace roce::gui
