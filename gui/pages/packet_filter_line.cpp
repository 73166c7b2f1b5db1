// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/packet_filter_line.hpp"

#include <QAbstractItemView>
#include <QEvent>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QKeyEvent>
#include <QSettings>
#include <QStringListModel>
#include <algorithm>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/filter.hpp"
#include "gui/charts/theme.hpp"
#include "gui/models/table_model.hpp"
#include "gui/pages/main_window.hpp"

namespace roce::gui {
namespace {

constexpr qsizetype history_at_most = 20;

QStringList field_names() {
  QStringList names;
  for (const analyze::FieldRef field : analyze::all_fields())
    names << to_qt(analyze::field_facts(field).name);
  return names;
}

bool is_of_name(QChar c) {
  return c.isLetterOrNumber() || c == QLatin1Char('.') || c == QLatin1Char('_');
}

}  // namespace

QPair<int, int> word_at(const QString& expression, int place) {
  int begin = std::clamp(place, 0, static_cast<int>(expression.size()));
  int end = begin;
  while (begin > 0 && is_of_name(expression[begin - 1])) --begin;
  while (end < expression.size() && is_of_name(expression[end])) ++end;
  return {begin, end - begin};
}

PacketFilterLine::PacketFilterLine(QWidget* parent)
    : QWidget(parent),
      field_(new QLineEdit),
      menu_button_(new QToolButton),
      apply_(new QToolButton),
      menu_(new QMenu(this)),
      completer_(new QCompleter(field_names(), this)) {
  field_->setPlaceholderText(tr(
      "Display filter: infiniband.bth.opcode == \"CNP\", roce.analysis.retransmission, ip.addr == 10.0.0.1"));
  field_->setAccessibleName(tr("Display filter"));
  field_->setClearButtonEnabled(true);
  field_->installEventFilter(this);
  menu_button_->setText(tr("Filters"));
  menu_button_->setToolTip(tr("Saved and recent filters"));
  menu_button_->setPopupMode(QToolButton::InstantPopup);
  menu_button_->setMenu(menu_);
  apply_->setText(tr("Apply"));
  apply_->setToolTip(tr("Show only packets that match (Enter)"));
  // Names may be anywhere in an expression, so the completer is driven by complete().
  completer_->setWidget(field_);
  completer_->setCaseSensitivity(Qt::CaseInsensitive);
  completer_->setFilterMode(Qt::MatchContains);
  completer_->setMaxVisibleItems(12);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(menu_button_);
  row->addWidget(field_, 1);
  row->addWidget(apply_);
  connect(field_, &QLineEdit::textChanged, this, &PacketFilterLine::look);
  connect(field_, &QLineEdit::textEdited, this, &PacketFilterLine::complete);
  // Unless a completion is selected, Enter applies the text as typed.
  connect(field_, &QLineEdit::returnPressed, this, [this] {
    if (!completer_->popup()->isVisible() || !completer_->popup()->currentIndex().isValid()) apply_typed();
  });
  connect(apply_, &QToolButton::clicked, this, &PacketFilterLine::apply_typed);
  connect(completer_, qOverload<const QString&>(&QCompleter::activated), this, &PacketFilterLine::insert);
  connect(menu_, &QMenu::aboutToShow, this, &PacketFilterLine::fill_menu);
  fill_menu();
  look();
}

void PacketFilterLine::apply(const QString& expression) {
  field_->setText(expression);
  apply_typed();
}

void PacketFilterLine::propose(const QString& expression) {
  field_->setText(expression);
  field_->setFocus(Qt::OtherFocusReason);
}

void PacketFilterLine::apply_typed() {
  completer_->popup()->hide();
  if (!error_.isEmpty()) return;
  remember(field_->text().trimmed());
  Q_EMIT applied(field_->text().trimmed());
}

/// Green: valid. Red: invalid; the error text says why.
void PacketFilterLine::look() {
  const QString text = field_->text().trimmed();
  QPalette colours_of_field = palette();
  QString error;
  if (!text.isEmpty()) {
    const auto compiled = analyze::Filter::compile(text.toStdString());
    QColor tint = compiled ? colours(palette()).good : colours(palette()).error;
    const QColor base = palette().color(QPalette::Base);
    constexpr double share = 0.22;
    const auto mixed = [&](int from, int to) { return static_cast<int>(from + (to - from) * share); };
    tint = QColor(mixed(base.red(), tint.red()), mixed(base.green(), tint.green()),
                  mixed(base.blue(), tint.blue()));
    colours_of_field.setColor(QPalette::Base, tint);
    if (!compiled) {
      error = tr("column %1: %2")
                  .arg(compiled.error().column)
                  .arg(QString::fromStdString(compiled.error().message));
    }
  }
  field_->setPalette(colours_of_field);
  field_->setToolTip(error);
  field_->setAccessibleDescription(error);
  apply_->setEnabled(error.isEmpty());
  if (error == error_) return;
  error_ = error;
  Q_EMIT error_changed(error_);
}

void PacketFilterLine::complete() {
  const auto [begin, length] = word_at(field_->text(), field_->cursorPosition());
  const QString prefix = field_->text().mid(begin, field_->cursorPosition() - begin);
  constexpr int enough = 2;
  if (prefix.size() < enough || prefix[0].isDigit()) {
    completer_->popup()->hide();
    return;
  }
  completer_->setCompletionPrefix(prefix);
  const bool whole = completer_->completionCount() == 1 && completer_->currentCompletion() == prefix;
  if (completer_->completionCount() == 0 || whole) {
    completer_->popup()->hide();
    return;
  }
  QRect place = field_->inputMethodQuery(Qt::ImCursorRectangle).toRect();
  place.setWidth(std::min(field_->width(), 420));
  completer_->complete(place);
}

void PacketFilterLine::insert(const QString& word) {
  const auto [begin, length] = word_at(field_->text(), field_->cursorPosition());
  QString text = field_->text();
  text.replace(begin, length, word);
  field_->setText(text);
  field_->setCursorPosition(begin + static_cast<int>(word.size()));
}

bool PacketFilterLine::eventFilter(QObject* watched, QEvent* event) {
  if (watched == field_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool listing = completer_->popup()->isVisible();
    if (!listing && key->key() == Qt::Key_Down) {
      menu_button_->showMenu();
      return true;
    }
    if (key->key() == Qt::Key_Space && (key->modifiers() & Qt::ControlModifier) != 0) {
      complete();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

void PacketFilterLine::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) look();
}

QStringList PacketFilterLine::history() const {
  return settings().value(QStringLiteral("packets/filters")).toStringList();
}

void PacketFilterLine::remember(const QString& expression) {
  if (expression.isEmpty()) return;
  QStringList all = history();
  all.removeAll(expression);
  all.prepend(expression);
  settings().setValue(QStringLiteral("packets/filters"), all.mid(0, history_at_most));
}

QList<QPair<QString, QString>> PacketFilterLine::saved() const {
  QList<QPair<QString, QString>> all;
  for (const QString& entry : settings().value(QStringLiteral("packets/saved_filters")).toStringList())
    all << QPair<QString, QString>(entry.section(QLatin1Char('\n'), 0, 0),
                                   entry.section(QLatin1Char('\n'), 1));
  return all;
}

void PacketFilterLine::save(const QString& name, const QString& expression) {
  QStringList entries;
  for (const auto& [known, text] : saved()) {
    if (known != name) entries << known + QLatin1Char('\n') + text;
  }
  if (!expression.isEmpty()) entries << name + QLatin1Char('\n') + expression;
  settings().setValue(QStringLiteral("packets/saved_filters"), entries);
}

void PacketFilterLine::ask_to_save() {
  bool agreed = false;
  const QString name = QInputDialog::getText(this, tr("Save filter"), tr("Name of this filter:"),
                                             QLineEdit::Normal, field_->text().left(40), &agreed);
  if (agreed && !name.trimmed().isEmpty()) save(name.simplified(), field_->text().trimmed());
}

void PacketFilterLine::fill_menu() {
  menu_->clear();
  const auto add = [this](const QString& text, const QString& expression) {
    QAction* action = menu_->addAction(QString(text).replace(QLatin1Char('&'), QStringLiteral("&&")));
    action->setToolTip(expression);
    connect(action, &QAction::triggered, this, [this, expression] { apply(expression); });
  };
  menu_->setToolTipsVisible(true);
  struct Ready {
    QString title;
    const char* expression;
  };
  const Ready ready[] = {{tr("Anomalies"), "roce.analysis.flags"},
                         {tr("Retransmissions"), "roce.analysis.retransmission"},
                         {tr("Packet loss"), "roce.analysis.lost"},
                         {tr("Congestion notifications"), "infiniband.bth.opcode == \"CNP\""}};
  menu_->addSection(tr("Predefined"));
  for (const Ready& one : ready) add(one.title, QString::fromLatin1(one.expression));
  const auto kept = saved();
  if (!kept.isEmpty()) menu_->addSection(tr("Saved"));
  for (const auto& [name, expression] : kept) add(name, expression);
  const QStringList before = history();
  if (!before.isEmpty()) menu_->addSection(tr("Recent"));
  for (const QString& expression : before) add(expression, expression);
  menu_->addSeparator();
  QAction* keep = menu_->addAction(tr("&Save this filter..."));
  keep->setEnabled(!field_->text().trimmed().isEmpty() && error_.isEmpty());
  connect(keep, &QAction::triggered, this, &PacketFilterLine::ask_to_save);
  QMenu* forget = menu_->addMenu(tr("&Delete saved filter"));
  forget->setEnabled(!kept.isEmpty());
  for (const auto& [name, expression] : kept) {
    connect(forget->addAction(name), &QAction::triggered, this, [this, name = name] { save(name, {}); });
  }
}

}  // namespace roce::gui
