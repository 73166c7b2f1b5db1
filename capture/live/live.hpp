// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/source.hpp"

namespace roce::capture {

/// Parameters of a live capture.
struct LiveOptions {
  /// A network interface ("eth0", "any") or an RDMA device with its port ("mlx5_0:2"; "mlx5_0" is port 1),
  /// or where to listen for what switches export ("sflow://:6343,ipfix://10.0.0.1:4739").
  std::string device;
  std::string filter;  ///< BPF in tcpdump's syntax; empty: all frames. Network interfaces only
  std::uint32_t snap_length = 262'144;  ///< bytes kept of a frame
  bool promiscuous = true;
  /// Kernel buffer of a network interface; none: 64 MiB. Ignored with a notice for an RDMA device.
  std::optional<std::size_t> kernel_buffer_bytes;
  std::size_t queue_bytes = std::size_t{256} << 20U;  ///< between capturing and next_batch(); full = drops
  /// How long a frame may wait for further ones in the kernel, and up to 50 ms in the queue, while few
  /// arrive: one wake-up serves all frames of this time. 1 ms … 10 s; network interfaces only.
  std::chrono::milliseconds gather_time{100};
  /// A capturing thread takes frames from the device and queues them until next_batch() is called. Without it
  /// next_batch() takes them itself if the kernel buffers them (network interfaces): fewer wake-ups and
  /// warmer caches, for callers that do little work.
  bool own_thread = true;
  /// Length of an RDMA device's ring as a time at link speed: 1 ms ... 60 s; none: 50 ms. Ignored with a
  /// notice for a network interface.
  std::optional<std::chrono::milliseconds> ring_time;
};

/// Frames that passed the capture filter = delivered + queued + dropped by kernel and queue.
struct LiveCounts {
  std::uint64_t received = 0;              ///< taken from the kernel or the device
  std::uint64_t delivered = 0;             ///< returned by next_batch()
  std::uint64_t dropped_by_kernel = 0;     ///< the kernel's buffer or the device's ring was full
  std::uint64_t dropped_by_interface = 0;  ///< as counted by the driver
  std::uint64_t dropped_by_queue = 0;      ///< received, but next_batch() was not called in time

  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_by_kernel + dropped_by_interface + dropped_by_queue;
  }
};

/// Frames of a device as they arrive, usually taken by a capturing thread. next_batch() waits for frames; it
/// returns 0 after request_stop() when all received frames were delivered, and an error when the device goes
/// away (frames received before that have been delivered). may_wait() is true. Drops are also in
/// interfaces(), as in a capture file, so that reports of both agree.
class LiveSource : public CaptureSource {
 public:
  /// Counts up to now. Any thread.
  [[nodiscard]] virtual LiveCounts counts() const = 0;
  /// Notices for the user, one sentence each: that another device is captured than was named, that an option
  /// has no effect, and later what happened to the device. New ones are appended during the capture. Any
  /// thread.
  [[nodiscard]] virtual std::vector<std::string> notices() const { return {}; }
};

}  // namespace roce::capture
