// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/core/capture_points.hpp"
#include "capture/core/error.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"

// Internal: parsers of the file formats, over windows of memory. Walkers do not depend on where the memory
// comes from (slabs of a file or stream, a fuzzer).
namespace roce::capture {

/// A longer frame counts as damage, as in libpcap and Wireshark for Ethernet. Bytes.
inline constexpr std::uint32_t largest_frame = 262'144;
/// A longer pcapng block counts as damage, as in Wireshark. Bytes.
inline constexpr std::uint32_t largest_block = 16U << 20U;
/// Interfaces of one source: further ones share the last index.
inline constexpr std::size_t largest_interface_count = 65'536;

/// A piece of the uncompressed capture.
struct Window {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::uint64_t offset = 0;  ///< of data[0], from the start of the capture
  bool at_end = true;        ///< the capture ends with this window
};

enum class WalkState : std::uint8_t {
  need_more,   ///< a record begins at `consumed` and has `wanted` bytes, more than the window holds
  batch_full,  ///< `limit` frames were appended and another may follow
  end,         ///< the last record ended with the window
  error,       ///< see Walker::error(); nothing more will come
};

struct WalkResult {
  std::size_t consumed = 0;  ///< bytes of the window that are done with
  WalkState state = WalkState::end;
  std::size_t wanted = 0;  ///< with need_more: at most largest_block
};

/// Where a walker puts everything that is not a frame. Owned by the source, outlives the walker.
struct WalkContext {
  std::vector<InterfaceInfo>* interfaces = nullptr;  ///< of the whole source
  /// Indices into `interfaces` of this file's interfaces, in order of description. Entries of an earlier walk
  /// over the same file are used again, so that indices stay the same.
  std::vector<std::uint32_t>* interface_ids = nullptr;
  FileInfo* file = nullptr;
  Statistics* statistics = nullptr;
  std::uint16_t file_index = 0;
  CapturePoints* points = nullptr;  ///< null: every interface is a capture point of its own
  bool apart = false;               ///< continues no other file: shows the same traffic as another one

  void count(Incident incident, std::uint64_t times = 1) const noexcept {
    statistics->incidents[static_cast<std::size_t>(incident)] += times;
  }
};

/// Base of the formats. Not thread-safe.
class Walker {
 public:
  explicit Walker(const WalkContext& context) : context_(context) {}
  virtual ~Walker() = default;
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;

  /// Appends up to `limit` frames that point into the window. With limit 0 it reads up to the first packet.
  /// Windows are contiguous: the next one begins at `consumed`.
  virtual WalkResult walk(const Window& window, std::vector<Frame>& frames, std::size_t limit) = 0;

  /// Moves the comments on the frames of walk() to the end of `to`.
  void take_comments(std::vector<FrameComment>& to) {
    if (comments_.empty()) return;
    to.insert(to.end(), comments_.begin(), comments_.end());
    comments_.clear();
  }

  /// The file header (pcap) or first section header (pcapng) was read and accepted.
  [[nodiscard]] bool header_seen() const noexcept { return header_seen_; }
  /// Without path; set after WalkState::error.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

 protected:
  WalkResult fail(std::size_t consumed, ErrorKind kind, std::uint64_t offset, std::string message) {
    Error error;
    error.kind = kind;
    error.offset = offset;
    error.message = std::move(message);
    error_ = std::move(error);
    return {consumed, WalkState::error, 0};
  }

  /// The result where the window ends inside a record that begins at `position` and has `wanted` bytes.
  WalkResult unfinished(const Window& window, std::size_t position, std::size_t wanted);

  /// Adds interface number `ordinal` of this file; returns its index in the source.
  std::uint16_t describe_interface(std::size_t ordinal, InterfaceInfo info);
  /// Assigns the capture point of a described interface and stores it in its InterfaceInfo.
  std::uint16_t claim_point(std::uint16_t interface, std::uint32_t section, std::size_t ordinal,
                            bool apart = false);

  WalkContext context_;
  std::vector<FrameComment> comments_;  ///< not yet taken
  bool header_seen_ = false;
  std::optional<Error> error_;
};

[[nodiscard]] std::unique_ptr<Walker> make_pcap_walker(const WalkContext& context);
[[nodiscard]] std::unique_ptr<Walker> make_pcapng_walker(const WalkContext& context);

}  // namespace roce::capture
