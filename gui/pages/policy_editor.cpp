// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/policy_editor.hpp"

#include <QApplication>
#include <QEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QSaveFile>
#include <QTextBlock>
#include <QVBoxLayout>
#include <algorithm>

#include "analyze/policy/policy_text.hpp"
#include "gui/charts/theme.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

constexpr int typing_ms = 250;

/// Selects from the column of a mistake to the end of its word, or of the line.
QTextCursor place_of(const QTextDocument& document, const analyze::PolicyError& error) {
  const QTextBlock block = document.findBlockByNumber(static_cast<int>(error.line) - 1);
  if (!block.isValid()) return {};
  QTextCursor cursor(block);
  const int length = block.length() - 1;
  // Columns count characters; QString has two units for those outside of the BMP.
  int at = 0;
  const QString line = block.text();
  for (std::size_t column = 1; column < error.column && at < length; ++column)
    at += line[at].isHighSurrogate() && at + 1 < length ? 2 : 1;
  cursor.setPosition(block.position() + std::min(at, length));
  cursor.movePosition(QTextCursor::EndOfWord, QTextCursor::KeepAnchor);
  if (!cursor.hasSelection() || cursor.position() > block.position() + length) {
    cursor.setPosition(block.position() + std::min(at, length));
    cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
  }
  // Something is missing at the end of the line: mark the whole line.
  if (!cursor.hasSelection()) {
    cursor.setPosition(block.position());
    cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
  }
  return cursor;
}

}  // namespace

PolicyEditor::PolicyEditor(QWidget* parent)
    : QWidget(parent),
      ask_file_([](QWidget* window) {
        return QFileDialog::getSaveFileName(window, PolicyEditor::tr("Save the policy"), QString(),
                                            PolicyEditor::tr("Policies (*.toml)"));
      }),
      profiles_(new QComboBox),
      apply_(new QPushButton(tr("&Apply"))),
      save_(new QPushButton(tr("Sa&ve as…"))),
      text_(new QPlainTextEdit),
      message_(new QLabel) {
  profiles_->setAccessibleName(tr("Start from a profile"));
  profiles_->addItem(tr("Start from…"));
  for (const analyze::PolicyProfile& profile : analyze::policy_profiles()) {
    profiles_->addItem(to_qt(profile.name), to_qt(profile.name));
    profiles_->setItemData(profiles_->count() - 1, to_qt(profile.summary), Qt::ToolTipRole);
  }
  apply_->setToolTip(tr("Validate the markings of this capture against this policy"));
  text_->setAccessibleName(tr("Marking policy as TOML"));
  text_->setFont(fixed_font(QApplication::font()));
  text_->setLineWrapMode(QPlainTextEdit::NoWrap);
  text_->setPlaceholderText(tr(
      "[class.data]\ndscp = 26\necn = \"ECT(0)\"\n\nStart from a profile, or enter the intended markings."));
  message_->setTextFormat(Qt::PlainText);
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* row = new QHBoxLayout;
  row->addWidget(profiles_);
  row->addWidget(apply_);
  row->addWidget(save_);
  row->addStretch(1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(row);
  column->addWidget(text_, 1);
  column->addWidget(message_);
  pause_.setSingleShot(true);
  pause_.setInterval(typing_ms);
  connect(&pause_, &QTimer::timeout, this, &PolicyEditor::check);
  // Underlining changes the format, not the text.
  connect(text_->document(), &QTextDocument::contentsChange, this, [this](int, int removed, int added) {
    if (removed != 0 || added != 0) pause_.start();
  });
  connect(profiles_, &QComboBox::activated, this,
          [this](int place) { start_from(profiles_->itemData(place).toString()); });
  connect(apply_, &QPushButton::clicked, this, &PolicyEditor::apply);
  connect(save_, &QPushButton::clicked, this, [this] {
    const QString file = ask_file_(this);
    if (!file.isEmpty()) save_as(file);
  });
  check();
}

void PolicyEditor::start_from(const QString& file_or_profile) {
  if (file_or_profile.isEmpty()) return;
  const auto text = analyze::policy_text(file_or_profile.toStdString());
  if (!text) {
    Q_EMIT says(tr("%1 cannot be read: %2").arg(file_or_profile, QString::fromStdString(text.error())));
    return;
  }
  name_ = file_or_profile;
  original_ = QString::fromStdString(*text);
  set_text(original_);
  check();
}

void PolicyEditor::check() {
  pause_.stop();
  errors_.clear();
  policy_ = nullptr;
  if (!text().trimmed().isEmpty()) {
    QString name = name_.isEmpty() ? tr("policy") : name_;
    if (!name_.isEmpty() && text() != original_) name = tr("%1 (edited)").arg(name);
    auto made = analyze::policy_of_text(text().toStdString(), name.toStdString());
    if (made) {
      policy_ = std::move(*made);
    } else {
      errors_ = std::move(made.error());
    }
  }
  QStringList lines;
  for (const analyze::PolicyError& error : errors_) lines << QString::fromStdString(error.describe());
  constexpr qsizetype shown = 4;
  if (lines.size() > shown) lines = lines.mid(0, shown) << tr("and %1 more").arg(lines.size() - shown);
  message_->setText(!lines.isEmpty() ? lines.join(QLatin1Char('\n')) : policy_ ? tr("No errors") : QString());
  apply_->setEnabled(policy_ != nullptr);
  mark();
}

void PolicyEditor::mark() {
  const Colours& all = colours(palette());
  QPalette text_palette = palette();
  if (!errors_.empty()) text_palette.setColor(QPalette::WindowText, all.error);
  message_->setPalette(text_palette);
  QList<QTextEdit::ExtraSelection> marks;
  for (const analyze::PolicyError& error : errors_) {
    if (error.line == 0) continue;
    QTextEdit::ExtraSelection mark;
    mark.cursor = place_of(*text_->document(), error);
    if (mark.cursor.isNull()) continue;
    // Underline as well as colour.
    mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    mark.format.setUnderlineColor(all.error);
    QColor back = all.error;
    back.setAlpha(60);
    mark.format.setBackground(back);
    mark.format.setToolTip(QString::fromStdString(error.message));
    marks << mark;
  }
  text_->setExtraSelections(marks);
}

void PolicyEditor::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange && text_ != nullptr)
    text_->setFont(fixed_font(QApplication::font()));
  if (event->type() == QEvent::PaletteChange && message_ != nullptr) mark();
}

void PolicyEditor::apply() {
  check();
  if (policy_) Q_EMIT applied(policy_);
}

bool PolicyEditor::save_as(const QString& file) {
  QSaveFile target(file);
  const QByteArray bytes = text().toUtf8();
  if (!target.open(QIODevice::WriteOnly) || target.write(bytes) != bytes.size() || !target.commit()) {
    Q_EMIT says(tr("%1 could not be written: %2").arg(file, target.errorString()));
    return false;
  }
  name_ = file;
  original_ = text();
  Q_EMIT says(tr("Saved as %1").arg(file));
  return true;
}

}  // namespace roce::gui
