// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "capture/core/slab.hpp"
#include "capture/files/byte_reader.hpp"
#include "capture/files/walker.hpp"

// Internal: windows for a walker, over slabs of a file or stream.
namespace roce::capture {

class Feed {
 public:
  enum class Fill : std::uint8_t {
    grown,       ///< the window holds more
    ended,       ///< nothing follows: the window's at_end is set
    would_wait,  ///< nothing now, and waiting was not allowed
    stopped,
    failed,  ///< see error()
  };

  Feed(std::unique_ptr<ByteReader> reader, SlabPool pool)
      : reader_(std::move(reader)), pool_(std::move(pool)) {}

  [[nodiscard]] Window window() const;
  void consume(std::size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  /// Makes the window longer, `wanted` bytes or more if the input has them; one call may not do.
  Fill fill(std::size_t wanted, bool may_wait);
  /// Whether a window of `wanted` bytes needs memory other than the present window's.
  [[nodiscard]] bool needs_new_memory(std::size_t wanted) const;
  /// What keeps the bytes of the present window.
  [[nodiscard]] std::shared_ptr<const void> keep_alive() const { return slab_; }
  /// For progress: of the size on disk.
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
