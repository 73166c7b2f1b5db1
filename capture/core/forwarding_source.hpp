// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "capture/core/source.hpp"

namespace roce::capture {

/// Base of sources that wrap another one: everything but next_batch() is forwarded.
class ForwardingSource : public CaptureSource {
 public:
  [[nodiscard]] bool may_wait() const noexcept override { return source_->may_wait(); }
  [[nodiscard]] bool shows_copies() const noexcept override { return source_->shows_copies(); }
  [[nodiscard]] const std::vector<InterfaceInfo>& interfaces() const override {
    return source_->interfaces();
  }
  [[nodiscard]] const std::vector<FileInfo>& files() const override { return source_->files(); }
  [[nodiscard]] const Statistics& statistics() const override { return source_->statistics(); }
  void request_stop() noexcept override { source_->request_stop(); }
  [[nodiscard]] bool stopped() const noexcept override { return source_->stopped(); }
  [[nodiscard]] StopReason stop_reason() const noexcept override { return source_->stop_reason(); }

 protected:
  explicit ForwardingSource(std::unique_ptr<CaptureSource> source) : source_(std::move(source)) {}

  std::unique_ptr<CaptureSource> source_;
};

}  // namespace roce::capture
