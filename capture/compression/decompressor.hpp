// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "capture/compression/compression.hpp"

// Internal: one interface over zlib, zstd and lz4, each of which lives in one .cpp.
namespace roce::capture {

class Decompressor {
 public:
  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    bool failed = false;  ///< message() says why; what was produced is good
  };

  virtual ~Decompressor() = default;

  /// Turns some input into some output; either may be zero, both only where more input is needed.
  virtual Step step(const std::uint8_t* in, std::size_t in_size, std::uint8_t* out, std::size_t out_size) = 0;

  /// The input may end here: no member or frame is open.
  [[nodiscard]] virtual bool between_frames() const noexcept = 0;
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 protected:
  std::string message_;
};

[[nodiscard]] std::unique_ptr<Decompressor> make_gzip_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_zstd_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_lz4_decompressor();

}  // namespace roce::capture
