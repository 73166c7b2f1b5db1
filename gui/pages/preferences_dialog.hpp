// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QSpinBox>

#include "gui/models/preferences.hpp"

namespace roce::gui {

/// The dialog of preferences. Nothing changes before OK or Apply.
class PreferencesDialog : public QDialog {
  Q_OBJECT

 public:
  explicit PreferencesDialog(const Preferences& preferences, QWidget* parent = nullptr);

  /// The preferences as set in the dialog.
  [[nodiscard]] Preferences preferences() const;

 Q_SIGNALS:
  void applied(const roce::gui::Preferences& preferences);

 private:
  void show_preferences(const Preferences& preferences);

  QComboBox* theme_;
  QComboBox* time_;
  QComboBox* link_speed_;
  QComboBox* policy_;
  QCheckBox* icrc_;
  QSpinBox* jobs_;
};

}  // namespace roce::gui
