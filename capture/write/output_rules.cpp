// SPDX-License-Identifier: Apache-2.0
#include "capture/write/output_rules.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "capture/compression/compression.hpp"
#include "capture/compression/decompressor.hpp"
#include "capture/core/capture_magic.hpp"

namespace roce::capture {
namespace {

constexpr std::string_view sqlite_magic("SQLite format 3", 16);  // with its NUL

// A compressed block is decoded as a whole: those of lz4 may have 4 MiB.
constexpr std::size_t piece_bytes = 256U * 1024U;
constexpr off_t enough_compressed = 8 << 20;

/// The first uncompressed bytes, at least as many as a magic has; fewer if the data is damaged.
std::string uncompressed_begin(const ExistingFile& file) {
  const auto* const head = reinterpret_cast<const std::uint8_t*>(file.head.data());
  const auto decompressor = make_decompressor(detect_compression(head, file.head.size()));
  if (decompressor == nullptr) return std::string(file.head.substr(0, pcapng_magic.size()));
  std::string begin;
  std::vector<std::uint8_t> in(piece_bytes);
  std::array<std::uint8_t, 4096> out{};
  std::size_t waiting = 0;  // bytes of `in` that are not yet consumed
  for (off_t offset = 0; offset < enough_compressed;) {
    if (waiting == in.size()) in.resize(2 * in.size());
    const ssize_t got = pread(file.descriptor, in.data() + waiting, in.size() - waiting, offset);
    if (got <= 0) break;
    offset += got;
    waiting += static_cast<std::size_t>(got);
    std::size_t used = 0;
    while (true) {
      const auto step = decompressor->step(in.data() + used, waiting - used, out.data(), out.size());
      begin.append(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(step.produced));
      used += step.consumed;
      if (step.failed || begin.size() >= pcapng_magic.size()) return begin;
      if (step.consumed == 0 && step.produced == 0) break;
    }
    std::copy(in.begin() + static_cast<std::ptrdiff_t>(used),
              in.begin() + static_cast<std::ptrdiff_t>(waiting), in.begin());
    waiting -= used;
  }
  return begin;
}

}  // namespace

bool is_capture(const ExistingFile& file) {
  const std::string begin = uncompressed_begin(file);
  return begin.starts_with(pcapng_magic) || std::any_of(pcap_magics.begin(), pcap_magics.end(),
                                                        [&](auto magic) { return begin.starts_with(magic); });
}

bool is_database(const ExistingFile& file) {
  return file.head.starts_with(sqlite_magic);
}

}  // namespace roce::capture
