// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTimer>
#include <cstdint>
#include <memory>

#include "gui/models/analysis_session.hpp"
#include "gui/models/background_call.hpp"
#include "gui/models/live_source.hpp"

namespace roce::gui {

/// Whether the capture program has the rights to capture, or needs a password first.
enum class CaptureRights {
  own,      ///< root, or the program has file capabilities
  asked,    ///< pkexec asks for a password
  unknown,  ///< neither: only an attempt can show
};

/// The parameters of a live capture.
struct LiveRequest {
  QString device;  ///< value for -i
  QString filter;  ///< BPF; empty: all frames
  bool promiscuous = true;
  std::uint64_t most_bytes = 0;  ///< size limit of the recording; 0: none
};

/// Path of the command line program: beside this one, in its build tree, else in PATH. Empty: not found.
[[nodiscard]] QString find_capture_program();
[[nodiscard]] CaptureRights capture_rights(const QString& program);
/// Program and arguments of the capture process. The window itself never needs capture rights.
[[nodiscard]] QStringList capture_command(const QString& program, const LiveRequest& request,
                                          CaptureRights rights);

/// A live capture, at most one at a time, in another process (`roceanalyze capture -w -`), shown in the
/// session of a window. It is recorded to a temporary file, which lives until the next capture or the
/// destructor. GUI thread only.
class LiveCapture : public QObject {
  Q_OBJECT

 public:
  enum class State {
    idle,
    running,   ///< the process was started; pkexec may still be asking for a password
    stopping,  ///< the process was asked to end
  };

  explicit LiveCapture(AnalysisSession& session, QObject* parent = nullptr);
  ~LiveCapture() override;
  LiveCapture(const LiveCapture&) = delete;
  LiveCapture& operator=(const LiveCapture&) = delete;

  /// Starts a capture, which replaces what the session shows. `command` writes pcapng to its standard output
  /// and ends when its standard input is closed. False: not started, see message().
  bool start(const LiveRequest& request, const QStringList& command);
  /// Asks the process to end; all packets captured so far are kept.
  void stop();
  /// Copies the recording on another thread; message() reports the result.
  void save_as(const QString& file);
  /// Packets recorded so far.
  [[nodiscard]] std::uint64_t packets() const { return news_ ? news_->packets() : 0; }
  [[nodiscard]] const QString& device() const noexcept { return request_.device; }

  [[nodiscard]] State state() const noexcept { return state_; }
  /// Whether there is a complete recording to save.
  [[nodiscard]] bool has_recording() const;
  /// Whether the recording is not saved yet and would be lost by another start() or the destructor.
  [[nodiscard]] bool has_unsaved() const;
  [[nodiscard]] const QString& message() const noexcept { return message_; }  ///< for the user
  [[nodiscard]] bool failed() const noexcept { return failed_; }              ///< message() reports a failure
  [[nodiscard]] const QString& log() const noexcept { return log_; }          ///< stderr of the process

 Q_SIGNALS:
  void changed();
  void save_ended(bool saved);  ///< of save_as()

 private:
  void read_log();
  void look();
  void conclude();
  void say(const QString& message, bool failed);
  [[nodiscard]] QString why_it_ended() const;

  AnalysisSession& session_;
  std::unique_ptr<QProcess> process_;
  std::unique_ptr<QTemporaryDir> folder_;
  std::shared_ptr<RecordingNews> news_;
  QTimer patience_;
  LiveRequest request_;
  QString program_;
  QString file_;
  State state_ = State::idle;
  bool reading_ = false;  ///< the session is still reading it
  bool process_ended_ = true;
  bool terminated_ = false;
  bool saved_ = false;
  bool failed_ = false;
  QString message_;
  QString log_;
  BackgroundCall copying_;
};

}  // namespace roce::gui
