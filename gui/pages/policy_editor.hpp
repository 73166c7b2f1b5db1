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

/// A marking policy as text: mistakes are told and marked where they are while it is typed.
class PolicyEditor : public QWidget {
  Q_OBJECT

 public:
  explicit PolicyEditor(QWidget* parent = nullptr);

  [[nodiscard]] QString text() const { return text_->toPlainText(); }
  void set_text(const QString& text) { text_->setPlainText(text); }
  /// Takes over the text of a file or a profile; empty: nothing.
  void start_from(const QString& file_or_profile);
  /// Reads the text now; what is typed is read when nobody has typed for a moment.
  void check();
  /// Empty: the text is a policy.
  [[nodiscard]] const analyze::PolicyErrors& errors() const noexcept { return errors_; }
  [[nodiscard]] QString message() const { return message_->text(); }
  void apply();
  /// Writes the text, be it right or wrong; the file is whole or as it was before.
  bool save_as(const QString& file);
  /// What tests replace.
  void set_file_question(std::function<QString(QWidget*)> ask) { ask_file_ = std::move(ask); }

 Q_SIGNALS:
  /// Marks shall be judged by it.
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
  QPlainTextEdit* text_;
  QLabel* message_;
  QTimer pause_;
  QString name_;      ///< what messages call the text
  QString original_;  ///< as it was read or saved
  analyze::PolicyErrors errors_;
  std::shared_ptr<const analyze::MarkingPolicy> policy_;  ///< of the text; null: it is none
};

}  // namespace roce::gui
