// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/core/capture_points.hpp"
#include "capture/core/source.hpp"
#include "capture/core/stop_signal.hpp"
#include "capture/files/descriptor_pool.hpp"
#include "capture/files/input.hpp"
#include "capture/files/same_traffic.hpp"

// Internal: merges several inputs in time order.
namespace roce::capture {

/// A k-way merge by the time of each input's next frame; at equal times the input given first goes first.
/// Frames of one input keep their order even where its time goes backwards.
///
/// Files stay closed, with only the time of their first frame known, until that time is reached: of a ring of
/// thousands of files whose times do not overlap one is open. Of files that overlap, more can be read than
/// the process may have open: see DescriptorPool. The input whose turn it is reads directly into the caller's
/// batch; frames later than another input's next frame are set aside.
class MergedSource final : public CaptureSource {
 public:
  MergedSource(std::vector<std::string> paths, std::vector<Error> errors, const OpenOptions& options);

  /// Opens the inputs that can be opened; fails with the first error if none can.
  Expected<void> open();

  Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) override;
  [[nodiscard]] bool may_wait() const noexcept override { return may_wait_; }
  [[nodiscard]] bool shows_copies() const noexcept override { return shows_copies_; }
  [[nodiscard]] const std::vector<InterfaceInfo>& interfaces() const override { return interfaces_; }
  [[nodiscard]] const std::vector<FileInfo>& files() const override { return files_; }
  [[nodiscard]] const Statistics& statistics() const override { return statistics_; }
  void request_stop() noexcept override { stop_.request(); }
  [[nodiscard]] bool stopped() const noexcept override { return stopped_; }

 private:
  /// One input, and the frames that were read from it but are not due yet.
  struct Lane {
    Lane(const std::string& path, const OpenOptions& options, const StopSignal& stop, DescriptorPool& pool)
        : input(path, options, stop, pool) {}
    Input input;
    std::vector<std::uint32_t> interface_ids;
    Marks marks;        ///< of the first frames, while the source is opened
    bool same = false;  ///< begins with the same packets as another one
    bool opened = false;
    bool closed = false;                                                 ///< after it was open
    std::int64_t first_time = std::numeric_limits<std::int64_t>::min();  ///< while closed
    FrameBatch pending;
    std::size_t next = 0;             ///< in pending.frames
    std::uint64_t kept_in = 0;        ///< number of the batch that got pending.keep_alive
    std::optional<Error> late_error;  ///< while reading ahead; reported after the frames that were read
  };
  /// The order in which frames are due.
  struct Due {
    std::int64_t time = 0;
    std::size_t lane = 0;
    friend bool operator<(const Due& a, const Due& b) noexcept {
      return a.time != b.time ? a.time < b.time : a.lane < b.lane;
    }
  };

  [[nodiscard]] WalkContext context_of(std::size_t lane);
  void end_points();
  [[nodiscard]] bool nearly_over(std::size_t lane);
  bool probe(std::size_t lane);
  void find_same();
  bool open_lane(std::size_t lane);
  void close_lane(std::size_t lane);
  void push_due(std::int64_t time, std::size_t lane);
  Due pop_due();
  void read_current(FrameBatch& batch, std::size_t room);
  void begin_pending(FrameBatch& batch, Lane& lane);
  void take_pending(FrameBatch& batch, std::size_t lane, std::size_t room);

  OpenOptions options_;
  StopSignal stop_;
  DescriptorPool pool_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<InterfaceInfo> interfaces_;
  std::vector<FileInfo> files_;
  Statistics statistics_;
  CapturePoints points_;
  std::vector<std::size_t> open_;  ///< lanes
  std::deque<Error> errors_;
  std::vector<Due> due_;  ///< a heap, earliest first
  static constexpr std::size_t no_lane = std::numeric_limits<std::size_t>::max();
  std::size_t current_ = no_lane;  ///< open, nothing pending: the time of its next frame is not known
  std::uint64_t batch_number_ = 0;
  bool shows_copies_ = false;
  bool may_wait_ = false;  ///< an opened input is a pipe
  bool stopped_ = false;   ///< before the ends of all inputs
};

/// open_files() with other options.
[[nodiscard]] Expected<std::unique_ptr<CaptureSource>> open_files(const std::vector<std::string>& paths,
                                                                  const OpenOptions& options);

}  // namespace roce::capture
