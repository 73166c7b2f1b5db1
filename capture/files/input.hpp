// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/core/source.hpp"
#include "capture/core/stop_signal.hpp"
#include "capture/files/descriptor_pool.hpp"
#include "capture/files/feed.hpp"
#include "capture/files/walker.hpp"

// Internal: one file or pipe.
namespace roce::capture {

/// How inputs are read; tests use small slabs.
struct OpenOptions {
  /// Usually one batch: small enough for a cache, large enough to be worth waking a thread.
  std::size_t slab_bytes = 512U << 10U;
  /// Files that are open at once, see DescriptorPool.
  std::size_t open_at_most = 0;
};

/// Not thread-safe.
class Input {
 public:
  /// `pool` must outlive it.
  Input(std::string path, const OpenOptions& options, const StopSignal& stop, DescriptorPool& pool);

  /// Opens and reads the file header. May be called again after close(); fails if the path is then that of
  /// another file.
  Expected<void> open(const WalkContext& context);
  /// Appends frames as CaptureSource::next_batch() does; 0 = the end or stopped.
  Expected<std::size_t> read(FrameBatch& batch, std::size_t limit);
  void close();

  /// Whether it is a regular file, which can be closed and opened again (or does not exist).
  [[nodiscard]] static bool can_reopen(const std::string& path);
  /// Once open: read() may block until a pipe's writer delivers more.
  [[nodiscard]] bool may_wait() const noexcept { return may_wait_; }

 private:
  Expected<int> open_descriptor();
  Expected<void> make_feed(int descriptor);
  Expected<void> read_header();
  tl::unexpected<Error> failed(Error error);

  std::string path_;
  OpenOptions options_;
  const StopSignal& stop_;
  DescriptorPool& pool_;
  std::optional<FileVersion> version_;  ///< of the regular file, once it was open
  WalkContext context_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<Walker> walker_;
  std::string compression_;
  bool may_wait_ = false;
  bool as_on_disk_ = false;             ///< not compressed: offsets of windows are those of the file
  bool ended_ = false;                  ///< nothing more will be read
  bool failed_ = false;                 ///< ended with an error, which was returned
  std::optional<Error> pending_error_;  ///< to be reported by the next read()
};

}  // namespace roce::capture
