// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <memory>

#include "analyze/policy/marking_policy.hpp"
#include "analyze/policy/policy_error.hpp"

namespace roce::gui {

/// Editor for a marking policy (TOML): mistakes are underlined and explained while typing.
class PolicyEditor : public QWidget {
  Q_OBJECT

 public:
  explicit PolicyEditor(QWidget* parent = nullptr);

  [[nodiscard]] QString text() const { return text_->toPlainText(); }
  void set_text(const QString& text) { text_->setPlainText(text); }
  /// Loads the text of a file or a policy profile; empty: does nothing.
  void start_from(const QString& file_or_profile);
  /// Parses the text now; otherwise it is parsed when typing pauses.
  void check();
  /// Empty: the text is valid.
  [[nodiscard]] const analyze::PolicyErrors& errors() const noexcept { return errors_; }
  [[nodiscard]] QString message() const { return message_->text(); }
  void apply();
  /// Saves the text, valid or not; replaces the file as a whole or leaves it untouched.
  bool save_as(const QString& file);
  /// For tests: replaces the file dialog.
  void set_file_question(std::function<QString(QWidget*)> ask) { ask_file_ = std::move(ask); }

 Q_SIGNALS:
  /// Validate markings against this policy.
  void applied(const std::shared_ptr<const roce::analyze::MarkingPolicy>& policy);
  void says(const QString& message);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void mark();

  std::function<QString(QWidget*)> ask_file_;
  QComboBox* profiles_;
  QPushButton* apply_;
  QPushButton* save_;
  QPlainTextEdit* text_ = nullptr;
  QLabel* message_;
  QTimer pause_;
  QString name_;      ///< name of the policy in messages
  QString original_;  ///< text as loaded or saved
  analyze::PolicyErrors errors_;
  std::shared_ptr<const analyze::MarkingPolicy> policy_;  ///< parsed text; null: invalid or empty
};

}  // namespace roce::gui
