// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "analyze/base/time_bound.hpp"
#include "analyze/compare/compare.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/record/packet_record.hpp"
#include "capture/core/comments.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"
#include "dissect/icrc.hpp"

// Internal to compare: reads one capture as a sequence of packets.
namespace roce::analyze {

/// A RoCE packet at one capture point, with what is needed to match it and to find changes.
struct PointPacket {
  enum Flag : std::uint8_t {
    tagged = 1,  ///< vlan and pcp are valid
    icrc_known = 2,
    damaged = 4,         ///< its ICRC or its IPv4 header checksum is wrong
    extended_known = 8,  ///< its AETH, RETH or AtomicETH was captured, not truncated
    numbered = 16,       ///< it has an IPv4 ID other than 0, so retransmissions differ
    trimmed = 32,        ///< a switch before this point trimmed it
    cut = 64,            ///< shorter than its IP length, by a switch that trims or by who shows it
  };

  FlowKey key;
  /// A hash of the fields up to the BTH that do not change on the path and that are captured with any snap
  /// length. Later fields are compared if both captures have them: `extended` and `icrc`.
  std::uint64_t sign = 0;
  std::uint64_t number = 0;  ///< frame number in its file
  std::int64_t time_ns = 0;
  std::uint32_t icrc = 0;
  std::uint32_t extended = 0;  ///< the AETH, or a hash of the RETH or AtomicETH; no packet has both
  std::uint32_t psn = 0;
  std::uint32_t path = 0;  ///< PacketBrief::path
  std::uint16_t port = 0;  ///< UDP source port; 0: none
  std::uint16_t vlan = 0;
  std::uint8_t traffic_class = 0;  ///< DSCP and ECN
  std::uint8_t pcp = 0;
  std::uint8_t ttl = 0;  ///< TTL or hop limit
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;

  [[nodiscard]] bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
};

/// Whether the headers after the BTH are consistent with two records of one packet.
template <class Packet>
[[nodiscard]] bool same_extended(const Packet& x, const Packet& y) noexcept {
  return x.extended == y.extended || !x.has(PointPacket::extended_known) ||
         !y.has(PointPacket::extended_known);
}

struct ReaderOptions {
  bool check_icrc = true;
  dissect::Options dissecting;
  const Filter* filter = nullptr;  ///< only matching packets; nullptr: all
  TimeRange times;
};

[[nodiscard]] ReaderOptions reader_options(const CompareOptions& options) noexcept;

/// Reads a source packet by packet, with look-ahead.
class PointReader {
 public:
  PointReader(capture::CaptureSource& source, const ReaderOptions& options)
      : source_(source), options_(options) {}

  /// The next packet, or nullptr at the end; unchanged until take().
  [[nodiscard]] const PointPacket* head();
  void take() { ahead_.pop_front(); }
  /// The packet `count` behind head(), if it was read already; nullptr otherwise.
  [[nodiscard]] const PointPacket* ahead(std::size_t count) const {
    return count < ahead_.size() ? &ahead_[count] : nullptr;
  }
  /// Up to `limit` packets from head() on, without taking them.
  [[nodiscard]] const std::deque<PointPacket>& look_ahead(std::size_t limit);

  /// Number of all frames read so far, RoCE or not.
  [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }
  // Of frames in the time range:
  [[nodiscard]] bool any_time() const noexcept { return any_time_; }
  [[nodiscard]] std::int64_t first_time_ns() const noexcept { return first_time_ns_; }
  [[nodiscard]] std::int64_t last_time_ns() const noexcept { return last_time_ns_; }
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }
  /// Whether some frame had no timestamp.
  [[nodiscard]] bool timeless() const noexcept { return timeless_; }
  [[nodiscard]] const std::vector<capture::Error>& errors() const noexcept { return errors_; }
  [[nodiscard]] const capture::CaptureSource& source() const noexcept { return source_; }

 private:
  bool read();  ///< reads one batch; false at the end
  bool make(const capture::Frame& frame, PointPacket& packet);
  [[nodiscard]] bool passes(const capture::Frame& frame, dissect::IcrcResult icrc) const;

  static constexpr std::size_t batch_frames = 1024;

  capture::CaptureSource& source_;
  const ReaderOptions options_;
  capture::FrameBatch batch_;
  capture::BatchComments comments_;  ///< of batch_
  dissect::Dissection dissection_;
  std::deque<PointPacket> ahead_;
  std::vector<capture::Error> errors_;
  std::uint64_t frames_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t damaged_ = 0;
  std::int64_t first_time_ns_ = 0;
  std::int64_t last_time_ns_ = 0;
  std::optional<std::int64_t> file_begins_ns_;  ///< the time of the first frame with one
  std::int64_t previous_time_ns_ = 0;           ///< of the frame before,
  std::int64_t last_frame_ns_ = 0;              ///< and of this one
  bool any_time_ = false;
  bool timeless_ = false;
  bool ended_ = false;
};

}  // namespace roce::analyze
