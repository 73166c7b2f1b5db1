// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/main_window.hpp"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHoverEvent>
#include <QMessageBox>
#include <QMimeData>
#include <QPaintEvent>
#include <QStatusBar>
#include <QToolBar>
#include <QUrl>
#include <algorithm>
#include <utility>

#include "analyze/policy/marking_policy.hpp"
#include "gui/models/health.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/time_format.hpp"
#include "gui/models/version.hpp"

namespace roce::gui {
namespace {

QStringList ask_for_files(QWidget* parent) {
  return QFileDialog::getOpenFileNames(
      parent, MainWindow::tr("Open captures"), QString(),
      MainWindow::tr("Captures (*.pcap *.pcapng *.cap *.pcap.* *.pcapng.* *.cap.* *.pcap[0-9]* *.gz *.zst "
                     "*.lz4);;All files (*)"));
}

QString ask_for_policy(QWidget* parent) {
  return QFileDialog::getOpenFileName(parent, MainWindow::tr("Marking policy"), QString(),
                                      MainWindow::tr("Policies (*.toml);;All files (*)"));
}

MainWindow::Unsaved ask_about_comments(QWidget* parent, const QString& what) {
  switch (QMessageBox::question(parent, MainWindow::tr("Comments"), what,
                                QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel,
                                QMessageBox::Save)) {
    case QMessageBox::Save:
      return MainWindow::Unsaved::save;
    case QMessageBox::Discard:
      return MainWindow::Unsaved::discard;
    default:
      return MainWindow::Unsaved::keep;
  }
}

bool ask_to_replace(QWidget* parent, const QString& what) {
  return QMessageBox::question(parent, MainWindow::tr("Open capture"), what,
                               QMessageBox::Ok | QMessageBox::Cancel, QMessageBox::Cancel) == QMessageBox::Ok;
}

void show_about(QWidget* parent) {
  QMessageBox::about(
      parent, MainWindow::tr("About roceanalyze"),
      MainWindow::tr("<h3>roceanalyze %1</h3><p>Reads captures of RDMA over Converged Ethernet and shows "
                     "what is wrong, why and on which side, with the packets that prove it.</p><p>%2</p>"
                     "<p>The sources are under the Apache License 2.0. QCustomPlot, which draws the plots, "
                     "is under the GNU GPL, and so this program as a whole is.</p>")
          .arg(version(), build_text().toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"))));
}

}  // namespace

QSettings settings() {
  return QSettings(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("roceanalyze"),
                   QStringLiteral("roceanalyze-gui"));
}

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      questions_{ask_for_files, ask_for_policy, show_about, ask_about_comments, ask_to_replace} {
  setObjectName(QStringLiteral("window"));
  setAcceptDrops(true);
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks | GroupedDragging);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  resize(1280, 800);
  // Connected before any page: the page Live reports later why a capture ended, and that must stay visible.
  connect(&session_, &AnalysisSession::state_changed, this, &MainWindow::show_state);
  make_pages();
  make_timeline();
  make_status();
  output_ = new OutputActions(*this, session_);
  connect(output_, &OutputActions::says, this, &MainWindow::say);
  make_menus();
  make_tools();
  output_->offer_on_charts();
  connect_pages();
  connect(&session_, &AnalysisSession::snapshot_changed, this, &MainWindow::catch_up_later);
  connect(&session_, &AnalysisSession::snapshot_changed, this, &MainWindow::keep_recent);
  connect(&session_, &AnalysisSession::state_changed, this, &MainWindow::catch_up_later);
  connect(&behind_, &QTimer::timeout, this, &MainWindow::catch_up);
  connect(&session_, &AnalysisSession::progress_changed, this, &MainWindow::show_progress);
  connect(&selection_, &Selection::time_changed, this, &MainWindow::show_selection);
  connect(&session_, &AnalysisSession::range_changed, this, &MainWindow::show_state);
  connect(&selection_, &Selection::packet_changed, this, &MainWindow::show_selection);
  first_layout_ = saveState(layout_version);
  restore_layout();
  // Begin on the first page, whatever was in front last.
  if (!docks_[0]->isHidden()) show_page(PageId::overview);
  for (const TableView* table : findChildren<TableView*>())
    connect(table, &TableView::says, this, &MainWindow::say);
  const Preferences preferences = Preferences::load(settings());
  apply_preferences(preferences);
  if (!preferences.policy.isEmpty()) (void)choose_policy(preferences.policy);  // reports its own errors
  show_state();
}

MainWindow::~MainWindow() {
  // No signals to pages that are being destroyed.
  session_.disconnect();
  selection_.disconnect();
}

void MainWindow::make_pages() {
  overview_ = new OverviewPage(session_, selection_);
  packets_ = new PacketsPage(session_, selection_);
  findings_ = new FindingsPage(session_, selection_);
  incidents_ = new IncidentsPage(session_, selection_);
  connections_ = new ConnectionsPage(session_, selection_);
  markings_ = new MarkingsPage(session_, selection_);
  fabric_ = new FabricPage(session_, selection_);
  live_ = new LivePage(session_, selection_);
  compare_ = new ComparePage(session_, selection_);
  struct Row {
    Page* page;
    const char* name;
    QString title;
  };
  // By PageId.
  const Row rows[] = {{overview_, "overview", tr("Overview")},
                      {packets_, "packets", tr("Packets")},
                      {findings_, "findings", tr("Findings")},
                      {incidents_, "incidents", tr("Incidents")},
                      {connections_, "connections", tr("Connections")},
                      {markings_, "markings", tr("Markings")},
                      {fabric_, "fabric", tr("Fabric")},
                      {live_, "live", tr("Live")},
                      {compare_, "compare", tr("Compare")}};
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    auto* dock = new QDockWidget(rows[i].title, this);
    dock->setObjectName(QString::fromLatin1(rows[i].name));
    dock->setWidget(rows[i].page);
    docks_[i] = dock;
    // The tab has the title; only a floating dock needs a title bar.
    dock->setTitleBarWidget(new QWidget(dock));
    connect(dock, &QDockWidget::topLevelChanged, dock, [dock](bool floating) {
      QWidget* before = dock->titleBarWidget();
      dock->setTitleBarWidget(floating ? nullptr : new QWidget(dock));
      if (before != nullptr) before->deleteLater();
    });
    addDockWidget(Qt::TopDockWidgetArea, dock);
    if (i > 0) tabifyDockWidget(docks_[0], dock);
    // Emitted when it is shown, hidden, or covered by another tab.
    connect(dock, &QDockWidget::visibilityChanged, rows[i].page, &Page::set_seen);
    connect(dock, &QDockWidget::visibilityChanged, this, [this, i](bool seen) {
      if (!seen) return;
      in_front_ = static_cast<PageId>(i);
      moved_.start();
    });
    connect(rows[i].page, &Page::leads_to, this, &MainWindow::show_page);
    connect(rows[i].page, &Page::graph_wanted, connections_, &ConnectionsPage::show_graph);
    connect(rows[i].page, &Page::filter_wanted, this,
            [this](const QString& expression) { packets_->filter().apply(expression); });
    connect(rows[i].page, &Page::says, this, &MainWindow::say);
  }
  docks_[0]->raise();
}

void MainWindow::make_timeline() {
  times_ = new TimelineBar(session_, selection_);
  timeline_bar_ = addToolBar(tr("Timeline"));
  timeline_bar_->setObjectName(QStringLiteral("timeline"));
  timeline_bar_->setMovable(false);
  timeline_bar_->addWidget(times_);
  // Hidden by its own entry of the View menu, and where there is no capture.
  timeline_bar_->toggleViewAction()->setVisible(false);
  timeline_wanted_ = new QAction(tr("&Timeline"), this);
  timeline_wanted_->setObjectName(QStringLiteral("show_timeline"));
  timeline_wanted_->setToolTip(tr("Show the timeline above all pages"));
  timeline_wanted_->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_T));
  timeline_wanted_->setCheckable(true);
  timeline_wanted_->setChecked(settings().value(QStringLiteral("window/timeline"), true).toBool());
  connect(timeline_wanted_, &QAction::toggled, this, [this](bool wanted) {
    settings().setValue(QStringLiteral("window/timeline"), wanted);
    show_timeline();
  });
  connect(times_, &TimelineBar::has_content, this, &MainWindow::show_timeline);
  connect(times_, &TimelineBar::leads_to, this, &MainWindow::show_page);
  show_timeline();
}

