// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"

namespace roce::capture {

/// Writes pcapng with nanosecond stamps. The file appears under its name only when finish()
/// succeeded: it is written beside it under a temporary name and renamed, so a half-written
/// file never passes as whole ("-" and other non-regular files are written directly).
class PcapngWriter {
 public:
  /// `comments` are on the section: on the capture as a whole.
  [[nodiscard]] static Expected<PcapngWriter> create(const std::string& path, const std::string& application,
                                                     std::vector<std::string> comments = {});

  PcapngWriter(PcapngWriter&&) noexcept;
  PcapngWriter& operator=(PcapngWriter&&) noexcept;
  ~PcapngWriter();  ///< without finish(): removes the temporary file

  /// Writes one frame; its interface is described before its first frame, with the facts of
  /// `info` (name, description, filter, OS, hardware, speed, snap length, link type). Comments that are
  /// longer than 65 535 bytes are cut, for the format holds no more.
  Expected<void> write(const Frame& frame, const InterfaceInfo& info,
                       std::span<const std::string_view> comments = {});

  /// Ends the section with statistics as finish() does and begins another one with these comments on it.
  Expected<void> begin_section(const std::vector<InterfaceInfo>& interfaces,
                               std::vector<std::string> comments);

  /// Interface statistics, flush, fsync, rename. No write() after it. Drop counts stand at the
  /// end of most captures, behind the last frame written: `interfaces` (indexed by
  /// Frame::interface, e.g. CaptureSource::interfaces()) brings what became known since.
  Expected<void> finish(const std::vector<InterfaceInfo>& interfaces = {});

 private:
  struct Impl;
  explicit PcapngWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::capture
