// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <chrono>
#include <memory>

#include "gui/models/analysis_job.hpp"

namespace roce::gui {

/// What one window looks at: opens captures, has them analysed on another thread and hands over the results.
/// No member waits for that thread. What an earlier open() started never arrives after a later one.
/// Used on the thread of the window only.
class AnalysisSession : public QObject {
  Q_OBJECT

 public:
  enum class State {
    empty,  ///< nothing was opened
    loading,
    done,
    stopped,  ///< cancel() came first: what was read until then is shown
    failed,   ///< nothing could be read: failure() says why
  };
  /// Snapshots of a capture that is still being read, and its progress, come no more often.
  static constexpr std::chrono::milliseconds interval{100};

  explicit AnalysisSession(QObject* parent = nullptr);
  ~AnalysisSession() override;
  AnalysisSession(const AnalysisSession&) = delete;
  AnalysisSession& operator=(const AnalysisSession&) = delete;

  /// Opens captures as capture::open_files() does and lets go of what was open before.
  void open(const QStringList& files);
  /// The same from another source; `files` is what reopens and commands are made with.
  void open(const QStringList& files, AnalysisJob::Opener opener);
  /// Follows a capture that goes on. `recording` is the file that it is kept in, which is what is read
  /// whenever it is read again. Until the end of the capture reload() does nothing, and another choice waits.
  void open_live(const QString& recording, AnalysisJob::Opener opener);
  [[nodiscard]] bool is_live() const noexcept { return live_ && state_ == State::loading; }
  /// Reads the files anew. What was written on packets is forgotten: they may be others by now.
  void reload();
  void close();
  /// Stops reading; what was read is still shown, soon.
  void cancel();
  /// Judges marks by it; null: by none. What is open is analysed again.
  void set_policy(std::shared_ptr<const analyze::MarkingPolicy> policy);
  /// The same for everything that can be chosen; one that is as before changes nothing.
  void set_choice(const AnalysisChoice& choice);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const QStringList& files() const noexcept { return files_; }
  [[nodiscard]] const std::shared_ptr<const analyze::Snapshot>& snapshot() const noexcept {
    return snapshot_;
  }
  /// The single packets of what is open; null: nothing is. They become more while it is read.
  [[nodiscard]] const std::shared_ptr<PacketStore>& packets() const noexcept { return choice_.packets; }
  [[nodiscard]] const LoadProgress& progress() const noexcept { return progress_; }
  [[nodiscard]] const QString& failure() const noexcept { return failure_; }
  [[nodiscard]] const std::shared_ptr<const analyze::MarkingPolicy>& policy() const noexcept {
    return choice_.policy;
  }
  /// What others need who read the same capture in the same way.
  [[nodiscard]] const AnalysisJob::Opener& opener() const noexcept { return opener_; }
  [[nodiscard]] const AnalysisChoice& choice() const noexcept { return choice_; }

 Q_SIGNALS:
  void state_changed();
  void progress_changed();
  void packets_changed();   ///< packets() is another one
  void snapshot_changed();  ///< also to none, when something is opened or closed

 private:
  void start(const AnalysisJob::Opener& opener);
  void restart();
  void let_go();
  void look();
  void set_state(State state);

  QStringList files_;
  AnalysisJob::Opener opener_;
  AnalysisChoice choice_;
  std::shared_ptr<PacketComments> comments_ = std::make_shared<PacketComments>();  ///< on what is open
  std::shared_ptr<AnalysisJob> job_;
  QTimer timer_;
  State state_ = State::empty;
  bool cancelled_ = false;
  bool live_ = false;          ///< what is open, or was opened last, is a capture that goes on
  bool other_choice_ = false;  ///< than the one that the live capture is analysed with
  std::shared_ptr<const analyze::Snapshot> snapshot_;
  LoadProgress progress_;
  QString failure_;
};

}  // namespace roce::gui
