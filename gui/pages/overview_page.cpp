// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/overview_page.hpp"

#include <QApplication>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QSplitter>
#include <QTabWidget>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include "gui/charts/theme.hpp"
#include "gui/models/details.hpp"
#include "gui/models/diagnosis_cards.hpp"
#include "gui/models/diagnosis_table.hpp"
#include "gui/models/health.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/tables.hpp"
#include "gui/models/time_format.hpp"
#include "gui/pages/interface_list.hpp"

namespace roce::gui {
namespace {

/// A part of the page with its heading, and buttons for its actions beside the heading.
QWidget* titled(const QString& title, QWidget* content) {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(3);
  auto* label = new QLabel(title);
  QFont font = label->font();
  font.setBold(true);
  label->setFont(font);
  label->setBuddy(content);
  auto* heading = new QHBoxLayout;
  heading->setSpacing(4);
  heading->addWidget(label, 1);
  for (QAction* action : content->actions()) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    heading->addWidget(button);
  }
  column->addLayout(heading);
  column->addWidget(content, 1);
  return box;
}

QString names_text(const QStringList& files) {
  const QString first = files.isEmpty() ? QString() : shown_name(QFileInfo(files.front()).fileName());
  return files.size() > 1 ? OverviewPage::tr("%1 and %2 more").arg(first).arg(files.size() - 1) : first;
}

}  // namespace

OverviewPage::OverviewPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      sign_(new QLabel),
      headline_(new QLabel),
      below_(new QLabel),
      times_(new TimeChip(selection, tr("Only findings, connections and hosts in the selected time range; "
                                        "verdict and facts cover the whole capture. Click to show all "
                                        "times"))),
      stack_(new QStackedWidget),
      welcome_(new QLabel),
      cards_(new DetailView),
      facts_(new DetailView),
      findings_(new TableView(tr("Findings"), finding_model_)),
      connections_(new TableView(tr("Worst connections"), connection_model_)),
      hosts_(new TableView(tr("Worst hosts"), host_model_)),
      explain_(offer(findings_, tr("&Explain"),
                     tr("Show the explanation of the selected finding, and what to do"),
                     [this] {
                       choose_finding();
                       Q_EMIT leads_to(PageId::findings);
                     })),
      show_packets_(offer(findings_, tr("Show &packets"),
                          tr("Show the evidence packets of the selected finding"),
                          [this] { show_evidence(PageId::packets); })),
      finding_graph_(offer(findings_, tr("Show &graph"),
                           tr("Show the connection of the selected finding over time"),
                           [this] { show_evidence(PageId::connections); })),
      connection_graph_(offer(connections_, tr("Show g&raph"), tr("Show the selected connection over time"),
                              [this] { show_graph(); })) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(make_banner());
  layout->addWidget(stack_, 1);
  welcome_->setWordWrap(true);
  welcome_->setTextFormat(Qt::RichText);
  welcome_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  connect(
      welcome_, &QLabel::linkActivated, this,
      [this](const QString& link) {
        if (link == QLatin1String("open")) {
          Q_EMIT open_wanted();
        } else if (link.startsWith(QLatin1String("sample:"))) {
          const auto place = static_cast<std::size_t>(link.mid(7).toULongLong());
          if (place < samples_.size()) Q_EMIT sample_chosen(samples_[place].file);
        } else {
          Q_EMIT recent_chosen(link.toInt());
        }
      },
      Qt::QueuedConnection);  // the slot changes the text with the link
  offer_recent({});
  stack_->addWidget(make_start());
  connect(cards_, &QTextBrowser::anchorClicked, this, &OverviewPage::follow_card, Qt::QueuedConnection);
  connect(facts_, &QTextBrowser::anchorClicked, this, &OverviewPage::follow);
  stack_->addWidget(make_content());

  connect(findings_, &TableView::row_chosen, this, [this] {
    // Not where the row follows the selection.
    if (findings_->currentIndex().data(TableModelBase::key_role).toString() != selection_.finding())
      choose_finding();
  });
  connect(findings_, &TableView::row_activated, this, [this] {
    choose_finding();
    Q_EMIT leads_to(PageId::findings);
  });
  const auto choose_connection = [this] {
    const QVariant id = connections_->currentIndex().data(TableModelBase::id_role);
    if (id.isValid()) selection_.set_connection(static_cast<std::uint32_t>(id.toULongLong()));
  };
  connect(connections_, &TableView::row_chosen, this, choose_connection);
  connect(connections_, &TableView::row_activated, this, [this, choose_connection] {
    choose_connection();
    Q_EMIT leads_to(PageId::connections);
  });
  connect(&selection_, &Selection::finding_changed, this, &OverviewPage::show_offers);
  connect(&selection_, &Selection::connection_changed, this, &OverviewPage::show_offers);
  connect(hosts_, &TableView::row_activated, this, [this] {
    Q_EMIT host_chosen(hosts_->currentIndex().data(TableModelBase::key_role).toString());
    Q_EMIT leads_to(PageId::connections);
  });
  connect(times_, &TimeChip::changed, this, &OverviewPage::limit_times);
  connect(&selection_, &Selection::finding_changed, this,
          [this] { findings_->select_key(selection_.finding()); });
  connect(&selection_, &Selection::connection_changed, this, [this] {
    connections_->select_key(selection_.connection() ? QString::number(*selection_.connection()) : QString());
  });
  connect(&finding_model_, &TableModelBase::rows_changed, this, [this] {
    if (shown()) findings_->select_key(selection_.finding());
  });
  connect(&connection_model_, &TableModelBase::rows_changed, this, &OverviewPage::offer_worst);
  connect(&selection_, &Selection::connection_changed, this, &OverviewPage::offer_worst);
  connect(&session_, &AnalysisSession::state_changed, this, &OverviewPage::show_banner);
  show_snapshot();
}

