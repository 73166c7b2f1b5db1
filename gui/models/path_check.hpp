// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <memory>

namespace roce::gui {

/// Finds out on another thread which paths do not exist: an unresponsive file server must not block the
/// window. GUI thread only.
class PathCheck : public QObject {
  Q_OBJECT

 public:
  explicit PathCheck(QObject* parent = nullptr);
  /// Checks these paths; cancels a check that is still running.
  void check(const QStringList& paths);

 Q_SIGNALS:
  void checked(const QStringList& missing);

 private:
  struct Result;
  std::shared_ptr<Result> result_;
  QTimer timer_;
};

}  // namespace roce::gui
