// SPDX-License-Identifier: Apache-2.0
// The menus: the tables of actions, and their handlers. Shortcuts are those of Wireshark and the desktop.
#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QMenuBar>
#include <QTextBrowser>
#include <algorithm>

#include "analyze/policy/marking_policy.hpp"
#include "gui/models/details.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/main_window.hpp"
#include "gui/pages/menu_rows.hpp"

namespace roce::gui {

struct MainWindow::ActionRow {
  const char* name;  ///< objectName; empty: a separator
  QString text;
  QKeySequence keys;
  QString help;
  Handler handler;
};

void MainWindow::make_menus() {
  const ActionRow line{"", {}, {}, {}, nullptr};
  const auto fill = [this](QMenu* menu, const std::vector<ActionRow>& rows) { add_rows(menu, rows, this); };

  QMenu* file = menuBar()->addMenu(tr("&File"));
  fill(file, {{"open", tr("&Open..."), QKeySequence::Open, tr("Open one or more captures"),
               &MainWindow::ask_files}});
  recent_ = file->addMenu(tr("Open &recent"));
  connect(recent_, &QMenu::aboutToShow, this, [this] { recent_files_.load(settings()); });
  connect(&recent_files_, &RecentFiles::changed, this, &MainWindow::show_recent);
  fill(file, {{"open_ring",
               tr("Open whole rin&g"),
               {},
               tr("Open all files of the ring buffer that this capture belongs to"),
               &MainWindow::open_ring},
              {"save_capture", tr("&Save capture as..."), QKeySequence::Save,
               tr("Save all packets with their comments as pcapng"), &MainWindow::save_capture},
              {"reload", tr("Re&load"), QKeySequence(Qt::CTRL | Qt::Key_R), tr("Read the same files again"),
               &MainWindow::reload},
              {"close", tr("&Close capture"), QKeySequence(Qt::CTRL | Qt::Key_W), tr("Close the capture"),
               &MainWindow::close_capture},
              line});
  output_->add_to(file);
  fill(file, {{"new_window", tr("&New window"), QKeySequence::New,
               tr("Open another window for another capture"), &MainWindow::new_window},
              line});
  QAction* quit = file->addAction(tr("&Quit"));
  quit->setObjectName(QStringLiteral("quit"));
  quit->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Q));
  connect(quit, &QAction::triggered, qApp, &QApplication::closeAllWindows);

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  fill(edit,
       {{"copy", tr("&Copy"), QKeySequence::Copy, tr("Copy the selection as text"), &MainWindow::copy},
        {"copy_command", tr("Copy command of &finding"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C),
         tr("Copy the command that shows the packets of the selected finding"), &MainWindow::copy_command},
        line,
        {"find", tr("&Find"), QKeySequence::Find, tr("Search in this page"), &MainWindow::find},
        {"clear", tr("C&lear selection"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A),
         tr("Clear the selected time range, packet, connection and finding"), &MainWindow::clear_selection},
        line,
        {"preferences", tr("&Preferences..."), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P),
         tr("Colours, time format and analysis options"), &MainWindow::ask_preferences}});

  QMenu* view = menuBar()->addMenu(tr("&View"));
  add_page_actions(view);
  view->addSeparator();
  view->addAction(timeline_wanted_);
  add_theme_menu(view);
  profiles_ = view->addMenu(tr("Pro&files"));
  connect(profiles_, &QMenu::aboutToShow, this, &MainWindow::fill_profiles);
  fill_profiles();
  fill(view, {{"larger", tr("Zoom &in"), QKeySequence::ZoomIn, tr("Larger font"), &MainWindow::larger},
              {"smaller", tr("Zoom &out"), QKeySequence::ZoomOut, tr("Smaller font"), &MainWindow::smaller},
              {"normal_size", tr("&Normal size"), QKeySequence(Qt::CTRL | Qt::Key_0),
               tr("Font size of the desktop"), &MainWindow::normal_size},
              line,
              {"full_screen", tr("&Full screen"), QKeySequence(Qt::Key_F11),
               tr("Show the window full screen"), &MainWindow::full_screen},
              {"reset_layout",
               tr("&Reset layout"),
               {},
               tr("Restore the default layout of the pages"),
               &MainWindow::reset_layout}});

  QMenu* go = menuBar()->addMenu(tr("&Go"));
  fill(go, {{"back", tr("&Back"), QKeySequence(Qt::ALT | Qt::Key_Left),
             tr("Where you were before: the page, and what was selected there"), &MainWindow::back},
            {"forward", tr("&Forward"), QKeySequence(Qt::ALT | Qt::Key_Right),
             tr("Where you were before you went back"), &MainWindow::forward},
            line,
            {"next_finding", tr("&Next finding"), QKeySequence(Qt::Key_F8),
             tr("Select the next finding, worst first"), &MainWindow::next_finding},
            {"previous_finding", tr("&Previous finding"), QKeySequence(Qt::Key_F7),
             tr("Select the previous finding"), &MainWindow::previous_finding}});

  packets_->fill_menu(menuBar()->addMenu(tr("&Packets")));

  QMenu* analysis = menuBar()->addMenu(tr("&Analyze"));
  fill(analysis, {{"cancel", tr("&Stop reading"), QKeySequence(Qt::CTRL | Qt::Key_E),
                   tr("Stop, and show what was read so far"), &MainWindow::cancel}});
  add_policy_menu(analysis->addMenu(tr("Marking &policy")));

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  fill(help,
       {{"manual", tr("&Manual"), QKeySequence::HelpContents,
         tr("The chapter about this page, and about the selected finding"), &MainWindow::show_manual},
        {"keys", tr("&Keys"), QKeySequence(Qt::CTRL | Qt::Key_F1), tr("All keys of this window"),
         &MainWindow::show_keys},
        line,
        {"about", tr("&About roceanalyze"), {}, tr("Version, libraries, licence"), &MainWindow::about}});
  QAction* about_qt = help->addAction(tr("About &Qt"));
  about_qt->setObjectName(QStringLiteral("about_qt"));
  connect(about_qt, &QAction::triggered, qApp, &QApplication::aboutQt);

  cancel_ = findChild<QAction*>(QStringLiteral("cancel"));
  reload_ = findChild<QAction*>(QStringLiteral("reload"));
  close_ = findChild<QAction*>(QStringLiteral("close"));
  save_ = findChild<QAction*>(QStringLiteral("save_capture"));
  back_ = findChild<QAction*>(QStringLiteral("back"));
  forward_ = findChild<QAction*>(QStringLiteral("forward"));
  stop_->setDefaultAction(cancel_);
  show_recent();
}

