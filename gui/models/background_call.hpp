// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <mutex>

#include "gui/models/worker_threads.hpp"

namespace roce::gui {

/// Work on a thread of its own, and what is done with its result on the thread of the window. Nothing arrives
/// after cancel(), a later run() or the end of this object. Used on the thread of the window.
class BackgroundCall {
 public:
  explicit BackgroundCall(QObject& receiver) : receiver_(receiver) {}
  ~BackgroundCall() { cancel(); }
  BackgroundCall(const BackgroundCall&) = delete;
  BackgroundCall& operator=(const BackgroundCall&) = delete;

  /// `work` runs on the other thread and must not throw; what it returns is called on this one.
  void run(std::function<std::function<void()>()> work) {
    cancel();
    link_ = std::make_shared<Link>();
    link_->receiver = &receiver_;
    run_in_background([link = link_, work = std::move(work)] {
      std::function<void()> then = work();
      const std::lock_guard lock(link->mutex);
      if (link->receiver == nullptr) return;
      QMetaObject::invokeMethod(
          link->receiver,
          [link, then = std::move(then)] {
            {
              // It was posted before somebody cancelled. Locked, so that what `work` wrote is seen here.
              const std::lock_guard still(link->mutex);
              if (link->receiver == nullptr) return;
            }
            then();
          },
          Qt::QueuedConnection);
    });
  }
  void cancel() {
    const std::shared_ptr<Link> link = std::move(link_);
    if (!link) return;
    const std::lock_guard lock(link->mutex);
    link->receiver = nullptr;
  }

 private:
  struct Link {
    std::mutex mutex;
    QObject* receiver = nullptr;
  };
  QObject& receiver_;
  std::shared_ptr<Link> link_;
};

}  // namespace roce::gui
