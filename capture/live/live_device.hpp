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

// Internal: what a kind of device (network interface, RDMA device) does for a live capture. The thread, the
// queue, stopping and counting are the same for all: live_source.hpp.
namespace roce::capture {

/// An opened device. Made and described on one thread, then used by the capturing thread alone. Frames
/// are put with Frame::time_ns, captured, wire, interface, point and link_type set.
class LiveDevice {
 public:
  /// Since the device was opened.
  struct Drops {
    std::uint64_t by_kernel = 0;  ///< see LiveCounts
    std::uint64_t by_interface = 0;
  };

  virtual ~LiveDevice() = default;

  /// As a capture file would describe them: at least one. Drops are counted for the first.
  [[nodiscard]] virtual std::vector<InterfaceInfo> interfaces() const = 0;
  /// How it is captured, for FileInfo::format: "libpcap 1.10.3".
  [[nodiscard]] virtual std::string format() const = 0;
  /// See LiveSource::notices(). On any thread.
  [[nodiscard]] virtual std::vector<std::string> notices() const { return {}; }

  /// Puts frames that are there into `queue`, without waiting and no more than some thousands. True: there
  /// may be more at once. An error ends the capture.
  [[nodiscard]] virtual Expected<bool> take(SlabQueue& queue) = 0;
  /// Returns when there may be frames, when `stop` (a descriptor) is readable or after `at_most`. An
  /// error ends the capture, after finish().
  [[nodiscard]] virtual Expected<void> wait(int stop, std::chrono::milliseconds at_most) = 0;
  /// Lets nothing more in and puts everything into `queue` that had arrived. Takes a bounded time, whatever
  /// arrives. Called once, last.
  virtual void finish(SlabQueue& queue) = 0;
  [[nodiscard]] virtual Drops drops() = 0;

  /// Whether what comes while nobody calls take() waits in a buffer that lasts: next_batch() may do the
  /// taking.
  [[nodiscard]] virtual bool waits_for_taker() const { return false; }

  /// How long frames may wait for others to be handed over together, if some were handed over not longer ago:
  /// so often at most is the reader woken for less than a slab.
  [[nodiscard]] virtual std::chrono::milliseconds gather_time() const { return std::chrono::milliseconds{4}; }
};

/// A running capture of `device`. The capturing thread begins with the first next_batch(), so that it has
/// the rights that are left by then; until then the device holds what it can.
[[nodiscard]] Expected<std::unique_ptr<LiveSource>> make_live_source(std::unique_ptr<LiveDevice> device,
                                                                     const LiveOptions& options);

}  // namespace roce::capture
