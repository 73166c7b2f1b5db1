// SPDX-License-Identifier: Apache-2.0
#include "capture/files/reread.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "capture/core/forwarding_source.hpp"
#include "capture/core/paths.hpp"

namespace roce::capture {
namespace {

class LimitedSource final : public ForwardingSource {
 public:
  LimitedSource(std::unique_ptr<CaptureSource> source, std::uint64_t frames)
      : ForwardingSource(std::move(source)), left_(frames) {}

  Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) override {
    if (left_ == 0) return 0;
    const std::size_t before = batch.frames.size();
    auto got = source_->next_batch(batch, static_cast<std::size_t>(std::min<std::uint64_t>(limit, left_)));
    left_ -= std::min<std::uint64_t>(left_, batch.frames.size() - before);
    return got;
  }

 private:
  std::uint64_t left_;
};

class RereadSource final : public ForwardingSource {
 public:
  RereadSource(std::unique_ptr<CaptureSource> source, std::uint64_t frames)
      : ForwardingSource(std::move(source)), left_(frames) {}

  Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) override {
    if (left_ == 0) return error_behind();
    const std::size_t before = batch.frames.size();
    auto got = source_->next_batch(batch, static_cast<std::size_t>(std::min<std::uint64_t>(limit, left_)));
    left_ -= std::min<std::uint64_t>(left_, batch.frames.size() - before);
    return got;
  }

 private:
  /// A file that is cut off says so only when one asks for the packet behind the last whole one.
  Expected<std::size_t> error_behind() {
    if (has_new_packets_) return 0;
    FrameBatch behind;
    auto got = source_->next_batch(behind, 1);
    if (!got) return got;
    has_new_packets_ = *got != 0;
    return 0;
  }

  std::uint64_t left_;
  bool has_new_packets_ = false;
};

}  // namespace

bool can_read_twice(const std::vector<std::string>& files) {
  std::vector<Error> ignored;
  const std::vector<std::string> paths = expand_paths(files, ignored);
  return std::all_of(paths.begin(), paths.end(), [](const std::string& path) {
    if (path == "-") return false;
    std::error_code failure;
    const std::filesystem::file_status status = std::filesystem::status(path, failure);
    return std::filesystem::is_regular_file(status) || !std::filesystem::exists(status);
  });
}

std::unique_ptr<CaptureSource> limited(std::unique_ptr<CaptureSource> source, std::uint64_t frames) {
  if (frames == 0) return source;
  return std::make_unique<LimitedSource>(std::move(source), frames);
}

std::unique_ptr<CaptureSource> reread(std::unique_ptr<CaptureSource> source, std::uint64_t frames) {
  return std::make_unique<RereadSource>(std::move(source), frames);
}

}  // namespace roce::capture
