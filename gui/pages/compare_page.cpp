// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/compare_page.hpp"

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>

#include "analyze/compare/compare_words.hpp"
#include "gui/charts/theme.hpp"
#include "gui/models/commands.hpp"
#include "gui/models/details.hpp"

namespace roce::gui {
namespace {

/// Separator of file names in one field; see files() for names that contain it.
constexpr QLatin1String between(" + ");

CompareJob::Files encoded(const QStringList& files) {
  CompareJob::Files names;
  for (const QString& file : files) names.push_back(QFile::encodeName(file).toStdString());
  return names;
}

/// Canonical paths, so that two names of one file compare equal.
QStringList canonical(const QStringList& files) {
  QStringList names;
  for (const QString& file : files) names << QFileInfo(file).canonicalFilePath();
  names.sort();
  return names;
}

}  // namespace

ComparePage::ComparePage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  auto* grid = new QGridLayout;
  make_choice(grid);
  layout->addLayout(grid);
  setFocusProxy(fields_[0]);
  headline_ = new QLabel;
  headline_->setWordWrap(true);
  headline_->setTextFormat(Qt::PlainText);
  headline_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  layout->addWidget(headline_);
  limits_ = new QLabel;
  limits_->setObjectName(QStringLiteral("compare_limits"));
  limits_->setWordWrap(true);
  limits_->setTextFormat(Qt::PlainText);
  limits_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  layout->addWidget(limits_);
  layout->addWidget(make_results(), 1);
  timer_.setInterval(AnalysisSession::interval);
  connect(&timer_, &QTimer::timeout, this, &ComparePage::look);
  connect(&session_, &AnalysisSession::state_changed, this, &ComparePage::show_state);
  show_result(nullptr);
}

ComparePage::~ComparePage() {
  if (job_) job_->abandon();
}

void ComparePage::make_choice(QGridLayout* grid) {
  const std::array names{tr("A"), tr("B")};
  for (int i = 0; i < 2; ++i) {
    const auto point = static_cast<std::size_t>(i);
    auto* field = new QLineEdit;
    field->setObjectName(QStringLiteral("compare_%1").arg(names[point]));
    field->setAccessibleName(tr("Capture %1").arg(names[point]));
    field->setPlaceholderText(i == 0 ? tr("a capture")
                                     : tr("a capture of the same traffic at another point"));
    field->setClearButtonEnabled(true);
    auto* choose = new QPushButton(tr("Choose..."));
    choose->setAccessibleName(tr("Choose capture %1").arg(names[point]));
    current_[point] = new QPushButton(tr("This capture"));
    current_[point]->setToolTip(tr("The capture that is open in this window"));
    auto* label = new QLabel(names[point]);
    label->setBuddy(field);
    grid->addWidget(label, i, 0);
    grid->addWidget(field, i, 1);
    grid->addWidget(choose, i, 2);
    grid->addWidget(current_[point], i, 3);
    fields_[point] = field;
    connect(field, &QLineEdit::textChanged, this, &ComparePage::show_state);
    connect(field, &QLineEdit::returnPressed, this, &ComparePage::compare);
    connect(choose, &QPushButton::clicked, this, [this, point] {
      const QStringList chosen = ask_ ? ask_() : QStringList();
      if (!chosen.isEmpty()) set_files(point, chosen);
    });
    connect(current_[point], &QPushButton::clicked, this,
            [this, point] { set_files(point, session_.files()); });
  }
  filter_ = new QLineEdit;
  filter_->setPlaceholderText(tr("display filter: only matching packets are compared"));
  filter_->setAccessibleName(tr("Display filter of the comparison"));
  filter_->setClearButtonEnabled(true);
  connect(filter_, &QLineEdit::returnPressed, this, &ComparePage::compare);
  auto* label = new QLabel(tr("Filter"));
  label->setBuddy(filter_);
  start_ = new QPushButton(tr("Compare"));
  start_->setObjectName(QStringLiteral("compare_start"));
  stop_ = new QPushButton(tr("Stop"));
  stop_->setObjectName(QStringLiteral("compare_stop"));
  auto* copy = new QPushButton(tr("Copy command"));
  copy->setToolTip(tr("Copy the equivalent command line"));
  bar_ = new QProgressBar;
  bar_->setAccessibleName(tr("Comparing"));
  bar_->setRange(0, 100);
  auto* row = new QHBoxLayout;
  row->addWidget(filter_, 2);
  row->addWidget(start_);
  row->addWidget(stop_);
  row->addWidget(bar_, 1);
  grid->addWidget(label, 2, 0);
  grid->addLayout(row, 2, 1, 1, 2);
  grid->addWidget(copy, 2, 3);
  grid->setColumnStretch(1, 1);
  connect(start_, &QPushButton::clicked, this, &ComparePage::compare);
  connect(stop_, &QPushButton::clicked, this, &ComparePage::stop);
  connect(copy, &QPushButton::clicked, this, [this] {
    QApplication::clipboard()->setText(command());
    Q_EMIT says(tr("Copied: %1").arg(command()));
  });
}

