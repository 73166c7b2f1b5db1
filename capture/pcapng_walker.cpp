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

/// One whole block whose two lengths agree.
struct Block {
  const std::uint8_t* data = nullptr;
  std::uint32_t size = 0;
  std::uint64_t offset = 0;
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

  using Handler = void (PcapngWalker::*)(const Block&);
  struct BlockRow {
    std::uint32_t type;
    std::uint32_t smallest;  ///< total length
    Handler handle;          ///< null: a packet (packet_ tells) or nothing of ours
    bool packet;
  };
  static const std::array<BlockRow, 11> block_rows;

  void section(const Block& block);
  void interface(const Block& block);
  void statistics(const Block& block);
  /// False: a length contradicts the block, see `why_`.
  bool packet(std::uint32_t type, const Block& block, std::vector<Frame>& frames);
  bool deliver(std::uint32_t interface, std::uint64_t ticks, const std::uint8_t* data, std::uint32_t captured,
               std::uint32_t wire, bool timed, std::vector<Frame>& frames);
  void packet_options(const Block& block, std::size_t begin, std::uint32_t interface);
  void flush_counts();
  bool damaged(const char* why) {
    why_ = why;
    return false;
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
  const char* why_ = nullptr;
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

WalkResult PcapngWalker::walk(const Window& window, std::vector<Frame>& frames, std::size_t limit) {
  const std::size_t frames_before = frames.size();
  std::size_t position = 0;
  WalkResult result;
  while (true) {
    const std::size_t left = window.size - position;
    if (left < smallest_block) {
      result = unfinished(window, position, smallest_block);
      break;
    }
    Block block{window.data + position, 0, window.offset + position};
    const auto type = u32(block, 0);
    if (type == section_header) {
      const auto order = load<std::uint32_t>(block.data + 8, false);
      if (order != byte_order_magic && swap_bytes(order) != byte_order_magic) {
        const bool first = !header_seen_;
        if (!first) context_.count(Incident::damaged_record);
        result = fail(position, first ? ErrorKind::not_a_capture : ErrorKind::damaged, block.offset + 8,
                      "a section header without the byte-order magic of pcapng");
        break;
      }
      swapped_ = order != byte_order_magic;
    }
    block.size = u32(block, 4);
    const auto* const row = std::find_if(block_rows.begin(), block_rows.end(),
                                         [type](const BlockRow& one) { return one.type == type; });
    const bool known = row != block_rows.end();
    const std::uint32_t smallest = known ? row->smallest : smallest_block;
    if (block.size < smallest || block.size % 4 != 0) {
      context_.count(Incident::damaged_record);
      result = fail(position, ErrorKind::damaged, block.offset,
                    "a block of type " + std::to_string(type) + " claims a length of " +
                        std::to_string(block.size) +
                        (block.size < smallest ? ", less than such a block has" : ", not a multiple of 4"));
      break;
    }
    if (block.size > largest_block) {
      context_.count(Incident::oversized_record);
      result = fail(position, ErrorKind::damaged, block.offset,
                    "a block of type " + std::to_string(type) + " claims a length of " +
                        std::to_string(block.size) + ", more than any sane one");
      break;
    }
    if (known && row->packet && frames.size() - frames_before >= limit) {
      result = {position, WalkState::batch_full, 0};
      break;
    }
    if (block.size > left) {
      result = unfinished(window, position, block.size);
      break;
    }
    why_ = nullptr;
    if (u32(block, block.size - 4) != block.size) {
      why_ = "the two lengths of a block differ";
    } else if (known && row->packet) {
      packet(type, block, frames);
    } else if (known && row->handle != nullptr) {
      (this->*row->handle)(block);
      if (error_) {  // only a section's version
        result = {position, WalkState::error, 0};
        break;
      }
    } else if (!known) {
      context_.count(Incident::unknown_block);
    }
    if (why_ != nullptr) {
      context_.count(Incident::damaged_record);
      result = fail(position, ErrorKind::damaged, block.offset, why_);
      break;
    }
    position += block.size;
  }
  flush_counts();
  return result;
}

void PcapngWalker::section(const Block& block) {
  const auto major = u16(block, 12);
  const auto minor = u16(block, 14);
  // 1.2 was written by mistake for 1.0 (draft, section 4.1).
  if (major != 1 || (minor != 0 && minor != 2)) {
    fail(0, ErrorKind::unsupported, block.offset + 12,
         "pcapng version " + std::to_string(major) + "." + std::to_string(minor) +
             " is not known, only 1.0 is");
    return;
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
}

std::string PcapngWalker::text(const PcapngOption& option) {
  std::string text = option_text(option, std::min(longest_text, text_budget - texts_));
  texts_ += text.size();
  return text;
}

void PcapngWalker::interface(const Block& block) {
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
  if (section_interfaces_.size() >= largest_interface_count) return;
  if (const auto index = describe_interface(described_, std::move(info))) {
    one.index = *index;
    one.known = true;
  }
  ++described_;
  section_interfaces_.push_back(one);
}

void PcapngWalker::statistics(const Block& block) {
  const auto interface = u32(block, 8);
  if (interface >= section_interfaces_.size() || !section_interfaces_[interface].known) {
    context_.count(Incident::unknown_interface);
    return;
  }
  InterfaceInfo& info = (*context_.interfaces)[section_interfaces_[interface].index];
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
}

bool PcapngWalker::packet(std::uint32_t type, const Block& block, std::vector<Frame>& frames) {
  if (type == block_simple_packet) {
    const auto wire = u32(block, 8);
    if (section_interfaces_.empty()) {
      context_.count(Incident::unknown_interface);
      return true;
    }
    const auto snap = section_interfaces_[0].snap_length;
    const std::uint32_t captured = snap != 0 ? std::min(snap, wire) : wire;
    if (captured > block.size - 16) return damaged("a simple packet claims more bytes than its block has");
    return deliver(0, 0, block.data + 12, captured, wire, false, frames);
  }
  // The two others differ in the first word only: an interface, or an interface and a drops count.
  const bool old = type == block_old_packet;
  const std::uint32_t interface = old ? u16(block, 8) : u32(block, 8);
  const std::uint64_t ticks = std::uint64_t{u32(block, 12)} << 32U | u32(block, 16);
  const auto captured = u32(block, 20);
  const auto wire = u32(block, 24);
  if (captured > block.size - 32) return damaged("a packet claims more captured bytes than its block has");
  if (!deliver(interface, ticks, block.data + 28, captured, wire, true, frames)) return false;
  if (old && u16(block, 10) != 0 && u16(block, 10) != 0xFFFF && interface < section_interfaces_.size() &&
      section_interfaces_[interface].known) {
    (*context_.interfaces)[section_interfaces_[interface].index].dropped_before_packets += u16(block, 10);
  }
  const std::size_t options = 28 + (std::size_t{captured} + 3) / 4 * 4;
  if (options + 4 < block.size) packet_options(block, options, interface);
  return true;
}

bool PcapngWalker::deliver(std::uint32_t interface, std::uint64_t ticks, const std::uint8_t* data,
                           std::uint32_t captured, std::uint32_t wire, bool timed,
                           std::vector<Frame>& frames) {
  if (captured > largest_frame) return damaged("a packet claims more captured bytes than any frame has");
  if (interface >= section_interfaces_.size() || !section_interfaces_[interface].known) {
    context_.count(Incident::unknown_interface);
    return true;
  }
  Interface& from = section_interfaces_[interface];
  Frame frame;
  frame.data = data;
  frame.captured = captured;
  frame.wire = wire;
  frame.interface = from.index;
  frame.link_type = from.link_type;
  frame.file = context_.file_index;
  if (timed) [[likely]] {
    frame.time_ns = from.clock.to_ns(ticks);
    if (frame.time_ns < last_time_) context_.count(Incident::time_backwards);
    last_time_ = frame.time_ns;
  } else {
    context_.count(Incident::no_timestamp);
  }
  if (wire < captured) [[unlikely]] {
    frame.wire = captured;
    context_.count(Incident::captured_more_than_wire);
  }
  ++from.packets;
  frames.push_back(frame);
  return true;
}

void PcapngWalker::packet_options(const Block& block, std::size_t begin, std::uint32_t interface) {
  constexpr std::uint16_t drop_count = 4;
  PcapngOptions options(block.data + begin, block.size - 4 - begin, swapped_);
  PcapngOption option;
  while (options.next(option)) {
    if (option.code != drop_count || option.size != 8) continue;
    if (interface >= section_interfaces_.size() || !section_interfaces_[interface].known) continue;
    (*context_.interfaces)[section_interfaces_[interface].index].dropped_before_packets +=
        load<std::uint64_t>(option.value, swapped_);
  }
  if (options.damaged()) context_.count(Incident::bad_option);
}

void PcapngWalker::flush_counts() {
  // Sections with very many interfaces are rare, and so are batches: a plain pass is cheap.
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
