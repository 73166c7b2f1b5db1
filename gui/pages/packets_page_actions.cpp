// SPDX-License-Identifier: Apache-2.0
// Actions of the page of packets: menus, search, navigation, copying, export.
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMessageBox>
#include <algorithm>
#include <utility>

#include "gui/models/table_model.hpp"
#include "gui/pages/menu_rows.hpp"
#include "gui/pages/packets_page.hpp"

namespace roce::gui {
namespace {

constexpr std::uint32_t bit_of(PacketMeaning meaning) {
  return 1U << static_cast<unsigned>(meaning);
}
/// Limit for the clipboard; more packets are exported to a file.
constexpr std::uint64_t copied_at_most = 100'000;

}  // namespace

void PacketsPage::fill_menu(QMenu* menu) {
  const ActionRow line{"", {}, {}, {}, {}};
  const auto meaning = [this](int step, PacketMeaning what, const QString& word) {
    return [this, step, what, word] { step_meaning(step, bit_of(what), word); };
  };
  const std::vector<ActionRow> rows = {
      {"go_to_packet", tr("&Go to packet..."), QKeySequence(Qt::CTRL | Qt::Key_G),
       tr("Go to a packet by its number"), [this] { ask_number(); }},
      line,
      {"next_retransmission", tr("Next &retransmission"), QKeySequence(Qt::CTRL | Qt::Key_J),
       tr("Go to the next retransmitted packet"),
       meaning(1, PacketMeaning::retransmission, tr("retransmission"))},
      {"previous_retransmission", tr("&Previous retransmission"),
       QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_J), tr("Go to the previous retransmitted packet"),
       meaning(-1, PacketMeaning::retransmission, tr("retransmission"))},
      {"next_remarkable", tr("&Next notable packet"), QKeySequence(Qt::CTRL | Qt::Key_Down),
       tr("Go to the next packet with a symbol in the margin"),
       [this] {
         step_meaning(1, ~(bit_of(PacketMeaning::plain) | bit_of(PacketMeaning::other)),
                      tr("notable packet"));
       }},
      {"previous_remarkable", tr("Previous notable pac&ket"), QKeySequence(Qt::CTRL | Qt::Key_Up),
       tr("Go to the previous packet with a symbol in the margin"),
       [this] {
         step_meaning(-1, ~(bit_of(PacketMeaning::plain) | bit_of(PacketMeaning::other)),
                      tr("notable packet"));
       }},
      {"next_finding_packet", tr("Next packet of the &finding"), QKeySequence(Qt::SHIFT | Qt::Key_F8),
       tr("Go to the next evidence packet of the selected finding"), [this] { evidence_->step(1); }},
      {"previous_finding_packet", tr("Prev&ious packet of the finding"), QKeySequence(Qt::SHIFT | Qt::Key_F7),
       tr("Go to the previous evidence packet of the selected finding"), [this] { evidence_->step(-1); }},
      line,
      {"go_to_request",
       tr("Go to &request"),
       {},
       tr("Go to the request that this packet answers"),
       [this] { step_related(&RelatedPackets::request, tr("answers no other packet")); }},
      {"go_to_response",
       tr("Go to &answer"),
       {},
       tr("Go to the response or acknowledgement to this packet"),
       [this] {
         step_related(&RelatedPackets::response, tr("has no response or acknowledgement of its own"));
       }},
      {"go_to_original",
       tr("Go to &original"),
       {},
       tr("Go to the packet that this one retransmits or duplicates"),
       [this] { step_related(&RelatedPackets::original, tr("is no retransmission or duplicate")); }},
      {"follow_connection", tr("Follow &connection"),
       QKeySequence(Qt::CTRL | Qt::ALT | Qt::SHIFT | Qt::Key_T),
       tr("Show only packets of the current packet's connection"), [this] { follow_connection(); }},
      {"filter_line", tr("&Display filter"), QKeySequence(Qt::CTRL | Qt::Key_Slash),
       tr("Enter a display filter"),
       [this] {
         Q_EMIT leads_to(PageId::packets);
         filter_->field()->setFocus(Qt::ShortcutFocusReason);
       }},
      {"clear_filter", tr("Show a&ll packets"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Slash),
       tr("Clear the display filter"), [this] { filter_->apply({}); }},
      line,
      {"copy_packets_text",
       tr("Copy as &text"),
       {},
       tr("Copy the selected packets, one line each"),
       [this] { copy(PacketFormat::text); }},
      {"copy_packets_csv",
       tr("Copy as CS&V"),
       {},
       tr("Copy the selected packets with the columns of the list"),
       [this] { copy(PacketFormat::csv); }},
      {"copy_packets_json",
       tr("Copy as &JSON"),
       {},
       tr("Copy the selected packets with all fields"),
       [this] { copy(PacketFormat::json); }},
      {"export_selected",
       tr("Export selected as pcapn&g..."),
       {},
       tr("Write the selected packets to a capture file"),
       [this] { ask_export(PacketFormat::pcapng, Scope::selected); }},
      {"export_shown", tr("E&xport shown as pcapng..."), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S),
       tr("Write all packets that match the filter to a capture file"),
       [this] { ask_export(PacketFormat::pcapng, Scope::shown); }},
      {"export_shown_csv",
       tr("Export s&hown as CSV..."),
       {},
       tr("Write the listed packets with the columns of the list to a file"),
       [this] { ask_export(PacketFormat::csv, Scope::shown); }},
      {"export_shown_json",
       tr("&Export shown as JSON..."),
       {},
       tr("Write the listed packets with all fields to a file"),
       [this] { ask_export(PacketFormat::json, Scope::shown); }},
      line,
      {"reset_columns",
       tr("Reset col&umns"),
       {},
       tr("Restore the default columns"),
       [this] {
         model_.set_columns({});
         fit_columns();
         save_columns();
       }},
      {"legend",
       tr("&Symbol legend"),
       {},
       tr("Meaning of the colours and symbols of the list"),
       [this] { legend(); }},
  };
  add_rows(menu, rows, this);
  auto* written = new QMenu(tr("Com&ments"), menu);
  fill_comment_menu(written);
  const QList<QAction*> actions = menu->actions();
  const auto filter = std::find_if(actions.begin(), actions.end(), [](const QAction* action) {
    return action->objectName() == QLatin1String("filter_line");
  });
  menu->insertMenu(filter == actions.end() ? nullptr : *filter, written);
}

