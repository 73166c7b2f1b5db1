// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "analyze/packet/verdict.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissection.hpp"
#include "dissect/icrc.hpp"
#include "dissect/ipfix.hpp"

namespace roce::analyze {

class MarkingPolicy;

/// One packet with all that is known about it, for fields, filters, trees and lines. Owns nothing; valid as
/// long as the frame's batch.
struct PacketView {
  std::uint64_t number = 0;  ///< frame.number, from 1
  const capture::Frame* frame = nullptr;
  const capture::InterfaceInfo* interface = nullptr;  ///< may be null
  const dissect::Dissection* dissection = nullptr;
  std::int64_t first_time_ns = 0;           ///< of the capture's first frame, for relative times
  std::int64_t previous_time_ns = 0;        ///< of the frame before, for deltas
  std::optional<dissect::IcrcResult> icrc;  ///< absent with --no-icrc
  std::optional<std::uint64_t> flow;        ///< roce.flow
  const Verdict* verdict = nullptr;         ///< roce.connection, roce.analysis.*; null = not analysed
  const MarkingPolicy* policy = nullptr;    ///< for roce.marking.violation; null = none
  /// frame.comment: comments of the capture file, or of its reader.
  std::span<const std::string_view> comments;
  /// Values of records of IPFIX and NetFlow, in their order; empty where nobody read them by their templates.
  std::span<const dissect::ipfix::RecordValue> exported;

  [[nodiscard]] bool has_time() const noexcept { return frame->time_ns != capture::no_time; }
  [[nodiscard]] dissect::Bytes bytes() const noexcept { return {frame->data, frame->captured}; }
};

}  // namespace roce::analyze
