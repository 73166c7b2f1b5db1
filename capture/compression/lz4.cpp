// SPDX-License-Identifier: Apache-2.0
#include <lz4frame.h>

#include <new>

#include "capture/compression/compressor.hpp"
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

/// Frames have a checksum of their contents.
class Lz4Compressor final : public Compressor {
 public:
  Lz4Compressor() {
    if (LZ4F_isError(LZ4F_createCompressionContext(&context_, LZ4F_VERSION)) != 0U) throw std::bad_alloc();
    preferences_.frameInfo.blockSizeID = LZ4F_max1MB;
    preferences_.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  }
  ~Lz4Compressor() override { LZ4F_freeCompressionContext(context_); }
  Lz4Compressor(const Lz4Compressor&) = delete;
  Lz4Compressor& operator=(const Lz4Compressor&) = delete;

  bool add(const std::uint8_t* data, std::size_t size, bool last, std::vector<std::uint8_t>& out) override {
    const std::size_t before = out.size();
    std::size_t made = before;
    // The bound is that of the end of the frame, too.
    out.resize(before + LZ4F_HEADER_SIZE_MAX + 2 * LZ4F_compressBound(size, &preferences_));
    const auto room = [&] { return out.size() - made; };
    bool whole = open_ || took(LZ4F_compressBegin(context_, out.data() + made, room(), &preferences_), made);
    open_ = !last;
    whole =
        whole && took(LZ4F_compressUpdate(context_, out.data() + made, room(), data, size, nullptr), made);
    if (last) whole = whole && took(LZ4F_compressEnd(context_, out.data() + made, room(), nullptr), made);
    out.resize(whole ? made : before);
    return whole;
  }

 private:
  bool took(std::size_t result, std::size_t& made) {
    if (LZ4F_isError(result) != 0U) {
      message_ = std::string("lz4 cannot compress: ") + LZ4F_getErrorName(result);
      return false;
    }
    made += result;
    return true;
  }

  LZ4F_cctx* context_ = nullptr;
  bool open_ = false;  ///< a frame has begun
  LZ4F_preferences_t preferences_{};
};

}  // namespace

std::unique_ptr<Compressor> make_lz4_compressor() {
  return std::make_unique<Lz4Compressor>();
}

std::unique_ptr<Decompressor> make_lz4_decompressor() {
  return std::make_unique<Lz4Decompressor>();
}

}  // namespace roce::capture
