// SPDX-License-Identifier: Apache-2.0
#include "capture/compression/compression.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/compression/decompressor.hpp"
#include "capture/core/bytes.hpp"

namespace roce::capture {
namespace {

using namespace std::string_view_literals;

// One row a compression, in the order of the enumeration.
struct CompressionRow {
  Compression compression;
  std::string_view name;
  std::string_view magic;
  std::unique_ptr<Decompressor> (*make)();
};

constexpr std::array compressions = {
    CompressionRow{Compression::none, "", "", nullptr},
    CompressionRow{Compression::gzip, "gzip", "\x1f\x8b\x08"sv, make_gzip_decompressor},
    CompressionRow{Compression::zstd, "zstd", "\x28\xb5\x2f\xfd"sv, make_zstd_decompressor},
    CompressionRow{Compression::lz4, "lz4", "\x04\x22\x4d\x18"sv, make_lz4_decompressor},
};

}  // namespace

Compression detect_compression(const std::uint8_t* data, std::size_t size) noexcept {
  // zstd and lz4 share the skippable frames: the magic after them decides. Where that lies beyond `size`,
  // zstd is more likely, as its parallel tools (pzstd) begin files with such a frame.
  constexpr std::uint32_t skippable = 0x184D2A50;
  bool skipped = false;
  while (size >= 8 && (load_little32(data) & 0xFFFFFFF0U) == skippable) {
    const std::size_t behind = std::min(size, 8 + std::size_t{load_little32(data + 4)});
    data += behind;
    size -= behind;
    skipped = true;
  }
  for (const CompressionRow& row : compressions) {
    const std::size_t length = row.magic.size();
    if (length != 0 && length <= size && std::memcmp(data, row.magic.data(), length) == 0)
      return row.compression;
  }
  return skipped ? Compression::zstd : Compression::none;
}

std::string_view compression_name(Compression compression) noexcept {
  return compressions[static_cast<std::size_t>(compression)].name;
}

std::unique_ptr<Decompressor> make_decompressor(Compression compression) {
  const auto make = compressions[static_cast<std::size_t>(compression)].make;
  return make != nullptr ? make() : nullptr;
}

}  // namespace roce::capture
