// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "capture/core/bytes.hpp"
#include "capture/files/walker.hpp"

// pcap: draft-ietf-opsawg-pcap. A file header of 24 bytes, then records of 16 + captured bytes.
namespace roce::capture {
namespace {

constexpr std::size_t file_header_bytes = 24;
constexpr std::size_t record_header_bytes = 16;
constexpr std::size_t beginning_bytes = 8192;
constexpr std::uint32_t magic_us = 0xA1B2C3D4;
constexpr std::uint32_t magic_ns = 0xA1B23C4D;

/// Early versions wrote the two lengths in reverse order (libpcap, sf-pcap.c).
enum class SwappedLengths : std::uint8_t { never, where_captured_is_larger, always };

class PcapWalker final : public Walker {
 public:
  using Walker::Walker;

  WalkResult walk(const Window& window, std::vector<Frame>& frames, std::size_t limit) override {
    std::size_t position = 0;
    keep_beginning(window);
    if (!header_seen_) {
      if (window.size < file_header_bytes) return unfinished(window, 0, file_header_bytes);
      if (!read_header(window)) return {0, WalkState::error, 0};
      position = file_header_bytes;
    }
    return swapped_ ? walk_records<true>(window, position, frames, limit)
                    : walk_records<false>(window, position, frames, limit);
  }

 private:
  bool read_header(const Window& window);

  template <bool Swapped>
  WalkResult walk_records(const Window& window, std::size_t position, std::vector<Frame>& frames,
                          std::size_t limit);

  WalkResult refuse_record(const Window& window, std::size_t position, std::uint32_t captured);
  void keep_beginning(const Window& window);
  [[nodiscard]] bool fits_longer_headers(bool whole_file, std::size_t extra) const;

