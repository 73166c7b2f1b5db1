// SPDX-License-Identifier: Apache-2.0
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <new>

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

}  // namespace

std::unique_ptr<Decompressor> make_gzip_decompressor() {
  return std::make_unique<GzipDecompressor>();
}

}  // namespace roce::capture
