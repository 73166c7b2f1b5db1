// SPDX-License-Identifier: Apache-2.0
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <new>

#include "capture/compression/compressor.hpp"
#include "capture/compression/decompressor.hpp"

namespace roce::capture {
namespace {

/// RFC 1952: any number of members, one after another; zero padding after the last one is common (tapes,
/// block devices) and is skipped.
class GzipDecompressor final : public Decompressor {
 public:
  GzipDecompressor() {
    constexpr int largest_window_with_gzip_header = 15 + 16;
    if (inflateInit2(&stream_, largest_window_with_gzip_header) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  Step step(const std::uint8_t* in, std::size_t in_size, std::uint8_t* out, std::size_t out_size) override {
    Step result;
    if (between_members_) {
      while (result.consumed < in_size && padded_after_member(in[result.consumed])) ++result.consumed;
      if (result.consumed == in_size) return result;
      if (padding_ || in[result.consumed] != 0x1F) {
        message_ = "the end of the gzip data is followed by bytes that are not gzip";
        result.failed = true;
        return result;
      }
      inflateReset(&stream_);
      between_members_ = false;
      any_member_ = true;
    }
    stream_.next_in = in + result.consumed;
    stream_.avail_in = static_cast<uInt>(std::min<std::size_t>(in_size - result.consumed, UINT_MAX));
    stream_.next_out = out;
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out_size, UINT_MAX));
    const uInt in_before = stream_.avail_in;
    const uInt out_before = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    result.consumed += in_before - stream_.avail_in;
    result.produced = out_before - stream_.avail_out;
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      message_ = std::string("the gzip data is damaged: ") +
                 (stream_.msg != nullptr ? stream_.msg : "inflate gave no reason");
      result.failed = true;
    }
    return result;
  }

  [[nodiscard]] bool between_frames() const noexcept override { return between_members_; }

 private:
  bool padded_after_member(std::uint8_t byte) noexcept {
    if (!any_member_ || byte != 0) return false;
    padding_ = true;
    return true;
  }

  z_stream stream_{};
  bool between_members_ = true;
  bool any_member_ = false;
  bool padding_ = false;
};

/// Members have a checksum. The default level, as of gzip itself.
class GzipCompressor final : public Compressor {
 public:
  GzipCompressor() {
    constexpr int window_with_gzip_header = 15 + 16, memory_level = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_with_gzip_header, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~GzipCompressor() override { deflateEnd(&stream_); }
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;

  bool add(const std::uint8_t* data, std::size_t size, bool last, std::vector<std::uint8_t>& out) override {
    const std::size_t before = out.size();
    std::size_t made = before;
    for (;;) {
      // Counts of zlib have 32 bits.
      const auto part = static_cast<uInt>(std::min<std::size_t>(size, UINT_MAX / 2));
      const int flush = last && part == size ? Z_FINISH : Z_NO_FLUSH;
      stream_.next_in = data;
      stream_.avail_in = part;
      out.resize(made + deflateBound(&stream_, part));
      stream_.next_out = out.data() + made;
      stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size() - made, UINT_MAX));
      const uInt room = stream_.avail_out;
      const int status = deflate(&stream_, flush);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        message_ = "zlib cannot compress";
        out.resize(before);
        return false;
      }
      made += room - stream_.avail_out;
      const uInt taken = part - stream_.avail_in;
      data += taken;
      size -= taken;
      if (last ? status == Z_STREAM_END : size == 0) break;
    }
    if (last) deflateReset(&stream_);
    out.resize(made);
    return true;
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<Compressor> make_gzip_compressor() {
  return std::make_unique<GzipCompressor>();
}

std::unique_ptr<Decompressor> make_gzip_decompressor() {
  return std::make_unique<GzipDecompressor>();
}

}  // namespace roce::capture
