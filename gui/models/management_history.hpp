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

/// What connection managers had negotiated at any packet of the capture, for random access: the upper layer
/// protocol of a packet is known as if all packets before had just been read. Filled once while the capture
/// is read, so lookups never read again. One thread calls learn(); any thread may call ulp_of() at any time.
class ManagementHistory {
 public:
  explicit ManagementHistory(std::size_t limit = analyze::CmTracker::default_limit) : tracker_(limit) {}

  /// The next packet to QP0 or QP1. Numbers ascend.
  /// Returns whether the packet refuses a connection: REJ, or SIDR_REP with a status that is no success.
  bool learn(std::uint64_t number, const capture::Frame& frame, const dissect::Options& dissecting = {});
  /// learn() is not called any more.
  void complete() noexcept { complete_.store(true, std::memory_order_release); }

  /// What CmTracker::ulp_of() returns after this packet and all before it.
  [[nodiscard]] dissect::Ulp ulp_of(std::uint64_t number, dissect::Bytes frame,
                                    const dissect::Dissection& dissection) const;

 private:
  /// A packet seen by learn().
  struct Packet {
    std::uint32_t number = 0;
    std::uint32_t forgotten = 0;  ///< exchanges that the tracker had evicted by then, oldest first
    dissect::Ulp ulp = dissect::Ulp::none;
  };
  /// What a queue pair carries from a packet on.
  struct Change {
    std::uint32_t packet = 0;
    std::uint32_t exchange = 0;  ///< CmExchange::number
    dissect::Ulp ulp = dissect::Ulp::none;
  };
  /// A destination: address and queue pair.
  using End = analyze::FlowKey;
  struct EndHash {
    [[nodiscard]] std::size_t operator()(const End& end) const noexcept { return end.hash(); }
  };

  void note(std::uint64_t number, const dissect::IpAddress& address, std::uint32_t qpn);
  [[nodiscard]] dissect::Ulp find(std::uint64_t number, dissect::Bytes frame,
                                  const dissect::Dissection& dissection) const;

  analyze::CmTracker tracker_;  ///< used by learn() alone, as is dissection_
  dissect::Dissection dissection_;
  std::atomic<bool> complete_ = false;

  mutable std::shared_mutex mutex_;  ///< for the two below, until complete()
  std::vector<Packet> packets_;
  std::unordered_map<End, std::vector<Change>, EndHash> ends_;  ///< those that ever had a known protocol
};

}  // namespace roce::gui
