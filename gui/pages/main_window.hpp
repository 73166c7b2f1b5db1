// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QActionGroup>
#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QMenu>
#include <QProgressBar>
#include <QSettings>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <array>
#include <functional>

#include "gui/charts/theme.hpp"
#include "gui/models/analysis_session.hpp"
#include "gui/models/preferences.hpp"
#include "gui/models/recent_files.hpp"
#include "gui/models/selection.hpp"
#include "gui/pages/compare_page.hpp"
#include "gui/pages/connections_page.hpp"
#include "gui/pages/fabric_page.hpp"
#include "gui/pages/findings_page.hpp"
#include "gui/pages/history.hpp"
#include "gui/pages/incidents_page.hpp"
#include "gui/pages/live_page.hpp"
#include "gui/pages/manual.hpp"
#include "gui/pages/markings_page.hpp"
#include "gui/pages/output_actions.hpp"
#include "gui/pages/overview_page.hpp"
#include "gui/pages/packets_page.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/timeline_bar.hpp"

namespace roce::gui {

/// The settings of the program (INI file of the user).
[[nodiscard]] QSettings settings();

/// A window: one capture, the pages as docks, the menus. Several windows share only the settings.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;
  MainWindow(const MainWindow&) = delete;
  MainWindow& operator=(const MainWindow&) = delete;

  using Unsaved = gui::Unsaved;
  /// Questions to the user; tests replace them.
  struct Questions {
    std::function<QStringList(QWidget*)> files_to_open;
    std::function<QString(QWidget*)> policy_file;
    std::function<void(QWidget*)> about;
    /// Arguments: parent, what is not saved.
    std::function<Unsaved(QWidget*, const QString&)> unsaved_comments;
    /// Whether that file may replace the open capture. Arguments: parent, what comes instead.
    std::function<bool(QWidget*, const QString&)> may_replace;
  };
  void set_questions(Questions questions) { questions_ = std::move(questions); }

  void open(const QStringList& files);
  /// A file or the name of a policy profile; empty: none. False: not usable; message() says why, and nothing
  /// changes.
  bool choose_policy(const QString& file_or_profile);
  void show_page(PageId page);
  /// Applies preferences and saves them.
  void take_preferences(const Preferences& preferences);
  /// Save and restore layout, columns and preferences under a name.
  void keep_profile(const QString& name);
  void use_profile(const QString& name);
  /// Opens all files of the ring that the open file belongs to.
  void open_ring();
  /// Whether all pages, also hidden ones, show the newest snapshot.
  [[nodiscard]] bool is_settled() const;

  [[nodiscard]] AnalysisSession& session() noexcept { return session_; }
  [[nodiscard]] Selection& selection() noexcept { return selection_; }
  [[nodiscard]] OverviewPage& overview() noexcept { return *overview_; }
  [[nodiscard]] PacketsPage& packets() noexcept { return *packets_; }
  [[nodiscard]] FindingsPage& findings() noexcept { return *findings_; }
  [[nodiscard]] ConnectionsPage& connections() noexcept { return *connections_; }
  [[nodiscard]] MarkingsPage& markings() noexcept { return *markings_; }
  [[nodiscard]] FabricPage& fabric() noexcept { return *fabric_; }
  [[nodiscard]] OutputActions& output() noexcept { return *output_; }
  [[nodiscard]] LivePage& live() noexcept { return *live_; }
  [[nodiscard]] ComparePage& compare() noexcept { return *compare_; }
  [[nodiscard]] IncidentsPage& incidents() noexcept { return *incidents_; }
  [[nodiscard]] TimelineBar& times() noexcept { return *times_; }
  [[nodiscard]] MasterTimeline& timeline() noexcept { return times_->timeline(); }
  [[nodiscard]] QString message() const { return message_->text(); }

