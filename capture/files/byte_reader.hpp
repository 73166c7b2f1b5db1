// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/compression/compression.hpp"
#include "capture/compression/decompressor.hpp"
#include "capture/core/error.hpp"
#include "capture/core/stop_signal.hpp"
#include "capture/files/descriptor_pool.hpp"
#include "capture/files/format.hpp"

// Internal: reads a descriptor sequentially and decompresses it where needed.
namespace roce::capture {

/// How a regular file is opened again after its descriptor was given to another one.
struct Reopening {
  DescriptorPool* pool = nullptr;  ///< null: the descriptor is kept, as of a pipe
  std::string path;
  FileVersion version;  ///< of the open file
};

/// Not thread-safe; StopSignal::request() ends a blocked read.
class ByteReader final : private DescriptorPool::Member {
 public:
  enum class State : std::uint8_t {
    some,        ///< at least one byte
    end,         ///< regular end of the input
    would_wait,  ///< no data yet, and waiting was not allowed
    stopped,
    failed,  ///< see error()
  };
  struct Result {
    State state = State::end;
    std::size_t bytes = 0;
  };

  /// Owns `descriptor`. `may_block`: a pipe or device. `size`: bytes of a regular file from here to its end;
  /// no more is read, and less is an error (ErrorKind::shrunk). 0: unknown, read to the end.
  ByteReader(int descriptor, bool may_block, std::uint64_t size, const StopSignal& stop,
             Reopening reopening = {});
  ~ByteReader();
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  /// Waits for the first bytes, detects the compression and sets it up. Called once, before read().
  Result begin();
  /// Up to `size` bytes (at least 1) of the uncompressed capture.
  Result read(std::uint8_t* to, std::size_t size, bool may_wait);

  [[nodiscard]] Compression compression() const noexcept { return compression_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }  ///< from the descriptor
  [[nodiscard]] const Error& error() const noexcept { return error_; }  ///< after State::failed, without path
  [[nodiscard]] bool decompression_failed() const noexcept { return decompression_failed_; }

 private:
  void park() noexcept override;
  bool reopen();
  Result read_raw(std::uint8_t* to, std::size_t size, bool may_wait);
  State refill(bool may_wait);
  Result fail_decompression(ErrorKind kind, std::string message);

  int descriptor_;  ///< -1: parked
  Reopening reopening_;
  std::optional<DescriptorPool::Place> place_;  ///< in the pool, while open
  bool may_block_;
  std::uint64_t size_;
  const StopSignal& stop_;
  Compression compression_ = Compression::none;
  std::unique_ptr<Decompressor> decompressor_;
  std::vector<std::uint8_t> input_;
  std::size_t input_begin_ = 0;
  std::size_t input_end_ = 0;
  bool input_ended_ = false;
  std::uint64_t bytes_read_ = 0;
  Error error_;
  bool decompression_failed_ = false;
};

}  // namespace roce::capture
