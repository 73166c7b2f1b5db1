// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "capture/error.hpp"

// Internal: a file in memory that may become shorter under our hands.
namespace roce::capture {

/// A read-only mapping of a regular file. When the file shrinks, touching what vanished would
/// kill the process by SIGBUS; here it reads zeros instead, and valid_bytes() tells. For that a
/// process-wide handler is installed with the first mapping; a fault that is not ours goes to
/// the handler that was there before.
class Mapping {
 public:
  /// Takes over `descriptor` (closed with the mapping, or on failure left open).
  /// Null without error: too many mappings at once, read the file instead.
  static Expected<std::shared_ptr<Mapping>> create(int descriptor, std::size_t bytes);

  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] const std::uint8_t* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Bytes from the start that are still backed by the file: size() until it shrinks. Once less,
  /// it never grows again. One fstat().
  [[nodiscard]] std::size_t valid_bytes() const noexcept;

  /// The file kept its length but could not be read (a disk or network error).
  [[nodiscard]] bool unreadable() const noexcept;

  /// What to report (without path) where valid_bytes() is less than size().
  [[nodiscard]] Error shrunk_error() const;

 private:
  Mapping(int descriptor, const std::uint8_t* data, std::size_t size, std::size_t slot) noexcept
      : descriptor_(descriptor), data_(data), size_(size), slot_(slot) {}

  int descriptor_;
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t slot_;
  mutable std::size_t smallest_seen_ = SIZE_MAX;
};

}  // namespace roce::capture
