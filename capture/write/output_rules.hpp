// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "capture/core/file_identity.hpp"

namespace roce::capture {

/// A regular file that is not empty, at the name of an output.
struct ExistingFile {
  std::string_view head;  ///< its first bytes (64 KiB); borrowed
  int descriptor = -1;    ///< open for reading; borrowed
};

/// What may be at the name of an output. Empty files may always be replaced.
struct OutputRules {
  /// The files that the same command reads: never replaced, not even with `force`.
  std::vector<FileIdentity> inputs;
  /// Whether the file is plainly an earlier output of the same kind, which is replaced without being asked
  /// to. Null: no file is.
  std::function<bool(const ExistingFile&)> may_replace;
  /// The user wants whatever is there to be replaced.
  bool force = false;
};

/// Whether it is pcap or pcapng, plain or compressed.
[[nodiscard]] bool is_capture(const ExistingFile& file);
/// Whether it is an SQLite database.
[[nodiscard]] bool is_database(const ExistingFile& file);

}  // namespace roce::capture
