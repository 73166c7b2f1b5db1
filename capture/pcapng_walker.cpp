// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>

#include "capture/bytes.hpp"
#include "capture/pcapng_options.hpp"
#include "capture/timestamp.hpp"
#include "capture/walker.hpp"

// pcapng: draft-ietf-opsawg-pcapng. Blocks of {type, total length, body, total length}.
namespace roce::capture {
namespace {

constexpr std::uint32_t section_header = 0x0A0D0D0A;  // reads the same in both byte orders
constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
constexpr std::size_t smallest_block = 12;
constexpr std::size_t longest_text = 1024;
constexpr std::size_t longest_comment = 64U * 1024U;
// All texts of interfaces together: descriptions are cheap to repeat, memory is not.
constexpr std::size_t text_budget = 4U << 20U;

/// One block; data and size are its own, trailing length included.
struct Block {
  const std::uint8_t* data = nullptr;
  std::uint64_t offset = 0;  ///< of data[0] in the capture
  std::uint32_t type = 0;
  std::uint32_t declared = 0;  ///< total length as written
  std::uint32_t size = 0;      ///< the same rounded up to 4: early writers counted without the padding
};

class PcapngWalker final : public Walker {
 public:
  using Walker::Walker;
  WalkResult walk(const Window& window, std::vector<Frame>& frames, std::size_t limit) override;

 private:
  struct Interface {
    std::uint32_t index = 0;
    std::uint16_t link_type = 0;
    bool known = false;  ///< false: one more than the source can hold
    std::uint32_t snap_length = 0;
    TickClock clock;
    std::uint64_t packets = 0;  ///< not yet added to the InterfaceInfo
  };

  using Handler = bool (PcapngWalker::*)(const Block&);  ///< false: reading stops, error_ is set
  struct BlockRow {
    std::uint32_t type;
    std::uint32_t smallest;  ///< total length
    Handler handle;          ///< null: a packet, or nothing that we use
    bool packet;
  };
  static const std::array<BlockRow, 11> block_rows;

  static const BlockRow* row_of(std::uint32_t type) noexcept;

  bool read_head(Block& block, const BlockRow*& row);
  bool read_block(const Block& block, const BlockRow* row, std::vector<Frame>& frames);
  bool section(const Block& block);
  bool interface(const Block& block);
  bool statistics(const Block& block);
  bool packet(const Block& block, std::vector<Frame>& frames);
  bool simple_packet(const Block& block, std::vector<Frame>& frames);
  /// `frame` has its bytes and lengths; null ticks: no time.
  bool deliver(const Block& block, std::uint32_t interface, const std::uint64_t* ticks, Frame frame,
               std::vector<Frame>& frames);
  void packet_options(const Block& block, std::size_t begin, std::uint32_t interface);
  void count_drops(std::uint32_t interface, std::uint64_t drops);
  void flush_counts();
  /// Counts, sets error_ and returns false.
  bool refuse(const Block& block, Incident incident, std::string message);
  /// Null: never described.
  Interface* find_interface(std::uint32_t number) noexcept {
    return number < section_interfaces_.size() && section_interfaces_[number].known
               ? &section_interfaces_[number]
               : nullptr;
  }

  std::uint32_t u32(const Block& block, std::size_t at) const {
    return load<std::uint32_t>(block.data + at, swapped_);
  }
  std::uint16_t u16(const Block& block, std::size_t at) const {
    return load<std::uint16_t>(block.data + at, swapped_);
  }
  std::string text(const PcapngOption& option);

