// SPDX-License-Identifier: Apache-2.0
#include "capture/write/recording_source.hpp"

namespace roce::capture {
namespace {

class RecordingSource final : public CaptureSource {
 public:
  RecordingSource(CaptureSource& source, Recording& recording) : source_(source), recording_(recording) {}

  Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) override {
    if (recording_.ended()) return 0;
    const std::size_t before = batch.frames.size();
    auto got = source_.next_batch(batch, limit);
    const std::span<const Frame> frames = std::span(batch.frames).subspan(before);
    const std::size_t taken = recording_.record(frames, source_.interfaces());
    if (taken == frames.size()) return got;
    batch.frames.resize(before + taken);
    source_.request_stop();
    return taken;
  }
  [[nodiscard]] bool may_wait() const noexcept override { return source_.may_wait(); }
  [[nodiscard]] bool shows_copies() const noexcept override { return source_.shows_copies(); }
  [[nodiscard]] const std::vector<InterfaceInfo>& interfaces() const override { return source_.interfaces(); }
  [[nodiscard]] const std::vector<FileInfo>& files() const override { return source_.files(); }
  [[nodiscard]] const Statistics& statistics() const override { return source_.statistics(); }
  void request_stop() noexcept override { source_.request_stop(); }
  [[nodiscard]] bool stopped() const noexcept override { return source_.stopped(); }
  [[nodiscard]] StopReason stop_reason() const noexcept override { return source_.stop_reason(); }

 private:
  CaptureSource& source_;
  Recording& recording_;
};

}  // namespace

std::unique_ptr<CaptureSource> recorded(CaptureSource& source, Recording& recording) {
  return std::make_unique<RecordingSource>(source, recording);
}

}  // namespace roce::capture
