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

  /// Compresses `size` bytes as the next part of a frame (gzip: member) and appends what comes out to `out`.
  /// With `last` the frame ends: a file that ends after it is complete, and the next call begins another one.
  /// False: failed, see message(); `out` is unchanged, and no call may follow.
  [[nodiscard]] virtual bool add(const std::uint8_t* data, std::size_t size, bool last,
                                 std::vector<std::uint8_t>& out) = 0;
  /// One sentence, after a failure.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 protected:
  std::string message_;
};

[[nodiscard]] std::unique_ptr<Compressor> make_gzip_compressor();
[[nodiscard]] std::unique_ptr<Compressor> make_zstd_compressor();
[[nodiscard]] std::unique_ptr<Compressor> make_lz4_compressor();

}  // namespace roce::capture
