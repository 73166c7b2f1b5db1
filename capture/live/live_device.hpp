// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/source.hpp"
#include "capture/live/live.hpp"
#include "capture/live/slab_queue.hpp"

// Internal: interface of a kind of device (network interface, RDMA device) for live capture. Thread, queue,
// stopping and counting are common to all kinds: live_source.cpp.
namespace roce::capture {

/// An open device. Created and described on one thread, then used by the capturing thread only. Frames are
/// put into the queue with Frame::time_ns, captured, wire, interface, point and link_type set.
class LiveDevice {
 public:
  /// Counts since the device was opened.
  struct Drops {
    std::uint64_t by_kernel = 0;  ///< see LiveCounts
    std::uint64_t by_interface = 0;
  };

  virtual ~LiveDevice() = default;

  /// As described in a capture file: at least one. Drops count for the first.
  [[nodiscard]] virtual std::vector<InterfaceInfo> interfaces() const = 0;
  /// How it is captured, for FileInfo::format: "libpcap 1.10.3".
  [[nodiscard]] virtual std::string format() const = 0;
  /// See LiveSource::notices(). Any thread.
  [[nodiscard]] virtual std::vector<std::string> notices() const { return {}; }

  /// Puts available frames into `queue` without waiting, at most some thousands. True: more may be available
  /// already. An error ends the capture.
  [[nodiscard]] virtual Expected<bool> take(SlabQueue& queue) = 0;
  /// Returns when frames may be available, when the descriptor `stop` is readable, or after `at_most`. An
  /// error ends the capture, after finish().
  [[nodiscard]] virtual Expected<void> wait(int stop, std::chrono::milliseconds at_most) = 0;
  /// Stops accepting frames and puts all that had arrived into `queue`. Takes a bounded time. Called once,
  /// last.
  virtual void finish(SlabQueue& queue) = 0;
  [[nodiscard]] virtual Drops drops() = 0;

  /// Whether frames are buffered long enough outside of this program for next_batch() to call take() itself
  /// (LiveOptions::own_thread).
  [[nodiscard]] virtual bool waits_for_taker() const { return false; }

  /// How long frames may wait to be handed over together with later ones: the reader is woken at most once in
  /// this time for less than a slab.
  [[nodiscard]] virtual std::chrono::milliseconds gather_time() const { return std::chrono::milliseconds{4}; }
};

/// A running capture of `device`. The capturing thread starts with the first next_batch(), so that it gets
/// the privileges that are left by then; until then frames stay in the device's buffer.
[[nodiscard]] Expected<std::unique_ptr<LiveSource>> make_live_source(std::unique_ptr<LiveDevice> device,
                                                                     const LiveOptions& options);

}  // namespace roce::capture
