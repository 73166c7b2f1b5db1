// SPDX-License-Identifier: Apache-2.0
#include "cli/input_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "capture/paths.hpp"

namespace roce::cli {
namespace {

class LimitedSource final : public capture::CaptureSource {
 public:
  LimitedSource(std::unique_ptr<capture::CaptureSource> source, std::uint64_t frames)
      : source_(std::move(source)), left_(frames) {}

  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    if (left_ == 0) return 0;
    const std::size_t before = batch.frames.size();
    auto got = source_->next_batch(batch, static_cast<std::size_t>(std::min<std::uint64_t>(limit, left_)));
    left_ -= std::min<std::uint64_t>(left_, batch.frames.size() - before);
    return got;
  }
  [[nodiscard]] bool may_wait() const noexcept override { return source_->may_wait(); }
  [[nodiscard]] const std::vector<capture::InterfaceInfo>& interfaces() const override {
    return source_->interfaces();
  }
  [[nodiscard]] const std::vector<capture::FileInfo>& files() const override { return source_->files(); }
  [[nodiscard]] const capture::Statistics& statistics() const override { return source_->statistics(); }
  void request_stop() noexcept override { source_->request_stop(); }

 private:
  std::unique_ptr<capture::CaptureSource> source_;
  std::uint64_t left_;
};

}  // namespace

bool can_read_twice(const std::vector<std::string>& files) {
  std::vector<capture::Error> ignored;
  const std::vector<std::string> paths = capture::expand_paths(files, ignored);
  return std::all_of(paths.begin(), paths.end(), [](const std::string& path) {
    if (path == "-") return false;
    std::error_code failure;
    const std::filesystem::file_status status = std::filesystem::status(path, failure);
    return std::filesystem::is_regular_file(status) || !std::filesystem::exists(status);
  });
}

std::unique_ptr<capture::CaptureSource> limited(std::unique_ptr<capture::CaptureSource> source,
                                                std::uint64_t frames) {
  if (frames == 0) return source;
  return std::make_unique<LimitedSource>(std::move(source), frames);
}

}  // namespace roce::cli
