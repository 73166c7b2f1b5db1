// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <chrono>
#include <memory>
#include <optional>

#include "gui/models/analysis_job.hpp"

namespace roce::gui {

/// The capture that one window shows: opens it, has it analysed on another thread and hands over snapshots.
/// No member waits for that thread. Results of an earlier open() never arrive after a later one.
/// GUI thread only.
class AnalysisSession : public QObject {
  Q_OBJECT

 public:
  enum class State {
    empty,  ///< nothing was opened
    loading,
    done,
    stopped,  ///< by cancel(): what was read so far is shown
    failed,   ///< nothing could be read: see failure()
  };
  /// Shortest time between two snapshots, or progress signals, while a capture is being read.
  static constexpr std::chrono::milliseconds interval{100};

  explicit AnalysisSession(QObject* parent = nullptr);
  ~AnalysisSession() override;
  AnalysisSession(const AnalysisSession&) = delete;
  AnalysisSession& operator=(const AnalysisSession&) = delete;

  /// Closes what is open and opens these files as capture::open_files() does.
  void open(const QStringList& files);
  /// The same from another source; `files` are the names used for reopening and in commands.
  void open(const QStringList& files, AnalysisJob::Opener opener);
  /// Follows a live capture. `recording` is the file that it is written to, which is read by any later
  /// reload(). Until the capture ends reload() does nothing, and a new choice takes effect afterwards.
  void open_live(const QString& recording, AnalysisJob::Opener opener);
  [[nodiscard]] bool is_live() const noexcept { return live_ && state_ == State::loading; }
  /// Whether files() is the recording of a live capture, a temporary file: nothing must be written beside it.
  [[nodiscard]] bool is_recording() const noexcept { return recording_; }
  /// Reads the files again. The user's packet comments are dropped: the packets may have changed.
  void reload();
  void close();
  /// Stops reading; what was read so far is still shown.
  void cancel();
  /// Validates markings against it; null: no policy. The open capture is analysed again.
  void set_policy(std::shared_ptr<const analyze::MarkingPolicy> policy);
  /// The same for all options; does nothing if none has changed.
  void set_choice(const AnalysisChoice& choice);

  /// Analyses only the packets of that range again, as the command line does with --from and --to, and then
  /// shows their figures in place of those of the whole capture: snapshot(), packets() and choice() are of
  /// the range. Null: shows the whole capture again, at once. Until the new figures are there the old ones
  /// stay. Does nothing unless state() is done. A later open(), reload() or set_choice() shows the whole
  /// capture.
  void set_range(const std::optional<TimeSpan>& range);
  /// The range that snapshot() is of; null: the whole capture.
  [[nodiscard]] const std::optional<TimeSpan>& range() const noexcept { return choice_.times; }
  /// The range that is being analysed for set_range(); null: none.
  [[nodiscard]] std::optional<TimeSpan> range_in_work() const {
    return range_job_ ? std::optional(range_wanted_) : std::nullopt;
  }
  /// Of the whole capture, whatever snapshot() is of.
  [[nodiscard]] const std::shared_ptr<const analyze::Snapshot>& whole_snapshot() const noexcept {
    return choice_.times ? whole_.snapshot : snapshot_;
  }
  [[nodiscard]] const std::shared_ptr<PacketStore>& whole_packets() const noexcept {
    return choice_.times ? whole_.packets : choice_.packets;
  }

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const QStringList& files() const noexcept { return files_; }
  [[nodiscard]] const std::shared_ptr<const analyze::Snapshot>& snapshot() const noexcept {
    return snapshot_;
  }
  /// All packets of the open capture; null: none is open. Grows while the capture is read.
  [[nodiscard]] const std::shared_ptr<PacketStore>& packets() const noexcept { return choice_.packets; }
  [[nodiscard]] const LoadProgress& progress() const noexcept { return progress_; }
  [[nodiscard]] const QString& failure() const noexcept { return failure_; }
  [[nodiscard]] const std::shared_ptr<const analyze::MarkingPolicy>& policy() const noexcept {
    return choice_.policy;
  }
  /// For reading the same capture again with the same options.
  [[nodiscard]] const AnalysisJob::Opener& opener() const noexcept { return opener_; }
  [[nodiscard]] const AnalysisChoice& choice() const noexcept { return choice_; }

 Q_SIGNALS:
  void state_changed();
  void progress_changed();
  void packets_changed();   ///< packets() returns another store
  void snapshot_changed();  ///< also to null, when a capture is opened or closed
  void range_changed();     ///< range() or range_in_work()

 private:
  void start(const AnalysisJob::Opener& opener);
  void restart();
  void let_go();
  void look();
  void look_at_range();
  void drop_range();
  void show_part(std::shared_ptr<const analyze::Snapshot> snapshot, std::shared_ptr<PacketStore> packets,
                 const std::optional<TimeSpan>& range);
  void set_state(State state);

  QStringList files_;
  AnalysisJob::Opener opener_;
  AnalysisChoice choice_;
  std::shared_ptr<PacketComments> comments_ = std::make_shared<PacketComments>();  ///< of the open capture
  std::shared_ptr<AnalysisJob> job_;
  QTimer timer_;
  State state_ = State::empty;
  bool cancelled_ = false;
  bool live_ = false;          ///< the open capture, or the last one, was opened by open_live()
  bool recording_ = false;     ///< files_ was given to open_live()
  bool other_choice_ = false;  ///< choice_ differs from what the live capture is analysed with
  std::shared_ptr<const analyze::Snapshot> snapshot_;
  LoadProgress progress_;
  QString failure_;

  /// Of the whole capture while a range is shown; both null otherwise.
  struct Part {
    std::shared_ptr<const analyze::Snapshot> snapshot;
    std::shared_ptr<PacketStore> packets;
  };
  Part whole_;
  std::shared_ptr<AnalysisJob> range_job_;
  TimeSpan range_wanted_;
  Part range_made_;  ///< by range_job_, so far
};

}  // namespace roce::gui
