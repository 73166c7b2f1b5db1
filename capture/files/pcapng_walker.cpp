// SPDX-License-Identifier: Apache-2.0
#include "capture/files/pcapng_walker.hpp"

#include <algorithm>

namespace roce::capture {
namespace {

constexpr std::uint32_t section_header = 0x0A0D0D0A;  // reads the same in both byte orders
constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
constexpr std::size_t smallest_block = 12;
constexpr std::uint32_t smallest_packet = 32;  // an enhanced or obsolete packet block
constexpr std::size_t packet_head = 28;        // of these, before the data
constexpr std::uint32_t block_interface = 1, block_old_packet = 2, block_simple_packet = 3,
                        block_statistics = 5, block_enhanced_packet = 6;

}  // namespace

const std::array<PcapngWalker::BlockRow, 11> PcapngWalker::block_rows = {{
    {block_enhanced_packet, smallest_packet, nullptr, true},
    {block_interface, 20, &PcapngWalker::interface, false},
    {block_old_packet, smallest_packet, nullptr, true},
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

bool PcapngWalker::refuse(const PcapngBlock& block, Incident incident, std::string message) {
  context_.count(incident);
  fail(0, ErrorKind::damaged, block.offset, std::move(message));
  return false;
}

WalkResult PcapngWalker::walk(const Window& window, std::vector<Frame>& frames, std::size_t limit) {
  const std::size_t enough = frames.size() + limit;
  std::size_t position = 0;
  WalkResult result;
  while (true) {
    position = plain_packets(window, position, frames, enough);
    const std::size_t left = window.size - position;
    if (left < smallest_block) {
      result = unfinished(window, position, smallest_block);
      break;
    }
    PcapngBlock block;
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

/// Fast path for runs of Enhanced Packet Blocks without options, several times faster than block by block.
/// Stops before any other block and before any error.
std::size_t PcapngWalker::plain_packets(const Window& window, std::size_t position,
                                        std::vector<Frame>& frames, std::size_t enough) {
  const bool swapped = swapped_;
  Frame frame;
  frame.file = context_.file_index;
  while (frames.size() < enough && window.size - position >= smallest_packet) {
    const std::uint8_t* const at = window.data + position;
    const auto size = load<std::uint32_t>(at + 4, swapped);
    const auto number = load<std::uint32_t>(at + 8, swapped);
    frame.captured = load<std::uint32_t>(at + 20, swapped);
    frame.wire = load<std::uint32_t>(at + 24, swapped);
    if (load<std::uint32_t>(at, swapped) != block_enhanced_packet || frame.captured > largest_frame ||
        size != smallest_packet + ((frame.captured + 3) & ~3U) || size > window.size - position ||
        frame.wire < frame.captured || load<std::uint32_t>(at + size - 4, swapped) != size) {
      break;
    }
    Interface* const from = find_interface(number);
    if (from == nullptr) break;
    frame.data = at + packet_head;
    frame.interface = from->index;
    frame.point = from->point;
    frame.link_type = from->link_type;
    frame.time_ns = from->clock.to_ns(std::uint64_t{load<std::uint32_t>(at + 12, swapped)} << 32U |
                                      load<std::uint32_t>(at + 16, swapped));
    if (!timed_ && frame.time_ns == 0) [[unlikely]]
      break;
    timed_ = true;
    if (frame.time_ns < last_time_) [[unlikely]] {
      went_back();
      frame.point = from->point;
    }
    last_time_ = frame.time_ns;
    ++from->packets;
    frames.push_back(frame);
    position += size;
  }
  return position;
}

/// Reads type, byte order and length; false: reading stops.
bool PcapngWalker::read_head(PcapngBlock& block, const BlockRow*& row) {
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
                  "a block of type " + std::to_string(block.type) + " has a length of " +
                      std::to_string(block.declared) +
                      (too_large ? ", more than any valid block" : ", less than the minimum of its type"));
  }
  block.size = (block.declared + 3) & ~3U;
  return true;
}

bool PcapngWalker::read_block(const PcapngBlock& block, const BlockRow* row, std::vector<Frame>& frames) {
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

bool PcapngWalker::packet(const PcapngBlock& block, std::vector<Frame>& frames) {
  if (block.type == block_simple_packet) return simple_packet(block, frames);
  // The enhanced and the obsolete block differ in the first word only: an interface, or an
  // interface and a count of drops.
  const bool old = block.type == block_old_packet;
  const std::uint32_t interface = old ? u16(block, 8) : u32(block, 8);
  const std::uint64_t ticks = std::uint64_t{u32(block, 12)} << 32U | u32(block, 16);
  Frame frame;
  frame.data = block.data + packet_head;
  frame.captured = u32(block, 20);
  frame.wire = u32(block, 24);
  if (frame.captured > block.size - smallest_packet) {
    return refuse(block, Incident::damaged_record, "a packet has a captured length above that of its block");
  }
  if (!deliver(block, interface, &ticks, frame, frames)) return false;
  constexpr std::uint16_t drops_unknown = 0xFFFF;
  if (old && u16(block, 10) != drops_unknown) count_drops(interface, u16(block, 10));
  const std::size_t options = packet_head + (std::size_t{frame.captured} + 3) / 4 * 4;
  if (options + 4 < block.size) packet_options(block, options, interface);
  return true;
}

bool PcapngWalker::simple_packet(const PcapngBlock& block, std::vector<Frame>& frames) {
  const Interface* const first = find_interface(0);
  const std::uint32_t snap_length = first != nullptr ? first->snap_length : 0;
  Frame frame;
  frame.data = block.data + 12;
  frame.wire = u32(block, 8);
  frame.captured = snap_length != 0 ? std::min(snap_length, frame.wire) : frame.wire;
  if (frame.captured > block.size - 16) {
    return refuse(block, Incident::damaged_record, "a simple packet is longer than its block");
  }
  return deliver(block, 0, nullptr, frame, frames);
}

bool PcapngWalker::deliver(const PcapngBlock& block, std::uint32_t interface, const std::uint64_t* ticks,
                           Frame frame, std::vector<Frame>& frames) {
  if (frame.captured > largest_frame) {
    return refuse(
        block, Incident::oversized_record,
        "a packet has a captured length of " + std::to_string(frame.captured) + " bytes, above the maximum");
  }
  Interface* const from = find_interface(interface);
  if (from == nullptr) {
    context_.count(Incident::unknown_interface);
    ++context_.statistics->skipped;
    return true;
  }
  frame.interface = from->index;
  frame.link_type = from->link_type;
  frame.file = context_.file_index;
  frame.time_ns = ticks != nullptr ? from->clock.to_ns(*ticks) : 0;
  timed_ = timed_ || frame.time_ns != 0;
  if (ticks != nullptr && timed_) [[likely]] {
    if (frame.time_ns < last_time_) went_back();
    last_time_ = frame.time_ns;
  } else {
    frame.time_ns = no_time;
    context_.count(Incident::no_timestamp);
  }
  if (frame.wire < frame.captured) [[unlikely]] {
    frame.wire = frame.captured;
    context_.count(Incident::captured_more_than_wire);
  }
  frame.point = from->point;
  ++from->packets;
  frames.push_back(frame);
  return true;
}

void PcapngWalker::went_back() {
  context_.count(Incident::time_backwards);
  if (last_time_ != section_start_ || apart_) return;
  // The first packet of this section is older than the end of the previous one: concatenated captures.
  apart_ = true;
  for (std::size_t i = 0; i < section_interfaces_.size(); ++i) {
    Interface& one = section_interfaces_[i];
    one.point = claim_point(one.index, section_, i, true);
  }
}

void PcapngWalker::count_drops(std::uint32_t interface, std::uint64_t drops) {
  const Interface* const from = find_interface(interface);
  if (from != nullptr) (*context_.interfaces)[from->index].dropped_before_packets += drops;
}

void PcapngWalker::packet_options(const PcapngBlock& block, std::size_t begin, std::uint32_t interface) {
  constexpr std::uint16_t drop_count = 4;
  const bool delivered = find_interface(interface) != nullptr;
  PcapngOptions options(block.data + begin, block.size - 4 - begin, swapped_);
  PcapngOption option;
  while (options.next(option)) {
    if (option.code == drop_count && option.size == 8) {
      count_drops(interface, load<std::uint64_t>(option.value, swapped_));
    } else if (option.code == option_comment && delivered) {
      if (const std::string_view text = option_view(option); !text.empty())
        comments_.push_back({block.data + packet_head, text});
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

std::unique_ptr<Walker> make_pcapng_walker(const WalkContext& context) {
  return std::make_unique<PcapngWalker>(context);
}

}  // namespace roce::capture
