// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/core/error.hpp"

// Internal: temporary storage that is appended to and read at any offset.
namespace roce::capture {

/// In memory while small, then in a temporary file without a name, which vanishes with the process however
/// that ends. append() on one thread at a time, read() on any.
class Spool {
 public:
  struct Limits {
    std::uint64_t bytes = 0;       ///< at most so many in all
    std::size_t memory_bytes = 0;  ///< buffered in memory; up to here there is no file
    std::uint64_t kept_free = 0;   ///< bytes of the file system to leave free
    std::string directory;         ///< empty: $TMPDIR, else /tmp
  };

  explicit Spool(Limits limits);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// Appends both parts. Returns their offset; an error is final.
  Expected<std::uint64_t> append(std::span<const std::uint8_t> head, std::span<const std::uint8_t> body);
  /// Reads up to `size` bytes from `offset`; returns how many.
  [[nodiscard]] Expected<std::size_t> read(std::uint64_t offset, std::uint8_t* to, std::size_t size) const;

 private:
  Expected<void> make_room(std::size_t bytes);
  Expected<void> flush();
  [[nodiscard]] tl::unexpected<Error> fail(int number, const std::string& what) const;

  Limits limits_;
  mutable std::mutex mutex_;          ///< for all below
  std::vector<std::uint8_t> buffer_;  ///< bytes not yet in the file
  std::uint64_t flushed_ = 0;
  int descriptor_ = -1;
};

}  // namespace roce::capture
