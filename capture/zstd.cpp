// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <new>

#include "capture/decompressor.hpp"

namespace roce::capture {
namespace {

/// RFC 8878: any number of frames and skippable frames, which ZSTD_decompressStream follows by
/// itself. The library's own limit of 128 MiB for the window stays: more is refused.
class ZstdDecompressor final : public Decompressor {
 public:
  ZstdDecompressor() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;

  Step step(const std::uint8_t* in, std::size_t in_size, std::uint8_t* out, std::size_t out_size) override {
    ZSTD_inBuffer input{in, in_size, 0};
    ZSTD_outBuffer output{out, out_size, 0};
    const std::size_t status = ZSTD_decompressStream(stream_, &output, &input);
    Step result{input.pos, output.pos, false};
    if (ZSTD_isError(status) != 0) {
      message_ = std::string("the zstd data is damaged or not readable: ") + ZSTD_getErrorName(status);
      result.failed = true;
    } else if (input.pos != 0 || output.pos != 0) {
      between_frames_ = status == 0;
    }
    return result;
  }

  [[nodiscard]] bool between_frames() const noexcept override { return between_frames_; }

 private:
  ZSTD_DStream* stream_;
  bool between_frames_ = true;
};

}  // namespace

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace roce::capture
