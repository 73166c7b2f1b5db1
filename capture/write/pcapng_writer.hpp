// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/write/capture_writer.hpp"

namespace roce::capture {

class OutputFile;

/// Writes pcapng with nanosecond timestamps.
class PcapngWriter final : public CaptureWriter {
 public:
  /// `application` goes into the section header (shb_userappl); `comments` are on the capture as a whole. A
  /// new file has mode 0600. By default no existing file is replaced.
  [[nodiscard]] static Expected<PcapngWriter> create(const std::string& path, const std::string& application,
                                                     std::vector<std::string> comments = {},
                                                     OutputRules rules = {});
  /// The same, of a file that was created before.
  [[nodiscard]] static Expected<PcapngWriter> create(std::unique_ptr<OutputFile> file,
                                                     const std::string& application,
                                                     std::vector<std::string> comments = {},
                                                     Compression compression = Compression::none);

  PcapngWriter(PcapngWriter&&) noexcept;
  PcapngWriter& operator=(PcapngWriter&&) noexcept;
  PcapngWriter(const PcapngWriter&) = delete;
  PcapngWriter& operator=(const PcapngWriter&) = delete;
  ~PcapngWriter() override;

  /// Its interface is described before its first frame, with the facts of `info` (name, description, filter,
  /// OS, hardware, speed, snap length, link type). Comments are truncated to 65 535 bytes, the limit of the
  /// format.
  Expected<void> write(const Frame& frame, const InterfaceInfo& info,
                       std::span<const std::string_view> comments) override;
  Expected<void> write(const Frame& frame, const InterfaceInfo& info) { return write(frame, info, {}); }

  /// Ends the section with statistics, as finish() does, and begins another one with these comments.
  Expected<void> begin_section(const std::vector<InterfaceInfo>& interfaces,
                               std::vector<std::string> comments) override;

  /// With interface statistics.
  Expected<void> finish(const std::vector<InterfaceInfo>& interfaces) override;
  Expected<void> finish() { return finish({}); }

 private:
  struct Impl;
  explicit PcapngWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::capture
