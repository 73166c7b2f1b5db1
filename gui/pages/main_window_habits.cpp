// SPDX-License-Identifier: Apache-2.0
// Preferences, profiles, recent files, and opening rings of files.
#include <QFile>
#include <QFileInfo>
#include <QInputDialog>

#include "gui/models/ring_set.hpp"
#include "gui/models/shown_names.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/pages/main_window.hpp"
#include "gui/pages/preferences_dialog.hpp"

namespace roce::gui {
namespace {

/// A name as menu text: "&" is doubled, as it would mark a shortcut.
QString menu_text(QString name) {
  return name.replace(QLatin1Char('&'), QStringLiteral("&&"));
}

}  // namespace

void MainWindow::apply_preferences(const Preferences& preferences) {
  const bool other_times = preferences.time != time_display();
  set_time_display(preferences.time);
  AnalysisChoice choice = session_.choice();
  choice.check_icrc = preferences.check_icrc;
  choice.jobs = preferences.jobs;
  choice.link_speed_bps = preferences.link_speed_bps;
  choice.dissecting = preferences.dissecting;
  session_.set_choice(choice);
  const bool other_names = read_host_names(preferences.host_names);
  if (!other_times && !other_names) return say_names();
  // Time format and names change texts of the same snapshot, in every window.
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    if (auto* window = qobject_cast<MainWindow*>(widget)) {
      Q_EMIT window->session_.snapshot_changed();
      window->show_state();
    }
  }
  say_names();
}

void MainWindow::say_names() {
  if (!names_problem_.isEmpty()) say(names_problem_);
}

/// Whether other names are shown from now on: none of a file that cannot be used.
bool MainWindow::read_host_names(const QString& file) {
  std::shared_ptr<const analyze::HostNames> names;
  names_problem_.clear();
  if (!file.isEmpty()) {
    auto read = analyze::HostNames::load(QFile::encodeName(file).toStdString());
    if (read) {
      names = std::make_shared<const analyze::HostNames>(*std::move(read));
    } else {
      names_problem_ = tr("Names of hosts not used: %1: %2").arg(shown_name(file), to_qt(read.error()));
    }
  }
  const bool other = host_names() != nullptr || names != nullptr;
  set_host_names(std::move(names));
  return other;
}

void MainWindow::take_preferences(const Preferences& preferences) {
  QSettings kept = settings();
  preferences.save(kept);
  apply_theme(theme_named(preferences.theme));
  if (QAction* theme = findChild<QAction*>(QStringLiteral("theme_") + preferences.theme))
    theme->setChecked(true);
  apply_preferences(preferences);
}

void MainWindow::ask_preferences() {
  const QSettings kept = settings();
  PreferencesDialog dialog(Preferences::load(kept), this);
  connect(&dialog, &PreferencesDialog::applied, this, &MainWindow::take_preferences);
  dialog.exec();
}

void MainWindow::fill_profiles() {
  profiles_->clear();
  QSettings kept = settings();
  const QStringList names = profiles(kept);
  for (const QString& name : names) {
    QAction* action = profiles_->addAction(menu_text(name));
    action->setData(name);
    connect(action, &QAction::triggered, this, [this, name] { use_profile(name); });
  }
  profiles_->addSeparator();
  QAction* save = profiles_->addAction(tr("&Save as profile..."));
  save->setObjectName(QStringLiteral("save_profile"));
  connect(save, &QAction::triggered, this, [this] {
    const QString name = QInputDialog::getText(this, tr("Save profile"),
                                               tr("Save the current layout, columns and preferences as:"));
    if (!name.isEmpty()) keep_profile(name);
  });
  QMenu* remove = profiles_->addMenu(tr("&Delete"));
  remove->setEnabled(!names.isEmpty());
  for (const QString& name : names) {
    QAction* action = remove->addAction(menu_text(name));
    connect(action, &QAction::triggered, this, [this, name] {
      QSettings all = settings();
      remove_profile(all, name);
      say(tr("Profile deleted: %1").arg(name));
    });
  }
}

void MainWindow::keep_profile(const QString& name) {
  save_layout();
  QSettings kept = settings();
  say(save_profile(kept, name) ? tr("Profile saved: %1").arg(name) : tr("A profile needs a name"));
}

void MainWindow::use_profile(const QString& name) {
  QSettings kept = settings();
  if (!choose_profile(kept, name)) {
    say(tr("There is no profile %1 any more").arg(name));
    return;
  }
  restore_layout();
  take_preferences(Preferences::load(kept));
  say(tr("Profile: %1").arg(name));
}

void MainWindow::fill_recent() {
  recent_->clear();
  for (const RecentFiles::Entry& entry : recent_files_.entries()) {
    QAction* action = recent_->addAction(QString());
    action->setData(entry.files);
    connect(action, &QAction::triggered, this, [this, files = entry.files] { open(files); });
  }
  recent_->addSeparator();
  QAction* clear = recent_->addAction(tr("&Clear list"));
  clear->setEnabled(!recent_files_.entries().isEmpty());
  // Queued: not while its own menu is in use.
  connect(
      clear, &QAction::triggered, this,
      [this] {
        QSettings kept = settings();
        recent_files_.clear(kept);
      },
      Qt::QueuedConnection);
}

/// Lists recent files in the menu and on the first page.
void MainWindow::show_recent() {
  QList<QStringList> offered;
  for (const QAction* action : recent_->actions()) {
    if (action->data().isValid()) offered << action->data().toStringList();
  }
  QList<QStringList> wanted;
  QStringList names;
  for (const RecentFiles::Entry& entry : recent_files_.entries()) {
    wanted << entry.files;
    names << entry.name();
  }
  // An open menu keeps its rows: only their texts change while files are being checked.
  if (offered != wanted || recent_->isEmpty()) fill_recent();
  for (qsizetype i = 0; i < names.size(); ++i)
    recent_->actions()[i]->setText(QStringLiteral("&%1 %2").arg(i + 1).arg(menu_text(names[i])));
  overview_->offer_recent(names);
}

void MainWindow::open_ring() {
  const QStringList files = session_.files().isEmpty() ? QStringList() : ring_of(session_.files().front());
  if (files.isEmpty()) {
    say(tr(
        "This capture is not part of a ring (NAME_00001_20261120110853.pcapng) with other files beside it"));
    return;
  }
  open(files);
}

}  // namespace roce::gui
