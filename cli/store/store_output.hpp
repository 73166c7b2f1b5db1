// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyze/store/batch.hpp"
#include "capture/core/placed_output.hpp"
#include "capture/write/output_place.hpp"

namespace roce::cli {

/// Batches for a store, from a process that reads captures of strangers and may open nothing: they are
/// written into a file without a name, and another process (capture/confine/broker.hpp) adds them. All or,
/// after an error, those before it: a batch is never there in part, and added again it is not there twice.
class StoreOutput final : public capture::PlacedOutput {
 public:
  /// `path`: a store. Errors: not_writable.
  [[nodiscard]] static capture::Expected<std::unique_ptr<StoreOutput>> create(const std::string& path);

  [[nodiscard]] capture::Expected<void> add(const analyze::StoreBatch& batch);
  /// Adds them to the store.
  [[nodiscard]] capture::Expected<void> finish() { return placed(); }

  [[nodiscard]] capture::Expected<void> place() override;
  void discard() noexcept override {}

 private:
  StoreOutput(std::string path, capture::OwnedDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  [[nodiscard]] tl::unexpected<capture::Error> failed(int number) const;

  std::string path_;
  capture::OwnedDescriptor file_;
};

}  // namespace roce::cli