QWidget* ComparePage::make_results() {
  figures_ = new TableView(tr("Both directions"), figure_model_);
  findings_ = new TableView(tr("Findings of the comparison"), finding_model_);
  findings_->show_columns({"severity", "title", "subject", "count"});
  detail_ = new DetailView;
  detail_->setAccessibleName(tr("Selected finding of the comparison"));
  points_ = new QLabel;
  points_->setTextFormat(Qt::RichText);
  points_->setWordWrap(true);
  points_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  lost_ = new TableView(tr("Lost packets"), lost_model_);
  paths_ = new TableView(tr("Paths by UDP source port"), path_model_);
  changes_ = new TableView(tr("Changed marks"), change_model_);

  auto* right = new QSplitter(Qt::Vertical);
  right->addWidget(findings_);
  right->addWidget(detail_);
  right->setStretchFactor(0, 2);
  right->setStretchFactor(1, 3);
  right->setChildrenCollapsible(false);
  auto* split = new QSplitter(Qt::Horizontal);
  split->addWidget(figures_);
  split->addWidget(right);
  split->setStretchFactor(0, 2);
  split->setStretchFactor(1, 3);
  split->setChildrenCollapsible(false);
  auto* summary = new QWidget;
  auto* column = new QVBoxLayout(summary);
  column->addWidget(points_);
  column->addWidget(split, 1);
  tabs_ = new QTabWidget;
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName(tr("Parts of the comparison"));
  tabs_->addTab(summary, QString());
  tabs_->addTab(lost_, QString());
  tabs_->addTab(changes_, QString());
  tabs_->addTab(paths_, QString());

  connect(findings_, &TableView::row_chosen, this, &ComparePage::show_finding);
  connect(&finding_model_, &TableModelBase::rows_changed, this, [this] {
    if (finding_model_.rowCount() > 0 && !findings_->currentIndex().isValid())
      findings_->setCurrentIndex(finding_model_.index(0, 0));
    show_finding();
  });
  connect(lost_, &TableView::row_activated, this, &ComparePage::lead_on);
  connect(changes_, &TableView::row_activated, this, [this] {
    const QModelIndex row = changes_->currentIndex();
    if (row.isValid()) Q_EMIT packet_wanted(compared_[0], change_model_.row(row.row()).first[0], QVariant());
  });
  // Its packets belong to capture A or B, which may not be the one open in the window.
  connect(detail_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    if (link.scheme() == QLatin1String("copy")) return follow(link);
    if (const auto* finding = chosen_finding(); finding && link.scheme() == QLatin1String("packet"))
      Q_EMIT packet_wanted(compared_[finding->evidence_at], link.path().toULongLong(), QVariant());
  });
  return tabs_;
}

void ComparePage::set_files(std::size_t point, const QStringList& files) {
  fields_[point]->setText(files.join(between));
}

QStringList ComparePage::files(std::size_t point) const {
  const QString text = fields_[point]->text().trimmed();
  if (text.isEmpty()) return {};
  // A file whose name contains the separator.
  return QFile::exists(text) ? QStringList(text) : text.split(between, Qt::SkipEmptyParts);
}

QString ComparePage::command() const {
  QStringList words{QStringLiteral("roceanalyze compare")};
  // The first file of each point is positional, the others are options.
  QStringList more;
  for (const std::size_t point : {0U, 1U}) {
    const QStringList all = files(point);
    if (!all.isEmpty()) words << shell_word(all.front());
    for (const QString& file : all.mid(1))
      more << (point == 0 ? QStringLiteral("--more-a") : QStringLiteral("--more-b")) << shell_word(file);
  }
  words << more;
  if (const QString filter = filter_->text().trimmed(); !filter.isEmpty())
    words << QStringLiteral("-Y") << shell_word(filter);
  return words.join(QLatin1Char(' ')) + to_qt(session_.choice().dissecting.words());
}

void ComparePage::compare() {
  if (files(0).isEmpty() || files(1).isEmpty()) {
    Q_EMIT says(tr("Choose two captures of the same traffic first"));
    return;
  }
  if (job_) job_->abandon();
  show_result(nullptr);
  compared_ = {files(0), files(1)};
  job_ = CompareJob::start(
      encoded(compared_[0]), encoded(compared_[1]), filter_->text().trimmed().toStdString(),
      [this] { QMetaObject::invokeMethod(this, &ComparePage::look, Qt::QueuedConnection); },
      session_.choice().dissecting.with(nullptr));
  timer_.start();
  headline_->setText(tr("Comparing..."));
  show_state();
}

void ComparePage::stop() {
  if (job_) job_->stop();
}

