// SPDX-License-Identifier: Apache-2.0
#include "gui/models/live_capture.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gui/models/commands.hpp"

namespace roce::gui {
namespace {

constexpr int log_limit = 20'000;  ///< letters
constexpr int patience_ms = 3'000;
constexpr int dismissed = 126, not_authorized = 127;  ///< of pkexec

/// A file name for a device: "eth0.pcapng".
QString file_name(const QString& device) {
  QString name;
  for (const QChar c : device) name += c.isLetterOrNumber() || c == QLatin1Char('-') ? c : QLatin1Char('_');
  return (name.isEmpty() ? QStringLiteral("live") : name) + QStringLiteral(".pcapng");
}

/// Copies a file; no partial copy is left. Returns an error; empty on success.
QString copy_file(const QString& from, const QString& to) {
  QFile source(from);
  if (!source.open(QIODevice::ReadOnly)) return source.errorString();
  QSaveFile target(to);
  if (!target.open(QIODevice::WriteOnly)) return target.errorString();
  constexpr qint64 part = 1 << 20;
  QByteArray bytes(part, Qt::Uninitialized);
  while (true) {
    const qint64 got = source.read(bytes.data(), part);
    if (got < 0) return source.errorString();
    if (got == 0) break;
    if (target.write(bytes.constData(), got) != got) return target.errorString();
  }
  return target.commit() ? QString() : target.errorString();
}

}  // namespace

QString find_capture_program() {
  const QString here = QCoreApplication::applicationDirPath();
  const QString name = QStringLiteral("roceanalyze");
  for (const QString& folder :
       {here, here + QStringLiteral("/../cli"), here + QStringLiteral("/../../cli")}) {
    const QFileInfo file(folder + QLatin1Char('/') + name);
    if (file.isFile() && file.isExecutable()) return file.canonicalFilePath();
  }
  return QStandardPaths::findExecutable(name);
}

CaptureRights capture_rights(const QString& program) {
  if (::geteuid() == 0) return CaptureRights::own;
  if (::getxattr(QFile::encodeName(program).constData(), "security.capability", nullptr, 0) > 0)
    return CaptureRights::own;
  return QStandardPaths::findExecutable(QStringLiteral("pkexec")).isEmpty() ? CaptureRights::unknown
                                                                            : CaptureRights::asked;
}

QStringList capture_command(const QString& program, const LiveRequest& request, CaptureRights rights) {
  QStringList words;
  if (rights == CaptureRights::asked) words << QStringLiteral("pkexec");
  words << program << QStringLiteral("capture") << QStringLiteral("-i") << request.device;
  if (!request.filter.isEmpty()) words << QStringLiteral("-f") << request.filter;
  if (!request.promiscuous) words << QStringLiteral("-p");
  return words << QStringLiteral("-w") << QStringLiteral("-") << QStringLiteral("--capture-only")
               << QStringLiteral("--stop-with-stdin");
}

LiveCapture::LiveCapture(AnalysisSession& session, QObject* parent)
    : QObject(parent), session_(session), copying_(*this) {
  patience_.setSingleShot(true);
  patience_.setInterval(patience_ms);
  // It has not ended in time: send SIGTERM, which fails for a process of root, and stop reading.
  connect(&patience_, &QTimer::timeout, this, [this] {
    if (process_ && !process_ended_) {
      terminated_ = true;
      process_->terminate();
    }
    if (reading_) session_.cancel();
  });
  connect(&session_, &AnalysisSession::state_changed, this, &LiveCapture::look);
}

LiveCapture::~LiveCapture() {
  // session_ may be destroyed already.
  if (!process_) return;
  process_->disconnect(this);
  process_->closeWriteChannel();
  if (process_ended_ || process_->waitForFinished(1000)) return;
  process_->terminate();
  process_->waitForFinished(1000);
}

bool LiveCapture::has_recording() const {
  return state_ == State::idle && !file_.isEmpty() && QFileInfo::exists(file_);
}

bool LiveCapture::has_unsaved() const {
  return state_ != State::idle || (has_recording() && !saved_ && news_->packets() != 0);
}

void LiveCapture::say(const QString& message, bool failed) {
  message_ = message;
  failed_ = failed;
  Q_EMIT changed();
}

bool LiveCapture::start(const LiveRequest& request, const QStringList& command) {
  if (state_ != State::idle) return false;
  copying_.cancel();
  auto folder = std::make_unique<QTemporaryDir>(QDir::tempPath() + QStringLiteral("/roceanalyze-XXXXXX"));
  if (!folder->isValid()) {
    say(tr("Cannot create a temporary folder for the recording: %1. Set TMPDIR to use another one.")
            .arg(folder->errorString()),
        true);
    return false;
  }
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    say(tr("Cannot create a pipe: %1").arg(QString::fromLocal8Bit(std::strerror(errno))), true);
    return false;
  }
  auto reading = std::make_shared<Descriptor>(ends[0]);
  Descriptor writing(ends[1]);
  request_ = request;
  program_ = command.value(command.value(0) == QLatin1String("pkexec") ? 1 : 0);
  log_.clear();
  process_ = std::make_unique<QProcess>();
  process_->setProgram(command.value(0));
  process_->setArguments(command.mid(1));
  // Packets go through the pipe to the reading thread; standard error is read here.
  process_->setProcessChannelMode(QProcess::ForwardedOutputChannel);
  process_->setChildProcessModifier([out = ends[1]] { ::dup2(out, STDOUT_FILENO); });
  connect(process_.get(), &QProcess::readyReadStandardError, this, &LiveCapture::read_log);
  connect(process_.get(), &QProcess::finished, this, [this] {
    process_ended_ = true;
    conclude();
  });
  process_ended_ = false;
  terminated_ = false;
  process_->start();
  if (!process_->waitForStarted()) {
    process_ended_ = true;
    say(tr("%1 could not be started: %2. Install roceanalyze, or capture with it in a terminal and open "
           "the file.")
            .arg(command.value(0), process_->errorString()),
        true);
    return false;
  }
  // The process holds the only writing end: when it exits, the pipe ends.
  writing.close();
  folder_ = std::move(folder);
  file_ = folder_->filePath(file_name(request.device));
  news_ = std::make_shared<RecordingNews>();
  saved_ = false;
  state_ = State::running;
  const PipeRecording recording{std::move(reading), QFile::encodeName(file_).toStdString(),
                                request.most_bytes, news_};
  // Close the old capture first: its state changes are not those of this one.
  session_.close();
  reading_ = true;
  session_.open_live(file_, [recording] { return open_recorded(recording); });
  say(tr("Capturing on %1").arg(request.device), false);
  return true;
}