  bool swapped_ = false;
  std::vector<Interface> section_interfaces_;
  std::size_t described_ = 0;  ///< interfaces of the whole file so far
  std::size_t texts_ = 0;
  std::int64_t last_time_ = INT64_MIN;
};

constexpr std::uint32_t block_interface = 1, block_old_packet = 2, block_simple_packet = 3,
                        block_statistics = 5, block_enhanced_packet = 6;

const std::array<PcapngWalker::BlockRow, 11> PcapngWalker::block_rows = {{
    {block_enhanced_packet, 32, nullptr, true},
    {block_interface, 20, &PcapngWalker::interface, false},
    {block_old_packet, 32, nullptr, true},
    {block_simple_packet, 16, nullptr, true},
    {4, smallest_block, nullptr, false},  // name resolution
    {block_statistics, 24, &PcapngWalker::statistics, false},
    {9, smallest_block, nullptr, false},           // systemd journal export
    {0x0000000A, smallest_block, nullptr, false},  // decryption secrets
    {0x00000BAD, smallest_block, nullptr, false},  // custom, may be copied
    {0x40000BAD, smallest_block, nullptr, false},  // custom, may not be copied
    {section_header, 28, &PcapngWalker::section, false},
}};

const PcapngWalker::BlockRow* PcapngWalker::row_of(std::uint32_t type) noexcept {
  const auto* const row = std::find_if(block_rows.begin(), block_rows.end(),
                                       [type](const BlockRow& one) { return one.type == type; });
  return row != block_rows.end() ? row : nullptr;
}

bool PcapngWalker::refuse(const Block& block, Incident incident, std::string message) {
  context_.count(incident);
  fail(0, ErrorKind::damaged, block.offset, std::move(message));
  return false;
}

WalkResult PcapngWalker::walk(const Window& window, std::vector<Frame>& frames, std::size_t limit) {
  const std::size_t enough = frames.size() + limit;
  std::size_t position = 0;
  WalkResult result;
  while (true) {
    const std::size_t left = window.size - position;
    if (left < smallest_block) {
      result = unfinished(window, position, smallest_block);
      break;
    }
    Block block;
    block.data = window.data + position;
    block.offset = window.offset + position;
    const BlockRow* row = nullptr;
    if (!read_head(block, row)) {
      result = {position, WalkState::error, 0};
      break;
    }
    if (row != nullptr && row->packet && frames.size() >= enough) {
      result = {position, WalkState::batch_full, 0};
      break;
    }
    if (block.size > left) {
      result = unfinished(window, position, block.size);
      break;
    }
    if (!read_block(block, row, frames)) {
      result = {position, WalkState::error, 0};
      break;
    }
    position += block.size;
  }
  flush_counts();
  return result;
}

/// Type, byte order and length; false where reading has to stop.
bool PcapngWalker::read_head(Block& block, const BlockRow*& row) {
  block.type = u32(block, 0);
  if (block.type == section_header) {
    const auto order = load<std::uint32_t>(block.data + 8, false);
    swapped_ = order != byte_order_magic;
    if (swapped_ && swap_bytes(order) != byte_order_magic) {
      constexpr auto message = "a section header without the byte-order magic of pcapng";
      if (header_seen_) return refuse(block, Incident::damaged_record, message);
      fail(0, ErrorKind::not_a_capture, block.offset, message);
      return false;
    }
  }
  block.declared = u32(block, 4);
  row = row_of(block.type);
  const std::uint32_t smallest = row != nullptr ? row->smallest : smallest_block;
  const bool too_large = block.declared > largest_block;
  if (too_large || block.declared < smallest) {
    return refuse(block, too_large ? Incident::oversized_record : Incident::damaged_record,
                  "a block of type " + std::to_string(block.type) + " claims a length of " +
                      std::to_string(block.declared) +
                      (too_large ? ", more than any sane one" : ", less than such a block has"));
  }
  block.size = (block.declared + 3) & ~3U;
  return true;
}

bool PcapngWalker::read_block(const Block& block, const BlockRow* row, std::vector<Frame>& frames) {
  if (u32(block, block.size - 4) != block.declared) {
    return refuse(block, Incident::damaged_record, "the two lengths of a block differ");
  }
  if (row == nullptr) {
    context_.count(Incident::unknown_block);
  } else if (row->packet) {
    return packet(block, frames);
  } else if (row->handle != nullptr) {
    return (this->*row->handle)(block);
  }
  return true;
}

bool PcapngWalker::section(const Block& block) {
  const auto major = u16(block, 12);
  const auto minor = u16(block, 14);
  // 1.2 was written by mistake for 1.0 (draft, section 4.1).
  if (major != 1 || (minor != 0 && minor != 2)) {
    fail(0, ErrorKind::unsupported, block.offset + 12,
         "pcapng version " + std::to_string(major) + "." + std::to_string(minor) +
             " is not known, only 1.0 is");
    return false;
  }
  flush_counts();
  section_interfaces_.clear();
  FileInfo& file = *context_.file;
  PcapngOptions options(block.data + 24, block.size - 28, swapped_);
  PcapngOption option;
  while (options.next(option)) {
    if (option.code == 1) {
      if (file.comment.size() >= longest_comment) continue;
      if (!file.comment.empty()) file.comment += '\n';
      file.comment += option_text(option, longest_comment - file.comment.size());
    } else if (option.code == 2 && file.hardware.empty()) {
      file.hardware = option_text(option, longest_text);
    } else if (option.code == 3 && file.operating_system.empty()) {
      file.operating_system = option_text(option, longest_text);
    } else if (option.code == 4 && file.application.empty()) {
      file.application = option_text(option, longest_text);
    }
  }
  if (options.damaged()) context_.count(Incident::bad_option);
  file.format = "pcapng";
  header_seen_ = true;
  return true;
}

std::string PcapngWalker::text(const PcapngOption& option) {
  std::string text = option_text(option, std::min(longest_text, text_budget - texts_));
  texts_ += text.size();
  return text;
}

bool PcapngWalker::interface(const Block& block) {
  InterfaceInfo info;
  info.link_type = u16(block, 8);
  info.snap_length = u32(block, 12);
  std::uint8_t resolution = 6;
  std::int64_t offset_seconds = 0;
  bool wrong_size = false;
  PcapngOptions options(block.data + 16, block.size - 20, swapped_);
  PcapngOption option;
  while (options.next(option)) {
    const auto sized = [&](std::size_t size) {
      wrong_size = wrong_size || option.size != size;
      return option.size == size;
    };
    switch (option.code) {
      case 2:
        info.name = text(option);
        break;
      case 3:
        info.description = text(option);
        break;
      case 8:
        if (sized(8)) info.speed_bps = load<std::uint64_t>(option.value, swapped_);
        break;
      case 9:
        if (sized(1)) resolution = option.value[0];
        break;
      case 11:  // the first byte says what follows: 0 = a string in libpcap's filter syntax
        if (option.size > 0 && option.value[0] == 0)
          info.filter = text({11, option.value + 1, option.size - 1});
        break;
      case 12:
        info.operating_system = text(option);
        break;
      case 13:
        if (sized(1)) info.fcs_bytes = option.value[0];
        break;
      case 14:
        if (sized(8)) offset_seconds = static_cast<std::int64_t>(load<std::uint64_t>(option.value, swapped_));
        break;
      case 15:
        info.hardware = text(option);
        break;
      default:
        break;
    }
  }
  if (options.damaged() || wrong_size) context_.count(Incident::bad_option);
  Interface one;
  one.link_type = info.link_type;
  one.snap_length = info.snap_length;
  one.clock = TickClock(resolution, offset_seconds);
  info.ticks_per_second = one.clock.ticks_per_second();
  if (section_interfaces_.size() >= largest_interface_count) return true;
  if (const auto index = describe_interface(described_, std::move(info))) {
    one.index = *index;
    one.known = true;
  }
  ++described_;
  section_interfaces_.push_back(one);
  return true;
}

bool PcapngWalker::statistics(const Block& block) {
  const Interface* const from = find_interface(u32(block, 8));
  if (from == nullptr) {
    context_.count(Incident::unknown_interface);
    return true;
  }
  InterfaceInfo& info = (*context_.interfaces)[from->index];
  PcapngOptions options(block.data + 20, block.size - 24, swapped_);
  PcapngOption option;
  bool wrong_size = false;
  while (options.next(option)) {
    std::optional<std::uint64_t>* const field = option.code == 4   ? &info.received
                                                : option.code == 5 ? &info.dropped_by_interface
                                                : option.code == 7 ? &info.dropped_by_kernel
                                                                   : nullptr;
    if (field == nullptr) continue;
    if (option.size == 8) {
      *field = load<std::uint64_t>(option.value, swapped_);
    } else {
      wrong_size = true;
    }
  }
  if (options.damaged() || wrong_size) context_.count(Incident::bad_option);
  return true;
}

bool PcapngWalker::packet(const Block& block, std::vector<Frame>& frames) {
  if (block.type == block_simple_packet) return simple_packet(block, frames);
  // The enhanced and the obsolete block differ in the first word only: an interface, or an
  // interface and a count of drops.
  const bool old = block.type == block_old_packet;
  const std::uint32_t interface = old ? u16(block, 8) : u32(block, 8);
  const std::uint64_t ticks = std::uint64_t{u32(block, 12)} << 32U | u32(block, 16);
  Frame frame;
  frame.data = block.data + 28;
  frame.captured = u32(block, 20);
  frame.wire = u32(block, 24);
  if (frame.captured > block.size - 32) {
    return refuse(block, Incident::damaged_record, "a packet claims more captured bytes than its block has");
  }
  if (!deliver(block, interface, &ticks, frame, frames)) return false;
  constexpr std::uint16_t drops_unknown = 0xFFFF;
  if (old && u16(block, 10) != drops_unknown) count_drops(interface, u16(block, 10));
  const std::size_t options = 28 + (std::size_t{frame.captured} + 3) / 4 * 4;
  if (options + 4 < block.size) packet_options(block, options, interface);
  return true;
}

bool PcapngWalker::simple_packet(const Block& block, std::vector<Frame>& frames) {
  const Interface* const first = find_interface(0);
  const std::uint32_t snap_length = first != nullptr ? first->snap_length : 0;
  Frame frame;
  frame.data = block.data + 12;
  frame.wire = u32(block, 8);
  frame.captured = snap_length != 0 ? std::min(snap_length, frame.wire) : frame.wire;
  if (frame.captured > block.size - 16) {
    return refuse(block, Incident::damaged_record, "a simple packet claims more bytes than its block has");
  }
  return deliver(block, 0, nullptr, frame, frames);
}

bool PcapngWalker::deliver(const Block& block, std::uint32_t interface, const std::uint64_t* ticks,
                           Frame frame, std::vector<Frame>& frames) {
  if (frame.captured > largest_frame) {
    return refuse(
        block, Incident::oversized_record,
        "a packet claims " + std::to_string(frame.captured) + " captured bytes, more than any frame has");
  }
  Interface* const from = find_interface(interface);
  if (from == nullptr) {
    context_.count(Incident::unknown_interface);
    return true;
  }
  frame.interface = from->index;
  frame.link_type = from->link_type;
  frame.file = context_.file_index;
  if (ticks != nullptr) [[likely]] {
    frame.time_ns = from->clock.to_ns(*ticks);
    if (frame.time_ns < last_time_) context_.count(Incident::time_backwards);
    last_time_ = frame.time_ns;
  } else {
    context_.count(Incident::no_timestamp);
  }
  if (frame.wire < frame.captured) [[unlikely]] {
    frame.wire = frame.captured;
    context_.count(Incident::captured_more_than_wire);
  }
  ++from->packets;
  frames.push_back(frame);
  return true;
}

void PcapngWalker::count_drops(std::uint32_t interface, std::uint64_t drops) {
  const Interface* const from = find_interface(interface);
  if (from != nullptr) (*context_.interfaces)[from->index].dropped_before_packets += drops;
}

void PcapngWalker::packet_options(const Block& block, std::size_t begin, std::uint32_t interface) {
  constexpr std::uint16_t drop_count = 4;
  PcapngOptions options(block.data + begin, block.size - 4 - begin, swapped_);
  PcapngOption option;
  while (options.next(option)) {
    if (option.code == drop_count && option.size == 8) {
      count_drops(interface, load<std::uint64_t>(option.value, swapped_));
    }
  }
  if (options.damaged()) context_.count(Incident::bad_option);
}

void PcapngWalker::flush_counts() {
  for (Interface& one : section_interfaces_) {
    if (one.packets == 0) continue;
    (*context_.interfaces)[one.index].packets += one.packets;
    one.packets = 0;
  }
}

}  // namespace

std::unique_ptr<Walker> make_pcapng_walker(const WalkContext& context) {
  return std::make_unique<PcapngWalker>(context);
}

}  // namespace roce::capture