/// What another page offers need not be among the worst few of many: the first of those is, for who has
/// chosen none.
void OverviewPage::offer_worst() {
  if (connection_model_.rowCount() == 0 || !selection_.connection() || !selection_.is_connection_offered())
    return;
  if (connection_model_.row_of(QString::number(*selection_.connection())) >= 0) return;
  selection_.offer_connection(connection_model_.row(0)->id);
}

void OverviewPage::choose_finding() {
  selection_.choose_finding(findings_->currentIndex().data(TableModelBase::key_role).toString());
}

const analyze::Finding* OverviewPage::chosen_finding() const {
  const auto& snapshot = shown();
  return snapshot ? find_finding(*snapshot, selection_.finding()) : nullptr;
}

void OverviewPage::show_offers() {
  const analyze::Finding* finding = chosen_finding();
  explain_->setEnabled(finding != nullptr);
  show_packets_->setEnabled(finding != nullptr && !finding->packets.empty());
  finding_graph_->setEnabled(finding != nullptr && !finding->connections.empty());
  connection_graph_->setEnabled(shown() != nullptr && selection_.connection().has_value());
}

void OverviewPage::show_graph() {
  Q_EMIT graph_wanted();
  Q_EMIT leads_to(PageId::connections);
}

void OverviewPage::show_evidence(PageId page) {
  if (const analyze::Finding* finding = chosen_finding()) lead_to_evidence(*finding, page);
}

void OverviewPage::offer_recent(const QStringList& names) {
  QString html =
      QStringLiteral("<h2><a href=\"open\">%1</a></h2><p>%2</p>")
          .arg(tr("Open a capture…"),
               tr("Ctrl+O opens, too, and captures can be dropped here: pcap and pcapng, also as .gz, "
                  ".zst or .lz4; several files are merged in time order."));
  const auto list = [&html](const QString& heading) { html += QStringLiteral("<h3>%1</h3>").arg(heading); };
  const auto entry = [&html](const QString& link, const QString& text) {
    html += QStringLiteral("<p><a href=\"%1\">%2</a></p>").arg(link, text.toHtmlEscaped());
  };
  if (!names.isEmpty()) list(tr("Recent captures"));
  for (qsizetype i = 0; i < names.size(); ++i) entry(QString::number(i), names[i]);
  if (!samples_.empty()) list(tr("Samples"));
  for (std::size_t i = 0; i < samples_.size(); ++i)
    entry(QStringLiteral("sample:%1").arg(i), samples_[i].title);
  welcome_->setText(html);
}