void LiveCapture::stop() {
  if (state_ != State::running) return;
  state_ = State::stopping;
  process_->closeWriteChannel();
  patience_.start();
  say(tr("Stopping…"), false);
}

void LiveCapture::read_log() {
  log_ += QString::fromLocal8Bit(process_->readAllStandardError());
  if (log_.size() > log_limit) log_ = log_.right(log_limit);
  Q_EMIT changed();
}

/// Called when session or process changed; the session may show something else by now.
void LiveCapture::look() {
  if (!reading_) return;
  const bool same = session_.files() == QStringList{file_};
  if (same && session_.is_live()) return;
  reading_ = false;
  if (!process_ended_) {
    process_->closeWriteChannel();
    patience_.start();
    if (state_ == State::running) state_ = State::stopping;
  }
  conclude();
}

void LiveCapture::conclude() {
  if (reading_ || !process_ended_ || state_ == State::idle) return;
  patience_.stop();
  log_ += QString::fromLocal8Bit(process_->readAllStandardError());
  const bool asked = state_ == State::stopping;
  state_ = State::idle;
  const QString why = why_it_ended();
  const QString kept = tr("%1 packets were captured on %2.").arg(news_->packets()).arg(request_.device);
  if (!why.isEmpty()) {
    const bool any = news_->packets() != 0;
    say(any ? why + QLatin1Char('\n') + kept + tr(" They are shown, and can be saved.") : why, true);
  } else if (asked) {
    say(kept, false);
  } else {
    say(tr("The capture has ended. ") + kept, false);
  }
}

/// Why the capture ended; empty: normally.
QString LiveCapture::why_it_ended() const {
  if (const QString problem = news_->problem(); !problem.isEmpty()) {
    return tr("The recording failed: %1. Free space in %2, or set TMPDIR to another folder.")
        .arg(problem, folder_->path());
  }
  if (news_->limited()) {
    return tr("The recording has reached its limit of %1 MB: raise it, or use a capture filter.")
        .arg(request_.most_bytes / 1'000'000);
  }
  if (terminated_) return {};
  if (process_->exitStatus() == QProcess::CrashExit)
    return tr("%1 was terminated by signal %2.").arg(program_).arg(process_->exitCode());
  const int status = process_->exitCode();
  if (status == 0) return {};
  if (process_->program() == QLatin1String("pkexec") && (status == dismissed || status == not_authorized)) {
    return tr("The capture was not authorized (pkexec: status %1). Try again, or permit it permanently: sudo "
              "setcap cap_net_raw,cap_net_admin=eip %2")
        .arg(status)
        .arg(shell_word(program_));
  }
  const QString said = log_.trimmed();
  return said.isEmpty() ? tr("%1 exited with status %2.").arg(program_).arg(status) : said;
}

void LiveCapture::save_as(const QString& file) {
  if (!has_recording() || file.isEmpty()) return;
  say(tr("Saving %1…").arg(file), false);
  copying_.run([this, from = file_, file]() -> std::function<void()> {
    const QString wrong = copy_file(from, file);
    return [this, wrong, file] {
      saved_ = saved_ || wrong.isEmpty();
      say(wrong.isEmpty()
              ? tr("Saved as %1").arg(file)
              : tr("%1 could not be written: %2. The recording is still in %3.").arg(file, wrong, file_),
          !wrong.isEmpty());
      Q_EMIT save_ended(wrong.isEmpty());
    };
  });
}

}  // namespace roce::gui
