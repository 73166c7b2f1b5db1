// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "analyze/cm/cm_tracker.hpp"
#include "analyze/record/packet_record.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"

namespace roce::gui {

/// What connection managers had agreed on when a packet came: wherever one jumps to in a capture, what its
/// packets carry is known as if all before had been read. Written once, while the capture is read: who asks
/// waits for nothing to be learned again. One thread learns; any thread asks at any time.
class ManagementHistory {
 public:
  explicit ManagementHistory(std::size_t limit = analyze::CmTracker::default_limit) : tracker_(limit) {}

  /// The next packet to queue pair 0 or 1. Numbers ascend.
  void learn(std::uint64_t number, const capture::Frame& frame);
  /// No more will be learned.
  void complete() noexcept { complete_.store(true, std::memory_order_release); }

  /// What a packet carries, as CmTracker::ulp_of() says once it has seen the packet and all before.
  [[nodiscard]] dissect::Ulp ulp_of(std::uint64_t number, dissect::Bytes frame,
                                    const dissect::Dissection& dissection) const;

 private:
  /// A packet that was learned.
  struct Packet {
    std::uint32_t number = 0;
    std::uint32_t forgotten = 0;  ///< exchanges that the tracker had dropped by then, the oldest ones
    dissect::Ulp ulp = dissect::Ulp::none;
  };
  /// From a packet on, what a queue pair carries.
  struct Change {
    std::uint32_t packet = 0;
    std::uint32_t exchange = 0;  ///< CmExchange::number
    dissect::Ulp ulp = dissect::Ulp::none;
  };
  /// A queue pair at an address: destinations, no sources.
  using End = analyze::FlowKey;
  struct EndHash {
    [[nodiscard]] std::size_t operator()(const End& end) const noexcept { return end.hash(); }
  };

  void note(std::uint64_t number, const dissect::IpAddress& address, std::uint32_t qpn);
  [[nodiscard]] dissect::Ulp find(std::uint64_t number, dissect::Bytes frame,
                                  const dissect::Dissection& dissection) const;

  analyze::CmTracker tracker_;  ///< of the thread that learns, as the next
  dissect::Dissection dissection_;
  std::atomic<bool> complete_ = false;

  mutable std::shared_mutex mutex_;  ///< for the two below, until all has been learned
  std::vector<Packet> packets_;
  std::unordered_map<End, std::vector<Change>, EndHash> ends_;  ///< those that carried anything at any time
};

}  // namespace roce::gui
