// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <mutex>

#include "gui/models/worker_threads.hpp"

namespace roce::gui {

/// Runs work on its own thread and its continuation on the GUI thread. Nothing arrives after cancel(), a
/// later run() or the destructor. GUI thread only.
class BackgroundCall {
 public:
  explicit BackgroundCall(QObject& receiver) : receiver_(receiver) {}
  ~BackgroundCall() { cancel(); }
  BackgroundCall(const BackgroundCall&) = delete;
  BackgroundCall& operator=(const BackgroundCall&) = delete;

  /// `work` runs on the other thread and must not throw; the function it returns is called on this one.
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
              // Posted before cancel(). The lock makes what `work` wrote visible here.
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
