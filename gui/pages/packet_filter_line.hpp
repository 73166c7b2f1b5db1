// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPair>
#include <QToolButton>
#include <QWidget>

namespace roce::gui {

/// The word (field name) of an expression around a position: its start and length.
[[nodiscard]] QPair<int, int> word_at(const QString& expression, int place);

/// Input line for display filters: completes field names, validates while typing, and keeps a history.
class PacketFilterLine : public QWidget {
  Q_OBJECT

 public:
  explicit PacketFilterLine(QWidget* parent = nullptr);

  [[nodiscard]] QLineEdit* field() noexcept { return field_; }
  [[nodiscard]] QCompleter& completer() noexcept { return *completer_; }
  [[nodiscard]] QString text() const { return field_->text(); }
  /// Enters and applies the expression.
  void apply(const QString& expression);
  /// Enters the expression without applying it.
  void propose(const QString& expression);
  /// Why the expression is invalid; empty if it is valid.
  [[nodiscard]] const QString& error() const noexcept { return error_; }
  [[nodiscard]] QStringList history() const;
  /// Saved filters: pairs of name and expression.
  [[nodiscard]] QList<QPair<QString, QString>> saved() const;
  void save(const QString& name, const QString& expression);

 Q_SIGNALS:
  void applied(const QString& expression);
  void error_changed(const QString& error);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void apply_typed();
  void look();
  void complete();
  void insert(const QString& word);
  void fill_menu();
  void remember(const QString& expression);
  void ask_to_save();

  QLineEdit* field_;
  QToolButton* menu_button_;
  QToolButton* apply_;
  QMenu* menu_;
  QCompleter* completer_;
  QString error_;
};

}  // namespace roce::gui
