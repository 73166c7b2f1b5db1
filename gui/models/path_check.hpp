// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <memory>

namespace roce::gui {

/// Tells which paths lead to nothing, without waiting: a file server that does not answer shall not hold up
/// the window.
class PathCheck : public QObject {
  Q_OBJECT

 public:
  explicit PathCheck(QObject* parent = nullptr);
  /// Looks at these; what an earlier call has not told yet is not told any more.
  void check(const QStringList& paths);

 Q_SIGNALS:
  void checked(const QStringList& missing);

 private:
  struct Result;
  std::shared_ptr<Result> result_;
  QTimer timer_;
};

}  // namespace roce::gui
