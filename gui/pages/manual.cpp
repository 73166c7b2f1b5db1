// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/manual.hpp"

#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSplitter>
#include <QTextBlock>
#include <QUrl>
#include <QVBoxLayout>
#include <iterator>

/// Compiled in by gui/CMakeLists.txt; a static library has to ask for it. Outside of any namespace.
static void make_manual_known() {
  Q_INIT_RESOURCE(manual);
}

namespace roce::gui {
namespace {

const QString manual_root = QStringLiteral(":/manual/");
const QString keys_chapter = QStringLiteral("keys");

struct Chapter {
  const char* file;  ///< below docs/
  const char* title;
};
/// Before the pages of the findings.
constexpr Chapter chapters[] = {
    {"usage.md", QT_TRANSLATE_NOOP("Manual", "Commands and the window")},
    {"cookbook.md", QT_TRANSLATE_NOOP("Manual", "Cookbook: twenty questions")},
    {"diagnoses.md", QT_TRANSLATE_NOOP("Manual", "Diagnoses")},
    {"filters.md", QT_TRANSLATE_NOOP("Manual", "Filters")},
    {"policy.md", QT_TRANSLATE_NOOP("Manual", "Policies of markings")},
    {"compare.md", QT_TRANSLATE_NOOP("Manual", "Comparing two points")},
    {"why.md", QT_TRANSLATE_NOOP("Manual", "Stories of queue pairs")},
    {"capture.md", QT_TRANSLATE_NOOP("Manual", "Live capture")},
    {"pause.md", QT_TRANSLATE_NOOP("Manual", "Pauses and DCBX")},
    {"fabrics.md", QT_TRANSLATE_NOOP("Manual", "Fabrics of today")},
    {"exports.md", QT_TRANSLATE_NOOP("Manual", "Samples of switches")},
    {"host.md", QT_TRANSLATE_NOOP("Manual", "Hosts")},
    {"fleet.md", QT_TRANSLATE_NOOP("Manual", "Stores of many hosts")},
    {"wireshark.md", QT_TRANSLATE_NOOP("Manual", "Inside Wireshark")},
    {"python.md", QT_TRANSLATE_NOOP("Manual", "Python")},
    {"formats.md", QT_TRANSLATE_NOOP("Manual", "Formats of captures")},
    {"output.md", QT_TRANSLATE_NOOP("Manual", "Output for programs")},
    {"diagnostics.md", QT_TRANSLATE_NOOP("Manual", "Diagnostics")},
    {"configuration.md", QT_TRANSLATE_NOOP("Manual", "Configuration file")},
    {"findings/README.md", QT_TRANSLATE_NOOP("Manual", "All findings")},
};

/// By PageId.
constexpr const char* of_pages[] = {"usage.md#the-window",
                                    "filters.md",
                                    "diagnoses.md",
                                    "usage.md#incidents",
                                    "usage.md#connections-and-flows",
                                    "policy.md",
                                    "fabrics.md",
                                    "capture.md",
                                    "compare.md"};
static_assert(std::size(of_pages) == page_count);

QString text_of(const QString& chapter) {
  QFile file(manual_root + chapter);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// As links name a heading: in small letters, spaces as "-", without anything but letters, digits, "-", "_".
QString anchor_of(const QString& heading) {
  QString anchor;
  for (const QChar c : heading.toLower()) {
    if (c.isLetterOrNumber() || c == QLatin1Char('-') || c == QLatin1Char('_')) anchor += c;
    if (c == QLatin1Char(' ')) anchor += QLatin1Char('-');
  }
  return anchor;
}

}  // namespace

Manual::Manual(QWidget* parent)
    : QDialog(parent, Qt::Window),
      search_(new QLineEdit),
      contents_(new QListWidget),
      text_(new QTextBrowser) {
  make_manual_known();
  setObjectName(QStringLiteral("manual"));
  setWindowTitle(tr("Manual of roceanalyze"));
  search_->setPlaceholderText(tr("Search the manual"));
  search_->setAccessibleName(tr("Search the manual"));
  search_->setClearButtonEnabled(true);
  contents_->setAccessibleName(tr("Contents"));
  contents_->setUniformItemSizes(true);
  text_->setAccessibleName(tr("Chapter"));
  text_->setOpenLinks(false);
  text_->setFrameShape(QFrame::NoFrame);
  auto* left = new QWidget;
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(search_);
  column->addWidget(contents_, 1);
  auto* split = new QSplitter;
  split->addWidget(left);
  split->addWidget(text_);
  split->setStretchFactor(1, 1);
  split->setChildrenCollapsible(false);
  const int letter = fontMetrics().averageCharWidth();
  split->setSizes({30 * letter, 100 * letter});
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(split);
  resize(130 * letter, 45 * fontMetrics().height());
  fill_contents();
  connect(contents_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (item != nullptr && item->data(Qt::UserRole).toString() != chapter_)
      show_chapter(item->data(Qt::UserRole).toString());
  });
  connect(search_, &QLineEdit::textChanged, this, &Manual::find_text);
  connect(text_, &QTextBrowser::anchorClicked, this, &Manual::follow);
}

QString Manual::chapter_of(PageId page) {
  return QString::fromLatin1(of_pages[static_cast<std::size_t>(page)]);
}

QString Manual::chapter_of_rule(const QString& rule) {
  return QStringLiteral("findings/%1.md").arg(rule);
}

void Manual::fill_contents() {
  const auto add = [this](const QString& title, const QString& chapter) {
    auto* item = new QListWidgetItem(title, contents_);
    item->setData(Qt::UserRole, chapter);
  };
  add(tr("Keys"), keys_chapter);
  for (const Chapter& chapter : chapters) add(tr(chapter.title), QString::fromLatin1(chapter.file));
  const QDir findings(manual_root + QStringLiteral("findings"));
  for (const QString& name : findings.entryList({QStringLiteral("*.md")}, QDir::Files, QDir::Name)) {
    if (name == QLatin1String("README.md")) continue;
    // Their first line is "# rule".
    add(QStringLiteral("    ") + name.chopped(3), QStringLiteral("findings/") + name);
  }
}

void Manual::set_keys(const QString& html) {
  keys_ = html;
  if (chapter_ == keys_chapter) text_->setHtml(keys_);
}

void Manual::show_chapter(const QString& chapter) {
  const QString file = chapter.section(QLatin1Char('#'), 0, 0);
  if (file != chapter_) {
    chapter_ = file;
    if (file == keys_chapter) {
      text_->setHtml(keys_);
    } else if (const QString markdown = text_of(file); !markdown.isEmpty()) {
      text_->document()->setMarkdown(markdown, QTextDocument::MarkdownDialectGitHub);
    } else {
      text_->setPlainText(tr("%1 is not part of the manual.").arg(file));
    }
    text_->moveCursor(QTextCursor::Start);
    for (int i = 0; i < contents_->count(); ++i) {
      if (contents_->item(i)->data(Qt::UserRole).toString() != file) continue;
      contents_->setCurrentRow(i);
      break;
    }
    mark_words();
  }
  scroll_to(chapter.section(QLatin1Char('#'), 1));
}

void Manual::scroll_to(const QString& heading) {
  if (heading.isEmpty()) return;
  for (QTextBlock block = text_->document()->begin(); block.isValid(); block = block.next()) {
    if (block.blockFormat().headingLevel() == 0 || anchor_of(block.text()) != heading) continue;
    // To the end first: the heading is then at the top.
    text_->moveCursor(QTextCursor::End);
    text_->setTextCursor(QTextCursor(block));
    return;
  }
}

/// Only chapters that contain all words are listed; the first one is shown if the one that is does not.
void Manual::find_text() {
  const QStringList words = search_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  int first = -1;
  bool shown = false;
  for (int i = 0; i < contents_->count(); ++i) {
    QListWidgetItem* item = contents_->item(i);
    const QString chapter = item->data(Qt::UserRole).toString();
    const QString text = item->text() + (chapter == keys_chapter ? keys_ : text_of(chapter));
    const bool found = std::all_of(words.begin(), words.end(), [&](const QString& word) {
      return text.contains(word, Qt::CaseInsensitive);
    });
    item->setHidden(!found);
    if (found && first < 0) first = i;
    shown = shown || (found && chapter == chapter_);
  }
  if (!shown && first >= 0) show_chapter(contents_->item(first)->data(Qt::UserRole).toString());
  mark_words();
}

void Manual::mark_words() {
  QList<QTextEdit::ExtraSelection> marks;
  constexpr int most = 500;
  for (const QString& word : search_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    QTextCursor place(text_->document());
    while (marks.size() < most && !(place = text_->document()->find(word, place)).isNull()) {
      QTextEdit::ExtraSelection mark;
      mark.cursor = place;
      mark.format.setBackground(palette().highlight());
      mark.format.setForeground(palette().highlightedText());
      marks << mark;
    }
  }
  text_->setExtraSelections(marks);
  if (!marks.isEmpty()) {
    text_->setTextCursor(QTextCursor(marks.front().cursor.block()));
    text_->ensureCursorVisible();
  }
}

void Manual::follow(const QUrl& link) {
  if (!link.isRelative()) {
    QDesktopServices::openUrl(link);
    return;
  }
  const QString heading = link.hasFragment() ? QLatin1Char('#') + link.fragment() : QString();
  const QString path = link.path();
  const QString folder = QFileInfo(chapter_).path();
  show_chapter((path.isEmpty() ? chapter_ : QDir::cleanPath(folder + QLatin1Char('/') + path)) + heading);
}

}  // namespace roce::gui