void PacketsPage::legend() {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  for (std::size_t i = 1; i < meaning_count; ++i) {
    const auto meaning = static_cast<PacketMeaning>(i);
    menu->addAction(list_->sign(meaning),
                    QCoreApplication::translate("PacketMeaning", meaning_text(meaning)));
  }
  menu->popup(list_->viewport()->mapToGlobal(QPoint(0, 0)));
}

void PacketsPage::add_filter_actions(QMenu* menu, const QString& one) {
  struct Way {
    QString text;
    QString expression;
  };
  const QString now = filter_->text().trimmed();
  const Way ways[] = {
      {tr("&Selected"), one},
      {tr("&Not selected"), QStringLiteral("!(%1)").arg(one)},
      {tr("...&and selected"), filter_and(now, one)},
      {tr("...and not selected"), filter_and(now, QStringLiteral("!(%1)").arg(one))},
      {tr("...&or selected"), now.isEmpty() ? one : QStringLiteral("(%1) || (%2)").arg(now, one)}};
  QMenu* apply = menu->addMenu(tr("&Apply as filter"));
  QMenu* prepare = menu->addMenu(tr("&Prepare as filter"));
  apply->setEnabled(!one.isEmpty());
  prepare->setEnabled(!one.isEmpty());
  apply->setToolTip(one);
  for (const Way& way : ways) {
    connect(apply->addAction(way.text), &QAction::triggered, this,
            [this, e = way.expression] { filter_->apply(e); });
    connect(prepare->addAction(way.text), &QAction::triggered, this,
            [this, e = way.expression] { filter_->propose(e); });
  }
}

void PacketsPage::row_menu(int row, int column, const QPoint& where) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  QString one;
  if (column >= 0 && column < model_.columnCount() && model_.column(column).field) {
    if (const analyze::PacketView* packet = model_.packet(model_.number_of(row)))
      one = filter_for(*packet, *model_.column(column).field);
  }
  add_filter_actions(menu, one);
  menu->addSeparator();
  fill_menu(menu);
  // The shortcuts belong to the menu of the window.
  const auto anonymous = [](const QMenu* of, const auto& again) -> void {
    for (QAction* action : of->actions()) {
      action->setShortcut({});
      action->setObjectName({});
      if (const QMenu* inner = action->menu()) again(inner, again);
    }
  };
  anonymous(menu, anonymous);
  menu->popup(where);
}

