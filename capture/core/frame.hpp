// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace roce::capture {

/// The time of a frame for which the format holds none (pcapng's Simple Packet Block).
inline constexpr std::int64_t no_time = INT64_MIN;

/// One captured frame. The bytes are borrowed: they live as long as the FrameBatch that
/// delivered the frame (or a copy of its `keep_alive`).
struct Frame {
  const std::uint8_t* data = nullptr;
  std::int64_t time_ns = 0;     ///< nanoseconds since the epoch, or no_time
  std::uint32_t captured = 0;   ///< bytes at `data`
  std::uint32_t wire = 0;       ///< bytes on the wire, at least `captured`
  std::uint16_t interface = 0;  ///< index into CaptureSource::interfaces()
  /// Capture point: interfaces of files that continue each other share one (CapturePoints).
  std::uint16_t point = 0;
  std::uint16_t link_type = 0;  ///< number of the tcpdump.org LINKTYPE registry
  std::uint16_t file = 0;       ///< index into CaptureSource::files()
};

/// A piece of a batch's memory that is a verbatim copy of a file's bytes.
struct Origin {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::uint64_t offset = 0;  ///< of data[0] in the file
  std::uint16_t file = 0;    ///< index into CaptureSource::files()
};

/// A comment on a frame (pcapng opt_comment). Borrowed, with the lifetime of the frame's bytes.
struct FrameComment {
  const std::uint8_t* frame = nullptr;  ///< Frame::data of the frame it is about
  std::string_view text;                ///< up to a NUL; should be UTF-8, which is not checked
};

/// Frames in order, with the owners of their bytes (slabs).
struct FrameBatch {
  std::vector<Frame> frames;
  std::vector<std::shared_ptr<const void>> keep_alive;
  /// Where frames lie in their files; empty for compressed files, pipes and devices.
  std::vector<Origin> origins;
  /// Of these frames, possibly also of frames in other batches; see BatchComments. A frame may have several.
  std::vector<FrameComment> comments;

  void clear() noexcept {
    frames.clear();
    keep_alive.clear();
    origins.clear();
    comments.clear();
  }
};

}  // namespace roce::capture
