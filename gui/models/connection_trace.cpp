// SPDX-License-Identifier: Apache-2.0
#include "gui/models/connection_trace.hpp"

#include <QFile>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "capture/files/reread.hpp"

namespace roce::gui {

ConnectionTracer::ConnectionTracer(AnalysisSession& session, QObject* parent)
    : QObject(parent), session_(session) {
  timer_.setInterval(AnalysisSession::interval);
  connect(&timer_, &QTimer::timeout, this, &ConnectionTracer::progress_changed);
  connect(&session_, &AnalysisSession::state_changed, this, &ConnectionTracer::follow_session);
  connect(&session_, &AnalysisSession::range_changed, this, &ConnectionTracer::follow_session);
}

ConnectionTracer::~ConnectionTracer() {
  let_go();
}

void ConnectionTracer::let_go() {
  timer_.stop();
  if (job_) job_->abandon();
  job_ = nullptr;
  if (capture_) capture_->stop();
  capture_ = nullptr;
  kept_.clear();
}

/// After any change of state the traces are out of date: another capture is shown, or it was still growing.
void ConnectionTracer::follow_session() {
  let_go();
  trace_ = nullptr;
  update();
}

void ConnectionTracer::choose(std::optional<std::uint32_t> connection) {
  if (connection == wanted_) return;
  wanted_ = connection;
  update();
}

void ConnectionTracer::update() {
  if (job_) job_->abandon();
  job_ = nullptr;
  timer_.stop();
  using Session = AnalysisSession::State;
  const auto& snapshot = session_.snapshot();
  if (!wanted_ || session_.state() == Session::empty || session_.state() == Session::failed)
    return set(State::none, nullptr);
  if (session_.state() == Session::loading || !snapshot) return set(State::waiting, nullptr);
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [this](const Trace& trace) { return trace->connection == *wanted_; });
  if (kept != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, kept);
    return set(State::done, kept_.front());
  }
  const bool there = std::any_of(snapshot->connections.begin(), snapshot->connections.end(),
                                 [this](const analyze::Connection& c) { return c.id == *wanted_; });
  if (!there) return set(State::none, nullptr);
  std::vector<std::string> paths;
  for (const QString& file : session_.files()) paths.push_back(QFile::encodeName(file).toStdString());
  if (!capture::can_read_twice(paths)) {
    return set(State::impossible, nullptr,
               tr("This capture was read from a pipe, which cannot be read again. Save it to a file and "
                  "open that to see the packets of its connections."));
  }
  start();
}

void ConnectionTracer::start() {
  const auto& snapshot = session_.snapshot();
  if (!capture_)
    capture_ = std::make_shared<TracedCapture>(session_.opener(), session_.choice(), snapshot->frames_read);
  analyze::TraceOptions options;
  options.connection = *wanted_;
  options.check_icrc = snapshot->icrc_checked;
  options.priorities = snapshot->priorities;
  options.dissecting = session_.choice().dissect_options();
  for (const analyze::Connection& connection : snapshot->connections) {
    if (connection.id == *wanted_) options.pmtu = connection.pmtu;
  }
  // Queued, not called directly: after abandon() nothing is queued; an event queued before finds another job
  // that has not ended, or none.
  job_ = TraceJob::start(capture_, options, [this] {
    QMetaObject::invokeMethod(this, &ConnectionTracer::look, Qt::QueuedConnection);
  });
  timer_.start();
  set(State::reading, nullptr);
}

void ConnectionTracer::look() {
  if (!job_) return;
  TraceJob::Result result = job_->result();
  if (!result.ended) return;
  job_ = nullptr;
  timer_.stop();
  if (!result.trace) return set(State::failed, nullptr, QString::fromStdString(result.failure));
  keep(result.trace);
  set(State::done, result.trace);
}

void ConnectionTracer::keep(const Trace& trace) {
  kept_.push_front(trace);
  std::size_t points = 0, traces = 0;
  for (auto one = kept_.begin(); one != kept_.end();) {
    points += (*one)->points.size();
    const bool room = ++traces == 1 || (points <= kept_points && traces <= kept_traces);
    one = room ? std::next(one) : kept_.erase(one);
  }
}

double ConnectionTracer::progress() const {
  return capture_ ? capture_->progress() : 0;
}

void ConnectionTracer::set(State state, Trace trace, const QString& reason) {
  if (state == state_ && trace == trace_ && reason == reason_ && state != State::reading) return;
  state_ = state;
  trace_ = std::move(trace);
  reason_ = reason;
  Q_EMIT changed();
}

}  // namespace roce::gui