void MainWindow::show_timeline() {
  timeline_bar_->setVisible(timeline_wanted_->isChecked() && session_.whole_snapshot() != nullptr);
}

void MainWindow::make_status() {
  message_ = new QLabel;
  message_->setTextFormat(Qt::PlainText);
  said_.setObjectName(QStringLiteral("said"));
  said_.setSingleShot(true);
  said_.setInterval(std::chrono::seconds(20));
  connect(&said_, &QTimer::timeout, this, [this] { stand(standing_); });
  selected_ = new QLabel;
  bar_ = new QProgressBar;
  bar_->setMaximumWidth(220);
  bar_->setAccessibleName(tr("Reading"));
  stop_ = new QToolButton;
  stop_->setAutoRaise(true);
  statusBar()->addWidget(message_, 1);
  statusBar()->addPermanentWidget(selected_);
  statusBar()->addPermanentWidget(bar_);
  statusBar()->addPermanentWidget(stop_);
}

void MainWindow::connect_pages() {
  connect(overview_, &OverviewPage::severity_chosen, findings_, &FindingsPage::show_severity);
  connect(overview_, &OverviewPage::recent_chosen, this, [this](int place) {
    if (place >= 0 && place < recent_files_.entries().size()) open(recent_files_.entries()[place].files);
  });
  connect(overview_, &OverviewPage::sample_chosen, this, [this](const QString& file) { open({file}); });
  connect(overview_, &OverviewPage::interface_chosen, live_, &LivePage::choose_device);
  connect(overview_, &OverviewPage::open_wanted, this, &MainWindow::ask_files);
  connect(overview_, &OverviewPage::host_chosen, connections_, &ConnectionsPage::search);
  connect(fabric_, &FabricPage::pair_chosen, connections_, &ConnectionsPage::search);
  connect(markings_, &MarkingsPage::addresses_chosen, connections_, &ConnectionsPage::search);
  compare_->set_question([this] { return questions_.files_to_open(this); });
  connect(compare_, &ComparePage::packet_wanted, this, &MainWindow::show_packet);
  live_->set_start_question([this] {
    const bool may = session_.is_recording() || may_replace(tr("the packets that are captured now"));
    return may && may_let_go([this] { live_->start(); });
  });
  connect(packets_, &PacketsPage::comments_changed, this,
          [this] { setWindowModified(packets_->has_unsaved_comments()); });
  connect(packets_, &PacketsPage::save_ended, this, [this](bool saved) {
    const auto then = std::exchange(after_saving_, nullptr);
    if (saved && then) then();
  });
}

