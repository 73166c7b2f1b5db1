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

/// Which word of an expression stands around a place: its beginning and length. Words are names of fields.
[[nodiscard]] QPair<int, int> word_at(const QString& expression, int place);

/// A line for display filters: completes names of fields, says at every moment whether it is understood, and
/// remembers what was applied.
class PacketFilterLine : public QWidget {
  Q_OBJECT

 public:
  explicit PacketFilterLine(QWidget* parent = nullptr);

  [[nodiscard]] QLineEdit* field() noexcept { return field_; }
  [[nodiscard]] QCompleter& completer() noexcept { return *completer_; }
  [[nodiscard]] QString text() const { return field_->text(); }
  /// Written and applied.
  void apply(const QString& expression);
  /// Written, to be looked at and applied by whoever wants it.
  void propose(const QString& expression);
  /// Why what is typed is not understood; empty where it is.
  [[nodiscard]] const QString& error() const noexcept { return error_; }
  [[nodiscard]] QStringList history() const;
  /// Pairs of a name and an expression.
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
