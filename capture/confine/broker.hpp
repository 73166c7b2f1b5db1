// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/placed_output.hpp"

namespace roce::capture {

/// A process with the rights of the caller that does for a confined one what was agreed before, and nothing
/// else: opens these inputs for reading and places these outputs. When the confined process ends, however it
/// ends, outputs that were not placed are removed.
class Broker {
 public:
  /// Forks, so the process must have one thread only. The outputs are to outlive the broker; from here on
  /// their place() happens in it. Null if no process can be made.
  [[nodiscard]] static std::unique_ptr<Broker> start(std::vector<std::string> inputs,
                                                     std::vector<PlacedOutput*> outputs);
  /// Waits until what was not placed is removed.
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  /// open() for reading of inputs[index]: a descriptor that the caller owns, or -1 with errno.
  [[nodiscard]] int open(std::size_t index) noexcept;

 private:
  explicit Broker(int socket) : socket_(socket) {}
  [[nodiscard]] Expected<void> place(std::size_t index);

  int socket_;
};

}  // namespace roce::capture
