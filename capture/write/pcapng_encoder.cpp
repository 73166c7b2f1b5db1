// SPDX-License-Identifier: Apache-2.0
#include "capture/write/pcapng_encoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "capture/core/pcapng_options.hpp"

namespace roce::capture {
namespace {

constexpr std::uint32_t block_section = 0x0A0D0D0A, block_interface = 1, block_statistics = 5,
                        block_packet = 6;
constexpr std::uint8_t nanoseconds = 9;
// if_tsoffset of interfaces whose frames are older than 1970: timestamps are unsigned.
constexpr std::int64_t seconds_before_1970 = -9'223'372'037;
constexpr std::size_t packet_head = 28;

/// Appends one block to `out`, which holds complete blocks before it.
class BlockBuilder {
 public:
  BlockBuilder(PcapngEncoder::Bytes& out, std::uint32_t type) : out_(out), begin_(out.size()) {
    add(type);
    add(std::uint32_t{0});  // total length, filled in at the end
  }
  template <class Integer>
  void add(Integer value) {
    add_bytes(&value, sizeof value);
  }
  void add_bytes(const void* data, std::size_t size) {
    if (size != 0) std::memcpy(out_.grow(size), data, size);
  }
  void pad() {
    constexpr std::uint32_t zero = 0;
    add_bytes(&zero, (begin_ - out_.size()) & 3U);
  }
  void option(std::uint16_t code, const void* value, std::size_t size) {
    add(code);
    add(static_cast<std::uint16_t>(size));
    add_bytes(value, size);
    pad();
  }
  template <class Integer>
  void option(std::uint16_t code, Integer value) {
    option(code, &value, sizeof value);
  }
  void text(std::uint16_t code, std::string_view value) {
    constexpr std::size_t longest = 65'535;
    if (!value.empty()) option(code, value.data(), std::min(value.size(), longest));
  }
  /// Times in options are two 32-bit halves, the upper one first.
  void time(std::uint16_t code, std::optional<std::int64_t> time_ns) {
    if (!time_ns || *time_ns < 0) return;
    const auto ticks = static_cast<std::uint64_t>(*time_ns);
    const std::array<std::uint32_t, 2> unpaired = {static_cast<std::uint32_t>(ticks >> 32U),
                                                   static_cast<std::uint32_t>(ticks)};
    option(code, unpaired.data(), sizeof unpaired);
  }
  void end_options() { add(std::uint32_t{0}); }
  void end() {
    pad();
    const auto size = static_cast<std::uint32_t>(out_.size() - begin_ + sizeof(std::uint32_t));
    std::memcpy(out_.data() + begin_ + sizeof size, &size, sizeof size);
    add(size);
  }

