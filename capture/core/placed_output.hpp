// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "capture/core/error.hpp"

namespace roce::capture {

/// An output that has a temporary name until it is complete. Another process may give it its own name
/// (capture/confine/broker.hpp), since who reads captures of strangers has not the right to.
class PlacedOutput {
 public:
  virtual ~PlacedOutput() = default;
  PlacedOutput(const PlacedOutput&) = delete;
  PlacedOutput& operator=(const PlacedOutput&) = delete;

  /// Renames it.
  [[nodiscard]] virtual Expected<void> place() = 0;
  /// Removes it, unless it was placed.
  virtual void discard() noexcept = 0;

  /// `other` is called in place of place().
  void let_place(std::function<Expected<void>()> other) { other_ = std::move(other); }

 protected:
  PlacedOutput() = default;
  [[nodiscard]] Expected<void> placed() { return other_ ? other_() : place(); }

 private:
  std::function<Expected<void>()> other_;
};

}  // namespace roce::capture
