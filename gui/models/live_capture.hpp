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

/// Who may capture: this user with the program as it is, or somebody who is asked for a password first.
enum class CaptureRights {
  own,      ///< root, or the program has file capabilities
  asked,    ///< by pkexec
  unknown,  ///< neither: the attempt shows
};

/// What a live capture is asked for.
struct LiveRequest {
  QString device;  ///< as -i takes it
  QString filter;  ///< BPF; empty: all frames
  bool promiscuous = true;
  std::uint64_t most_bytes = 0;  ///< of the recording; 0: no limit
};

/// The command line program that belongs to this one: beside it, in its build, else in PATH. Empty: none.
[[nodiscard]] QString find_capture_program();
[[nodiscard]] CaptureRights capture_rights(const QString& program);
/// Program and arguments that capture; the window itself never has the rights.
[[nodiscard]] QStringList capture_command(const QString& program, const LiveRequest& request,
                                          CaptureRights rights);

/// One capture at a time that runs in another process, `roceanalyze capture -w -`, and is followed in the
/// session of a window. What comes is kept in a temporary file, until the next capture or the end of this
/// object. Used on the thread of the window.
class LiveCapture : public QObject {
  Q_OBJECT

 public:
  enum class State {
    idle,
    running,   ///< the process was begun: somebody may still be asked for a password
    stopping,  ///< it was told to end
  };

  explicit LiveCapture(AnalysisSession& session, QObject* parent = nullptr);
  ~LiveCapture() override;
  LiveCapture(const LiveCapture&) = delete;
  LiveCapture& operator=(const LiveCapture&) = delete;

  /// Begins, in place of what the session shows. `command` writes pcapng to its standard output and ends
  /// when its standard input does. False: not even begun, message() says why.
  bool start(const LiveRequest& request, const QStringList& command);
  /// Asks it to end; what has come is all kept.
  void stop();
  /// Copies the recording, on another thread; message() says when it is done.
  void save_as(const QString& file);

  [[nodiscard]] State state() const noexcept { return state_; }
  /// The recording can be saved: it is whole, and not yet replaced.
  [[nodiscard]] bool has_recording() const;
  /// Packets would be lost if this object went now, or another capture began.
  [[nodiscard]] bool has_unsaved() const;
  [[nodiscard]] const QString& message() const noexcept { return message_; }  ///< what happened, what to do
  [[nodiscard]] bool failed() const noexcept { return failed_; }              ///< it is about a failure
  [[nodiscard]] const QString& log() const noexcept { return log_; }          ///< what the process said

 Q_SIGNALS:
  void changed();

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
  bool reading_ = false;  ///< the session still follows it
  bool process_ended_ = true;
  bool terminated_ = false;
  bool saved_ = false;
  bool failed_ = false;
  QString message_;
  QString log_;
  BackgroundCall copying_;
};

}  // namespace roce::gui
