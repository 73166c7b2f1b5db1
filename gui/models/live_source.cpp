// SPDX-License-Identifier: Apache-2.0
#include "gui/models/live_source.hpp"

#include <unistd.h>

#include <utility>
#include <vector>

#include "capture/core/comments.hpp"
#include "capture/write/recorder.hpp"
#include "capture/write/recording_source.hpp"
#include "gui/models/shown_text.hpp"

namespace roce::gui {

void Descriptor::close() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

void RecordingNews::set(const capture::RecordingSummary& summary, const std::string& error, bool limited) {
  const std::lock_guard lock(mutex_);
  packets_ = summary.packets;
  error_ = error;
  limited_ = limited;
}

QString RecordingNews::problem() const {
  const std::lock_guard lock(mutex_);
  return QString::fromStdString(error_);
}

std::uint64_t RecordingNews::packets() const {
  const std::lock_guard lock(mutex_);
  return packets_;
}

bool RecordingNews::limited() const {
  const std::lock_guard lock(mutex_);
  return limited_;
}

namespace {

using capture::CaptureSource;
using capture::Error;
using capture::Expected;

class RecordedPipe final : public CaptureSource {
 public:
  RecordedPipe(std::unique_ptr<CaptureSource> pipe, std::unique_ptr<capture::Recorder> recorder,
               PipeRecording options)
      : pipe_(std::move(pipe)),
        recorder_(std::move(recorder)),
        recorded_(capture::recorded(*pipe_, *recorder_)),
        options_(std::move(options)) {}
  ~RecordedPipe() override { finish(); }
  RecordedPipe(const RecordedPipe&) = delete;
  RecordedPipe& operator=(const RecordedPipe&) = delete;

  Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    auto got = recorded_->next_batch(batch, limit);
    if (!got) {
      Error error = got.error();
      error.path = options_.file;
      return tl::unexpected<Error>(std::move(error));
    }
    if (*got == 0) finish();
    return got;
  }
  [[nodiscard]] bool may_wait() const noexcept override { return true; }
  [[nodiscard]] const std::vector<capture::InterfaceInfo>& interfaces() const override {
    return pipe_->interfaces();
  }
  [[nodiscard]] const std::vector<capture::FileInfo>& files() const override {
    files_ = pipe_->files();
    for (capture::FileInfo& file : files_) file.path = options_.file;
    return files_;
  }
  [[nodiscard]] const capture::Statistics& statistics() const override { return pipe_->statistics(); }
  void request_stop() noexcept override { pipe_->request_stop(); }

 private:
  /// Closes the file; further calls do nothing.
  void finish() {
    if (std::exchange(finished_, true)) return;
    const bool ended = recorder_->ended();
    const bool written = recorder_->finish(pipe_->interfaces()).has_value();
    const std::optional<Error> error = recorder_->error();
    if (options_.news) {
      options_.news->set(recorder_->summary(), !written && error ? error_text(*error) : std::string(),
                         ended && written);
    }
  }

  std::unique_ptr<CaptureSource> pipe_;
  std::unique_ptr<capture::Recorder> recorder_;
  std::unique_ptr<CaptureSource> recorded_;
  const PipeRecording options_;
  mutable std::vector<capture::FileInfo> files_;
  bool finished_ = false;
};

}  // namespace

Expected<std::unique_ptr<CaptureSource>> open_recorded(const PipeRecording& recording) {
  auto pipe = capture::open_files({"/proc/self/fd/" + std::to_string(recording.pipe->number())});
  // Closed so that the writer gets EPIPE when reading has stopped.
  recording.pipe->close();
  if (!pipe) {
    Error error = pipe.error();
    error.path = recording.file;
    return tl::unexpected<Error>(std::move(error));
  }
  capture::RecorderOptions options;
  options.path = recording.file;
  options.all_bytes = recording.most_bytes;
  const auto& files = (*pipe)->files();
  if (!files.empty()) {
    options.section = {files[0].application, files[0].hardware, files[0].operating_system,
                       capture::SectionComments().news(files)};
  }
  auto recorder = capture::Recorder::create(std::move(options), (*pipe)->interfaces());
  if (!recorder) return tl::unexpected<Error>(recorder.error());
  return std::make_unique<RecordedPipe>(std::move(*pipe), std::move(*recorder), recording);
}

}  // namespace roce::gui