bool MainWindow::may_let_go(std::function<void()> then) {
  after_saving_ = nullptr;
  if (!packets_->has_unsaved_comments()) return true;
  const QString name =
      session_.files().isEmpty() ? QString() : QFileInfo(session_.files().front()).fileName();
  const Unsaved answer = questions_.unsaved_comments(
      this,
      tr("Your comments on packets of %1 are not saved. Save the capture with them?").arg(shown_name(name)));
  if (answer == Unsaved::save && packets_->save_capture()) after_saving_ = std::move(then);
  return answer == Unsaved::discard;
}

/// Once the capture has been read, hidden pages take the final snapshot too: one per turn of the event loop,
/// so that input is handled in between.
void MainWindow::catch_up_later() {
  if (session_.state() != AnalysisSession::State::loading) behind_.start(0);
}

void MainWindow::catch_up() {
  for (QDockWidget* dock : docks_) {
    auto* page = static_cast<Page*>(dock->widget());
    if (page->is_behind()) return page->catch_up();
  }
  behind_.stop();
}

bool MainWindow::is_settled() const {
  return std::all_of(docks_.begin(), docks_.end(), [](const QDockWidget* dock) {
    return static_cast<const Page*>(dock->widget())->is_settled();
  });
}

void MainWindow::open(const QStringList& files) {
  if (files.isEmpty() || !may_let_go([this, files] { open(files); })) return;
  selection_.clear();  // first: a short capture may be read at once
  history_.clear();
  to_keep_ = files;
  session_.open(files);
  keep_recent();
}

