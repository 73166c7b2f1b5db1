// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "capture/files/pcapng_walker.hpp"

namespace roce::capture {
namespace {

constexpr std::size_t longest_text = 1024;
constexpr std::size_t longest_comment = 64U * 1024U;
// Limit for all texts of interfaces together: a small file may repeat descriptions without end.
constexpr std::size_t text_budget = 4U << 20U;

}  // namespace

bool PcapngWalker::section(const PcapngBlock& block) {
  const auto major = u16(block, 12);
  const auto minor = u16(block, 14);
  // 1.2 was written by mistake for 1.0 (draft, section 4.1).
  if (major != 1 || (minor != 0 && minor != 2)) {
    fail(0, ErrorKind::unsupported, block.offset + 12,
         "pcapng version " + std::to_string(major) + "." + std::to_string(minor) +
             " is not supported, only 1.0 is");
    return false;
  }
  flush_counts();
  section_interfaces_.clear();
  if (header_seen_) ++section_;
  apart_ = false;
  section_start_ = last_time_;
  FileInfo& file = *context_.file;
  PcapngOptions options(block.data + 24, block.size - 28, swapped_);
  PcapngOption option;
  while (options.next(option)) {
    if (option.code == option_comment) {
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

bool PcapngWalker::interface(const PcapngBlock& block) {
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
  info.form = {RecordForm::Kind::pcapng, swapped_, 1, one.clock};
  if (section_interfaces_.size() >= largest_interface_count) return true;
  one.index = describe_interface(described_, std::move(info));
  one.point = claim_point(one.index, section_, section_interfaces_.size(), apart_);
  ++described_;
  section_interfaces_.push_back(one);
  return true;
}

bool PcapngWalker::statistics(const PcapngBlock& block) {
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
      const auto told = load<std::uint64_t>(option.value, swapped_);
      // Interfaces that share the last index: the maximum of them is a lower bound for their sum.
      const bool shared = std::size_t{from->index} + 1 == largest_interface_count;
      *field = shared ? std::max(told, field->value_or(0)) : told;
    } else {
      wrong_size = true;
    }
  }
  if (options.damaged() || wrong_size) context_.count(Incident::bad_option);
  return true;
}

}  // namespace roce::capture
