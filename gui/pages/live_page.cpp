// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/live_page.hpp"

#include <QApplication>
#include <QEvent>
#include <QFileDialog>
#include <QFontMetrics>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMessageBox>
#include <QVBoxLayout>
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "gui/charts/theme.hpp"
#include "gui/models/commands.hpp"
#include "gui/models/shown_text.hpp"

namespace roce::gui {

LivePage::LivePage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      capture_(session),
      ask_file_([](QWidget* window) {
        return QFileDialog::getSaveFileName(window, LivePage::tr("Save the capture"),
                                            documents_folder() + QStringLiteral("/capture.pcapng"),
                                            LivePage::tr("pcapng (*.pcapng)"));
      }),
      ask_unsaved_([](QWidget* window, const QString& what) {
        const auto answer = QMessageBox::question(
            window, LivePage::tr("Live capture"), what,
            QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
        return answer == QMessageBox::Save      ? Unsaved::save
               : answer == QMessageBox::Discard ? Unsaved::discard
                                                : Unsaved::keep;
      }),
      program_(find_capture_program()),
      table_(new QTableView),
      how_(new QLabel),
      filter_(new QLineEdit),
      promiscuous_(new QCheckBox(tr("&Promiscuous mode: capture frames for other hosts too"))),
      limit_(new QSpinBox),
      command_(new QLineEdit),
      start_(new QPushButton(tr("&Start"))),
      stop_(new QPushButton(tr("S&top"))),
      save_(new QPushButton(tr("Sa&ve as…"))),
      refresh_(new QPushButton(tr("&Refresh"))),
      message_(new QLabel),
      log_(new QPlainTextEdit) {
  table_->setModel(&devices_);
  table_->setAccessibleName(tr("Capture devices"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setAlternatingRowColors(true);
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->horizontalHeader()->setHighlightSections(false);
  filter_->setPlaceholderText(tr("Capture filter (BPF), as for tcpdump; empty: everything"));
  filter_->setAccessibleName(tr("Capture filter"));
  filter_->setClearButtonEnabled(true);
  promiscuous_->setChecked(true);
  limit_->setRange(1, 1'000'000);
  limit_->setValue(4'000);
  limit_->setSuffix(tr(" MB"));
  limit_->setAccessibleName(tr("Size limit of the recording"));
  limit_->setToolTip(tr("The capture ends when the recording, a temporary file, reaches this size."));
  command_->setReadOnly(true);
  command_->setAccessibleName(tr("Command that Start runs"));
  for (QLabel* label : {how_, message_}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  }
  log_->setReadOnly(true);
  log_->setAccessibleName(tr("Output of the capture process"));
  log_->setPlaceholderText(tr("The output of the capture process appears here."));
  fit_text();

  auto* form = new QFormLayout;
  form->addRow(tr("&Filter"), filter_);
  form->addRow(QString(), promiscuous_);
  form->addRow(tr("Size &limit"), limit_);
  form->addRow(tr("&Command"), command_);
  auto* buttons = new QHBoxLayout;
  for (QPushButton* button : {start_, stop_, save_}) buttons->addWidget(button);
  buttons->addStretch(1);
  buttons->addWidget(refresh_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(table_, 3);
  setFocusProxy(table_);
  layout->addWidget(how_);
  layout->addLayout(form);
  layout->addLayout(buttons);
  layout->addWidget(message_);
  layout->addWidget(log_, 1);

  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &LivePage::show_choice);
  // A click on an empty area keeps the selection: Start needs a device.
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    if (const QModelIndex row = table_->currentIndex();
        row.isValid() && !table_->selectionModel()->hasSelection())
      table_->selectRow(row.row());
  });
  connect(table_, &QTableView::activated, this, &LivePage::start);
  connect(filter_, &QLineEdit::textChanged, this, &LivePage::show_choice);
  connect(filter_, &QLineEdit::returnPressed, this, &LivePage::start);
  connect(promiscuous_, &QCheckBox::toggled, this, &LivePage::show_choice);
  connect(start_, &QPushButton::clicked, this, &LivePage::start);
  connect(stop_, &QPushButton::clicked, this, &LivePage::stop);
  connect(save_, &QPushButton::clicked, this, &LivePage::save);
  connect(refresh_, &QPushButton::clicked, &devices_, &LiveDeviceModel::refresh);
  connect(&devices_, &LiveDeviceModel::modelAboutToBeReset, this, [this] { chosen_ = request().device; });
  connect(&devices_, &LiveDeviceModel::modelReset, this, [this] {
    choose_device(chosen_);
    table_->resizeColumnsToContents();
    constexpr int widest = 420;
    for (int i = 0; i + 1 < LiveDeviceModel::column_count; ++i)
      table_->setColumnWidth(i, std::min(widest, table_->columnWidth(i) + 16));
    show_choice();
  });
  connect(&devices_, &LiveDeviceModel::refreshed, this, [this](const QString& problem) {
    if (!problem.isEmpty()) Q_EMIT says(tr("Devices could not be listed: %1").arg(problem));
  });
  connect(&capture_, &LiveCapture::changed, this, &LivePage::show_state);
  // Queued: not while the capture is reporting that it has ended.
  connect(&capture_, &LiveCapture::changed, this, &LivePage::save_when_ended, Qt::QueuedConnection);
  connect(&capture_, &LiveCapture::save_ended, this, [this](bool saved) {
    const auto then = std::exchange(after_saving_, nullptr);
    if (saved && then) then();
  });
  connect(&session_, &AnalysisSession::progress_changed, this, &LivePage::show_message);
  show_choice();
  show_state();
}

void LivePage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::FontChange && log_ != nullptr) fit_text();
}

/// What is typed into a terminal looks as there, in the size of other text.
void LivePage::fit_text() {
  const QFont fixed = fixed_font(QApplication::font());
  for (QWidget* widget : std::initializer_list<QWidget*>{filter_, command_, message_, log_})
    widget->setFont(fixed);
  const QFontMetrics metrics(QApplication::font());
  table_->verticalHeader()->setDefaultSectionSize(metrics.height() + 8);
  limit_->setMaximumWidth(metrics.averageCharWidth() * 24);
  log_->setMinimumHeight(metrics.height() * 4);
}

void LivePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!std::exchange(asked_, true)) devices_.refresh();
}