/// Only what could be read is worth opening again.
void MainWindow::keep_recent() {
  if (to_keep_.isEmpty() || !session_.snapshot()) return;
  QSettings kept = settings();
  recent_files_.add(kept, std::exchange(to_keep_, {}));
}

bool MainWindow::may_replace(const QString& by) {
  if (session_.files().isEmpty() || session_.state() == AnalysisSession::State::failed) return true;
  return questions_.may_replace(this,
                                tr("%1 is open in this window. Close it, and show %2?")
                                    .arg(shown_name(QFileInfo(session_.files().front()).fileName()), by));
}

void MainWindow::show_packet(const QStringList& files, qulonglong packet, const QVariant& connection) {
  if (files.isEmpty()) return;
  if (files != session_.files() && may_replace(shown_name(QFileInfo(files.front()).fileName()))) open(files);
  if (files != session_.files()) return;  // the user keeps the open capture
  selection_.set_packet(packet);
  if (connection.isValid()) selection_.set_connection(static_cast<std::uint32_t>(connection.toULongLong()));
  show_page(PageId::packets);
}

bool MainWindow::choose_policy(const QString& file_or_profile) {
  std::shared_ptr<const analyze::MarkingPolicy> policy;
  if (!file_or_profile.isEmpty()) {
    auto loaded = analyze::load_policy(file_or_profile.toStdString());
    if (!loaded) {
      QStringList lines;
      for (const analyze::PolicyError& error : loaded.error())
        lines << QString::fromStdString(error.describe());
      say(tr("Policy not used: %1").arg(lines.join(QStringLiteral("; "))));
      return false;
    }
    policy = *loaded;
  }
  policy_name_ = file_or_profile;
  for (QAction* action : policies_->actions())
    action->setChecked(action->data().toString() == file_or_profile);
  session_.set_policy(policy);
  say(policy ? tr("Markings are validated against policy %1").arg(file_or_profile)
             : tr("Markings are not validated: no policy"));
  return true;
}

void MainWindow::show_page(PageId page) {
  QDockWidget* dock = docks_[static_cast<std::size_t>(page)];
  dock->show();
  dock->raise();
  dock->widget()->setFocus();
}

/// Shows a temporary message; afterwards the permanent one is shown again.
void MainWindow::say(const QString& text) {
  message_->setText(text.simplified());
  message_->setToolTip(text);
  said_.start();
}

/// Sets the permanent message.
void MainWindow::stand(const QString& text) {
  standing_ = text;
  if (said_.isActive()) return;
  message_->setText(text.simplified());
  message_->setToolTip(text);
}

void MainWindow::show_state() {
  using State = AnalysisSession::State;
  const State state = session_.state();
  const bool loading = state == State::loading;
  const QStringList& files = session_.files();
  QString title = QStringLiteral("roceanalyze");
  if (!files.isEmpty()) {
    // Qt shows unsaved changes at "[*]"; in a file name it must be doubled.
    QString name = shown_name(QFileInfo(files.front()).fileName());
    name.replace(QStringLiteral("[*]"), QStringLiteral("[*][*]"));
    title = QStringLiteral("%1[*]%2 - roceanalyze")
                .arg(name, files.size() > 1 ? tr(" and %1 more").arg(files.size() - 1) : QString());
  }
  setWindowTitle(title);
  bar_->setVisible(loading);
  stop_->setVisible(loading);
  cancel_->setEnabled(loading);
  cancel_->setText(session_.is_live() ? tr("&Stop capturing") : tr("&Stop reading"));
  reload_->setEnabled(!files.isEmpty());
  close_->setEnabled(!files.isEmpty());
  save_->setEnabled(!files.isEmpty() && !loading);
  if (state == State::empty || state == State::failed) to_keep_.clear();
  // The first page lists recent files now; check again which are missing.
  if (state == State::empty || state == State::failed) recent_files_.load(settings());
  setWindowModified(packets_->has_unsaved_comments());
  said_.stop();  // end of the temporary message
  if (loading) {
    show_progress();
  } else if (state == State::failed) {
    stand(tr("Nothing could be read: %1").arg(session_.failure()));
  } else if (state == State::empty) {
    stand(tr("No capture"));
  } else if (const auto& snapshot = session_.snapshot()) {
    stand(health_of(*snapshot).line);
  }
  show_selection();
}

