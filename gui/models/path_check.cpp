// SPDX-License-Identifier: Apache-2.0
#include "gui/models/path_check.hpp"

#include <QFileInfo>
#include <atomic>
#include <utility>

#include "gui/models/worker_threads.hpp"

namespace roce::gui {

/// Shared with the checking thread.
struct PathCheck::Result {
  QStringList missing;
  std::atomic<bool> done{false};
};

PathCheck::PathCheck(QObject* parent) : QObject(parent) {
  constexpr int look_ms = 20;
  timer_.setInterval(look_ms);
  connect(&timer_, &QTimer::timeout, this, [this] {
    if (!result_ || !result_->done) return;
    timer_.stop();
    Q_EMIT checked(std::exchange(result_, nullptr)->missing);
  });
}

void PathCheck::check(const QStringList& paths) {
  result_ = std::make_shared<Result>();
  timer_.start();
  run_in_background([result = result_, paths] {
    for (const QString& path : paths) {
      if (!QFileInfo::exists(path)) result->missing << path;
    }
    result->done = true;
  });
}

}  // namespace roce::gui
