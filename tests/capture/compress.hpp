// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {

inline Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  Bytes out(deflateBound(&stream, plain.size()) + 32);
  Bytes in = plain;
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline Bytes zstd(const Bytes& plain) {
  Bytes out(ZSTD_compressBound(plain.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3));
  return out;
}

inline Bytes lz4(const Bytes& plain) {
  Bytes out(LZ4F_compressFrameBound(plain.size(), nullptr));
  out.resize(LZ4F_compressFrame(out.data(), out.size(), plain.data(), plain.size(), nullptr));
  return out;
}

/// A frame that zstd and lz4 decoders skip.
inline Bytes skippable(const Bytes& inside) {
  return Builder().u32(0x184D2A53).u32(static_cast<std::uint32_t>(inside.size())).raw(inside).bytes;
}

}  // namespace roce::capture::test
