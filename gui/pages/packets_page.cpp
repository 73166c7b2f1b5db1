// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/packets_page.hpp"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QPlainTextEdit>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>
#include <chrono>
#include <vector>

#include "gui/models/details.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/time_format.hpp"
#include "gui/pages/column_widths.hpp"
#include "gui/pages/main_window.hpp"
#include "gui/pages/tool_button.hpp"

namespace roce::gui {
namespace {

quint64 ask_packet_number(QWidget* parent, quint64 last) {
  bool agreed = false;
  const QString text = QInputDialog::getText(parent, PacketsPage::tr("Go to packet"),
                                             PacketsPage::tr("Number of the packet (1 to %1):").arg(last),
                                             QLineEdit::Normal, QString(), &agreed);
  return agreed ? text.trimmed().toULongLong() : 0;
}

QString ask_file_to_write(QWidget* parent, PacketFormat format) {
  const bool capture = format == PacketFormat::pcapng;
  const QString kinds = capture                        ? PacketsPage::tr("pcapng (*.pcapng)")
                        : format == PacketFormat::csv  ? PacketsPage::tr("CSV (*.csv)")
                        : format == PacketFormat::json ? PacketsPage::tr("JSON lines (*.json *.jsonl)")
                                                       : PacketsPage::tr("Text (*.txt)");
  return QFileDialog::getSaveFileName(parent, PacketsPage::tr("Export packets"), QString(), kinds);
}

std::optional<QString> ask_comment_text(QWidget* parent, const QString& title, const QString& text) {
  QInputDialog dialog(parent);
  dialog.setWindowTitle(title);
  dialog.setLabelText(PacketsPage::tr("Comment; saved with the capture as pcapng:"));
  dialog.setOption(QInputDialog::UsePlainTextEditForTextInput);
  dialog.setTextValue(text);
  // Tab moves to the buttons: comments need no tabs.
  for (auto* field : dialog.findChildren<QPlainTextEdit*>()) field->setTabChangesFocus(true);
  return dialog.exec() == QDialog::Accepted ? std::optional(dialog.textValue()) : std::nullopt;
}

}  // namespace

PacketsPage::PacketsPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      questions_{ask_packet_number, ask_file_to_write, ask_comment_text},
      filter_(new PacketFilterLine),
      time_chip_(
          new TimeChip(selection, tr("Only packets in the selected time range; click to show all times"))),
      follow_(tool_button(tr("Auto-scroll"), tr("Scroll to new packets as they arrive"))),
      evidence_(new EvidenceBar(session, selection)),
      list_(new PacketListView(model_)),
      tree_(new PacketTreeView),
      bytes_(new PacketBytesView),
      status_(new QLabel),
      progress_(new QProgressBar),
      cancel_(tool_button(tr("Stop"), tr("Stop the filter; packets found so far stay listed"))),
      find_bar_(new QWidget),
      find_field_(new QLineEdit),
      find_status_(new QLabel),
      split_(new QSplitter(Qt::Vertical)) {
  make_parts();
  connect_parts();
  model_.set_time_format(listed_time_format());
  model_.set_columns(settings().value(QStringLiteral("packets/columns")).toStringList());
  fit_columns();
  show_packets();
  show_state();
}

PacketsPage::~PacketsPage() {
  if (found_) found_->abandon();
  if (export_) export_->cancel();
  delete list_;  // before its model
}

void PacketsPage::make_parts() {
  follow_->setCheckable(true);
  follow_->setEnabled(false);
  progress_->setMaximumWidth(160);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Progress of the filter"));
  status_->setTextFormat(Qt::PlainText);
  status_->setSizePolicy(QSizePolicy::Ignored,
                         QSizePolicy::Preferred);  // must not widen the window
  auto* top = new QHBoxLayout;
  top->addWidget(filter_, 1);
  top->addWidget(time_chip_);
  top->addWidget(follow_);
  auto* below = new QHBoxLayout;
  below->addWidget(status_, 1);
  below->addWidget(progress_);
  below->addWidget(cancel_);

  find_field_->setPlaceholderText(tr("Find packets by a display filter; Enter: next, Shift+Enter: previous"));
  find_field_->setAccessibleName(tr("Find packets"));
  auto* previous = tool_button(tr("Previous"), tr("Previous matching packet"));
  auto* next = tool_button(tr("Next"), tr("Next matching packet"));
  auto* close = tool_button(tr("Close"), tr("Close the search"));
  auto* find_row = new QHBoxLayout(find_bar_);
  find_row->setContentsMargins(0, 0, 0, 0);
  find_row->addWidget(new QLabel(tr("Find:")));
  find_row->addWidget(find_field_, 1);
  find_row->addWidget(previous);
  find_row->addWidget(next);
  find_row->addWidget(find_status_);
  find_row->addWidget(close);
  find_bar_->hide();
  connect(previous, &QToolButton::clicked, this, [this] { find(-1); });
  connect(next, &QToolButton::clicked, this, [this] { find(1); });
  const auto stop = [this] {
    find_bar_->hide();
    list_->setFocus();
  };
  connect(close, &QToolButton::clicked, this, stop);
  auto* escape = new QAction(find_bar_);
  escape->setShortcut(Qt::Key_Escape);
  escape->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  connect(escape, &QAction::triggered, this, stop);
  find_bar_->addAction(escape);

  auto* details = new QSplitter(Qt::Horizontal);
  details->addWidget(tree_);
  details->addWidget(bytes_);
  details->setStretchFactor(0, 1);
  details->setStretchFactor(1, 1);
  split_->addWidget(list_);
  split_->addWidget(details);
  split_->setStretchFactor(0, 3);
  split_->setStretchFactor(1, 2);
  split_->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addLayout(top);
  layout->addWidget(evidence_);
  layout->addWidget(find_bar_);
  layout->addWidget(split_, 1);
  layout->addLayout(below);
  setFocusProxy(list_);
}

void PacketsPage::connect_parts() {
  find_timer_.setInterval(std::chrono::milliseconds(40));
  export_timer_.setInterval(std::chrono::milliseconds(200));
  connect(&find_timer_, &QTimer::timeout, this, [this] { find(find_step_); });
  connect(&export_timer_, &QTimer::timeout, this, &PacketsPage::watch_export);
  connect(&session_, &AnalysisSession::packets_changed, this, &PacketsPage::show_packets);
  connect(&session_, &AnalysisSession::state_changed, this, [this] {
    const bool loading = session_.state() == AnalysisSession::State::loading;
    follow_->setEnabled(loading);
    if (loading) list_->set_follows(session_.is_live());
    if (current_number() == 0) show_no_packet();
    show_state();
  });
  connect(&session_, &AnalysisSession::snapshot_changed, this, &PacketsPage::take_time_format);
  connect(&selection_, &Selection::packet_changed, this, [this] {
    if (!selection_.packet()) {
      wanted_ = 0;
    } else if (*selection_.packet() != current_number()) {
      go_to(*selection_.packet());
    }
  });
  connect(time_chip_, &TimeChip::changed, this, &PacketsPage::apply_filter);
  connect(filter_, &PacketFilterLine::applied, this, [this](const QString& expression) {
    applied_ = expression;
    apply_filter();
  });
  connect(filter_, &PacketFilterLine::error_changed, this, &PacketsPage::show_state);
  connect(&model_, &PacketListModel::state_changed, this, &PacketsPage::show_state);
  connect(list_, &PacketListView::current_changed, this, &PacketsPage::show_current);
  connect(list_, &PacketListView::selection_changed, this, &PacketsPage::show_state);
  connect(evidence_, &EvidenceBar::packet_wanted, this, [this](qulonglong packet) {
    Q_EMIT leads_to(PageId::packets);
    go_to(packet);
  });
  connect(evidence_, &EvidenceBar::explanation_wanted, this, [this] {
    selection_.choose_finding(selection_.finding());
    Q_EMIT leads_to(PageId::findings);
  });
  connect(evidence_, &EvidenceBar::filter_wanted, this,
          [this](const QString& expression) { filter_->apply(expression); });
  connect(evidence_, &EvidenceBar::says, this, &Page::says);
  connect(list_, &PacketListView::menu_wanted, this, &PacketsPage::row_menu);
  connect(list_, &PacketListView::header_menu_wanted, this, &PacketsPage::header_menu);
  connect(list_, &PacketListView::follows_changed, follow_, &QToolButton::setChecked);
  connect(list_, &PacketListView::activated, this, [this] { tree_->setFocus(); });
  connect(follow_, &QToolButton::toggled, list_, &PacketListView::set_follows);
  connect(&list_->header(), &QHeaderView::sectionResized, this, [this](int column, int, int width) {
    if (list_->header().visualIndex(column) + 1 < model_.columnCount()) save_width(column, width);
  });
  connect(list_, &PacketListView::room_changed, this, &PacketsPage::fit_columns);
  connect(tree_, &PacketTreeView::line_chosen, bytes_, &PacketBytesView::light_up);
  connect(tree_, &PacketTreeView::menu_wanted, this, &PacketsPage::tree_menu);
  connect(bytes_, &PacketBytesView::byte_chosen, tree_, &PacketTreeView::choose_byte);
  connect(cancel_, &QToolButton::clicked, this, [this] {
    if (export_) export_->cancel();
    model_.stop_filter();
  });
  connect(find_field_, &QLineEdit::returnPressed, this, &PacketsPage::start_find);
}

void PacketsPage::show_packets() {
  if (found_) found_->abandon();
  found_ = nullptr;
  find_timer_.stop();
  wanted_ = selection_.packet().value_or(0);
  model_.show(session_.packets());
  show_current();
}

void PacketsPage::apply_filter() {
  const std::uint64_t before = current_number();
  const auto error = model_.set_filter(applied_, time_chip_->time());
  if (error) {
    Q_EMIT says(
        tr("Invalid filter: column %1: %2").arg(error->column).arg(QString::fromStdString(error->message)));
    return;
  }
  if (before != 0) wanted_ = before;
  show_state();
}

void PacketsPage::show_state() {
  // The requested packet turned out to be hidden by the filter.
  if (insists_ && wanted_ != 0 && list_->current_row() < 0 && model_.hides(wanted_)) return go_to(wanted_);
  // Keep the current packet, if it is in the list.
  if (wanted_ != 0 && list_->current_row() < 0) {
    if (const int row = model_.row_of(wanted_); row >= 0) {
      list_->set_current_row(row);
      wanted_ = 0;
    }
  }
  if (wanted_ != 0 && list_->current_row() < 0 && model_.state().complete && model_.rowCount() > 0) {
    // It is not in the list: take the next one that is.
    const int row = std::min(model_.row_at_or_after(wanted_), model_.rowCount() - 1);
    wanted_ = 0;
    list_->set_current_row(row);
  }
  // Select a packet by default, so that tree and bytes are not empty: the first visible one, or the last one
  // after auto-scrolling to the end of a capture.
  const bool scrolled = list_->follows();
  if (scrolled && model_.state().complete && session_.state() != AnalysisSession::State::loading) {
    list_->set_follows(false);
    if (current_number() == 0) show_no_packet();
  }
  if (wanted_ == 0 && list_->current_row() < 0 && model_.rowCount() > 0 && !list_->follows())
    list_->set_current_row(scrolled ? model_.rowCount() - 1 : list_->first_visible_row());
  const PacketListModel::State& s = model_.state();
  const bool busy = model_.store() != nullptr && s.filtered && !s.complete;
  QStringList parts;
  if (!filter_->error().isEmpty()) parts << filter_->error();
  if (s.filtered) {
    parts << tr("%1 of %2 packets").arg(s.shown).arg(s.packets);
  } else {
    parts << tr("%1 packets").arg(s.packets);
  }
  if (s.waits_for_analysis) parts << tr("the filter starts when the capture has been read");
  if (busy && !s.waits_for_analysis) parts << tr("%1 examined").arg(s.looked_at);
  if (s.unreadable != 0) parts << tr("%1 cannot be read").arg(s.unreadable);
  if (const qint64 selected = list_->selected_count(); selected > 1) parts << tr("%1 selected").arg(selected);
  if (model_.store() != nullptr) {
    if (const std::string problem = model_.store()->problem(); !problem.empty())
      parts << tr("the rest is not listed: %1").arg(QString::fromStdString(problem));
  }
  if (export_) {
    const PacketExport::State e = export_->state();
    parts << tr("writing: %1 of %2").arg(e.written).arg(e.all);
    progress_->setRange(0, 100);
    progress_->setValue(e.all == 0 ? 0 : static_cast<int>(e.written * 100 / e.all));
  } else {
    progress_->setRange(0, s.packets == 0 || s.waits_for_analysis ? 0 : 100);
    progress_->setValue(s.packets == 0 ? 0 : static_cast<int>(s.looked_at * 100 / s.packets));
  }
  status_->setText(parts.join(QStringLiteral(" · ")));
  progress_->setVisible(busy || export_ != nullptr);
  cancel_->setVisible(busy || export_ != nullptr);
  if (model_.rowCount() == 0) list_->viewport()->update();
}

void PacketsPage::show_no_packet() {
  tree_->show_text(list_->follows() ? tr("Select a packet to see its contents") : QString());
  bytes_->show_bytes({});
}

void PacketsPage::show_current() {
  const std::uint64_t number = current_number();
  evidence_->show_current(number);
  if (number == 0) return show_no_packet();
  wanted_ = 0;
  const analyze::PacketView* packet = model_.packet(number);
  if (packet == nullptr) {
    tree_->show_text(tr("Packet %1 cannot be read: %2").arg(number).arg(model_.error()));
    bytes_->show_bytes({});
  } else {
    const capture::Frame& frame = *packet->frame;
    bytes_->show_bytes(
        QByteArray(reinterpret_cast<const char*>(frame.data), static_cast<qsizetype>(frame.captured)));
    tree_->show_packet(*packet);
  }
  selection_.set_packet(number);
}

void PacketsPage::go_to(std::uint64_t number) {
  if (model_.store() == nullptr || number == 0) return;
  int row = model_.row_of(number);
  insists_ = false;
  if (model_.hides(number)) {
    // Clear what hides the requested packet.
    Q_EMIT says((applied_.trimmed().isEmpty()
                     ? tr("Showing all times again: packet %1 is not in the time range")
                     : tr("Filter cleared: it hides packet %1"))
                    .arg(number));
    filter_->field()->clear();
    applied_.clear();
    time_chip_->setChecked(false);
    apply_filter();
    row = model_.row_of(number);
  }
  if (row < 0) {
    wanted_ = number;  // it may still arrive
    insists_ = true;
    list_->set_current_row(-1);
    return;
  }
  list_->set_current_row(row);
}

QWidget* PacketsPage::search_field() {
  find_bar_->show();
  find_field_->selectAll();
  return find_field_;
}

void PacketsPage::fit_columns() {
  struct Width {
    const char* name;
    const char* sample;
    bool text = false;  ///< may be elided
  };
  const Width widths[] = {
      {"frame.number", "100000000"},
      {"time", model_.time_format() == analyze::TimeFormat::relative ? "1234.123456789"
                                                                     : "2026-11-20 11:08:53.886729123"},
      {"source", "192.168.100.100", true},
      {"destination", "192.168.100.100", true},
      {"operation", "RC RDMA READ Response Middle", true},
      {"infiniband.bth.destqp", "0x000000"},
      {"infiniband.bth.psn", "16777216"},
      {"frame.len", "Length"}};
  const QFontMetrics metrics(list_->font());
  constexpr int air = 14;
  const QSettings kept = settings();
  const int height = kept.value(QStringLiteral("packets/text"), metrics.height()).toInt();
  std::vector<ColumnWidth> columns;
  for (int i = 0; i + 1 < model_.columnCount(); ++i) {
    const PacketColumn& column = model_.column(i);
    int width = std::max(metrics.horizontalAdvance(column.title),
                         metrics.horizontalAdvance(QStringLiteral("0000000000")));
    bool text = false;
    for (const Width& row : widths) {
      if (column.name != QLatin1String(row.name)) continue;
      width = std::max(metrics.horizontalAdvance(QLatin1String(row.sample)),
                       metrics.horizontalAdvance(column.title) + 4);
      text = row.text;
    }
    const int known = kept.value(width_key(column.name)).toInt() * metrics.height() / std::max(1, height);
    columns.push_back(known > 0 ? ColumnWidth{known, known, false}
                                : ColumnWidth{width + air, width + air - 2, text});
  }
  // The last column, what a packet says, takes the rest: addresses and names of operations leave it some.
  const int least_of_last = metrics.averageCharWidth() * 32;
  const std::vector<int> fitted = column_widths(columns, list_->room() - least_of_last);
  const QSignalBlocker quiet(&list_->header());
  for (std::size_t i = 0; i < fitted.size(); ++i)
    list_->header().resizeSection(static_cast<int>(i), fitted[i]);
}

void PacketsPage::save_columns() {
  QSettings kept = settings();
  kept.setValue(QStringLiteral("packets/columns"), model_.column_names());
}

/// That the user has set; those of other columns go on following their room and their text.
void PacketsPage::save_width(int column, int width) {
  QSettings kept = settings();
  const int height = QFontMetrics(list_->font()).height();
  const int before = kept.value(QStringLiteral("packets/text"), height).toInt();
  for (int i = 0; i < model_.columnCount() && before != height; ++i) {
    const QString key = width_key(model_.column(i).name);
    if (kept.contains(key)) kept.setValue(key, kept.value(key).toInt() * height / std::max(1, before));
  }
  kept.setValue(QStringLiteral("packets/text"), height);
  kept.setValue(width_key(model_.column(column).name), width);
}

/// Times with a date need more room than seconds: each time format has its own width.
QString PacketsPage::width_key(const QString& column) const {
  const bool dated = column == QLatin1String("time") && model_.time_format() != analyze::TimeFormat::relative;
  return QStringLiteral("packets/width/") + column + (dated ? QStringLiteral("_dated") : QString());
}

/// Applies the time format of the preferences.
void PacketsPage::take_time_format() {
  if (model_.time_format() == listed_time_format()) return;
  model_.set_time_format(listed_time_format());
  fit_columns();
}

void PacketsPage::apply_column(const QString& field) {
  QStringList names = model_.column_names();
  if (!packet_column(field) || names.contains(field)) return;
  const std::uint64_t before = current_number();
  names.insert(std::max<qsizetype>(0, names.size() - 1), field);
  model_.set_columns(names);
  fit_columns();
  save_columns();
  if (before != 0) go_to(before);
}

void PacketsPage::follow_connection() {
  const std::uint64_t number = current_number();
  std::optional<std::uint32_t> connection = selection_.connection();
  if (number != 0 && model_.store() != nullptr) {
    const auto verdict = model_.store()->verdict(number);
    if (verdict && verdict->connection != analyze::Verdict::no_connection) connection = verdict->connection;
  }
  if (!connection) {
    Q_EMIT says(
        tr("The current packet belongs to no connection (connections are known when the capture has been "
           "read)"));
    return;
  }
  selection_.set_connection(*connection);
  filter_->apply(QStringLiteral("roce.connection == %1").arg(*connection));
}

PacketChoice PacketsPage::chosen(Scope scope) const {
  PacketChoice choice;
  choice.store = model_.store();
  if (scope == Scope::all) {
    const std::uint64_t all = choice.store ? choice.store->size() : 0;
    if (all > 0) choice.rows = {{0, static_cast<int>(all - 1)}};
    return choice;
  }
  choice.search = model_.search();
  if (scope == Scope::selected) {
    choice.rows = list_->selected();
  } else if (model_.rowCount() > 0) {
    choice.rows = {{0, model_.rowCount() - 1}};
  }
  return choice;
}

}  // namespace roce::gui
