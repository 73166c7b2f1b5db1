// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/compression/compression.hpp"
#include "capture/core/error.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"
#include "capture/write/output_file.hpp"

namespace roce::capture {

/// File formats that are written, with Wireshark's names.
enum class CaptureFormat : std::uint8_t {
  pcapng,
  pcap,      ///< microseconds
  nsecpcap,  ///< pcap with nanoseconds
};
/// By that name; absent for others.
[[nodiscard]] std::optional<CaptureFormat> capture_format_of(std::string_view name) noexcept;

/// Writes frames to a file in one format. The file appears under its name when finish() has succeeded: it
/// is written under a temporary name in the same folder and renamed, so a partly written file is never taken
/// for a complete one ("-" and other non-regular files are written directly). Not thread-safe.
class CaptureWriter {
 public:
  virtual ~CaptureWriter() = default;  ///< without finish(): removes the temporary file

  /// Writes one frame of an interface. After an error only destruction is allowed.
  virtual Expected<void> write(const Frame& frame, const InterfaceInfo& info,
                               std::span<const std::string_view> comments) = 0;
  /// Comments on the capture as a whole, for what follows.
  virtual Expected<void> begin_section(const std::vector<InterfaceInfo>& interfaces,
                                       std::vector<std::string> comments) = 0;
  /// Writes the end, flushes, syncs and renames. No write() after it. Most captures have their drop counts at
  /// the end, after the last frame: `interfaces` (indexed by Frame::interface, for example
  /// CaptureSource::interfaces()) has the final ones.
  virtual Expected<void> finish(const std::vector<InterfaceInfo>& interfaces) = 0;
  /// What the format could not hold of all that was given, one sentence each.
  [[nodiscard]] virtual std::vector<std::string> omissions() const { return {}; }

 protected:
  CaptureWriter() = default;
  CaptureWriter(const CaptureWriter&) = default;
  CaptureWriter& operator=(const CaptureWriter&) = default;
};

struct CaptureWriterOptions {
  CaptureFormat format = CaptureFormat::pcapng;
  Compression compression = Compression::none;
  std::string application;            ///< that writes; pcapng: shb_userappl
  std::vector<std::string> comments;  ///< on the capture as a whole
};

/// Errors: not_writable.
[[nodiscard]] Expected<std::unique_ptr<CaptureWriter>> create_capture_writer(std::unique_ptr<OutputFile> file,
                                                                             CaptureWriterOptions options);

}  // namespace roce::capture