void ComparePage::look() {
  if (!job_) return;
  const CompareJob::News news = job_->take();
  bar_->setValue(static_cast<int>(100 * news.progress));
  if (!news.ended) return;
  timer_.stop();
  job_ = nullptr;
  show_result(news.result);
  if (!news.failure.empty()) {
    headline_->setText(tr("Not compared: %1").arg(to_qt(news.failure)));
    mark_failure(true);
  } else if (news.stopped && news.result) {
    headline_->setText(tr("Stopped; so far: %1").arg(compare_headline(*news.result)));
  } else if (news.result && canonical(compared_[0]) == canonical(compared_[1])) {
    headline_->setText(
        tr("A and B are the same capture, so nothing can differ. %1").arg(compare_headline(*news.result)));
  }
  Q_EMIT says(headline_->text());
}

void ComparePage::mark_failure(bool failed) {
  QPalette colours_of_text = palette();
  if (failed) colours_of_text.setColor(QPalette::WindowText, colours(palette()).error);
  headline_->setPalette(colours_of_text);
}

void ComparePage::show_result(CompareResultPtr result) {
  result_ = std::move(result);
  mark_failure(false);
  show_compared(lost_model_, result_);
  show_compared(path_model_, result_);
  show_compared(change_model_, result_);
  show_compared(figure_model_, result_);
  finding_snapshot_ = result_ ? compare_snapshot(*result_) : nullptr;
  finding_model_.show(finding_snapshot_);
  headline_->setText(result_ ? compare_headline(*result_)
                             : tr("Two captures of the same traffic at two points show what was lost, "
                                  "delayed, reordered or re-marked between them."));
  const QString limits = result_ ? to_qt(analyze::compare_limits_text(*result_)) : QString();
  limits_->setText(limits.isEmpty() ? limits : tr("LIMITED: %1").arg(limits));
  limits_->setVisible(!limits.isEmpty());
  const auto reason = [&](const QString& none) {
    if (!result_) return tr("Nothing compared yet");
    return limits.isEmpty() ? none : tr("%1 (limited: see above)").arg(none);
  };
  lost_->set_reason(reason(tr("No packet is known to be lost between A and B")));
  changes_->set_reason(reason(tr("No marks were changed between A and B")));
  paths_->set_reason(reason(tr("No packet of RoCE v2 was seen at both")));
  findings_->set_reason(reason(tr("No findings")));
  figures_->set_reason(reason(tr("No packet was seen at both")));
  points_->setText(result_ ? compare_html(*result_) : QString());
  points_->setVisible(result_ != nullptr);
  tabs_->setTabText(0, tr("Summary"));
  // "(0)" only after a comparison.
  tabs_->setTabText(1, result_ ? tr("Lost (%1)").arg(result_->lost.size()) : tr("Lost"));
  tabs_->setTabText(
      2, result_ ? tr("Changed markings (%1)").arg(result_->changes.size()) : tr("Changed markings"));
  tabs_->setTabText(3, result_ ? tr("Paths (%1)").arg(result_->paths.size()) : tr("Paths"));
  tabs_->setTabToolTip(3, result_ && result_->paths_omitted != 0
                              ? tr("%1 packets of more paths are not listed").arg(result_->paths_omitted)
                              : tr("What each UDP source port carried, lost and delayed between the points"));
  if (result_ && result_->lost_omitted != 0) {
    tabs_->setTabToolTip(1, tr("%1 more are counted but not listed").arg(result_->lost_omitted));
  } else {
    tabs_->setTabToolTip(1, tr("Enter or a double click shows the packet in its capture"));
  }
  show_state();
}

void ComparePage::show_state() {
  const bool running = job_ != nullptr;
  start_->setEnabled(!running && !files(0).isEmpty() && !files(1).isEmpty());
  stop_->setVisible(running);
  bar_->setVisible(running);
  for (QPushButton* current : current_) current->setEnabled(!session_.files().isEmpty());
}

const analyze::CompareFinding* ComparePage::chosen_finding() const {
  const QModelIndex row = findings_->currentIndex();
  if (!row.isValid() || !finding_snapshot_) return nullptr;
  // The snapshot has them in the order of the result.
  const auto place = &finding_model_.row(row.row()) - finding_snapshot_->findings.data();
  return &result_->findings[static_cast<std::size_t>(place)];
}

void ComparePage::show_finding() {
  const analyze::CompareFinding* finding = chosen_finding();
  if (finding == nullptr) {
    detail_->show_html(result_ && result_->findings.empty()
                           ? QStringLiteral("<p class=\"name\">%1</p>").arg(tr("No findings"))
                           : QString());
    return;
  }
  detail_->show_html(finding_html(*finding_snapshot_, *finding, compared_[0] + compared_[1],
                                  tr("Packets of %1").arg(finding->evidence_at == 0 ? tr("A") : tr("B"))));
}

void ComparePage::lead_on() {
  const QModelIndex row = lost_->currentIndex();
  if (!row.isValid()) return;
  const analyze::LostPacket& lost = lost_model_.row(row.row());
  Q_EMIT packet_wanted(compared_[lost.direction], lost.packet,
                       lost.connection ? QVariant::fromValue<qulonglong>(*lost.connection) : QVariant());
}

}  // namespace roce::gui
