// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "capture/files/walker.hpp"

// What the fuzz targets of both capture formats share: one input, walked as a whole and in
// pieces, must give the same.
namespace roce::fuzz {

/// Everything that a walk says, with the frames' bytes folded into a sum.
struct Walked {
  std::vector<capture::Frame> frames;  ///< data: an offset into the input
  std::uint64_t sum = 0;
  bool failed = false;
  capture::Error error;
  capture::Statistics statistics;
  std::vector<capture::InterfaceInfo> interfaces;
  capture::FileInfo file;
};

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "walks differ or break a promise: %s\n", what);
  std::abort();
}

using WalkerMaker = std::unique_ptr<capture::Walker> (*)(const capture::WalkContext&);

/// `piece` = 0: one window. Otherwise windows of that many bytes, or as many as were wanted, each
/// in memory of its own so that a sanitizer sees a read beyond it.
inline Walked walk(const std::uint8_t* data, std::size_t size, WalkerMaker make, std::size_t piece,
                   std::size_t limit) {
  Walked result;
  std::vector<std::uint32_t> ids;
  const auto walker = make({&result.interfaces, &ids, &result.file, &result.statistics, 3});
  std::size_t position = 0;
  std::size_t wanted = 0;
  while (true) {
    std::size_t bytes = size - position;
    if (piece != 0) bytes = std::min(bytes, std::max(piece, wanted));
    std::vector<std::uint8_t> copy(data + position, data + position + bytes);
    const capture::Window window{copy.data(), bytes, position, position + bytes == size};
    std::vector<capture::Frame> frames;
    const capture::WalkResult walked = walker->walk(window, frames, limit);
    require(walked.consumed <= bytes, "consumed more than the window");
    require(frames.size() <= limit, "more frames than asked for");
    for (capture::Frame& frame : frames) {
      require(frame.data >= copy.data() && frame.data + frame.captured <= copy.data() + bytes,
              "frame within window");
      require(frame.captured <= frame.wire, "captured at most wire");
      require(frame.captured <= capture::largest_frame, "sane size");
      require(frame.interface < result.interfaces.size(), "known interface");
      require(frame.file == 3, "file index");
      for (std::uint32_t i = 0; i < frame.captured; ++i) result.sum = result.sum * 31 + frame.data[i];
      frame.data = nullptr;
    }
    result.frames.insert(result.frames.end(), frames.begin(), frames.end());
    position += walked.consumed;
    if (walked.state == capture::WalkState::end) {
      require(position == size, "end before the last byte");
      break;
    }
    if (walked.state == capture::WalkState::error) {
      result.failed = true;
      require(walker->error().has_value(), "an error without words");
      result.error = *walker->error();
      require(!result.error.message.empty() && result.error.offset && *result.error.offset <= size,
              "place of the error");
      break;
    }
    if (walked.state == capture::WalkState::batch_full) {
      require(frames.size() == limit, "full before the limit");
      wanted = 0;
      continue;
    }
    require(!window.at_end, "wants more than there is");
    require(walked.wanted > bytes - walked.consumed, "wants what it has");
    require(walked.wanted <= capture::largest_block, "wants too much");
    wanted = walked.wanted;
  }
  return result;
}

inline void same(const Walked& a, const Walked& b) {
  require(a.frames.size() == b.frames.size(), "number of frames");
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    const capture::Frame& x = a.frames[i];
    const capture::Frame& y = b.frames[i];
    require(x.time_ns == y.time_ns && x.captured == y.captured && x.wire == y.wire &&
                x.interface == y.interface && x.link_type == y.link_type,
            "frames");
  }
  require(a.sum == b.sum, "bytes of frames");
  require(a.failed == b.failed, "outcome");
  if (a.failed) require(a.error.offset == b.error.offset && a.error.kind == b.error.kind, "errors");
  require(std::memcmp(&a.statistics, &b.statistics, sizeof a.statistics) == 0, "incidents");
  require(a.interfaces.size() == b.interfaces.size(), "interfaces");
  for (std::size_t i = 0; i < a.interfaces.size(); ++i) {
    require(
        a.interfaces[i].packets == b.interfaces[i].packets && a.interfaces[i].name == b.interfaces[i].name,
        "facts of interfaces");
  }
  require(a.file.comment == b.file.comment && a.file.format == b.file.format, "facts of the file");
}

inline void walk_twice(const std::uint8_t* data, std::size_t size, WalkerMaker make) {
  const Walked whole = walk(data, size, make, 0, 1U << 20U);
  same(whole, walk(data, size, make, 16, 7));
  same(whole, walk(data, size, make, 301, 1));
}

}  // namespace roce::fuzz
