// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/core/bytes.hpp"
#include "capture/core/pcapng_options.hpp"
#include "capture/core/timestamp.hpp"
#include "capture/files/walker.hpp"

// Internal. pcapng: draft-ietf-opsawg-pcapng. Blocks of {type, total length, body, total length}.
// pcapng_walker.cpp iterates over them and reads packets, pcapng_facts.cpp reads the descriptions of sections
// and interfaces.
namespace roce::capture {

/// One pcapng block, from its type to its trailing length.
struct PcapngBlock {
  const std::uint8_t* data = nullptr;
  std::uint64_t offset = 0;  ///< of data[0] in the capture
  std::uint32_t type = 0;
  std::uint32_t declared = 0;  ///< total length as written
  std::uint32_t size = 0;      ///< `declared` rounded up to 4: early writers did not count the padding
};

class PcapngWalker final : public Walker {
 public:
  using Walker::Walker;
  WalkResult walk(const Window& window, std::vector<Frame>& frames, std::size_t limit) override;

 private:
  struct Interface {
    std::uint16_t index = 0;
    std::uint16_t point = 0;
    std::uint16_t link_type = 0;
    std::uint32_t snap_length = 0;
    TickClock clock;
    std::uint64_t packets = 0;  ///< not yet added to the InterfaceInfo
  };

  using Handler = bool (PcapngWalker::*)(const PcapngBlock&);  ///< false: reading stops, error_ is set
  struct BlockRow {
    std::uint32_t type;
    std::uint32_t smallest;  ///< total length
    Handler handle;          ///< null: a packet, or a block that is skipped
    bool packet;
  };
  static const std::array<BlockRow, 11> block_rows;

  static const BlockRow* row_of(std::uint32_t type) noexcept;

  std::size_t plain_packets(const Window& window, std::size_t position, std::vector<Frame>& frames,
                            std::size_t enough);
  bool read_head(PcapngBlock& block, const BlockRow*& row);
  bool read_block(const PcapngBlock& block, const BlockRow* row, std::vector<Frame>& frames);
  bool section(const PcapngBlock& block);
  bool interface(const PcapngBlock& block);
  bool statistics(const PcapngBlock& block);
  bool packet(const PcapngBlock& block, std::vector<Frame>& frames);
  bool simple_packet(const PcapngBlock& block, std::vector<Frame>& frames);
  /// `frame` has its bytes and lengths; `ticks` is null for packets without a time.
  bool deliver(const PcapngBlock& block, std::uint32_t interface, const std::uint64_t* ticks, Frame frame,
               std::vector<Frame>& frames);
  void packet_options(const PcapngBlock& block, std::size_t begin, std::uint32_t interface);
  void count_drops(std::uint32_t interface, std::uint64_t drops);
  void flush_counts();
  /// Called when a packet is older than the one before it.
  void went_back();
  /// Counts, sets error_ and returns false.
  bool refuse(const PcapngBlock& block, Incident incident, std::string message);
  /// Null if the section has no such interface.
  Interface* find_interface(std::uint32_t number) noexcept {
    return number < section_interfaces_.size() ? &section_interfaces_[number] : nullptr;
  }

  std::uint32_t u32(const PcapngBlock& block, std::size_t at) const {
    return load<std::uint32_t>(block.data + at, swapped_);
  }
  std::uint16_t u16(const PcapngBlock& block, std::size_t at) const {
    return load<std::uint16_t>(block.data + at, swapped_);
  }
  std::string text(const PcapngOption& option);

  bool swapped_ = false;
  std::vector<Interface> section_interfaces_;
  std::size_t described_ = 0;               ///< interfaces of the whole file so far
  std::uint32_t section_ = 0;               ///< number of the present one
  bool apart_ = false;                      ///< continues no earlier section: it begins before their end
  std::int64_t section_start_ = INT64_MIN;  ///< time of the last packet before it
  std::size_t texts_ = 0;
  std::int64_t last_time_ = INT64_MIN;
  bool timed_ = false;  ///< a time other than 0 was seen; a writer without a clock always writes 0
};

}  // namespace roce::capture
