// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"
#include "capture/write/byte_buffer.hpp"

// Internal: encodes frames as pcapng blocks (draft-ietf-opsawg-pcapng section 4) in the byte order of this
// machine, with nanosecond timestamps. PcapngWriter and Recorder write them to files.
namespace roce::capture {

/// Options of a Section Header Block; empty texts are left out.
struct SectionFacts {
  std::string application;
  std::string hardware;
  std::string operating_system;
  std::vector<std::string> comments;
};

/// Options of Interface Statistics Blocks besides the counts.
struct StatisticsFacts {
  std::optional<std::int64_t> start_ns;  ///< since the epoch: when counting began
  std::optional<std::int64_t> end_ns;    ///< when the counts were read; absent: time of the last packet
  std::vector<std::string> comments;     ///< in the first block
};

/// Every call appends whole blocks to `out`. Not thread-safe.
class PcapngEncoder {
 public:
  using Bytes = ByteBuffer;

  /// Begins a section, without interfaces.
  void section(Bytes& out, const SectionFacts& facts);
  /// Describes the interface with index `source` (Frame::interface), unless the section has it already.
  void interface(Bytes& out, std::uint16_t source, const InterfaceInfo& info);
  /// Describes the frame's interface before its first frame, and takes over the counts of `info`. Comments
  /// are truncated to 65 535 bytes, the limit of the format.
  void packet(Bytes& out, const Frame& frame, const InterfaceInfo& info,
              std::span<const std::string_view> comments = {});
  /// One block for each interface that has counts. `interfaces`, indexed by Frame::interface, has counts
  /// newer than those of the last packet; an interface that was described twice gets one block.
  void statistics(Bytes& out, const std::vector<InterfaceInfo>& interfaces,
                  const StatisticsFacts& facts = {});
  /// Upper bound of the bytes that statistics() appends without comments.
  [[nodiscard]] std::size_t statistics_bytes() const noexcept;

 private:
  /// One described interface.
  struct Described {
    std::uint16_t source = 0;  ///< Frame::interface
    std::int64_t last_time = 0;
    std::optional<std::uint64_t> received, dropped_by_interface, dropped_by_kernel;
  };

  std::uint32_t number_of(Bytes& out, std::uint16_t source, std::uint16_t link_type, bool before_1970,
                          const InterfaceInfo& info);
  static void take_counts(Described& one, const InterfaceInfo& info);

  std::vector<Described> described_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  ///< by source, link type, before 1970
  std::uint64_t last_key_ = UINT64_MAX;                       ///< of the previous packet, and its number
  std::uint32_t last_number_ = 0;
};

/// The complete blocks at the beginning of `size` bytes that PcapngEncoder made.
struct WholeBlocks {
  std::size_t bytes = 0;
  std::uint64_t packets = 0;
};
[[nodiscard]] WholeBlocks whole_blocks(const std::uint8_t* data, std::size_t size) noexcept;

}  // namespace roce::capture
