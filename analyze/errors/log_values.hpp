// SPDX-License-Identifier: Apache-2.0
// Values in lines of logs: each function reads what the text begins with. The text is anything, also bytes
// that are none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dissect/types.hpp"

namespace roce::analyze {

/// `text` without the characters of `which` that it begins with.
[[nodiscard]] std::string_view without_leading(std::string_view text, std::string_view which) noexcept;

/// "129", "0x81"; `hexadecimal`: also "81". None if a letter follows, or it does not fit into 32 bits.
[[nodiscard]] std::optional<std::uint32_t> read_number(std::string_view text,
                                                       bool hexadecimal = false) noexcept;

/// A queue pair number: at most 24 bits, and not 0, which no queue pair of an application has.
[[nodiscard]] std::optional<std::uint32_t> read_qp(std::string_view text, bool hexadecimal) noexcept;

/// "10.0.0.1", "::ffff:10.0.0.1", "fe80::1". None for "::", the GID of nobody.
[[nodiscard]] std::optional<dissect::IpAddress> read_address(std::string_view text) noexcept;
/// A GID as perftest prints it, sixteen bytes in decimal: "00:00:...:255:255:10:00:00:01".
[[nodiscard]] std::optional<dissect::IpAddress> read_decimal_gid(std::string_view text) noexcept;

/// The name of an RDMA device, also with its port: "mlx5_0:1". Empty if there is none.
[[nodiscard]] std::string_view read_device(std::string_view text) noexcept;

/// The time that a line begins with.
struct LogTime {
  std::int64_t ns = 0;      ///< since the epoch; without a zone as if it were UTC
  bool zone_known = false;  ///< false: probably the local time of that host
};
/// "2026-11-20 11:08:53.5" or with T, with or without brackets and zone; "[1795172933.500000]". None for
/// others: the kernel's seconds since it was started, and the dates of syslog, which have no year.
[[nodiscard]] std::optional<LogTime> read_log_time(std::string_view line);

}  // namespace roce::analyze
