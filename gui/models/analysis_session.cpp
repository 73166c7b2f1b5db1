// SPDX-License-Identifier: Apache-2.0
#include "gui/models/analysis_session.hpp"

#include <QFile>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/confined_reading.hpp"
#include "gui/models/worker_threads.hpp"

namespace roce::gui {

AnalysisSession::AnalysisSession(QObject* parent) : QObject(parent) {
  timer_.setInterval(interval);
  connect(&timer_, &QTimer::timeout, this, &AnalysisSession::look);
}

AnalysisSession::~AnalysisSession() {
  if (range_job_) range_job_->abandon();
  if (job_) job_->abandon();
}

void AnalysisSession::open(const QStringList& files) {
  std::vector<std::string> paths;
  for (const QString& file : files) paths.push_back(QFile::encodeName(file).toStdString());
  open(files, [paths] {
    confine_reading(paths);
    return capture::open_files(paths);
  });
}

void AnalysisSession::open(const QStringList& files, AnalysisJob::Opener opener) {
  files_ = files;
  opener_ = std::move(opener);
  live_ = false;
  recording_ = false;
  comments_ = std::make_shared<PacketComments>();
  start(opener_);
}

void AnalysisSession::open_live(const QString& recording, AnalysisJob::Opener opener) {
  files_ = QStringList{recording};
  const std::string path = QFile::encodeName(recording).toStdString();
  opener_ = [path] {
    confine_reading({path});
    return capture::open_files({path});
  };
  live_ = true;
  recording_ = true;
  other_choice_ = false;
  comments_ = std::make_shared<PacketComments>();
  start(opener);
}

void AnalysisSession::reload() {
  if (!opener_ || is_live()) return;
  comments_ = std::make_shared<PacketComments>();
  restart();
}

void AnalysisSession::restart() {
  if (!opener_ || is_live()) return;
  live_ = false;
  start(opener_);
}

void AnalysisSession::close() {
  let_go();
  files_.clear();
  recording_ = false;
  opener_ = nullptr;
  set_state(State::empty);
}

void AnalysisSession::cancel() {
  if (range_job_) {
    drop_range();
    Q_EMIT range_changed();
  }
  if (state_ != State::loading) return;
  cancelled_ = true;
  job_->stop();
}

void AnalysisSession::set_policy(std::shared_ptr<const analyze::MarkingPolicy> policy) {
  AnalysisChoice choice = choice_;
  choice.policy = std::move(policy);
  set_choice(choice);
}

void AnalysisSession::set_choice(const AnalysisChoice& choice) {
  AnalysisChoice chosen = choice;
  chosen.packets = choice_.packets;  // of the current analysis: start() makes a new store
  chosen.times = choice_.times;      // start() begins with the whole capture
  if (chosen == choice_) return;
  choice_ = std::move(chosen);
  if (is_live()) {
    other_choice_ = true;
  } else {
    restart();
  }
}

void AnalysisSession::set_range(const std::optional<TimeSpan>& range) {
  if (state_ != State::done || (range && range_job_ && *range == range_wanted_)) return;
  const bool was_in_work = range_job_ != nullptr;
  drop_range();
  if (range == choice_.times) {
    if (was_in_work) Q_EMIT range_changed();
    return;
  }
  if (!range) {
    Part whole = std::exchange(whole_, {});
    return show_part(std::move(whole.snapshot), std::move(whole.packets), std::nullopt);
  }
  range_wanted_ = *range;
  AnalysisChoice choice = choice_;
  choice.times = range;
  choice.packets = freed_in_background(std::make_shared<PacketStore>(comments_));
  range_made_.packets = choice.packets;
  range_job_ = AnalysisJob::start(opener_, std::move(choice), [this] {
    QMetaObject::invokeMethod(this, &AnalysisSession::look_at_range, Qt::QueuedConnection);
  });
  Q_EMIT range_changed();
}

void AnalysisSession::look_at_range() {
  if (!range_job_) return;
  AnalysisJob::News news = range_job_->take();
  if (news.snapshot) range_made_.snapshot = std::move(news.snapshot);
  if (!news.ended) return;
  range_job_ = nullptr;
  Part made = std::exchange(range_made_, {});
  if (!news.failure.empty() || !made.snapshot) {
    failure_ = QString::fromStdString(news.failure);
    Q_EMIT range_changed();
    return;
  }
  if (!choice_.times) whole_ = {snapshot_, choice_.packets};
  show_part(std::move(made.snapshot), std::move(made.packets), range_wanted_);
}

void AnalysisSession::drop_range() {
  if (range_job_) range_job_->abandon();
  range_job_ = nullptr;
  range_made_ = {};
}

void AnalysisSession::show_part(std::shared_ptr<const analyze::Snapshot> snapshot,
                                std::shared_ptr<PacketStore> packets, const std::optional<TimeSpan>& range) {
  choice_.times = range;
  choice_.packets = std::move(packets);
  snapshot_ = std::move(snapshot);
  Q_EMIT range_changed();
  Q_EMIT packets_changed();
  Q_EMIT snapshot_changed();
}

void AnalysisSession::let_go() {
  timer_.stop();
  const bool had_range = range_job_ != nullptr || choice_.times;
  drop_range();
  whole_ = {};
  choice_.times.reset();
  if (had_range) Q_EMIT range_changed();
  if (job_) job_->abandon();
  job_ = nullptr;
  cancelled_ = false;
  progress_ = {};
  failure_.clear();
  if (choice_.packets) {
    choice_.packets = nullptr;
    Q_EMIT packets_changed();
  }
  if (!snapshot_) return;
  snapshot_ = nullptr;
  Q_EMIT snapshot_changed();
}

void AnalysisSession::start(const AnalysisJob::Opener& opener) {
  let_go();
  choice_.packets = freed_in_background(std::make_shared<PacketStore>(comments_));
  AnalysisChoice choice = choice_;
  choice.live = live_;
  // Queued, so that look() runs on this thread. After abandon() nothing is queued; an event queued before
  // finds another job with nothing new, or is removed together with this object.
  job_ = AnalysisJob::start(opener, std::move(choice), [this] {
    QMetaObject::invokeMethod(this, &AnalysisSession::look, Qt::QueuedConnection);
  });
  timer_.start();
  // The state first: it decides how the first packets, which may be there already, are shown (live or not).
  set_state(State::loading);
  Q_EMIT packets_changed();
}

void AnalysisSession::look() {
  if (!job_) return;
  AnalysisJob::News news = job_->take();
  if (news.progress != progress_) {
    progress_ = news.progress;
    Q_EMIT progress_changed();
  }
  // A slot may open something else: after each signal job_ may be another one.
  const std::shared_ptr<AnalysisJob> job = job_;
  if (news.snapshot) {
    snapshot_ = std::move(news.snapshot);
    Q_EMIT snapshot_changed();
  }
  if (job != job_ || !news.ended) return;
  timer_.stop();
  job_ = nullptr;
  failure_ = QString::fromStdString(news.failure);
  const bool judged_anew = live_ && other_choice_ && failure_.isEmpty();
  set_state(!failure_.isEmpty() ? State::failed : cancelled_ ? State::stopped : State::done);
  // A slot may have opened something else.
  if (judged_anew && !job_) restart();
}

void AnalysisSession::set_state(State state) {
  const bool restarted = state == State::loading;
  if (state == state_ && !restarted) return;
  state_ = state;
  Q_EMIT state_changed();
}

}  // namespace roce::gui
