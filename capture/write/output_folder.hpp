// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "capture/core/placed_output.hpp"
#include "capture/write/output_place.hpp"

namespace roce::capture {

/// A new folder that appears under its name when finish() has succeeded: its files are made in path() before.
/// Not thread-safe.
class OutputFolder final : public PlacedOutput {
 public:
  /// Fails if there is anything of this name. Errors: not_writable.
  [[nodiscard]] static Expected<std::unique_ptr<OutputFolder>> create(const std::string& path);
  ~OutputFolder() override;  ///< without finish(): removes it, if it is empty

  /// Of the temporary folder.
  [[nodiscard]] const std::string& path() const noexcept { return temporary_path_; }
  /// Renames it, when its files are finished.
  [[nodiscard]] Expected<void> finish();

  [[nodiscard]] Expected<void> place() override;
  void discard() noexcept override;

 private:
  OutputFolder(std::string path, OutputPlace place, std::string temporary);

  std::string path_;  ///< as given, for messages
  OutputPlace place_;
  std::string temporary_;  ///< name beside the final one; empty: placed or removed
  std::string temporary_path_;
};

}  // namespace roce::capture