void LivePage::set_program(const QString& program) {
  program_ = program;
  show_choice();
}

void LivePage::choose_device(const QString& name) {
  chosen_ = name;  // also for devices that are listed later
  if (const int row = devices_.row_of(name); row >= 0) table_->setCurrentIndex(devices_.index(row, 0));
}

LiveRequest LivePage::request() const {
  LiveRequest wanted;
  if (const LiveDevice* device = devices_.device(table_->currentIndex().row())) wanted.device = device->name;
  wanted.filter = filter_->text().trimmed();
  wanted.promiscuous = promiscuous_->isChecked();
  wanted.most_bytes = static_cast<std::uint64_t>(limit_->value()) * 1'000'000;
  return wanted;
}

QString LivePage::command_text() const {
  const LiveRequest wanted = request();
  if (wanted.device.isEmpty()) return {};
  QStringList words;
  for (const QString& word : capture_command(program_, wanted, capture_rights(program_)))
    words << shell_word(word);
  return words.join(QLatin1Char(' '));
}

void LivePage::show_choice() {
  const LiveDevice* device = devices_.device(table_->currentIndex().row());
  const bool idle = capture_.state() == LiveCapture::State::idle;
  start_->setEnabled(idle && device != nullptr && device->possible && !program_.isEmpty());
  command_->setText(command_text());
  command_->setCursorPosition(0);
  QString text;
  if (program_.isEmpty()) {
    text =
        tr("The capture program roceanalyze was found neither beside this program nor in PATH: install it.");
  } else if (device == nullptr) {
    text =
        tr("Select a device. A NIC offloads RDMA past the kernel: capture RoCE on its RDMA port, "
           "not on its network interface.");
  } else if (!device->possible) {
    text = tr("Cannot capture on %1: %2").arg(shown_name(device->name), device->how);
  } else {
    text = device->how;
    const QString asks[] = {
        QString(), tr("You will be asked for a password (pkexec)."),
        tr("You are not root and pkexec is not installed: if the capture fails, permit it with "
           "sudo setcap cap_net_raw,cap_net_admin=eip %1")
            .arg(shell_word(program_))};
    const QString& rights = asks[static_cast<int>(capture_rights(program_))];
    if (!rights.isEmpty()) text += (text.isEmpty() ? QString() : QStringLiteral("\n")) + rights;
  }
  how_->setText(text);
  how_->setVisible(!text.isEmpty());
}

void LivePage::start() {
  if (!start_->isEnabled() || !may_go([this] { start(); }) || !may_start_()) return;
  const LiveRequest wanted = request();
  selection_.clear();
  capture_.start(wanted, capture_command(program_, wanted, capture_rights(program_)));
}

bool LivePage::may_go(std::function<void()> then) {
  after_saving_ = nullptr;
  save_to_.clear();
  if (!capture_.has_unsaved()) return true;
  const bool running = capture_.state() != LiveCapture::State::idle;
  const QString packets = tr("%1 packets captured on %2")
                              .arg(running ? session_.progress().packets : capture_.packets())
                              .arg(capture_.device());
  const Unsaved answer = ask_unsaved_(this, (running ? tr("%1 so far are not saved. Stop and save them?")
                                                     : tr("%1 are not saved. Save them?"))
                                                .arg(packets));
  if (answer != Unsaved::save) return answer == Unsaved::discard;
  const QString file = ask_file_(this);
  if (file.isEmpty()) return false;
  save_to_ = file;
  after_saving_ = std::move(then);
  capture_.stop();
  save_when_ended();
  return false;
}

void LivePage::save_when_ended() {
  if (save_to_.isEmpty() || capture_.state() != LiveCapture::State::idle) return;
  const QString file = std::exchange(save_to_, QString());
  if (capture_.has_recording()) {
    capture_.save_as(file);
  } else {
    after_saving_ = nullptr;
  }
}

void LivePage::save() {
  if (capture_.has_recording()) capture_.save_as(ask_file_(this));
}

void LivePage::show_message() {
  QString text = capture_.message();
  if (capture_.state() == LiveCapture::State::running) {
    const std::uint64_t packets = session_.progress().packets;
    text += packets == 0 ? tr(": no packets yet") : tr(": %1 packets").arg(packets);
  }
  message_->setText(text);
  message_->setVisible(!text.isEmpty());
}

void LivePage::show_state() {
  stop_->setEnabled(capture_.state() == LiveCapture::State::running);
  save_->setEnabled(capture_.has_recording());
  show_message();
  QPalette colours_of_text = palette();
  if (capture_.failed()) colours_of_text.setColor(QPalette::WindowText, colours(palette()).error);
  message_->setPalette(colours_of_text);
  if (log_->toPlainText() != capture_.log()) {
    log_->setPlainText(capture_.log());
    log_->moveCursor(QTextCursor::End);
  }
  if (capture_.failed()) {
    Q_EMIT says(capture_.message());
    if (asked_) devices_.refresh();  // the device may be down or gone
  }
  show_choice();
}

}  // namespace roce::gui
