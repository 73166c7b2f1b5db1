// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/cm/cm_tracker.hpp"
#include "analyze/exports/exported_records.hpp"
#include "analyze/packet/packet_view.hpp"
#include "capture/core/comments.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

class Tracker;

/// Dissects packets that are shown one by one, in the order of the capture, with all that stands in the
/// packet or is told by packets before: the upper layer by its CM exchange, trailers of time-stamping
/// switches, records of IPFIX and NetFlow by their templates. Bounded; not thread-safe.
class PacketWalk {
 public:
  explicit PacketWalk(const dissect::Options& options = {}) : options_(options) {}

  /// The next packet, without ICRC, flow, verdict and policy. The view refers to the arguments and, until the
  /// next call, to this object. `known`, with ICRCs checked: a CM message that it takes for damaged sets up
  /// no connection; may be null.
  [[nodiscard]] PacketView next(const capture::Frame& frame,
                                const std::vector<capture::InterfaceInfo>& interfaces,
                                const capture::BatchComments& comments, const Tracker* known = nullptr);

  /// The exchange by which the last packet began a connection, or null.
  [[nodiscard]] const CmExchange* connected() const noexcept { return connected_; }
  /// CmTracker::index_of().
  [[nodiscard]] std::uint32_t index_of(const CmExchange& exchange) const noexcept {
    return cm_.index_of(exchange);
  }
  [[nodiscard]] const dissect::Dissection& dissection() const noexcept { return dissection_; }
  /// Packets until now.
  [[nodiscard]] std::uint64_t count() const noexcept { return number_; }
  /// Nanoseconds since the epoch, of the first packet with a time; absent before.
  [[nodiscard]] std::optional<std::int64_t> first_time() const noexcept { return first_time_; }

 private:
  dissect::Options options_;
  dissect::Dissection dissection_;
  CmTracker cm_;
  ExportedRecords exported_;
  const CmExchange* connected_ = nullptr;
  std::uint64_t number_ = 0;
  std::optional<std::int64_t> first_time_;
  std::int64_t previous_time_ = 0;
};

}  // namespace roce::analyze
