// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "capture/compression/compression.hpp"

// Internal: one interface to zlib, zstd and lz4, each of which is used in one .cpp only.
namespace roce::capture {

class Decompressor {
 public:
  struct Step {
    std::size_t consumed = 0;  ///< bytes of the input
    std::size_t produced = 0;  ///< bytes of the output
    bool failed = false;       ///< see message(); the bytes that were produced are valid
  };

  virtual ~Decompressor() = default;

  /// Decompresses some input into some output. Either count may be 0; both are 0 only if more input is
  /// needed.
  virtual Step step(const std::uint8_t* in, std::size_t in_size, std::uint8_t* out, std::size_t out_size) = 0;

  /// Whether the input may end here: no gzip member or frame is open.
  [[nodiscard]] virtual bool between_frames() const noexcept = 0;
  /// One sentence, after a failed step.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 protected:
  std::string message_;
};

[[nodiscard]] std::unique_ptr<Decompressor> make_gzip_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_zstd_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_lz4_decompressor();

}  // namespace roce::capture
