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

// Internal: a file that grows by whole blocks of pcapng.
namespace roce::capture {

/// What is on disk, in whole blocks.
struct KeptBlocks {
  std::uint64_t bytes = 0;  ///< of the file, compressed or not
  std::uint64_t packets = 0;
};

/// Unlike OutputFile it lies under its name from the start and holds whole blocks at every moment that
/// append() is not running, whatever ends the process: an append that fails is cut back to the last whole
/// block. Compression has a thread of its own, and each append becomes a zstd frame of its own. append(),
/// drain() and finish() by one thread; kept() and pending() by any.
class RecordFile {
 public:
  enum class Existing : std::uint8_t {
    replace,  ///< cut to nothing
    refuse,   ///< EEXIST
  };

  /// "-" is standard output; what exists and is no regular file is written to as it is. A file that another
  /// RecordFile writes, in whatever process, is refused (EWOULDBLOCK).
  [[nodiscard]] static Expected<std::unique_ptr<RecordFile>> open(const std::string& path, bool compress,
                                                                  Existing existing = Existing::replace);
  /// Without finish(): what was appended is written all the same.
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Takes whole blocks, `packets` of them of packets, and leaves `blocks` empty. After the first error all
  /// fail with it. With compression the error of an earlier append may come; waits while too much is under
  /// way.
  Expected<void> append(ByteBuffer& blocks, std::uint64_t packets);
  /// Waits until all that was appended is on disk.
  Expected<void> drain();
  /// Drains and closes. No append() after it.
  Expected<void> finish();

  [[nodiscard]] KeptBlocks kept() const noexcept { return {kept_bytes_.load(), kept_packets_.load()}; }
  /// Bytes that kept() may still grow by, at most.
  [[nodiscard]] std::uint64_t pending() const noexcept { return pending_.load(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool regular() const noexcept { return regular_; }
  /// Whether the path still leads to this file: nobody has renamed or removed it.
  [[nodiscard]] bool in_place() const noexcept;
  /// Whether it lies under no name any more: with finish() it is gone.
  [[nodiscard]] bool removed() const noexcept;
  /// Removes the file, if open() made it and nothing was kept; before finish().
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
  const bool made_;  ///< by open(), under a name that there was not
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
  std::vector<ByteBuffer> spare_;  ///< empty, with their memory
  bool busy_ = false;
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace roce::capture
