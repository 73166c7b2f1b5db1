// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace roce::capture {

/// Why an input or output failed. Callers may switch over all values.
enum class ErrorKind : std::uint8_t {
  not_found,      ///< no such file or device, or a glob pattern without a match
  not_readable,   ///< permissions, a directory, an I/O error while reading
  not_a_capture,  ///< the first bytes are no known format
  unsupported,    ///< a known format or variant that is not read; the message says why
  damaged,        ///< contradictory contents; what was read before stays usable
  cut_short,      ///< the input ends in the middle of a record
  shrunk,         ///< a file became shorter while it was read
  not_writable,   ///< output: permissions, full disk, closed pipe
  would_replace,  ///< output: an existing file that is replaced on request only
  own_input,      ///< output: a file that the same command reads, which is never replaced
  out_of_memory,
};

/// What failed, where, and one sentence for the user.
struct Error {
  ErrorKind kind{};
  std::string path;                     ///< file or device; "-" is standard input
  std::optional<std::uint64_t> offset;  ///< byte in the uncompressed capture, from 0
  std::string message;
  int system_errno = 0;
  std::string below{};  ///< further lines, such as a filter with its error marked; no control characters

  /// "path: at byte 1234: message", without a trailing full stop or newline. Names are not escaped: the
  /// caller escapes control characters before display.
  [[nodiscard]] std::string headline() const;
  /// The headline, then the lines of `below`.
  [[nodiscard]] std::string describe() const;
};

template <class T>
using Expected = tl::expected<T, Error>;

}  // namespace roce::capture