  bool swapped_ = false;
  SwappedLengths swapped_lengths_ = SwappedLengths::never;
  std::uint32_t ns_per_fraction_ = 1000;
  std::uint16_t link_type_ = 0;
  std::uint16_t interface_ = 0;
  std::uint16_t point_ = 0;
  std::int64_t last_time_ = INT64_MIN;
  bool timed_ = false;  ///< a timestamp other than 0 was seen
  /// A copy of the first bytes. Whether records have longer headers is decided by them alone, so that the
  /// result does not depend on how the input is divided into windows.
  std::vector<std::uint8_t> beginning_;
};

bool PcapWalker::read_header(const Window& window) {
  const std::uint8_t* const at = window.data;
  const auto magic = load<std::uint32_t>(at, false);
  swapped_ = magic != magic_us && magic != magic_ns;
  const bool nanoseconds = load<std::uint32_t>(at, swapped_) == magic_ns;
  const auto major = load<std::uint16_t>(at + 4, swapped_);
  const auto minor = load<std::uint16_t>(at + 6, swapped_);
  const auto snap_length = load<std::uint32_t>(at + 16, swapped_);
  const auto link = load<std::uint32_t>(at + 20, swapped_);

  // 543.0 was written by DG/UX's tcpdump; libpcap reads it, so do we.
  const bool dg_ux = major == 543 && minor == 0;
  // Minor versions above 4 do not exist; Wireshark reads them as 2.4, libpcap refuses them.
  if (!dg_ux && major != 2) {
    fail(0, ErrorKind::unsupported, window.offset + 4,
         "pcap version " + std::to_string(major) + "." + std::to_string(minor) +
             " is not supported, only version 2 is");
    return false;
  }
  if (dg_ux || minor < 3) {
    swapped_lengths_ = SwappedLengths::always;
  } else if (minor == 3) {
    swapped_lengths_ = SwappedLengths::where_captured_is_larger;
  }
  // Link type in the low 16 bits; above them 10 reserved bits, "frames end with an FCS", and
  // that FCS's length in 16-bit words.
  constexpr std::uint32_t reserved_bits = 0x03FF0000;
  constexpr std::uint32_t fcs_present = 0x04000000;
  if ((link & reserved_bits) != 0) {
    fail(0, ErrorKind::unsupported, window.offset + 20,
         "reserved bits of the link type field are set, so the link type is unknown");
    return false;
  }
  link_type_ = static_cast<std::uint16_t>(link & 0xFFFFU);
  ns_per_fraction_ = nanoseconds ? 1 : 1000;

  const bool little = swapped_ != (std::endian::native == std::endian::little);
  context_.file->format =
      std::string(nanoseconds ? "pcap (ns, " : "pcap (µs, ") + (little ? "little-endian)" : "big-endian)");
  InterfaceInfo info;
  info.link_type = link_type_;
  // Writers use 0, and 2^31 - 1 or more, for "no limit".
  info.snap_length = snap_length >= 0x7FFFFFFFU ? 0 : snap_length;
  info.ticks_per_second = nanoseconds ? 1'000'000'000 : 1'000'000;
  info.fcs_bytes = (link & fcs_present) != 0 ? static_cast<std::uint8_t>((link >> 28U) * 2) : std::uint8_t{0};
  // Files with reversed lengths are old and rare: their records are not read again by offset.
  if (swapped_lengths_ == SwappedLengths::never) info.form.kind = RecordForm::Kind::pcap;
  info.form.swapped = swapped_;
  info.form.ns_per_fraction = ns_per_fraction_;
  interface_ = describe_interface(0, std::move(info));
  point_ = claim_point(interface_, 0, 0);
  header_seen_ = true;
  return true;
}

template <bool Swapped>
WalkResult PcapWalker::walk_records(const Window& window, std::size_t position, std::vector<Frame>& frames,
                                    std::size_t limit) {
  constexpr std::size_t ahead = 8;
  constexpr std::size_t large_record = 512;
  const std::uint8_t* const base = window.data;
  const std::size_t size = window.size;
  const std::uint64_t fraction_ns = ns_per_fraction_;
  const bool plain_lengths = swapped_lengths_ == SwappedLengths::never;
  std::int64_t last_time = last_time_;
  std::uint64_t backwards = 0;
  std::uint64_t raised = 0;
  std::uint64_t untimed = 0;
  bool timed = timed_;
  std::size_t count = 0;
  WalkState state = WalkState::batch_full;
  std::size_t wanted = 0;
  std::uint32_t captured = 0;
  frames.reserve(frames.size() + std::min(limit, (size - position) / record_header_bytes));

  Frame frame;
  frame.interface = interface_;
  frame.point = point_;
  frame.link_type = link_type_;
  frame.file = context_.file_index;
  while (count < limit) {
    const std::size_t left = size - position;
    if (left < record_header_bytes) {
      state = WalkState::need_more;
      wanted = record_header_bytes;
      break;
    }
    const std::uint8_t* const at = base + position;
    const std::uint64_t seconds = load<std::uint32_t>(at, Swapped);
    const std::uint64_t fraction = load<std::uint32_t>(at + 4, Swapped);
    captured = load<std::uint32_t>(at + 8, Swapped);
    std::uint32_t wire = load<std::uint32_t>(at + 12, Swapped);
    if (!plain_lengths) [[unlikely]] {
      if (swapped_lengths_ == SwappedLengths::always || captured > wire) std::swap(captured, wire);
    }
    if (captured > largest_frame) [[unlikely]] {
      state = WalkState::error;
      break;
    }
    if (captured > left - record_header_bytes) {
      state = WalkState::need_more;
      wanted = record_header_bytes + captured;
      break;
    }
    // At most 2^32 seconds and 2^32 microseconds: below 2^63 nanoseconds.
    const auto time = static_cast<std::int64_t>(seconds * 1'000'000'000U + fraction * fraction_ns);
    backwards += static_cast<std::uint64_t>(time < last_time);
    last_time = time;
    frame.time_ns = time;
    if (!timed) [[unlikely]] {
      timed = time != 0;
      if (!timed) {
        frame.time_ns = no_time;  // a writer without a clock writes 0 every time
        ++untimed;
      }
    }
    if (wire < captured) [[unlikely]] {
      wire = captured;
      ++raised;
    }
    frame.data = at + record_header_bytes;
    frame.captured = captured;
    frame.wire = wire;
    frames.push_back(frame);
    ++count;
    const std::size_t record = record_header_bytes + captured;
    // Each record's length leads to the next one, so the walk waits for memory at every step. Most traffic
    // has runs of frames of equal length: prefetch where a record some steps ahead should begin. For small
    // records the processor does that without help.
    if (record > large_record && ahead * record < left) __builtin_prefetch(at + ahead * record);
    position += record;
  }

  last_time_ = last_time;
  timed_ = timed;
  context_.count(Incident::time_backwards, backwards);
  context_.count(Incident::no_timestamp, untimed);
  context_.count(Incident::captured_more_than_wire, raised);
  (*context_.interfaces)[interface_].packets += count;
  if (state == WalkState::batch_full) return {position, state, 0};
  if (state == WalkState::error) return refuse_record(window, position, captured);
  return unfinished(window, position, wanted);
}

void PcapWalker::keep_beginning(const Window& window) {
  if (beginning_.size() >= beginning_bytes || window.offset > beginning_.size()) return;
  const std::size_t known = beginning_.size() - window.offset;  // of this window
  if (known >= window.size) return;
  const std::size_t end = std::min(window.size, beginning_bytes - window.offset);
  beginning_.insert(beginning_.end(), window.data + known, window.data + end);
}

WalkResult PcapWalker::refuse_record(const Window& window, std::size_t position, std::uint32_t captured) {
  const std::uint64_t offset = window.offset + position;
  // Some writers use the ordinary magic for records with longer headers: visible in the first records.
  if (offset < beginning_bytes) {
    if (beginning_.size() < beginning_bytes && !window.at_end) {
      return {position, WalkState::need_more, beginning_bytes - offset};
    }
    for (const std::size_t extra : {std::size_t{4}, std::size_t{8}}) {
      if (!fits_longer_headers(beginning_.size() < beginning_bytes, extra)) continue;
      return fail(position, ErrorKind::unsupported, offset,
                  "a variant of pcap with record headers of " + std::to_string(record_header_bytes + extra) +
                      " bytes (Nokia or a patched libpcap) is not supported: "
                      "convert it with editcap -F pcap");
    }
  }
  context_.count(Incident::oversized_record);
  return fail(position, ErrorKind::damaged, offset,
              "a record has a captured length of " + std::to_string(captured) +
                  " bytes, above the maximum of " + std::to_string(largest_frame) +
                  ": the file is damaged here");
}

bool PcapWalker::fits_longer_headers(bool whole_file, std::size_t extra) const {
  constexpr unsigned convincing = 3;
  const std::size_t header = record_header_bytes + extra;
  const std::size_t size = beginning_.size();
  std::size_t position = file_header_bytes;
  for (unsigned records = 0;; ++records) {
    if (position == size && whole_file) return records > 0;
    if (size - position < header) return records >= convincing;
    const auto captured = load<std::uint32_t>(beginning_.data() + position + 8, swapped_);
    const auto wire = load<std::uint32_t>(beginning_.data() + position + 12, swapped_);
    if (captured == 0 || captured > wire || wire > largest_frame) return false;
    if (captured > size - position - header) return records >= convincing;
    position += header + captured;
  }
}

}  // namespace

std::unique_ptr<Walker> make_pcap_walker(const WalkContext& context) {
  return std::make_unique<PcapWalker>(context);
}

}  // namespace roce::capture
