// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <set>

#include "capture/write/capture_writer.hpp"

namespace roce::capture {

class CompressedOutput;

enum class PcapTimes : std::uint8_t { microseconds, nanoseconds };

/// Writes pcap (draft-ietf-opsawg-pcap) in the byte order of this machine. All packets of a file have one
/// link type and times from 1970 to 2106: others are errors. It has no comments, interfaces and drop counts:
/// see omissions().
class PcapWriter final : public CaptureWriter {
 public:
  /// `comments`: how many there are on the capture, for omissions().
  PcapWriter(std::unique_ptr<OutputFile> file, PcapTimes times, std::size_t comments,
             Compression compression);
  ~PcapWriter() override;
  PcapWriter(const PcapWriter&) = delete;
  PcapWriter& operator=(const PcapWriter&) = delete;

  Expected<void> write(const Frame& frame, const InterfaceInfo& info,
                       std::span<const std::string_view> comments) override;
  Expected<void> begin_section(const std::vector<InterfaceInfo>& interfaces,
                               std::vector<std::string> comments) override;
  /// Without any packet: the link type is that of the first interface, or Ethernet.
  Expected<void> finish(const std::vector<InterfaceInfo>& interfaces) override;
  [[nodiscard]] std::vector<std::string> omissions() const override;

 private:
  [[nodiscard]] Expected<void> header(std::uint32_t network);
  [[nodiscard]] tl::unexpected<Error> refused(std::string message) const;

  PcapTimes times_;
  std::unique_ptr<CompressedOutput> file_;
  std::optional<std::uint32_t> network_;  ///< link type and FCS length, once a packet came
  std::uint64_t comments_ = 0;            ///< left out
  std::uint64_t cut_times_ = 0;           ///< packets with nanoseconds, in microseconds
  std::set<std::uint16_t> interfaces_;    ///< of the packets
  bool drops_ = false;                    ///< an interface has dropped packets
};

}  // namespace roce::capture