 private:
  PcapngEncoder::Bytes& out_;
  std::size_t begin_;
};

}  // namespace

void PcapngEncoder::section(Bytes& out, const SectionFacts& facts) {
  described_.clear();
  numbers_.clear();
  last_key_ = UINT64_MAX;
  BlockBuilder block(out, block_section);
  block.add(std::uint32_t{0x1A2B3C4D});
  block.add(std::uint16_t{1});
  block.add(std::uint16_t{0});
  block.add(UINT64_MAX);  // section length not specified
  for (const std::string& comment : facts.comments) block.text(option_comment, comment);
  block.text(2, facts.hardware);
  block.text(3, facts.operating_system);
  block.text(4, facts.application);
  block.end_options();
  block.end();
}

std::uint32_t PcapngEncoder::number_of(Bytes& out, std::uint16_t source, std::uint16_t link_type,
                                       bool before_1970, const InterfaceInfo& info) {
  // The last possible interface index may be shared by several, with different link types.
  const std::uint64_t key =
      std::uint64_t{source} << 17U | std::uint64_t{link_type} << 1U | static_cast<std::uint64_t>(before_1970);
  if (key == last_key_) return last_number_;
  const auto next = static_cast<std::uint32_t>(described_.size());
  const auto [place, added] = numbers_.try_emplace(key, next);
  last_key_ = key;
  last_number_ = place->second;
  if (!added) return last_number_;
  BlockBuilder block(out, block_interface);
  block.add(link_type);
  block.add(std::uint16_t{0});
  block.add(info.snap_length);
  block.text(2, info.name);
  block.text(3, info.description);
  if (info.speed_bps != 0) block.option(8, info.speed_bps);
  block.option(9, nanoseconds);
  if (!info.filter.empty()) block.text(11, std::string(1, '\0') + info.filter);  // 0: libpcap's syntax
  block.text(12, info.operating_system);
  if (info.fcs_bytes != 0) block.option(13, info.fcs_bytes);
  if (before_1970) block.option(14, seconds_before_1970);
  block.text(15, info.hardware);
  block.end_options();
  block.end();
  described_.push_back({source, 0, {}, {}, {}});
  return next;
}

void PcapngEncoder::take_counts(Described& one, const InterfaceInfo& info) {
  one.received = info.received;
  one.dropped_by_interface = info.dropped_by_interface;
  one.dropped_by_kernel = info.dropped_by_kernel;
}

void PcapngEncoder::interface(Bytes& out, std::uint16_t source, const InterfaceInfo& info) {
  take_counts(described_[number_of(out, source, info.link_type, false, info)], info);
}

void PcapngEncoder::packet(Bytes& out, const Frame& frame, const InterfaceInfo& info,
                           std::span<const std::string_view> comments) {
  const std::uint32_t number = number_of(out, frame.interface, frame.link_type, frame.time_ns < 0, info);
  Described& one = described_[number];
  one.last_time = frame.time_ns;
  take_counts(one, info);
  // Modulo 2^64: with the offset of an interface before 1970 the timestamp becomes positive.
  const std::uint64_t offset =
      frame.time_ns < 0 ? static_cast<std::uint64_t>(-seconds_before_1970) * 1'000'000'000U : 0;
  const std::uint64_t ticks = static_cast<std::uint64_t>(frame.time_ns) + offset;
  const std::uint32_t padding = -frame.captured & 3U;
  const std::uint32_t size = static_cast<std::uint32_t>(packet_head + 4) + frame.captured + padding;
  const std::array<std::uint32_t, packet_head / 4> head = {block_packet,
                                                           size,
                                                           number,
                                                           static_cast<std::uint32_t>(ticks >> 32U),
                                                           static_cast<std::uint32_t>(ticks),
                                                           frame.captured,
                                                           std::max(frame.wire, frame.captured)};
  if (!comments.empty()) {
    BlockBuilder block(out, block_packet);
    block.add_bytes(&head[2], packet_head - 8);
    block.add_bytes(frame.data, frame.captured);
    block.pad();
    for (const std::string_view comment : comments) block.text(option_comment, comment);
    block.end_options();
    block.end();
    return;
  }
  std::uint8_t* const to = out.grow(size);
  // The last 4 bytes with the padding first: the data then overwrites what is not padding.
  constexpr std::uint32_t zero = 0;
  std::memcpy(to + size - 8, &zero, sizeof zero);
  std::memcpy(to, head.data(), packet_head);
  if (frame.captured != 0) std::memcpy(to + packet_head, frame.data, frame.captured);
  std::memcpy(to + size - 4, &size, sizeof size);
}

void PcapngEncoder::statistics(Bytes& out, const std::vector<InterfaceInfo>& interfaces,
                               const StatisticsFacts& facts) {
  std::vector<bool> told(interfaces.size());
  bool comments_told = facts.comments.empty();
  for (std::uint32_t number = 0; number < described_.size(); ++number) {
    Described& one = described_[number];
    if (one.source < interfaces.size()) {
      if (told[one.source]) continue;
      told[one.source] = true;
      take_counts(one, interfaces[one.source]);
    }
    const bool counts = one.received || one.dropped_by_interface || one.dropped_by_kernel;
    if (!counts && comments_told) continue;
    const std::int64_t time = facts.end_ns.value_or(one.last_time);
    const auto ticks = time < 0 ? 0 : static_cast<std::uint64_t>(time);
    BlockBuilder block(out, block_statistics);
    block.add(number);
    block.add(static_cast<std::uint32_t>(ticks >> 32U));
    block.add(static_cast<std::uint32_t>(ticks));
    if (!comments_told) {
      for (const std::string& comment : facts.comments) block.text(option_comment, comment);
      comments_told = true;
    }
    block.time(2, facts.start_ns);
    block.time(3, facts.end_ns);
    if (one.received) block.option(4, *one.received);
    if (one.dropped_by_interface) block.option(5, *one.dropped_by_interface);
    if (one.dropped_by_kernel) block.option(7, *one.dropped_by_kernel);
    block.end_options();
    block.end();
  }
}

std::size_t PcapngEncoder::statistics_bytes() const noexcept {
  constexpr std::size_t largest = 24 + 5 * 12 + 4;  // fixed part and lengths, five options, their end
  return described_.size() * largest;
}

WholeBlocks whole_blocks(const std::uint8_t* data, std::size_t size) noexcept {
  constexpr std::size_t smallest = 12;
  WholeBlocks whole;
  while (size - whole.bytes >= smallest) {
    std::uint32_t type = 0;
    std::uint32_t length = 0;
    std::memcpy(&type, data + whole.bytes, sizeof type);
    std::memcpy(&length, data + whole.bytes + sizeof type, sizeof length);
    if (length < smallest || length > size - whole.bytes) break;
    whole.bytes += length;
    whole.packets += type == block_packet ? 1 : 0;
  }
  return whole;
}

}  // namespace roce::capture
