// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "capture/core/stop_signal.hpp"
#include "capture/live/live_device.hpp"

namespace roce::capture {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Interval of reading drop counters while frames arrive; longer while the device is idle.
constexpr milliseconds counting_time{500};
constexpr milliseconds idle_time{1000};
/// For a queue filled and emptied by the same thread: what it takes at once stays in the cache.
constexpr std::size_t small_slab_bytes = std::size_t{128} << 10U;
constexpr std::size_t taken_at_once = 2 * small_slab_bytes;

class DeviceSource final : public LiveSource {
 public:
  DeviceSource(std::unique_ptr<LiveDevice> device, const LiveOptions& options)
      : device_(std::move(device)),
        own_thread_(options.own_thread || !device_->waits_for_taker()),
        queue_(options.queue_bytes, own_thread_ ? SlabQueue::usual_slab_bytes : small_slab_bytes),
        interfaces_(device_->interfaces()) {
    files_.emplace_back();
    files_[0].path = options.device;
    files_[0].format = device_->format();
    files_[0].operating_system = interfaces_[0].operating_system;
    files_[0].hardware = interfaces_[0].hardware;
  }
  ~DeviceSource() override {
    request_stop();
    if (thread_.joinable()) thread_.join();
  }
  DeviceSource(const DeviceSource&) = delete;
  DeviceSource& operator=(const DeviceSource&) = delete;

  [[nodiscard]] bool can_stop() const noexcept { return stop_.descriptor() >= 0; }

  Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) override;
  [[nodiscard]] bool may_wait() const noexcept override { return true; }
  [[nodiscard]] const std::vector<InterfaceInfo>& interfaces() const override { return interfaces_; }
  [[nodiscard]] const std::vector<FileInfo>& files() const override { return files_; }
  [[nodiscard]] const Statistics& statistics() const override { return statistics_; }
  [[nodiscard]] std::vector<std::string> notices() const override { return device_->notices(); }
  [[nodiscard]] LiveCounts counts() const override;
  void request_stop() noexcept override { stop_.request(); }

 private:
  // The capturing thread's.
  void capture() noexcept;
  [[nodiscard]] std::optional<Error> take_until_stopped();
  void note_drops();
  void note_drops_in_time(Clock::time_point now);

  // The consumer's.
  [[nodiscard]] std::optional<Error> start();
  void take_here();
  void account(FrameBatch& batch, std::size_t first);
  void state_drops();

  std::unique_ptr<LiveDevice> device_;
  const bool own_thread_;
  SlabQueue queue_;
  StopSignal stop_;
  std::atomic<std::uint64_t> dropped_by_kernel_{0};
  std::atomic<std::uint64_t> dropped_by_interface_{0};
  Clock::time_point counted_;     ///< when drop counters were read last
  std::optional<Error> failure_;  ///< written before the queue is closed, read after its end

  std::vector<InterfaceInfo> interfaces_;
  std::vector<FileInfo> files_;
  Statistics statistics_;
  std::int64_t last_time_ = no_time;
  bool started_ = false;
  bool finished_ = false;  ///< of take_here()
  bool ended_ = false;
  std::thread thread_;
};

Error device_error(ErrorKind kind, std::string message) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  return error;
}

void DeviceSource::note_drops() {
  const LiveDevice::Drops drops = device_->drops();
  dropped_by_kernel_.store(drops.by_kernel, std::memory_order_relaxed);
  dropped_by_interface_.store(drops.by_interface, std::memory_order_relaxed);
}

void DeviceSource::note_drops_in_time(Clock::time_point now) {
  if (now - counted_ < counting_time) return;
  note_drops();
  counted_ = now;
}

/// Without a thread: waits for frames and queues them. Nothing is queued afterwards if the capture has ended.
void DeviceSource::take_here() {
  bool at_once = false;  // there is more
  while (!finished_ && (queue_.waiting() == 0 || (at_once && queue_.waiting_bytes() < taken_at_once))) {
    Expected<bool> more = stop_.requested() ? Expected<bool>(false) : device_->take(queue_);
    queue_.flush();
    note_drops_in_time(Clock::now());
    at_once = more && *more;
    if (more && !*more && queue_.waiting() == 0 && !stop_.requested()) {
      if (const Expected<void> waited = device_->wait(stop_.descriptor(), idle_time); !waited)
        more = tl::unexpected<Error>(waited.error());
    }
    if (!more) failure_ = std::move(more.error());
    if (failure_ || stop_.requested()) {
      device_->finish(queue_);
      note_drops();
      queue_.close();
      finished_ = true;
    }
  }
}

