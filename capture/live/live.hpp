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

/// What a live capture is asked for.
struct LiveOptions {
  /// A network interface ("eth0", "any") or an RDMA device with its port ("mlx5_0", "mlx5_0:2"; port 1
  /// where none is named).
  std::string device;
  std::string filter;  ///< BPF, as tcpdump takes it; empty: all frames. Network interfaces only
  std::uint32_t snap_length = 262'144;  ///< bytes kept of a frame
  bool promiscuous = true;
  /// Of the kernel, for a network interface; nothing: 64 MiB. Of no use for an RDMA device, as a notice says.
  std::optional<std::size_t> kernel_buffer_bytes;
  std::size_t queue_bytes = std::size_t{256} << 20U;  ///< between capturing and next_batch(); full = drops
  /// How long a frame may wait for others in the kernel, and up to 50 ms behind it, where few come: each
  /// wake-up is shared by the frames of this time. 1 ms … 10 s; network interfaces only.
  std::chrono::milliseconds gather_time{100};
  /// Frames are taken by a thread of their own, so that they wait in memory while nobody calls next_batch().
  /// Without it next_batch() takes them itself where the kernel holds a buffer of them meanwhile (network
  /// interfaces): fewer wake-ups and warmer caches, for a caller that does little.
  bool own_thread = true;
  /// What an RDMA device's ring holds at the speed of its link: 1 ms ... 60 s; nothing: 50 ms. Of no use for
  /// a network interface, as a notice says.
  std::optional<std::chrono::milliseconds> ring_time;
};

/// Frames seen = delivered + waiting + the three kinds of drops, whenever nothing is on its way.
struct LiveCounts {
  std::uint64_t received = 0;              ///< taken from the kernel or the device
  std::uint64_t delivered = 0;             ///< given out by next_batch()
  std::uint64_t dropped_by_kernel = 0;     ///< no room in the kernel's buffer or the device's ring
  std::uint64_t dropped_by_interface = 0;  ///< as far as the driver says
  std::uint64_t dropped_by_queue = 0;      ///< received, but next_batch() was not called in time

  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_by_kernel + dropped_by_interface + dropped_by_queue;
  }
};

/// Frames of a device as they come. A thread of its own takes them from the device, mostly; next_batch()
/// waits for some, returns 0 after request_stop() when all that was received has been given out, and an error
/// when the device goes away (what was received before it has been delivered). may_wait() is true. Drops
/// stand in interfaces() too, as a capture file would state them, so that reports of both agree.
class LiveSource : public CaptureSource {
 public:
  /// Up to now; on any thread.
  [[nodiscard]] virtual LiveCounts counts() const = 0;
  /// What somebody should know of this capture, a sentence each: that it takes place on another device than
  /// was named, that something could not be set, later what happened to the device. It grows at the back
  /// while frames are taken. On any thread.
  [[nodiscard]] virtual std::vector<std::string> notices() const { return {}; }
};

}  // namespace roce::capture
