// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "capture/core/slab.hpp"
#include "capture/files/byte_reader.hpp"
#include "capture/files/walker.hpp"

// Internal: gives a walker windows of bytes, in slabs read from a file or stream.
namespace roce::capture {

class Feed {
 public:
  enum class Fill : std::uint8_t {
    grown,       ///< the window is longer than before
    ended,       ///< end of the input: the window's at_end is set
    would_wait,  ///< no data yet, and waiting was not allowed
    stopped,
    failed,  ///< see error()
  };

  Feed(std::unique_ptr<ByteReader> reader, SlabPool pool)
      : reader_(std::move(reader)), pool_(std::move(pool)) {}

  [[nodiscard]] Window window() const;
  /// The walker is done with so many bytes at the front of the window.
  void consume(std::size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  /// Extends the window towards `wanted` bytes or more; may take several calls.
  Fill fill(std::size_t wanted, bool may_wait);
  /// Whether a window of `wanted` bytes needs memory other than the present window's.
  [[nodiscard]] bool needs_new_memory(std::size_t wanted) const;
  /// Owner of the bytes of the present window.
  [[nodiscard]] std::shared_ptr<const void> keep_alive() const { return slab_; }
  /// Of the size on disk, for progress.
  [[nodiscard]] std::uint64_t bytes_read() const { return reader_->bytes_read(); }
  /// After Fill::failed; without path.
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] bool decompression_failed() const { return reader_->decompression_failed(); }

 private:
  std::unique_ptr<ByteReader> reader_;
  SlabPool pool_;
  std::shared_ptr<Slab> slab_;
  std::size_t begin_ = 0;  ///< of the window in the slab
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  ///< of the window in the uncompressed capture
  bool ended_ = false;
  Error error_;
};

}  // namespace roce::capture
