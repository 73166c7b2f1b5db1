// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace roce::capture {

class Decompressor;

enum class Compression : std::uint8_t { none, gzip, zstd, lz4 };

/// Detected from the first bytes of a file, never from its name.
[[nodiscard]] Compression detect_compression(const std::uint8_t* data, std::size_t size) noexcept;
/// "gzip", "zstd", "lz4"; "" for none.
[[nodiscard]] std::string_view compression_name(Compression compression) noexcept;
/// Null for Compression::none.
[[nodiscard]] std::unique_ptr<Decompressor> make_decompressor(Compression compression);

}  // namespace roce::capture
