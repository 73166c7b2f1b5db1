// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
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
  void check();

  QComboBox* theme_;
  QComboBox* time_;
  QComboBox* link_speed_;
  QComboBox* policy_;
  QCheckBox* icrc_;
  QSpinBox* jobs_;
  QLineEdit* trimmed_;
  QSpinBox* mrc_port_;
  QLineEdit* decode_as_;
  QLineEdit* host_names_;
  QLabel* problem_;  ///< why the texts cannot be taken
  QDialogButtonBox* buttons_;
};

}  // namespace roce::gui