/// What is there while no capture is open.
QWidget* OverviewPage::make_start() {
  auto* live =
      new QLabel(QStringLiteral("<h2><a href=\"live\">%1</a></h2><p>%2</p>")
                     .arg(tr("Capture live…"),
                          tr("What passed each interface in the last minute. A click chooses it for a "
                             "capture.")));
  live->setAccessibleName(tr("Capture live"));
  live->setWordWrap(true);
  live->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  connect(live, &QLabel::linkActivated, this, [this] { Q_EMIT leads_to(PageId::live); });
  auto* interfaces = new InterfaceList;
  connect(interfaces, &InterfaceList::chosen, this, [this](const QString& name) {
    Q_EMIT interface_chosen(name);
    Q_EMIT leads_to(PageId::live);
  });
  auto* right = new QVBoxLayout;
  right->addWidget(live);
  right->addWidget(interfaces, 1);
  auto* scroll = new QScrollArea;
  scroll->setAccessibleName(tr("Captures to open"));
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  welcome_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  scroll->setWidget(welcome_);
  auto* start = new QWidget;
  auto* row = new QHBoxLayout(start);
  row->setContentsMargins(24, 16, 24, 16);
  row->setSpacing(32);
  row->addWidget(scroll, 3);
  row->addLayout(right, 2);
  return start;
}

QWidget* OverviewPage::make_banner() {
  auto* banner = new QWidget;
  auto* row = new QHBoxLayout(banner);
  row->setContentsMargins(4, 2, 4, 6);
  row->setSpacing(10);
  sign_->setObjectName(QStringLiteral("sign"));
  headline_->setObjectName(QStringLiteral("headline"));
  row->addWidget(sign_);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(1);
  fit_headline();
  for (QLabel* label : {headline_, below_}) {
    // Plain text, as errors may quote the file; selectable, so that they can be searched for.
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    texts->addWidget(label);
  }
  row->addLayout(texts, 1);
  row->addWidget(times_);
  for (std::size_t i = counts_.size(); i-- > 0;) {
    const auto severity = static_cast<analyze::Severity>(i);
    counts_[i] = new QToolButton;
    counts_[i]->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    counts_[i]->setAutoRaise(true);
    counts_[i]->setToolTip(tr("Findings: %1 and above").arg(severity_text(severity)));
    connect(counts_[i], &QToolButton::clicked, this, [this, severity] {
      Q_EMIT severity_chosen(severity);
      Q_EMIT leads_to(PageId::findings);
    });
    row->addWidget(counts_[i]);
  }
  return banner;
}

/// The headline is larger than other text, whatever size that has.
void OverviewPage::fit_headline() {
  QFont font = QApplication::font();
  font.setPointSizeF(font.pointSizeF() * 1.4);
  font.setBold(true);
  headline_->setFont(font);
}

QWidget* OverviewPage::make_content() {
  findings_->show_columns({"title", "count", "sentence"});
  connections_->show_columns({"id", "a", "a_qp", "b", "b_qp", "packets", "goodput_bps", "retransmitted",
                              "lost", "naks", "rnr_naks"});
  facts_->setAccessibleName(tr("Facts of the capture"));
  facts_->setFrameShape(QFrame::NoFrame);
  cards_->setAccessibleName(tr("Diagnoses"));
  cards_->setFrameShape(QFrame::NoFrame);
  auto* top = new QSplitter(Qt::Horizontal);
  top->addWidget(titled(tr("What is wrong"), cards_));
  top->addWidget(titled(tr("Capture"), facts_));
  top->setStretchFactor(0, 3);
  top->setStretchFactor(1, 2);
  auto* worst = new QTabWidget;
  worst->setDocumentMode(true);
  worst->setAccessibleName(tr("Worst connections and hosts"));
  worst->addTab(connections_, tr("Worst connections"));
  worst->addTab(hosts_, tr("Worst hosts"));
  auto* graph = new QToolButton;
  graph->setDefaultAction(connection_graph_);
  worst->setCornerWidget(graph);
  auto* bottom = new QSplitter(Qt::Horizontal);
  bottom->addWidget(titled(tr("Findings"), findings_));
  bottom->addWidget(worst);
  bottom->setStretchFactor(0, 1);
  bottom->setStretchFactor(1, 2);
  bottom->setSizes({420, 860});
  auto* all = new QSplitter(Qt::Vertical);
  all->addWidget(top);
  all->addWidget(bottom);
  all->setStretchFactor(0, 3);
  all->setStretchFactor(1, 2);
  for (QSplitter* splitter : {top, bottom, all}) {
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(8);
  }
  return all;
}

bool OverviewPage::is_settled() const {
  return Page::is_settled() && finding_model_.is_settled() && connection_model_.is_settled() &&
         host_model_.is_settled();
}

