// SPDX-License-Identifier: Apache-2.0
// One line per packet: number, time, addresses, operation, queue pair, PSN, and notes.
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
  delta,          ///< d: seconds since the previous frame
  epoch,          ///< e: seconds since 1970
  absolute,       ///< a: local time of day
  absolute_date,  ///< ad: with the date
  utc,            ///< u: time of day in UTC
  utc_date,       ///< ud: with the date
};

/// For "r", "d", "e", "a", "ad", "u", "ud"; absent for other words.
[[nodiscard]] std::optional<TimeFormat> time_format_of(std::string_view word) noexcept;

/// Formats lines. The columns of addresses and operations are as wide as the widest value so far, so that
/// lines are aligned without a first pass. One object per output; not thread-safe.
class PacketLine {
 public:
  explicit PacketLine(TimeFormat format = TimeFormat::relative) : time_(format) {}

  /// Appends the line of one packet, without a newline.
  void append(std::string& out, const PacketView& packet);
  /// Only the time, without padding.
  void append_time(std::string& out, const PacketView& packet);
  // Single columns without padding, for tables:
  /// The address: IP or GID, else MAC, else LID.
  static void append_source(std::string& out, const PacketView& packet);
  static void append_destination(std::string& out, const PacketView& packet);
  /// "RC RDMA WRITE Only", "CM"; empty for packets without a BTH.
  void append_operation(std::string& out, const PacketView& packet);
  /// The part of the line after operation, queue pair and PSN.
  void append_info(std::string& out, const PacketView& packet);

 private:
  enum Column : std::uint8_t { number, time, source, destination, operation, column_count };

  /// Pads the column that begins at `begin` of `out` and has `width` characters.
  void pad(std::string& out, Column column, std::size_t width, bool right = false, std::size_t begin = 0);
  void append_transport(std::string& out, const PacketView& packet);
  void append_transport_words(std::string& out, const PacketView& packet);
  void append_other(std::string& out, const PacketView& packet);

  TimeFormat time_;
  std::array<std::size_t, column_count> widths_{5, 11, 9, 9, 20};
  std::int64_t zone_quarter_ = INT64_MIN;  ///< the quarter of an hour for which zone_seconds_ is valid
  std::int64_t zone_seconds_ = 0;
  std::string scratch_;
};

}  // namespace roce::analyze
