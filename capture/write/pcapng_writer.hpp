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

/// Writes pcapng with nanosecond timestamps. The file appears under its name when finish() has succeeded: it
/// is written under a temporary name in the same folder and renamed, so a partly written file is never taken
/// for a complete one ("-" and other non-regular files are written directly). Not thread-safe.
class PcapngWriter {
 public:
  /// `application` goes into the section header (shb_userappl); `comments` are on the capture as a whole.
  [[nodiscard]] static Expected<PcapngWriter> create(const std::string& path, const std::string& application,
                                                     std::vector<std::string> comments = {});

  PcapngWriter(PcapngWriter&&) noexcept;
  PcapngWriter& operator=(PcapngWriter&&) noexcept;
  ~PcapngWriter();  ///< without finish(): removes the temporary file

  /// Writes one frame; its interface is described before its first frame, with the facts of `info` (name,
  /// description, filter, OS, hardware, speed, snap length, link type). Comments are truncated to 65 535
  /// bytes, the limit of the format.
  Expected<void> write(const Frame& frame, const InterfaceInfo& info,
                       std::span<const std::string_view> comments = {});

  /// Ends the section with statistics, as finish() does, and begins another one with these comments.
  Expected<void> begin_section(const std::vector<InterfaceInfo>& interfaces,
                               std::vector<std::string> comments);

  /// Writes interface statistics, flushes, syncs and renames. No write() after it. Most captures have their
  /// drop counts at the end, after the last frame: `interfaces` (indexed by Frame::interface, for example
  /// CaptureSource::interfaces()) has the final ones.
  Expected<void> finish(const std::vector<InterfaceInfo>& interfaces = {});

 private:
  struct Impl;
  explicit PcapngWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::capture
