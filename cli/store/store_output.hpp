// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyze/store/store.hpp"
#include "capture/core/placed_output.hpp"
#include "capture/write/output_place.hpp"

namespace roce::cli {

/// Batches for a store, from a process that reads captures of strangers and may open nothing: they are
/// written into a file without a name, and another process (capture/confine/broker.hpp) adds them. All or,
/// after an error, some of them: added again they are all there, and none twice. The first one comes last: it
/// tells that all are there.
class StoreOutput final : public capture::PlacedOutput {
 public:
  /// Errors: not_writable.
  [[nodiscard]] static capture::Expected<std::unique_ptr<StoreOutput>> create(
      const analyze::StoreTarget& target);

  [[nodiscard]] capture::Expected<void> add(const analyze::StoreBatch& batch);
  /// Adds them to the store.
  [[nodiscard]] capture::Expected<void> finish() { return placed(); }

  [[nodiscard]] capture::Expected<void> place() override;
  void discard() noexcept override {}

 private:
  StoreOutput(analyze::StoreTarget target, capture::OwnedDescriptor file)
      : target_(std::move(target)), file_(std::move(file)) {}
  [[nodiscard]] capture::Expected<void> add_all(const std::vector<analyze::StoreBatch>& batches);
  [[nodiscard]] tl::unexpected<capture::Error> failed(int number) const;

  analyze::StoreTarget target_;
  capture::OwnedDescriptor file_;
};

}  // namespace roce::cli
