// SPDX-License-Identifier: Apache-2.0
// One line a packet, as an engineer reads a capture: who, what, which PSN, and what is remarkable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/packet/packet_view.hpp"

namespace roce::analyze {

/// The time column, by tshark's names for -t.
enum class TimeFormat : std::uint8_t {
  relative,       ///< r: seconds since the first frame
  delta,          ///< d: seconds since the frame before
  epoch,          ///< e: seconds since 1970
  absolute,       ///< a: time of day here
  absolute_date,  ///< ad: with the date
  utc,            ///< u: time of day in UTC
  utc_date,       ///< ud: with the date
};

/// "r", "d", "e", "a", "ad", "u", "ud"; nothing for other words.
[[nodiscard]] std::optional<TimeFormat> time_format_of(std::string_view word) noexcept;

/// Writes lines. The columns of addresses and operations are as wide as the widest seen so far, so
/// that the lines of a capture stand under each other without a first pass. One per output.
class PacketLine {
 public:
  explicit PacketLine(TimeFormat format = TimeFormat::relative) : time_(format) {}

  /// Appends the line of one packet, without a newline.
  void append(std::string& out, const PacketView& packet);
  /// The time alone, not padded.
  void append_time(std::string& out, const PacketView& packet);
  // For tables, which pad themselves:
  /// An address: of the network, else Ethernet's, else a LID.
  static void append_source(std::string& out, const PacketView& packet);
  static void append_destination(std::string& out, const PacketView& packet);
  /// "RC RDMA WRITE Only", "CM"; nothing for packets without a BTH.
  void append_operation(std::string& out, const PacketView& packet);
  /// All of the line that stands behind operation, queue pair and PSN.
  void append_info(std::string& out, const PacketView& packet);

 private:
  enum Column : std::uint8_t { number, time, source, destination, operation, column_count };

  /// Fills up the column that began at `begin` of `out`, where it has `width` characters.
  void pad(std::string& out, Column column, std::size_t width, bool right = false, std::size_t begin = 0);
  void append_transport(std::string& out, const PacketView& packet);
  void append_transport_words(std::string& out, const PacketView& packet);
  void append_other(std::string& out, const PacketView& packet);

  TimeFormat time_;
  std::array<std::size_t, column_count> widths_{5, 11, 9, 9, 20};
  std::int64_t zone_quarter_ = INT64_MIN;  ///< the quarter of an hour that zone_seconds_ is of
  std::int64_t zone_seconds_ = 0;
  std::string scratch_;
};

}  // namespace roce::analyze
