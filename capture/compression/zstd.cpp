// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <new>

#include "capture/compression/compressor.hpp"
#include "capture/compression/decompressor.hpp"

namespace roce::capture {
namespace {

/// RFC 8878: any number of frames and skippable frames, all handled by ZSTD_decompressStream. The library's
/// default limit of 128 MiB for the window is kept: larger ones are refused.
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

/// Frames have a checksum, so that damage to a file is detected. Level 1, the fastest of the usual ones: a
/// live capture must not wait for it.
class ZstdCompressor final : public Compressor {
 public:
  ZstdCompressor() : context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
  }
  ~ZstdCompressor() override { ZSTD_freeCCtx(context_); }
  ZstdCompressor(const ZstdCompressor&) = delete;
  ZstdCompressor& operator=(const ZstdCompressor&) = delete;

  bool add(const std::uint8_t* data, std::size_t size, bool last, std::vector<std::uint8_t>& out) override {
    const std::size_t before = out.size();
    std::size_t made = before;
    ZSTD_inBuffer input{data, size, 0};
    for (;;) {
      // Room for a whole frame at once, whose header then has its size.
      out.resize(made + ZSTD_compressBound(size - input.pos));
      ZSTD_outBuffer output{out.data() + made, out.size() - made, 0};
      const std::size_t left =
          ZSTD_compressStream2(context_, &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0) {
        message_ = std::string("zstd cannot compress: ") + ZSTD_getErrorName(left);
        out.resize(before);
        return false;
      }
      made += output.pos;
      if (last ? left == 0 : input.pos == input.size) break;
    }
    out.resize(made);
    return true;
  }

 private:
  ZSTD_CCtx* context_;
};

}  // namespace

std::unique_ptr<Compressor> make_zstd_compressor() {
  return std::make_unique<ZstdCompressor>();
}

std::unique_ptr<Decompressor> make_zstd_decompressor() {
  return std::make_unique<ZstdDecompressor>();
}

}  // namespace roce::capture