void PacketsPage::tree_menu(const QString& field, const QPoint& where) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  QString one;
  const auto known = analyze::find_field(field.toStdString());
  if (known) {
    if (const analyze::PacketView* packet = model_.packet(current_number()))
      one = filter_for(*packet, *known);
  }
  add_filter_actions(menu, one);
  QAction* column = menu->addAction(tr("Apply as &column"));
  column->setEnabled(known.has_value());
  connect(column, &QAction::triggered, this, [this, field] { apply_column(field); });
  menu->addSeparator();
  connect(menu->addAction(tr("Copy &line")), &QAction::triggered, this, [this] {
    if (const QTreeWidgetItem* item = tree_->currentItem()) QApplication::clipboard()->setText(item->text(0));
  });
  connect(menu->addAction(tr("Copy &tree")), &QAction::triggered, this,
          [this] { QApplication::clipboard()->setText(tree_->text()); });
  connect(menu->addAction(tr("Copy &bytes as hexadecimal")), &QAction::triggered, this, [this] {
    const QByteArray all = bytes_->bytes();
    const QByteArray lit =
        bytes_->lit_length() > 0 ? all.mid(bytes_->lit_offset(), bytes_->lit_length()) : all;
    QApplication::clipboard()->setText(QString::fromLatin1(lit.toHex()));
  });
  menu->addSeparator();
  connect(menu->addAction(tr("&Expand all")), &QAction::triggered, tree_, &QTreeWidget::expandAll);
  connect(menu->addAction(tr("C&ollapse all")), &QAction::triggered, tree_, &QTreeWidget::collapseAll);
  menu->popup(where);
}

void PacketsPage::header_menu(int column, const QPoint& where) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const QStringList names = model_.column_names();
  QAction* remove = menu->addAction(tr("&Remove column"));
  remove->setEnabled(column >= 0 && names.size() > 1);
  connect(remove, &QAction::triggered, this, [this, column] {
    QStringList left = model_.column_names();
    if (column < 0 || column >= left.size()) return;
    left.removeAt(column);
    const std::uint64_t before = current_number();
    model_.set_columns(left);
    fit_columns();
    save_columns();
    if (before != 0) go_to(before);
  });
  QMenu* add = menu->addMenu(tr("&Add column"));
  constexpr const char* offered[] = {"time",
                                     "delta",
                                     "source",
                                     "destination",
                                     "operation",
                                     "info",
                                     "frame.number",
                                     "frame.len",
                                     "frame.time_delta",
                                     "frame.comment",
                                     "infiniband.bth.destqp",
                                     "infiniband.bth.psn",
                                     "infiniband.aeth.msn",
                                     "ip.dsfield.dscp",
                                     "ip.dsfield.ecn",
                                     "udp.srcport",
                                     "vlan.id",
                                     "roce.connection",
                                     "roce.direction",
                                     "roce.flow",
                                     "roce.icrc.status",
                                     "roce.analysis.retransmission.cause",
                                     "roce.analysis.lost",
                                     "roce.analysis.request",
                                     "roce.analysis.response",
                                     "roce.analysis.response_time",
                                     "roce.analysis.in_flight"};
  for (const char* name : offered) {
    const QString text = QString::fromLatin1(name);
    if (names.contains(text) || !packet_column(text)) continue;
    connect(add->addAction(text), &QAction::triggered, this, [this, text] { apply_column(text); });
  }
  menu->popup(where);
}

void PacketsPage::ask_number() {
  if (model_.store() == nullptr || model_.store()->size() == 0) {
    Q_EMIT says(tr("There is no packet to go to"));
    return;
  }
  const quint64 last = model_.store()->size();
  const quint64 number = questions_.packet_number(this, last);
  if (number == 0) return;
  if (number > last) {
    Q_EMIT says(tr("There is no packet %1: the last one is %2").arg(number).arg(last));
    return;
  }
  Q_EMIT leads_to(PageId::packets);
  go_to(number);
}

void PacketsPage::step_meaning(int step, std::uint32_t meanings, const QString& what) {
  Q_EMIT leads_to(PageId::packets);
  const int row = model_.next_row_meaning(list_->current_row(), step, meanings);
  if (row < 0) {
    Q_EMIT says(step > 0 ? tr("No %1 after this packet").arg(what)
                         : tr("No %1 before this packet").arg(what));
    return;
  }
  list_->set_current_row(row);
}

void PacketsPage::step_related(std::uint64_t RelatedPackets::*which, const QString& what) {
  const std::uint64_t number = current_number();
  const std::uint64_t to = model_.related(number).*which;
  if (to == 0) {
    Q_EMIT says(number == 0 ? tr("No packet is selected") : tr("Packet %1 %2").arg(number).arg(what));
    return;
  }
  go_to(to);
}

void PacketsPage::start_find() {
  find((QApplication::keyboardModifiers() & Qt::ShiftModifier) != 0 ? -1 : 1);
}