void MainWindow::add_page_actions(QMenu* menu) {
  for (std::size_t i = 0; i < docks_.size(); ++i) {
    QAction* action = menu->addAction(QStringLiteral("&%1 %2").arg(i + 1).arg(docks_[i]->windowTitle()));
    action->setObjectName(QStringLiteral("page_") + docks_[i]->objectName());
    action->setShortcut(QKeySequence(Qt::ALT | static_cast<Qt::Key>(Qt::Key_1 + static_cast<int>(i))));
    connect(action, &QAction::triggered, this, [this, i] { show_page(static_cast<PageId>(i)); });
  }
  QMenu* shown = menu->addMenu(tr("&Pages shown"));
  for (QDockWidget* dock : docks_) shown->addAction(dock->toggleViewAction());
}

void MainWindow::add_theme_menu(QMenu* menu) {
  QMenu* themes = menu->addMenu(tr("&Colours"));
  auto* group = new QActionGroup(this);
  const QString kept = settings().value(QStringLiteral("theme")).toString();
  const std::pair<Theme, QString> rows[] = {
      {Theme::system, tr("Same as &desktop")}, {Theme::light, tr("&Light")}, {Theme::dark, tr("D&ark")}};
  for (const auto& [theme, text] : rows) {
    QAction* action = themes->addAction(text);
    action->setObjectName(QStringLiteral("theme_") + theme_name(theme));
    action->setCheckable(true);
    action->setChecked(theme == theme_named(kept));
    group->addAction(action);
    connect(action, &QAction::triggered, this, [theme = theme] {
      settings().setValue(QStringLiteral("theme"), theme_name(theme));
      apply_theme(theme);
    });
  }
}

void MainWindow::add_policy_menu(QMenu* menu) {
  policies_ = new QActionGroup(this);
  const auto add = [&](const QString& text, const QString& name, const QString& help) {
    QAction* action = menu->addAction(text);
    action->setObjectName(QStringLiteral("policy_") + name);
    action->setData(name);
    action->setToolTip(help);
    action->setCheckable(true);
    action->setChecked(name == policy_name_);
    policies_->addAction(action);
    connect(action, &QAction::triggered, this, [this, name] { choose_policy(name); });
  };
  menu->setToolTipsVisible(true);
  add(tr("&None"), QString(), tr("Markings are shown but not validated"));
  for (const analyze::PolicyProfile& profile : analyze::policy_profiles())
    add(to_qt(profile.name), to_qt(profile.name), to_qt(profile.summary));
  menu->addSeparator();
  QAction* file = menu->addAction(tr("From &file..."));
  file->setObjectName(QStringLiteral("policy_file"));
  connect(file, &QAction::triggered, this, &MainWindow::ask_policy);
}

void MainWindow::ask_files() {
  open(questions_.files_to_open(this));
}

void MainWindow::save_capture() {
  (void)packets_->save_capture();
}

void MainWindow::new_window() {
  auto* window = new MainWindow;
  window->setAttribute(Qt::WA_DeleteOnClose);
  window->set_questions(questions_);
  window->show();
}

void MainWindow::reload() {
  if (!may_let_go([this] { reload(); })) return;
  // Time range and packet may not match the new contents of the file.
  selection_.set_time({});
  selection_.set_packet({});
  session_.reload();
}

void MainWindow::close_capture() {
  if (!may_let_go([this] { close_capture(); })) return;
  session_.close();
  selection_.clear();
  history_.clear();
  show_ways();
}

