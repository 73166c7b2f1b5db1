// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/core/error.hpp"

// Internal: buffered output to a file that appears complete or not at all.
namespace roce::capture {

/// A regular file is written under a temporary name in the same folder; finish() syncs and renames it. Other
/// outputs ("-" = standard output, a pipe, a device) are written directly. Failures raise no signal (SIGPIPE,
/// SIGXFSZ); all are returned as not_writable. Not thread-safe.
class OutputFile {
 public:
  static Expected<std::unique_ptr<OutputFile>> create(const std::string& path);

  /// Without finish(): closes and removes the temporary file.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Expected<void> append(const void* data, std::size_t size);
  /// Flushes, syncs, closes and renames. No append() after it.
  Expected<void> finish();

 private:
  OutputFile(std::string path, std::string final_path, std::string temporary_path, int descriptor);
  Expected<void> flush();
  Expected<void> write_all(const std::uint8_t* data, std::size_t size);
  void discard() noexcept;

  std::string path_;  ///< as given, for messages
  std::string final_path_;
  std::string temporary_path_;  ///< empty if written directly
  int descriptor_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t written_ = 0;
  bool failed_ = false;
};

}  // namespace roce::capture