void MainWindow::show_progress() {
  const LoadProgress& progress = session_.progress();
  const auto percent =
      progress.size == 0 ? 0 : std::min<std::uint64_t>(100, progress.bytes * 100 / progress.size);
  bar_->setRange(0, progress.size == 0 ? 0 : 100);
  bar_->setValue(static_cast<int>(percent));
  if (session_.state() != AnalysisSession::State::loading) return;
  stand((session_.is_live() ? tr("Capturing: %1 packets") : tr("Reading: %1 packets")).arg(progress.packets));
}

void MainWindow::show_selection() {
  QStringList parts;
  if (selection_.packet()) parts << tr("packet %1").arg(*selection_.packet());
  if (selection_.time() && session_.snapshot()) {
    const analyze::Snapshot& s = *session_.snapshot();
    parts << tr("%1 to %2").arg(shown_time(s, selection_.time()->from), shown_time(s, selection_.time()->to));
  }
  selected_->setText(parts.join(QStringLiteral(" · ")));
}

void MainWindow::restore_layout() {
  QSettings kept = settings();
  restoreGeometry(kept.value(QStringLiteral("window/geometry")).toByteArray());
  restoreState(kept.value(QStringLiteral("window/layout")).toByteArray(), layout_version);
  show_timeline();
  for (TableView* table : findChildren<TableView*>()) table->restore_layout(kept);
}

void MainWindow::save_layout() {
  QSettings kept = settings();
  kept.setValue(QStringLiteral("window/geometry"), saveGeometry());
  kept.setValue(QStringLiteral("window/layout"), saveState(layout_version));
  for (const TableView* table : findChildren<TableView*>()) table->save_layout(kept);
}

/// The area of the docked pages. Tabs that are not in front keep their last geometry.
QRect MainWindow::docked() const {
  QRect all;
  for (const QDockWidget* dock : docks_) {
    if (!dock->isFloating() && !dock->visibleRegion().isEmpty()) all |= dock->geometry();
  }
  return all;
}

/// Qt adds a resize handle between docks and the central widget even if there is none, at the window's edge.
/// It would resize nothing, so it is neither painted nor active.
bool MainWindow::event(QEvent* event) {
  if (event->type() == QEvent::Paint) {
    QPaintEvent inside(static_cast<QPaintEvent*>(event)->region() & docked());
    return QMainWindow::event(&inside);
  }
  const bool outside = (event->type() == QEvent::HoverMove || event->type() == QEvent::MouseButtonPress) &&
                       !docked().contains(static_cast<QSinglePointEvent*>(event)->position().toPoint());
  if (!outside) return QMainWindow::event(event);
  if (cursor().shape() != Qt::ArrowCursor) {  // the mouse has just left a handle
    QHoverEvent leave(QEvent::HoverLeave, QPointF(), QPointF(), QPointF());
    QMainWindow::event(&leave);
  }
  return QWidget::event(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!live_->may_go([this] { close(); }) || !may_let_go([this] { close(); })) {
    event->ignore();
    return;
  }
  save_layout();
  session_.close();
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (std::any_of(urls.begin(), urls.end(), [](const QUrl& url) { return url.isLocalFile(); }))
    event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files;
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) files << url.toLocalFile();
  }
  if (files.isEmpty()) return;
  event->acceptProposedAction();
  open(files);
}

}  // namespace roce::gui