void MainWindow::copy() {
  QWidget* focus = QApplication::focusWidget();
  if (auto* table = qobject_cast<TableView*>(focus)) {
    table->copy_rows();
  } else if (qobject_cast<PacketListView*>(focus) != nullptr) {
    packets_->copy(PacketFormat::text);
  } else if (auto* text = qobject_cast<QTextEdit*>(focus)) {
    text->copy();
  } else if (auto* field = qobject_cast<QLineEdit*>(focus)) {
    field->copy();
  } else if (auto* label = qobject_cast<QLabel*>(focus); label != nullptr && label->hasSelectedText()) {
    QApplication::clipboard()->setText(label->selectedText());
  }
}

void MainWindow::find() {
  // The page in front; if it has no search field, the page of connections.
  for (QDockWidget* dock : docks_) {
    auto* page = static_cast<Page*>(dock->widget());
    QWidget* field = page->visibleRegion().isEmpty() ? nullptr : page->search_field();
    if (field == nullptr) continue;
    field->setFocus(Qt::ShortcutFocusReason);
    return;
  }
  show_page(PageId::connections);
  connections_->search_field()->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::clear_selection() {
  selection_.clear();
}

void MainWindow::next_finding() {
  show_page(PageId::findings);
  findings_->step(1);
}

void MainWindow::previous_finding() {
  show_page(PageId::findings);
  findings_->step(-1);
}

void MainWindow::copy_command() {
  const auto& snapshot = session_.snapshot();
  if (snapshot) {
    const analyze::Finding* finding = find_finding(*snapshot, selection_.finding());
    // Where a diagnosis is explained, its commands are those to be seen.
    const auto diagnosis = findings_->is_seen() ? findings_->explained() : std::nullopt;
    const QStringList commands = diagnosis            ? diagnosis_commands(*diagnosis->of, session_.files())
                                 : finding == nullptr ? QStringList()
                                                      : finding_commands(*finding, session_.files());
    if (!commands.isEmpty()) {
      QApplication::clipboard()->setText(commands.join(QLatin1Char('\n')));
      say(tr("Copied: %1").arg(commands.join(QStringLiteral("; "))));
      return;
    }
  }
  say(tr("No diagnosis or finding with a command is selected"));
}

void MainWindow::cancel() {
  session_.cancel();
}

void MainWindow::ask_policy() {
  const QString file = questions_.policy_file(this);
  if (!file.isEmpty()) choose_policy(file);
}

void MainWindow::full_screen() {
  setWindowState(windowState() ^ Qt::WindowFullScreen);
}

namespace {

void scale_font(double factor) {
  static const double normal = QApplication::font().pointSizeF();
  QFont font = QApplication::font();
  const double now = font.pointSizeF() > 0 ? font.pointSizeF() : normal;
  font.setPointSizeF(factor > 0 ? std::clamp(now * factor, normal * 0.6, normal * 2.5) : normal);
  QApplication::setFont(font);
}

}  // namespace

void MainWindow::larger() {
  scale_font(1.1);
}

void MainWindow::smaller() {
  scale_font(1 / 1.1);
}

void MainWindow::normal_size() {
  scale_font(0);
}

void MainWindow::reset_layout() {
  restoreState(first_layout_, layout_version);
  timeline_wanted_->setChecked(true);
  show_timeline();
  for (QDockWidget* dock : docks_) dock->show();
  show_page(PageId::overview);
}

/// On the page of findings about the finding that is explained there, otherwise about the page.
void MainWindow::show_manual() {
  QString chapter = Manual::chapter_of(in_front_);
  const auto& snapshot = session_.snapshot();
  if (in_front_ == PageId::findings && snapshot && !findings_->explained()) {
    if (const analyze::Finding* finding = find_finding(*snapshot, selection_.finding()))
      chapter = Manual::chapter_of_rule(to_qt(finding->id));
  }
  open_manual(chapter);
}

void MainWindow::show_keys() {
  open_manual(QStringLiteral("keys"));
}

void MainWindow::open_manual(const QString& chapter) {
  if (manual_ == nullptr) {
    manual_ = new Manual(this);
    QString rows;
    for (const QMenu* menu : menuBar()->findChildren<QMenu*>()) {
      for (const QAction* action : menu->actions()) {
        if (action->shortcut().isEmpty()) continue;
        QString title = action->text();
        title.remove(QLatin1Char('&')).remove(QStringLiteral("..."));
        // An entry without a help of its own has its text in its place.
        const QString help = action->statusTip().isEmpty() ? title : action->statusTip();
        rows += QStringLiteral("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2&nbsp;&nbsp;</td><td>%3</td></tr>")
                    .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(),
                         title.toHtmlEscaped(), help.toHtmlEscaped());
      }
    }
    manual_->set_keys(QStringLiteral("<h1>%1</h1><table cellpadding=3>%2</table>").arg(tr("Keys"), rows));
  }
  manual_->show_chapter(chapter);
  manual_->show();
  manual_->raise();
  manual_->activateWindow();
}

void MainWindow::about() {
  questions_.about(this);
}

}  // namespace roce::gui