void OverviewPage::show_snapshot() {
  const SnapshotPtr& snapshot = shown();
  finding_model_.show(snapshot);
  connection_model_.show(snapshot);
  host_model_.show(snapshot);
  findings_->set_reason(why_empty(tr("No findings")));
  connections_->set_reason(why_empty(no_connections_text()));
  hosts_->set_reason(why_empty(no_connections_text()));
  show_cards();
  facts_->show_html(snapshot ? facts_html(capture_facts(*snapshot)) : QString());
  if (snapshot && !snapshot->findings.empty())
    selection_.offer_finding(to_qt(finding_key(snapshot->findings.front())), snapshot->final);
  show_offers();
  show_banner();
}

void OverviewPage::show_cards() {
  cards_->show_html(shown() ? diagnosis_cards_html(*shown(), session_.files(), unfolded_) : QString());
}

void OverviewPage::follow_card(const QUrl& link) {
  const auto place = static_cast<std::size_t>(link.path().toULongLong());
  if (link.scheme() == QLatin1String("fold")) {
    if (unfolded_.erase(place) == 0) unfolded_.insert(place);
    show_cards();
  } else if (link.scheme() == QLatin1String("explain")) {
    if (!shown() || place >= shown()->diagnoses.size()) return;
    const QString key = to_qt(DiagnosisTable(*shown()).key(place));
    selection_.set_diagnosis(key);
    Q_EMIT leads_to(PageId::findings);
  } else {
    follow(link);
  }
}

void OverviewPage::limit_times() {
  finding_model_.set_time(times_->time());
  // Within a time range other connections may be the worst: these tables are made again.
  connection_model_.set_time(times_->time());
  host_model_.set_time(times_->time());
  connection_model_.show(shown());
  host_model_.show(shown());
}

void OverviewPage::show_banner() {
  const SnapshotPtr& snapshot = shown();
  const AnalysisSession::State state = session_.state();
  const bool empty = state == AnalysisSession::State::empty || state == AnalysisSession::State::failed;
  const QWidget* focus = QApplication::focusWidget();
  const bool has_focus = focus != nullptr && isAncestorOf(focus);
  stack_->setCurrentIndex(empty ? 0 : 1);
  setFocusProxy(empty ? static_cast<QWidget*>(welcome_) : findings_);
  if (has_focus && QApplication::focusWidget() != focus) setFocus();  // its widget is hidden now
  std::array<std::uint64_t, 4> counts{};
  std::optional<QIcon> sign;
  QString line, below, meaning;
  if (state == AnalysisSession::State::failed) {
    sign = severity_icon(analyze::Severity::error, palette());
    meaning = severity_text(analyze::Severity::error);
    line = tr("Nothing could be read");
    below = session_.failure();
  } else if (snapshot) {
    const Health health = health_of(*snapshot);
    if (health.shown) sign = severity_icon(health.sign, palette());
    meaning = health.sign ? severity_text(*health.sign) : tr("healthy");
    line = health.line;
    below = names_text(session_.files());
    if (const auto& range = session_.range())
      below +=
          tr(" · only %1 to %2").arg(shown_time(*snapshot, range->from), shown_time(*snapshot, range->to));
    if (!health.counts.isEmpty()) below += QStringLiteral(" · ") + health.counts;
    if (state == AnalysisSession::State::stopped)
      below += tr(": stopped after %1 packets, results cover only these").arg(snapshot->frames_read);
    for (const QString& lost : what_was_lost(*snapshot)) below += QLatin1Char('\n') + lost;
    counts = count_findings(*snapshot);
  } else if (state == AnalysisSession::State::loading) {
    line = tr("Reading…");
    below = names_text(session_.files());
  }
  sign_->setPixmap(sign ? sign->pixmap(40, 40) : QPixmap());
  sign_->setVisible(sign.has_value());
  sign_->setAccessibleName(meaning);
  sign_->setToolTip(meaning);
  headline_->setText(line);
  headline_->setAccessibleName(line);
  below_->setText(below);
  headline_->parentWidget()->setVisible(!line.isEmpty());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto severity = static_cast<analyze::Severity>(i);
    counts_[i]->setVisible(counts[i] != 0);
    counts_[i]->setText(QString::number(counts[i]));
    counts_[i]->setIcon(severity_icon(severity, palette()));
    counts_[i]->setAccessibleName(tr("%1: %2").arg(severity_text(severity)).arg(counts[i]));
  }
}

void OverviewPage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::FontChange && headline_ != nullptr) fit_headline();
  if (event->type() == QEvent::PaletteChange && headline_ != nullptr) show_banner();
}

}  // namespace roce::gui
