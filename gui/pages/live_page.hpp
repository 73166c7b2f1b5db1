// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <functional>

#include "gui/models/live_capture.hpp"
#include "gui/models/live_devices.hpp"
#include "gui/pages/page.hpp"

namespace roce::gui {

/// Captures from a device of this host: which, what of it, and how it goes. The other pages show what comes.
class LivePage : public Page {
  Q_OBJECT

 public:
  LivePage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* search_field() override { return filter_; }
  [[nodiscard]] LiveDeviceModel& devices() noexcept { return devices_; }
  [[nodiscard]] LiveCapture& capture() noexcept { return capture_; }
  /// What start would do now, as it can be typed.
  [[nodiscard]] QString command_text() const;
  void choose_device(const QString& name);
  void set_filter(const QString& filter) { filter_->setText(filter); }
  void start();
  void stop() { capture_.stop(); }
  void save();
  /// Whether what was captured may be forgotten; asks where it was not saved.
  [[nodiscard]] bool may_go();

  /// What else must agree to another capture's being begun.
  void set_start_question(std::function<bool()> ask) { may_start_ = std::move(ask); }
  /// What tests replace: where to save, and the program.
  void set_file_question(std::function<QString(QWidget*)> ask) { ask_file_ = std::move(ask); }
  void set_discard_question(std::function<bool(QWidget*)> ask) { ask_discard_ = std::move(ask); }
  void set_program(const QString& program);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  [[nodiscard]] LiveRequest request() const;
  void show_choice();
  void show_message();
  void show_state();

  LiveDeviceModel devices_;
  LiveCapture capture_;
  std::function<QString(QWidget*)> ask_file_;
  std::function<bool(QWidget*)> ask_discard_;
  std::function<bool()> may_start_ = [] { return true; };
  QString program_;
  QTableView* table_;
  QLabel* how_;
  QLineEdit* filter_;
  QCheckBox* promiscuous_;
  QSpinBox* limit_;
  QLineEdit* command_;
  QPushButton* start_;
  QPushButton* stop_;
  QPushButton* save_;
  QPushButton* refresh_;
  QLabel* message_;
  QPlainTextEdit* log_;
  QString chosen_;      ///< the device, while the list of them is made anew
  bool asked_ = false;  ///< for the devices, since it was shown first
};

}  // namespace roce::gui
