// SPDX-License-Identifier: Apache-2.0
// Packet comments of the user on the page of packets.
#include "gui/pages/menu_rows.hpp"
#include "gui/pages/packets_page.hpp"

namespace roce::gui {
namespace {

/// Limit for one action: each packet gets its own copy.
constexpr std::uint64_t commented_at_once = 10'000;

}  // namespace

void PacketsPage::fill_comment_menu(QMenu* menu) {
  const std::vector<ActionRow> rows = {
      {"add_comment", tr("&Add comment..."), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_C),
       tr("Add a comment to each selected packet"), [this] { add_comment(); }},
      {"remove_comments",
       tr("&Remove comments"),
       {},
       tr("Remove all comments of the selected packets"),
       [this] { remove_comments(); }},
      {"show_commented",
       tr("&Show packets with comments"),
       {},
       tr("Show only packets with comments"),
       [this] {
         Q_EMIT leads_to(PageId::packets);
         filter_->apply(QStringLiteral("frame.comment"));
       }},
  };
  add_rows(menu, rows, this);
  QMenu* edit = menu->addMenu(tr("&Edit comment"));
  // Filled when the menu is opened.
  connect(menu, &QMenu::aboutToShow, this, [this, edit] { fill_edit_menu(edit); });
}

void PacketsPage::fill_edit_menu(QMenu* menu) {
  constexpr qsizetype longest = 60;
  menu->clear();
  const std::uint64_t number = current_number();
  const QStringList texts = comments(number);
  for (qsizetype i = 0; i < texts.size(); ++i) {
    QString line = texts[i].simplified();
    if (line.size() > longest) line = line.left(longest) + QStringLiteral("...");
    connect(menu->addAction(line.replace(QLatin1Char('&'), QStringLiteral("&&"))), &QAction::triggered, this,
            [this, number, i] { edit_comment(number, static_cast<std::size_t>(i)); });
  }
  menu->setEnabled(!texts.isEmpty());
}

bool PacketsPage::has_unsaved_comments() const {
  return model_.store() != nullptr && model_.store()->comments().unsaved();
}

QStringList PacketsPage::comments(std::uint64_t number) const {
  QStringList texts;
  for (const std::string& text : model_.comments(number)) texts << QString::fromStdString(text);
  return texts;
}

void PacketsPage::set_comments(std::uint64_t number, PacketComments::Texts texts) {
  if (session_.packets() == nullptr || number == 0) return;
  session_.packets()->set_comments(number, std::move(texts));
  model_.refresh(number);
  if (number == current_number()) show_current();
  Q_EMIT comments_changed();
}

/// Asks for a comment; nullopt: cancelled or too long.
std::optional<QString> PacketsPage::ask_comment(const QString& title, const QString& before) {
  std::optional<QString> text = questions_.comment(this, title, before);
  if (!text) return std::nullopt;
  if (const qsizetype bytes = text->toUtf8().size();
      bytes > static_cast<qsizetype>(PacketComments::longest)) {
    Q_EMIT says(tr("The comment was not added: at most %1 bytes are possible, and it has %2")
                    .arg(PacketComments::longest)
                    .arg(bytes));
    return std::nullopt;
  }
  return text;
}

void PacketsPage::add_comment() {
  const PacketChoice choice = chosen(Scope::selected);
  const std::uint64_t count = choice.count();
  if (count == 0 || count > commented_at_once) {
    Q_EMIT says(count == 0 ? tr("No packet is selected")
                           : tr("%1 packets are too many to comment on at once (%2 at most)")
                                 .arg(count)
                                 .arg(commented_at_once));
    return;
  }
  const auto text =
      ask_comment(count == 1 ? tr("Comment on packet %1").arg(choice.number_of(choice.rows.front().first))
                             : tr("Comment on %1 packets").arg(count),
                  {});
  // Another capture may have been opened while the dialog was open.
  if (!text || text->trimmed().isEmpty() || choice.store != model_.store()) return;
  for (const auto& [first, last] : choice.rows) {
    for (int row = first; row <= last; ++row) {
      const std::uint64_t number = choice.number_of(row);
      PacketComments::Texts texts = model_.comments(number);
      texts.push_back(text->toStdString());
      set_comments(number, std::move(texts));
    }
  }
  Q_EMIT says(tr("Comments are kept only until the window is closed: File > Save capture as saves them"));
}

void PacketsPage::edit_comment(std::uint64_t number, std::size_t place) {
  const auto store = model_.store();
  PacketComments::Texts texts = model_.comments(number);
  if (place >= texts.size()) return;
  const QString before = QString::fromStdString(texts[place]);
  const auto text = ask_comment(tr("Comment on packet %1").arg(number), before);
  if (!text || *text == before || store != model_.store()) return;
  texts[place] = text->toStdString();
  if (text->trimmed().isEmpty()) texts.erase(texts.begin() + static_cast<std::ptrdiff_t>(place));
  set_comments(number, std::move(texts));
}

void PacketsPage::remove_comments() {
  const PacketChoice choice = chosen(Scope::selected);
  std::uint64_t removed = 0;
  for (const auto& [first, last] : choice.rows) {
    for (int row = first; row <= last; ++row) {
      const std::uint64_t number = choice.number_of(row);
      if (number == 0 || !choice.store->marks(number).has(PacketMarks::commented)) continue;
      if (removed == commented_at_once) {
        Q_EMIT says(tr("Comments of %1 packets removed, the most at once; there are more").arg(removed));
        return;
      }
      set_comments(number, {});
      ++removed;
    }
  }
  Q_EMIT says(removed == 0 ? tr("No selected packet has comments")
                           : tr("Comments of %n packet(s) removed", nullptr, static_cast<int>(removed)));
}

}  // namespace roce::gui
