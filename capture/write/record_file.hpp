// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/compression/compressor.hpp"
#include "capture/core/error.hpp"
#include "capture/write/byte_buffer.hpp"
#include "capture/write/output_rules.hpp"

// Internal: a file that grows by complete pcapng blocks.
namespace roce::capture {

/// What was written to the file, in complete blocks.
struct KeptBlocks {
  std::uint64_t bytes = 0;  ///< of the file, compressed or not
  std::uint64_t packets = 0;
};

/// Unlike an OutputFile it has its final name from the start. Except while append() runs it holds complete
/// blocks only, however the process ends: after a failed append the file is truncated to its last complete
/// block. Compression runs in a thread of its own; each append becomes one zstd frame. append(), drain() and
/// finish() from one thread; kept() and pending() from any.
class RecordFile {
 public:
  enum class Existing : std::uint8_t {
    replace,  ///< truncate it, if the rules let it be replaced
    refuse,   ///< fail with EEXIST
  };

  /// "-" is standard output; an existing path that is no regular file is written to as it is. New files have
  /// mode 0600. Fails with EWOULDBLOCK if a RecordFile of any process is writing the file.
  [[nodiscard]] static Expected<std::unique_ptr<RecordFile>> open(const std::string& path, bool compress,
                                                                  const OutputRules& rules,
                                                                  Existing existing = Existing::replace);
  /// Without finish(): what was appended is still written.
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Writes complete blocks, `packets` of them with packets, and leaves `blocks` empty. After the first error
  /// all calls fail with it. With compression it may return the error of an earlier append, and it waits
  /// while the queue to the compressing thread is full.
  Expected<void> append(ByteBuffer& blocks, std::uint64_t packets);
  /// Waits until all that was appended is written.
  Expected<void> drain();
  /// Drains and closes. No append() after it.
  Expected<void> finish();

  [[nodiscard]] KeptBlocks kept() const noexcept { return {kept_bytes_.load(), kept_packets_.load()}; }
  /// Upper bound of the bytes that are appended and not yet part of kept().
  [[nodiscard]] std::uint64_t pending() const noexcept { return pending_.load(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool regular() const noexcept { return regular_; }
  /// Whether the path still leads to this file: it was neither renamed nor removed.
  [[nodiscard]] bool in_place() const noexcept;
  /// Whether the file has no name left: it vanishes with finish().
  [[nodiscard]] bool removed() const noexcept;
  /// Whether this is a named pipe that nobody reads any more.
  [[nodiscard]] bool reader_left() const noexcept;
  /// Removes the file if open() created it and nothing was written; before finish().
  [[nodiscard]] bool discard_if_empty();

 private:
  /// One append.
  struct Waiting {
    ByteBuffer blocks;
    std::uint64_t packets = 0;
  };

  RecordFile(std::string path, int descriptor, bool regular, bool made, bool compress);
  [[nodiscard]] std::optional<Error> write_blocks(const ByteBuffer& blocks, std::uint64_t packets);
  [[nodiscard]] std::optional<Error> write_compressed(const Waiting& waiting);
  [[nodiscard]] Error cut_back(int number);
  void compress_all();
  [[nodiscard]] Expected<void> result() const;

  const std::string path_;  ///< as given, for messages
  int descriptor_;
  const bool regular_;
  const bool made_;  ///< created by open()
  std::atomic<std::uint64_t> kept_bytes_{0};
  std::atomic<std::uint64_t> kept_packets_{0};
  std::atomic<std::uint64_t> pending_{0};
  std::optional<Error> error_;  ///< with compression: under mutex_

  // Only with compression:
  std::unique_ptr<Compressor> compressor_;
  std::vector<std::uint8_t> frame_;  ///< of the thread
  std::mutex mutex_;
  std::condition_variable work_;  ///< for the thread
  std::condition_variable done_;  ///< for append() and drain()
  std::deque<Waiting> queue_;
  std::vector<ByteBuffer> spare_;  ///< empty, to reuse their memory
  bool busy_ = false;
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace roce::capture