 protected:
  bool event(QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  using Handler = void (MainWindow::*)();
  /// One row of the table of actions.
  struct ActionRow;

  /// Saved with a layout: a layout of another version is ignored.
  static constexpr int layout_version = 3;

  void make_pages();
  void make_timeline();
  void show_timeline();
  void make_status();
  void make_menus();
  void make_tools();
  void add_policy_menu(QMenu* menu);
  void add_theme_menu(QMenu* menu);
  void add_page_actions(QMenu* menu);
  void connect_pages();
  [[nodiscard]] QRect docked() const;
  [[nodiscard]] Place place() const;
  void note_place();
  void go_to(const Place& place);
  void show_ways();
  void open_manual(const QString& chapter);
  void catch_up_later();
  void catch_up();
  /// Whether the capture may be closed; asks if comments would be lost. If the user wants to save first,
  /// returns false, and `then` is called once they are saved.
  [[nodiscard]] bool may_let_go(std::function<void()> then);
  /// Whether the open capture, if any, may be replaced by something that the user did not open by name.
  [[nodiscard]] bool may_replace(const QString& by);
  void show_packet(const QStringList& files, qulonglong packet, const QVariant& connection);
  void restore_layout();
  void save_layout();
  void keep_recent();
  void show_recent();
  void fill_recent();
  void show_state();
  void show_progress();
  void show_selection();
  void say(const QString& text);
  void stand(const QString& text);
  void apply_preferences(const Preferences& preferences);
  [[nodiscard]] bool read_host_names(const QString& file);
  void say_names();
  void fill_profiles();

  // Handlers of actions.
  void ask_files();
  void save_capture();
  void new_window();
  void reload();
  void close_capture();
  void copy();
  void find();
  void clear_selection();
  void next_finding();
  void previous_finding();
  void back();
  void forward();
  void copy_command();
  void cancel();
  void ask_policy();
  void full_screen();
  void larger();
  void smaller();
  void normal_size();
  void reset_layout();
  void about();
  void show_manual();
  void show_keys();
  void ask_preferences();

  AnalysisSession session_;
  Selection selection_;
  Questions questions_;
  OverviewPage* overview_ = nullptr;
  PacketsPage* packets_ = nullptr;
  FindingsPage* findings_ = nullptr;
  IncidentsPage* incidents_ = nullptr;
  ConnectionsPage* connections_ = nullptr;
  MarkingsPage* markings_ = nullptr;
  FabricPage* fabric_ = nullptr;
  OutputActions* output_ = nullptr;
  LivePage* live_ = nullptr;
  ComparePage* compare_ = nullptr;
  TimelineBar* times_ = nullptr;
  QToolBar* timeline_bar_ = nullptr;
  QAction* timeline_wanted_ = nullptr;
  std::array<QDockWidget*, page_count> docks_{};
  QTimer behind_;                       ///< runs as long as a page may have to catch up
  std::function<void()> after_saving_;  ///< called when the capture has been saved
  QByteArray first_layout_;
  RecentFiles recent_files_;
  QStringList to_keep_;  ///< opened, and listed as recent when something of it was read
  QMenu* recent_ = nullptr;
  QMenu* profiles_ = nullptr;
  QActionGroup* policies_ = nullptr;
  QString policy_name_;
  QString names_problem_;  ///< why the names of hosts are not used
  QLabel* message_ = nullptr;
  QString standing_;   ///< permanent text of message_
  QTimer said_{this};  ///< runs while message_ shows a temporary text
  QLabel* selected_ = nullptr;
  QToolBar* tools_ = nullptr;
  Manual* manual_ = nullptr;            ///< made when it is asked for
  PageId in_front_ = PageId::overview;  ///< the page that came to the front last
  History history_;
  QTimer moved_{this};  ///< runs for a moment after the user has gone elsewhere
  bool going_ = false;  ///< back or forward: what pages select then is part of that place
  QAction* back_ = nullptr;
  QAction* forward_ = nullptr;
  QProgressBar* bar_ = nullptr;
  QToolButton* stop_ = nullptr;
  QAction* cancel_ = nullptr;
  QAction* reload_ = nullptr;
  QAction* close_ = nullptr;
  QAction* save_ = nullptr;
};

}  // namespace roce::gui
