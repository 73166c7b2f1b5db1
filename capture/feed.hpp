// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "capture/byte_reader.hpp"
#include "capture/mapping.hpp"
#include "capture/slab.hpp"
#include "capture/walker.hpp"

// Internal: windows for a walker, over a mapped file or over slabs of a stream.
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

  virtual ~Feed() = default;

  [[nodiscard]] virtual Window window() = 0;
  virtual void consume(std::size_t bytes) = 0;
  /// Makes the window longer, `wanted` bytes or more if the input has them; one call may not do.
  virtual Fill fill(std::size_t wanted, bool may_wait) = 0;
  /// Whether a window of `wanted` bytes needs memory other than the present window's.
  [[nodiscard]] virtual bool needs_new_memory(std::size_t wanted) const = 0;
  /// What keeps the bytes of the present window.
  [[nodiscard]] virtual std::shared_ptr<const void> keep_alive() const = 0;
  /// For progress: of the size on disk.
  [[nodiscard]] virtual std::uint64_t bytes_read() const = 0;
  /// Null for a stream.
  [[nodiscard]] virtual std::shared_ptr<const Mapping> mapping() const { return nullptr; }
  /// After Fill::failed; without path.
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] virtual bool decompression_failed() const { return false; }

 protected:
  Error error_;
};

class MappedFeed final : public Feed {
 public:
  explicit MappedFeed(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}

  Window window() override;
  void consume(std::size_t bytes) override { position_ += bytes; }
  /// Fails where the file shrank; otherwise everything is in the window already.
  Fill fill(std::size_t wanted, bool may_wait) override;
  [[nodiscard]] bool needs_new_memory(std::size_t) const override { return false; }
  [[nodiscard]] std::shared_ptr<const void> keep_alive() const override { return mapping_; }
  [[nodiscard]] std::uint64_t bytes_read() const override { return position_; }
  [[nodiscard]] std::shared_ptr<const Mapping> mapping() const override { return mapping_; }

 private:
  std::shared_ptr<Mapping> mapping_;
  std::size_t position_ = 0;
};

class StreamFeed final : public Feed {
 public:
  StreamFeed(std::unique_ptr<ByteReader> reader, SlabPool pool)
      : reader_(std::move(reader)), pool_(std::move(pool)) {}

  Window window() override;
  void consume(std::size_t bytes) override {
    begin_ += bytes;
    offset_ += bytes;
  }
  Fill fill(std::size_t wanted, bool may_wait) override;
  [[nodiscard]] bool needs_new_memory(std::size_t wanted) const override;
  [[nodiscard]] std::shared_ptr<const void> keep_alive() const override { return slab_; }
  [[nodiscard]] std::uint64_t bytes_read() const override { return reader_->bytes_read(); }
  [[nodiscard]] bool decompression_failed() const override { return reader_->decompression_failed(); }

 private:
  std::unique_ptr<ByteReader> reader_;
  SlabPool pool_;
  std::shared_ptr<Slab> slab_;
  std::size_t begin_ = 0;  ///< of the window in the slab
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  ///< of the window in the uncompressed capture
  bool ended_ = false;
};

}  // namespace roce::capture
