// SPDX-License-Identifier: Apache-2.0
#include "capture/compression/compression.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/compression/compressor.hpp"
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
  std::string_view ending;  ///< of file names
  std::unique_ptr<Decompressor> (*make)();
  std::unique_ptr<Compressor> (*make_writing)();
};

constexpr std::array compressions = {
    CompressionRow{Compression::none, "", "", "", nullptr, nullptr},
    CompressionRow{Compression::gzip, "gzip", "\x1f\x8b\x08"sv, ".gz", make_gzip_decompressor,
                   make_gzip_compressor},
    CompressionRow{Compression::zstd, "zstd", "\x28\xb5\x2f\xfd"sv, ".zst", make_zstd_decompressor,
                   make_zstd_compressor},
    CompressionRow{Compression::lz4, "lz4", "\x04\x22\x4d\x18"sv, ".lz4", make_lz4_decompressor,
                   make_lz4_compressor},
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

Compression compression_of_name(std::string_view path) noexcept {
  for (const CompressionRow& row : compressions) {
    if (!row.ending.empty() && path.ends_with(row.ending)) return row.compression;
  }
  return Compression::none;
}

std::optional<Compression> compression_of_word(std::string_view word) noexcept {
  if (word == "none") return Compression::none;
  for (const CompressionRow& row : compressions) {
    if (!row.name.empty() && word == row.name) return row.compression;
  }
  return std::nullopt;
}

std::unique_ptr<Compressor> make_compressor(Compression compression) {
  const auto make = compressions[static_cast<std::size_t>(compression)].make_writing;
  return make != nullptr ? make() : nullptr;
}

std::unique_ptr<Decompressor> make_decompressor(Compression compression) {
  const auto make = compressions[static_cast<std::size_t>(compression)].make;
  return make != nullptr ? make() : nullptr;
}

}  // namespace roce::capture