/// Searches with a filter without changing the list; goes to the next match as soon as it is found.
void PacketsPage::find(int step) {
  const QString text = find_field_->text().trimmed();
  if (model_.store() == nullptr || text.isEmpty()) return;
  if (!found_ || found_text_ != text) {
    auto compiled = analyze::Filter::compile(text.toStdString());
    if (!compiled) {
      find_status_->setText(tr("column %1: %2")
                                .arg(compiled.error().column)
                                .arg(QString::fromStdString(compiled.error().message)));
      return;
    }
    if (compiled->needs_analysis() && !model_.store()->analysed()) {
      find_status_->setText(tr("available when the capture has been read"));
      return;
    }
    if (found_) found_->abandon();
    found_ = PacketSearch::start(
        model_.store(), {std::make_shared<const analyze::Filter>(std::move(*compiled)), std::nullopt});
    found_text_ = text;
  }
  find_step_ = step;
  found_->extend(model_.store()->analysed());
  const PacketSearch::State state = found_->state();
  const std::uint64_t now = std::max<std::uint64_t>(current_number(), 1);
  const bool on_it = found_->is_found(now) && list_->current_row() >= 0;
  const std::uint64_t before = found_->found_before(now);
  std::uint64_t to = 0;
  if (step > 0) {
    to = found_->number_of(before + (on_it ? 1 : 0));
  } else if (before > 0 && state.looked_at >= std::min(now, model_.store()->size())) {
    to = found_->number_of(before - 1);
  }
  const bool look_on = to == 0 && !state.complete && state.looked_at < model_.store()->size();
  if (look_on) {
    find_status_->setText(tr("%1 examined").arg(state.looked_at));
    find_timer_.start();
    return;
  }
  find_timer_.stop();
  if (state.found == 0) {
    find_status_->setText(tr("no packet"));
    return;
  }
  const bool round = to == 0;
  if (round) to = found_->number_of(step > 0 ? 0 : state.found - 1);
  go_to(to);
  QString status = state.complete ? tr("%1 of %2").arg(found_->found_before(to) + 1).arg(state.found)
                                  : tr("%1 so far").arg(state.found);
  if (round) status += step > 0 ? tr(", from the beginning again") : tr(", from the end again");
  find_status_->setText(status);
}

void PacketsPage::copy(PacketFormat format) {
  const PacketChoice choice = chosen(Scope::selected);
  const std::uint64_t count = choice.count();
  if (count == 0) {
    Q_EMIT says(tr("No packet is selected"));
    return;
  }
  if (count > copied_at_most) {
    Q_EMIT says(tr("%1 packets are too many for the clipboard (%2 at most): export them")
                    .arg(count)
                    .arg(copied_at_most));
    return;
  }
  const std::string text =
      packets_as_text(choice, {format, model_.columns(), model_.time_format()}, copied_at_most);
  QApplication::clipboard()->setText(QString::fromStdString(text));
  Q_EMIT says(tr("Copied: %n packet(s)", nullptr, static_cast<int>(count)));
}

bool PacketsPage::ask_export(PacketFormat format, Scope scope) {
  if (chosen(scope).count() == 0) {
    Q_EMIT says(tr("No packet to export"));
    return false;
  }
  const QString path = questions_.file_to_write(this, format);
  return !path.isEmpty() && export_to(path, format, scope);
}

bool PacketsPage::save_capture() {
  if (model_.store() == nullptr || !model_.store()->analysed()) {
    Q_EMIT says(model_.store() == nullptr ? tr("There is no capture to save")
                                          : tr("A capture can be saved when it has been read"));
    return false;
  }
  if (const std::string problem = model_.store()->problem(); !problem.empty()) {
    Q_EMIT says(tr("Not all packets could be kept, so the whole capture cannot be saved (%1); export the "
                   "listed packets")
                    .arg(QString::fromStdString(problem)));
    return false;
  }
  return ask_export(PacketFormat::pcapng, Scope::all);
}

bool PacketsPage::export_to(const QString& path, PacketFormat format, Scope scope) {
  if (export_) {
    Q_EMIT says(tr("Only one export at a time: another one is still being written"));
    return false;
  }
  for (const QString& file : session_.files()) {
    if (QFileInfo(file) == QFileInfo(path)) {
      Q_EMIT says(tr("%1 is the open capture: choose another name").arg(path));
      return false;
    }
  }
  saving_ = scope == Scope::all && format == PacketFormat::pcapng ? model_.store() : nullptr;
  saved_revision_ = saving_ ? saving_->comments().revision() : 0;
  export_ = PacketExport::start(chosen(scope), {format, model_.columns(), model_.time_format()},
                                QFile::encodeName(path).toStdString());
  export_timer_.start();
  show_state();
  return true;
}

void PacketsPage::watch_export() {
  if (!export_) return;
  const PacketExport::State state = export_->state();
  if (state.ended) {
    export_timer_.stop();
    export_ = nullptr;
    const auto saved = std::exchange(saving_, nullptr);
    Q_EMIT says(state.error.empty() ? tr("Written: %1 packets").arg(state.written)
                                    : tr("Not written: %1").arg(QString::fromStdString(state.error)));
    if (saved && state.error.empty()) {
      saved->comments().saved(saved_revision_);
      Q_EMIT comments_changed();
    }
    show_state();
    if (saved) Q_EMIT save_ended(state.error.empty());
    return;
  }
  show_state();
}

}  // namespace roce::gui
