// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/placed_output.hpp"
#include "capture/write/output_place.hpp"
#include "capture/write/output_rules.hpp"

// Internal: buffered output to a file that appears complete or not at all.
namespace roce::capture {

/// Who may read a new file. A replaced file of the same user keeps its mode.
enum class Readers : std::uint8_t {
  by_umask,
  owner_only,  ///< mode 0600: captures have other people's data
};

/// A regular file is written under a temporary name in the same folder; finish() syncs and renames it. Other
/// outputs ("-" = standard output, a pipe, a device) are written directly. Failures raise no signal (SIGPIPE,
/// SIGXFSZ); all are returned as not_writable, and refusals by the rules as would_replace and own_input. Not
/// thread-safe.
class OutputFile final : public PlacedOutput {
 public:
  static Expected<std::unique_ptr<OutputFile>> create(const std::string& path, OutputRules rules,
                                                      Readers readers = Readers::by_umask);
  /// Without finish(): closes and removes the temporary file.
  ~OutputFile() override;

  /// As given to create().
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Whether it has a temporary name, and not written directly.
  [[nodiscard]] bool is_temporary() const noexcept { return !temporary_.empty(); }

  Expected<void> append(const void* data, std::size_t size);
  /// Writes what append() has buffered.
  Expected<void> flush();
  /// Flushes, syncs, closes and renames. No append() after it.
  Expected<void> finish();

  /// Renames the temporary file, if what is at its place still may be replaced: writing may have taken hours.
  [[nodiscard]] Expected<void> place() override;
  void discard() noexcept override;

 private:
  OutputFile(std::string path, OutputRules rules, OutputPlace place, std::string temporary,
             OwnedDescriptor descriptor);
  Expected<void> write_all(const std::uint8_t* data, std::size_t size);

  std::string path_;  ///< as given, for messages
  OutputRules rules_;
  OutputPlace place_;      ///< not used if written directly
  std::string temporary_;  ///< name in the folder of the place; empty if written directly
  OwnedDescriptor descriptor_;
  std::vector<std::uint8_t> buffer_;
  std::uint64_t written_ = 0;
  bool failed_ = false;
};

}  // namespace roce::capture
