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

// Internal: bytes that are written once, one behind the other, and read from anywhere.
namespace roce::capture {

/// In memory while they are few, then in a temporary file without a name, which is gone with the process
/// however that ends. append() on one thread at a time, read() on any.
class Spool {
 public:
  struct Limits {
    std::uint64_t bytes = 0;       ///< no more than this
    std::size_t memory_bytes = 0;  ///< of the file none is made for less
    std::uint64_t kept_free = 0;   ///< of the file system: others need room too
    std::string directory;         ///< empty: $TMPDIR, else /tmp
  };

  explicit Spool(Limits limits);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// Both parts, one behind the other. Returns where they begin; an error is final.
  Expected<std::uint64_t> append(std::span<const std::uint8_t> head, std::span<const std::uint8_t> body);
  /// As many bytes as there are from `offset` on, at most `size`.
  [[nodiscard]] Expected<std::size_t> read(std::uint64_t offset, std::uint8_t* to, std::size_t size) const;

 private:
  Expected<void> make_room(std::size_t bytes);
  Expected<void> flush();
  [[nodiscard]] tl::unexpected<Error> fail(int number, const std::string& what) const;

  Limits limits_;
  mutable std::mutex mutex_;          ///< for all below
  std::vector<std::uint8_t> buffer_;  ///< what follows the file's bytes
  std::uint64_t flushed_ = 0;
  int descriptor_ = -1;
};

}  // namespace roce::capture
