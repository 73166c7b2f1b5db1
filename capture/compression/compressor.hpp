// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Internal: compression of written files, the counterpart of Decompressor.
namespace roce::capture {

class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Appends `size` bytes to `out` as one self-contained frame: a file that ends after it is complete. False:
  /// failed, see message(); `out` is unchanged.
  [[nodiscard]] virtual bool frame(const std::uint8_t* data, std::size_t size,
                                   std::vector<std::uint8_t>& out) = 0;
  /// One sentence, after a failure.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 protected:
  std::string message_;
};

[[nodiscard]] std::unique_ptr<Compressor> make_zstd_compressor();

}  // namespace roce::capture
