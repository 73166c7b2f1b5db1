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

/// Live capture from a device of this host: device, filter, limit, progress. The other pages show the packets
/// as they arrive.
class LivePage : public Page {
  Q_OBJECT

 public:
  LivePage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* search_field() override { return filter_; }
  [[nodiscard]] LiveDeviceModel& devices() noexcept { return devices_; }
  [[nodiscard]] LiveCapture& capture() noexcept { return capture_; }
  /// The command that start() would run, as it can be typed into a shell.
  [[nodiscard]] QString command_text() const;
  void choose_device(const QString& name);
  void set_filter(const QString& filter) { filter_->setText(filter); }
  void start();
  void stop() { capture_.stop(); }
  void save();
  /// Whether the recording may be discarded; asks the user if it is not saved. If the user saves it first,
  /// returns false, ends the capture, and `then` is called once it is saved.
  [[nodiscard]] bool may_go(std::function<void()> then);

  /// A further condition for starting a capture (unsaved comments).
  void set_start_question(std::function<bool()> ask) { may_start_ = std::move(ask); }
  /// For tests: replace the dialogs and the capture program.
  void set_file_question(std::function<QString(QWidget*)> ask) { ask_file_ = std::move(ask); }
  void set_unsaved_question(std::function<Unsaved(QWidget*, const QString&)> ask) {
    ask_unsaved_ = std::move(ask);
  }
  void set_program(const QString& program);

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] LiveRequest request() const;
  void fit_text();
  void show_choice();
  void show_message();
  void show_state();
  void save_when_ended();

  LiveDeviceModel devices_;
  LiveCapture capture_;
  std::function<QString(QWidget*)> ask_file_;
  std::function<Unsaved(QWidget*, const QString&)> ask_unsaved_;
  std::function<void()> after_saving_;  ///< called when the recording has been saved
  QString save_to_;                     ///< saved there when the capture has ended
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
  QPlainTextEdit* log_ = nullptr;
  QString chosen_;      ///< name of the selected device, kept while the list is refreshed
  bool asked_ = false;  ///< the devices have been listed once
};

}  // namespace roce::gui
