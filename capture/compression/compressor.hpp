// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Internal: compression of what is written, as Decompressor is of what is read.
namespace roce::capture {

class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Appends `size` bytes to `out` as one frame that stands for itself: a file that ends behind it is whole.
  /// False: message() says why, and `out` is as it was.
  [[nodiscard]] virtual bool frame(const std::uint8_t* data, std::size_t size,
                                   std::vector<std::uint8_t>& out) = 0;
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 protected:
  std::string message_;
};

[[nodiscard]] std::unique_ptr<Compressor> make_zstd_compressor();

}  // namespace roce::capture
