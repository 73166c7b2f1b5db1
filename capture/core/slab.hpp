// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

// Internal: memory blocks that input is read into.
namespace roce::capture {

struct Slab {
  std::unique_ptr<std::uint8_t[]> bytes;
  std::size_t size = 0;
};

/// Hands out slabs of one size and takes them back when the last reference is gone. A few are kept for reuse;
/// larger ones, for records above the usual size, are freed. Thread-safe.
class SlabPool {
 public:
  explicit SlabPool(std::size_t slab_bytes);

  /// At least `wanted` bytes, uninitialised.
  [[nodiscard]] std::shared_ptr<Slab> take(std::size_t wanted);
  [[nodiscard]] std::size_t slab_bytes() const noexcept { return slab_bytes_; }

 private:
  struct Shelf;
  std::size_t slab_bytes_;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace roce::capture
