// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "capture/files/frame_store.hpp"

// Internal to the frame store: files that frames are read from again.
namespace roce::capture {

/// An open file. Thread-safe.
struct FrameStore::Descriptor {
  Descriptor(int descriptor, std::uint64_t device, std::uint64_t inode)
      : descriptor_(descriptor), device_(device), inode_(inode) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] static Expected<std::shared_ptr<const Descriptor>> open(const std::string& path);
  /// Returns the number of bytes: fewer than `size` at the end of the file.
  [[nodiscard]] Expected<std::size_t> read(std::uint64_t offset, std::uint8_t* to, std::size_t size) const;
  [[nodiscard]] std::uint64_t device() const noexcept { return device_; }
  [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }

 private:
  int descriptor_;
  std::uint64_t device_;
  std::uint64_t inode_;
};

}  // namespace roce::capture
