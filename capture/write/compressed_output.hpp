// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/compression/compression.hpp"
#include "capture/compression/compressor.hpp"
#include "capture/write/output_file.hpp"

// Internal: an OutputFile with compression in front of it, or without. The whole file is one frame:
// Wireshark 4.0 reads no further ones of zstd and lz4.
namespace roce::capture {

class CompressedOutput {
 public:
  CompressedOutput(std::unique_ptr<OutputFile> file, Compression compression);

  Expected<void> append(const void* data, std::size_t size);
  /// The path as given, for messages.
  [[nodiscard]] const std::string& path() const noexcept { return file_->path(); }
  /// As OutputFile::finish().
  Expected<void> finish();

 private:
  [[nodiscard]] Expected<void> compress(bool last);

  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<Compressor> compressor_;  ///< null: none
  std::vector<std::uint8_t> plain_;         ///< not yet compressed
  std::vector<std::uint8_t> compressed_;    ///< reused
};

}  // namespace roce::capture
