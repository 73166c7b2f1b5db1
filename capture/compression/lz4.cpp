// SPDX-License-Identifier: Apache-2.0
#include <lz4frame.h>

#include <new>

#include "capture/compression/decompressor.hpp"

namespace roce::capture {
namespace {

/// LZ4 frame format 1.6: any number of frames and skippable frames; LZ4F_decompress stops after each and is
/// ready for the next.
class Lz4Decompressor final : public Decompressor {
 public:
  Lz4Decompressor() {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0U) throw std::bad_alloc();
  }
  ~Lz4Decompressor() override { LZ4F_freeDecompressionContext(context_); }
  Lz4Decompressor(const Lz4Decompressor&) = delete;
  Lz4Decompressor& operator=(const Lz4Decompressor&) = delete;

  Step step(const std::uint8_t* in, std::size_t in_size, std::uint8_t* out, std::size_t out_size) override {
    std::size_t consumed = in_size;
    std::size_t produced = out_size;
    const std::size_t status = LZ4F_decompress(context_, out, &produced, in, &consumed, nullptr);
    if (LZ4F_isError(status) != 0U) {
      message_ = std::string("the lz4 data is damaged: ") + LZ4F_getErrorName(status);
      return {0, 0, true};
    }
    if (consumed != 0 || produced != 0) between_frames_ = status == 0;
    return {consumed, produced, false};
  }

  [[nodiscard]] bool between_frames() const noexcept override { return between_frames_; }

 private:
  LZ4F_dctx* context_ = nullptr;
  bool between_frames_ = true;
};

}  // namespace

std::unique_ptr<Decompressor> make_lz4_decompressor() {
  return std::make_unique<Lz4Decompressor>();
}

}  // namespace roce::capture
