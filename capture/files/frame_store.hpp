// SPDX-License-Identifier: Apache-2.0
// Random access to the frames of a capture: for lists of a hundred million packets.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/growing_array.hpp"
#include "capture/core/source.hpp"

namespace roce::capture {

class PcapngOptions;
class Spool;

/// Remembers where each frame of a source is stored, in eight bytes a frame. Frames of uncompressed files are
/// read from these again; those of compressed files, pipes and devices are copied to a temporary file, up to
/// a limit. One thread adds, in the order of the source; any thread may read what was added.
class FrameStore {
 public:
  struct Limits {
    std::uint64_t frames = (std::uint64_t{1} << 31U) - 1;
    std::uint64_t spooled_bytes = std::uint64_t{32} << 30U;  ///< of frames that are in no uncompressed file
    std::size_t memory_bytes = 4U << 20U;                    ///< of these, buffered in memory
    std::uint64_t kept_free = std::uint64_t{256} << 20U;     ///< bytes left free on the temporary file's disk
    std::string directory;                                   ///< empty: $TMPDIR, else /tmp
  };
  /// Earliest and latest time of frames, in nanoseconds since the epoch; both no_time if no frame has a time.
  struct Times {
    std::int64_t from = no_time;
    std::int64_t to = no_time;
  };
  /// Times are kept for groups of so many frames.
  static constexpr std::uint64_t group_frames = 1024;

  FrameStore();
  explicit FrameStore(const Limits& limits);
  ~FrameStore();
  FrameStore(const FrameStore&) = delete;
  FrameStore& operator=(const FrameStore&) = delete;

  /// Adds the frames of a batch from index `from` on, which `source` has just delivered. Failures are in
  /// problem().
  void add(const FrameBatch& batch, std::size_t from, const CaptureSource& source);
  /// `source` has ended: takes over the final facts and counts of its interfaces.
  void end(const CaptureSource& source);

  /// Number of frames that can be read; they are numbered from 1.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  /// Why the frames after those could not be kept; empty while all were.
  [[nodiscard]] std::optional<Error> problem() const;
  [[nodiscard]] std::uint64_t not_kept() const noexcept { return not_kept_.load(std::memory_order_relaxed); }
  /// Of the group that begins with frame group * group_frames + 1, which must exist.
  [[nodiscard]] Times times_of_group(std::uint64_t group) const noexcept;
  /// Time of the first frame that has one; no_time until then.
  [[nodiscard]] std::int64_t first_time() const noexcept {
    return first_time_.load(std::memory_order_acquire);
  }
  /// Whether the capture has comments on the frame of that number (1 to size()), or on any frame added so
  /// far.
  [[nodiscard]] bool has_comments(std::uint64_t number) const noexcept;
  [[nodiscard]] bool any_comments() const noexcept { return any_comments_.load(std::memory_order_relaxed); }
  /// As described when their frames were added; counts are of that time, after end() the final ones.
  [[nodiscard]] std::shared_ptr<const std::vector<InterfaceInfo>> interfaces() const;

  class Reader;

 private:
  struct Descriptor;
  struct File {
    std::string path;
    std::shared_ptr<const Descriptor> open;
    std::uint64_t device = 0, inode = 0;
    std::uint64_t used = 0;
  };
  struct Group {
    std::atomic<std::int64_t> from = 0, to = 0;
  };

  void note_interfaces(const CaptureSource& source, bool anew);
  [[nodiscard]] std::optional<std::uint64_t> place_of(const Frame& frame, const FrameBatch& batch,
                                                      std::size_t& origin) const;
  [[nodiscard]] Expected<std::uint64_t> keep(const Frame& frame, std::span<const std::string_view> comments);
  void note_time(std::uint64_t i, std::int64_t time);
  [[nodiscard]] Expected<std::shared_ptr<const Descriptor>> descriptor_of(std::uint16_t file) const;

  const Limits limits_;
  std::atomic<std::uint64_t> size_ = 0;
  std::atomic<std::uint64_t> not_kept_ = 0;
  std::atomic<std::int64_t> first_time_ = no_time;
  std::atomic<bool> any_comments_ = false;
  GrowingArray<std::uint64_t> places_;
  GrowingArray<Group, 10, 2048> groups_;
  std::unique_ptr<Spool> spool_;
  std::vector<std::uint8_t> head_;  ///< header of a spooled frame; a member to reuse its memory

  mutable std::mutex mutex_;  ///< for all below
  std::shared_ptr<const std::vector<InterfaceInfo>> interfaces_;
  mutable std::vector<File> files_;
  mutable std::uint64_t clock_ = 0;
  std::optional<Error> problem_;
};

/// Reads frames of a store; each thread uses its own.
class FrameStore::Reader {
 public:
  explicit Reader(std::shared_ptr<const FrameStore> store) : store_(std::move(store)) {}

  /// The frame of that number, from 1. Its bytes are valid until the next call. An error concerns this frame
  /// only: others may still be readable.
  [[nodiscard]] Expected<Frame> read(std::uint64_t number);
  [[nodiscard]] const FrameStore& store() const noexcept { return *store_; }
  /// Of the frame read last; nullptr before the first.
  [[nodiscard]] const InterfaceInfo* interface() const noexcept { return interface_; }
  /// The capture's comments on the frame read last, valid as long as its bytes.
  [[nodiscard]] std::span<const std::string_view> comments() const noexcept { return comments_; }

 private:
  struct Window {
    std::uint32_t file = 0;
    std::shared_ptr<const Descriptor> descriptor;
    std::uint64_t begin = 0;
    std::size_t size = 0;
    std::size_t next_size = 0;
    std::uint64_t used = 0;
    std::vector<std::uint8_t> bytes;
  };

  Window& window_of(std::uint32_t file);
  [[nodiscard]] Expected<const std::uint8_t*> fetch(Window& window, std::uint64_t begin, std::size_t size);
  [[nodiscard]] Expected<std::size_t> load(Window& window, std::uint8_t* to, std::size_t size) const;
  void read_comments(PcapngOptions options);
  [[nodiscard]] tl::unexpected<Error> fail(std::uint32_t file, ErrorKind kind, std::uint64_t offset,
                                           const std::string& what) const;

  std::shared_ptr<const FrameStore> store_;
  std::shared_ptr<const std::vector<InterfaceInfo>> interfaces_;
  const InterfaceInfo* interface_ = nullptr;
  std::vector<std::string_view> comments_;
  std::vector<Window> windows_;
  std::uint64_t clock_ = 0;
};

/// A source that delivers the frames of `source` and adds them all to the store.
[[nodiscard]] std::unique_ptr<CaptureSource> keep_frames(std::unique_ptr<CaptureSource> source,
                                                         std::shared_ptr<FrameStore> store);

}  // namespace roce::capture