std::optional<Error> DeviceSource::take_until_stopped() {
  // The reader is woken at once if it was not woken for gather_time, else when a slab is full or that time is
  // over.
  const milliseconds gather_time = device_->gather_time();
  Clock::time_point handed_over = Clock::now() - gather_time;
  counted_ = Clock::now();
  while (!stop_.requested()) {
    const Expected<bool> more = device_->take(queue_);
    if (!more) return more.error();
    const Clock::time_point now = Clock::now();
    note_drops_in_time(now);
    milliseconds at_most = idle_time;
    if (queue_.pending() != 0) {
      at_most = std::chrono::ceil<milliseconds>(handed_over + gather_time - now);
      if (at_most <= milliseconds::zero()) {
        queue_.flush();
        handed_over = now;
        at_most = idle_time;
      }
    }
    if (*more) continue;
    if (const Expected<void> waited = device_->wait(stop_.descriptor(), at_most); !waited) {
      return waited.error();
    }
  }
  return std::nullopt;
}

void DeviceSource::capture() noexcept {
  try {
    failure_ = take_until_stopped();
    device_->finish(queue_);
    note_drops();
  } catch (const std::bad_alloc&) {
    failure_ = device_error(ErrorKind::out_of_memory, "not enough memory to capture");
  } catch (const std::exception& error) {
    failure_ = device_error(ErrorKind::not_readable, std::string("capturing failed: ") + error.what());
  }
  queue_.close();
}

std::optional<Error> DeviceSource::start() {
  started_ = true;
  try {
    thread_ = std::thread([this] { capture(); });
  } catch (const std::system_error& error) {
    ended_ = true;
    return device_error(ErrorKind::out_of_memory,
                        std::string("the capturing thread cannot be started: ") + error.what());
  }
  return std::nullopt;
}

/// Counts the frames as those of a file.
void DeviceSource::account(FrameBatch& batch, std::size_t first) {
  const auto count = [&](Incident incident) { ++statistics_.incidents[static_cast<std::size_t>(incident)]; };
  for (std::size_t i = first; i < batch.frames.size(); ++i) {
    Frame& frame = batch.frames[i];
    ++interfaces_[frame.interface].packets;
    if (frame.time_ns < last_time_) count(Incident::time_backwards);
    last_time_ = frame.time_ns;
    if (frame.wire < frame.captured) {
      frame.wire = frame.captured;
      count(Incident::captured_more_than_wire);
    }
  }
  statistics_.frames += batch.frames.size() - first;
  files_[0].packets = statistics_.frames;
}

/// Frames dropped by the queue were dropped on this host, and count as dropped by the kernel.
void DeviceSource::state_drops() {
  const LiveCounts now = counts();
  InterfaceInfo& info = interfaces_[0];
  info.received = now.received + now.dropped_by_kernel;
  info.dropped_by_kernel = now.dropped_by_kernel + now.dropped_by_queue;
  info.dropped_by_interface = now.dropped_by_interface;
}

LiveCounts DeviceSource::counts() const {
  LiveCounts counts;
  // Read in this order, so that `delivered` never exceeds `received`.
  counts.delivered = queue_.taken();
  counts.dropped_by_queue = queue_.dropped();
  counts.received = queue_.received();
  counts.dropped_by_kernel = dropped_by_kernel_.load(std::memory_order_relaxed);
  counts.dropped_by_interface = dropped_by_interface_.load(std::memory_order_relaxed);
  return counts;
}

Expected<std::size_t> DeviceSource::next_batch(FrameBatch& batch, std::size_t limit) {
  const auto failed = [&](Error error) {
    error.path = files_[0].path;
    return tl::unexpected<Error>(std::move(error));
  };
  if (ended_ || limit == 0) return std::size_t{0};
  try {
    if (!own_thread_) {
      take_here();
    } else if (!started_) {
      if (auto error = start()) return failed(std::move(*error));
    }
    const std::size_t first = batch.frames.size();
    const bool none = finished_ && queue_.waiting() == 0;
    const std::size_t got = none ? 0 : queue_.take(batch, limit);
    account(batch, first);
    state_drops();
    if (got > 0) return got;
  } catch (const std::bad_alloc&) {
    ended_ = !own_thread_;  // with a thread, queued frames can be delivered when there is memory again
    return failed(device_error(ErrorKind::out_of_memory, "not enough memory for the captured frames"));
  }
  ended_ = true;
  if (thread_.joinable()) thread_.join();
  if (failure_) return failed(std::move(*failure_));
  return std::size_t{0};
}

}  // namespace

Expected<std::unique_ptr<LiveSource>> make_live_source(std::unique_ptr<LiveDevice> device,
                                                       const LiveOptions& options) {
  auto source = std::make_unique<DeviceSource>(std::move(device), options);
  if (!source->can_stop()) {
    Error error = device_error(ErrorKind::not_readable,
                               std::string("no file descriptor is left to control the capture: ") +
                                   std::strerror(errno) + "; raise the limit with: ulimit -n 1024");
    error.system_errno = errno;
    error.path = options.device;
    return tl::unexpected<Error>(std::move(error));
  }
  return source;
}

}  // namespace roce::capture
