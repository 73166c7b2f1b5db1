// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capture/write/held_frames.hpp"
#include "capture/write/recorder.hpp"
#include "capture/write/recording.hpp"

namespace roce::capture {

struct TriggerOptions {
  RecorderOptions recorder;  ///< for each file; names are those of a ring, the limits are not used
  std::chrono::nanoseconds before{std::chrono::seconds(5)};
  std::chrono::nanoseconds after{std::chrono::seconds(2)};
  /// How much later than its packets a trigger may come: packets are buffered so much longer.
  std::chrono::nanoseconds lag{std::chrono::seconds(10)};
  std::size_t memory_bytes = std::size_t{256} << 20U;
  /// Maximum time span of one file; with continuous triggers the next file continues from there. At least
  /// `before` and `after` together.
  std::chrono::nanoseconds longest{std::chrono::seconds(60)};
  std::uint64_t most_files = 100;             ///< 0 = any number
  std::uint64_t most_bytes = 10'000'000'000;  ///< of all files; 0 = any
};

/// Buffers the last frames in memory and writes those around a trigger, one file for each trigger, or all
/// into one stream. A trigger during the time of another one extends its file, up to a limit. All times are
/// those of packets. Buffered frames are written in small portions as new frames arrive, so that record()
/// never takes long.
class TriggerRecorder final : public Recording {
 public:
  /// With a `stream` the frames around all triggers go into it, each reason as a comment on the first of its
  /// frames; limits of files count triggers then, those of bytes are the stream's own.
  explicit TriggerRecorder(TriggerOptions options, std::unique_ptr<Recorder> stream = nullptr);
  ~TriggerRecorder() override;
  TriggerRecorder(const TriggerRecorder&) = delete;
  TriggerRecorder& operator=(const TriggerRecorder&) = delete;

  /// A trigger at `time_ns`. `reason` becomes the comment on the file's section, or on the next packet of a
  /// file that is being written. Any thread; does not write.
  void trigger(std::string reason, std::int64_t time_ns);
  /// The same at the present time: that of the newest frame and what has passed since it arrived.
  void trigger_now(std::string reason);

  std::size_t record(std::span<const Frame> frames, const std::vector<InterfaceInfo>& interfaces) override;
  [[nodiscard]] bool ended() const override;  ///< only after an error
  [[nodiscard]] std::optional<Error> error() const override;
  void tick() override;
  void rotate() override {}              ///< each trigger has a file of its own
  void comment(std::string) override {}  ///< findings that are not triggers are not written
  Expected<void> finish(const std::vector<InterfaceInfo>& interfaces) override;
  [[nodiscard]] RecordingSummary summary() const override;

 private:
  struct Request {
    std::string reason;
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    /// The part that exceeded the previous file, which has the reason too: no file of its own without frames.
    bool rest = false;
  };

  /// Counts of the interfaces at a packet time.
  struct Sample {
    std::int64_t time_ns = 0;
    std::vector<InterfaceCounts> counts;
  };

  [[nodiscard]] std::int64_t end_of(std::int64_t from_ns) const noexcept;
  void trigger_at(std::string reason, std::int64_t time_ns);
  void sample(const std::vector<InterfaceInfo>& interfaces);
  void hold(const Frame& frame);
  void make_room_for(const Frame& frame);
  void forget_old();
  void write_some(std::size_t budget);
  [[nodiscard]] bool begin_file();
  [[nodiscard]] std::string cut_text(const Request& request) const;
  [[nodiscard]] Expected<void> open_file(const Request& request);
  void end_file();
  void give(std::size_t frames);
  void note(std::string text);

  const TriggerOptions options_;
  mutable std::mutex mutex_;  ///< for all that follows
  HeldFrames held_;
  std::int64_t now_ns_ = INT64_MIN;        ///< of the newest frame
  std::int64_t forgotten_ns_ = INT64_MIN;  ///< of the newest frame that was dropped for lack of memory
  std::chrono::steady_clock::time_point last_frame_;
  std::chrono::steady_clock::time_point file_began_;
  std::vector<InterfaceInfo> interfaces_;
  std::deque<Sample> samples_;
  std::deque<Request> requests_;  ///< not yet begun
  const std::unique_ptr<Recorder> stream_;
  std::unique_ptr<Recorder> file_;  ///< of the present trigger, unless there is a stream
  Recorder* recorder_ = nullptr;    ///< the one of them that is being written; null between triggers
  std::int64_t from_ns_ = 0;        ///< time span of the file
  std::int64_t until_ns_ = 0;       ///< inclusive
  std::vector<Frame> giving_;       ///< for one call of record(); a member to reuse its memory
  RecordingSummary closed_;         ///< sums of the closed files
  std::uint64_t names_ = 0;         ///< files begun
  std::uint64_t refused_ = 0;       ///< triggers beyond the limits
  bool full_ = false;               ///< the limit of all bytes was reached
  std::optional<Error> error_;
};

}  // namespace roce::capture
