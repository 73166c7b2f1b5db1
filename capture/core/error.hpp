// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace roce::capture {

/// Why the outside world refused. The set is closed: every caller can decide by it.
enum class ErrorKind : std::uint8_t {
  not_found,      ///< no such file, or a glob that matches nothing
  not_readable,   ///< permissions, a directory, an I/O error while reading
  not_a_capture,  ///< the first bytes are no format that we know
  unsupported,    ///< a known format or variant that we refuse, with the reason
  damaged,        ///< the bytes contradict themselves; what came before stays usable
  cut_short,      ///< the input ends in the middle of a record
  shrunk,         ///< a file became shorter while it was read
  not_writable,   ///< output: permissions, full disk, closed pipe
  out_of_memory,
};

/// What failed, where, and one sentence for a person. `offset` counts bytes of the
/// uncompressed capture from its start.
struct Error {
  ErrorKind kind{};
  std::string path;
  std::optional<std::uint64_t> offset;
  std::string message;
  int system_errno = 0;
  std::string below{};  ///< lines that show the place in what was given, without control characters

  /// "path: at byte 1234: message", without a trailing full stop or newline. Names stand in it as they are:
  /// who shows it to a person makes control characters visible.
  [[nodiscard]] std::string headline() const;
  /// The headline and, if there are any, the lines below.
  [[nodiscard]] std::string describe() const;
};

template <class T>
using Expected = tl::expected<T, Error>;

}  // namespace roce::capture
