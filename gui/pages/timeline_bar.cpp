// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/timeline_bar.hpp"

#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "analyze/base/units.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {

TimelineBar::TimelineBar(AnalysisSession& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      session_(session),
      selection_(selection),
      timeline_(new MasterTimeline),
      figures_(new QLabel),
      packets_(offer(tr("Pac&kets"), tr("Show the packets in the selected time range"),
                     &TimelineBar::lead_to_packets)),
      zoom_(offer(tr("&Zoom"), tr("Show only the selected time range in the timeline"),
                  &TimelineBar::zoom_to_range)),
      all_(offer(tr("A&ll times"), tr("Take the selected range back, and show the whole capture"),
                 &TimelineBar::show_all_times)) {
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(2);
  for (QAction* action : {packets_, zoom_, all_}) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    button->setAutoRaise(true);
    buttons->addWidget(button);
    timeline_->addAction(action);
  }
  timeline_->setContextMenuPolicy(Qt::ActionsContextMenu);
  figures_->setWordWrap(true);
  figures_->setTextFormat(Qt::PlainText);
  figures_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  figures_->setAccessibleName(tr("What the figures are of"));
  auto* side = new QVBoxLayout;
  side->setSpacing(2);
  side->addLayout(buttons);
  side->addWidget(figures_, 1);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(6, 2, 6, 2);
  row->addWidget(timeline_, 1);
  row->addLayout(side);

  connect(timeline_, &MasterTimeline::span_chosen, this, &TimelineBar::choose);
  connect(timeline_, &MasterTimeline::incident_chosen, this, [this](quint64 first_packet) {
    selection_.set_incident(first_packet);
    Q_EMIT leads_to(PageId::incidents);
  });
  connect(&selection_, &Selection::time_changed, this, [this] {
    // Whoever takes the range back wants the whole capture again.
    if (!selection_.time()) session_.set_range(std::nullopt);
    show_range();
  });
  connect(&selection_, &Selection::incident_changed, this,
          [this] { timeline_->show_incident(selection_.incident()); });
  connect(&session_, &AnalysisSession::snapshot_changed, this, &TimelineBar::show_capture);
  connect(&session_, &AnalysisSession::state_changed, this, &TimelineBar::show_capture);
  connect(&session_, &AnalysisSession::range_changed, this, [this] {
    // Connections have other numbers in another part of the capture.
    if (session_.range() != shown_range_) selection_.set_connection({});
    shown_range_ = session_.range();
    show_range();
  });
  show_capture();
  show_range();
}

QAction* TimelineBar::offer(const QString& text, const QString& help, void (TimelineBar::*act)()) {
  auto* action = new QAction(text, this);
  action->setToolTip(help);
  connect(action, &QAction::triggered, this, act);
  return action;
}

void TimelineBar::show_capture() {
  const auto& snapshot = session_.whole_snapshot();
  std::uint64_t speed = session_.choice().link_speed_bps;
  if (snapshot && speed == 0) {
    for (const capture::InterfaceInfo& each : snapshot->interfaces) speed = std::max(speed, each.speed_bps);
  }
  timeline_->set_link_speed(speed);
  timeline_->show_snapshot(snapshot, session_.whole_packets(), session_.choice().check_icrc);
  Q_EMIT has_content(snapshot != nullptr);
}

void TimelineBar::choose(const std::optional<TimeSpan>& span) {
  selection_.set_time(span);
  if (span) session_.set_range(span);
}

void TimelineBar::show_range() {
  const auto& time = selection_.time();
  timeline_->show_span(time);
  for (QAction* action : {packets_, zoom_, all_}) action->setEnabled(time.has_value());
  const auto length = [](const TimeSpan& span) { return to_qt(analyze::duration_text(span.to - span.from)); };
  if (const auto wanted = session_.range_in_work()) {
    figures_->setText(tr("Computing the figures of %1…").arg(length(*wanted)));
  } else if (const auto& range = session_.range()) {
    figures_->setText(
        tr("Figures of %1 from %2").arg(length(*range), shown_time(*session_.whole_snapshot(), range->from)));
  } else if (time) {
    figures_->setText(tr("Rows of %1, figures of the whole capture").arg(length(*time)));
  } else {
    figures_->setText(tr("Figures of the whole capture"));
  }
}

void TimelineBar::lead_to_packets() {
  Q_EMIT leads_to(PageId::packets);
}

void TimelineBar::zoom_to_range() {
  if (selection_.time()) timeline_->show_view(*selection_.time());
}

void TimelineBar::show_all_times() {
  selection_.set_time({});
  timeline_->show_all();
}

}  // namespace roce::gui
