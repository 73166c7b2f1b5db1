// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace roce::capture {

class Compressor;
class Decompressor;

enum class Compression : std::uint8_t { none, gzip, zstd, lz4 };

/// Of files that are read: detected from the first bytes, never from the name.
[[nodiscard]] Compression detect_compression(const std::uint8_t* data, std::size_t size) noexcept;
/// "gzip", "zstd", "lz4"; "" for none.
[[nodiscard]] std::string_view compression_name(Compression compression) noexcept;
/// Of files that are written: by the ending of the name (".gz", ".zst", ".lz4"); none for other names.
[[nodiscard]] Compression compression_of_name(std::string_view path) noexcept;
/// By compression_name(), or "none". Absent for other words.
[[nodiscard]] std::optional<Compression> compression_of_word(std::string_view word) noexcept;
/// Null for Compression::none.
[[nodiscard]] std::unique_ptr<Compressor> make_compressor(Compression compression);
/// Null for Compression::none.
[[nodiscard]] std::unique_ptr<Decompressor> make_decompressor(Compression compression);

}  // namespace roce::capture
