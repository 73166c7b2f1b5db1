// SPDX-License-Identifier: Apache-2.0
// The fast path for the common frame: Ethernet, at most two tags, IPv4 without options or IPv6 without
// extension headers, UDP to 4791, and a BTH without a Note. It makes the same record as dissect() and
// make_record(), without a list of headers; all other frames are left to them.
#pragma once

#include "analyze/record/packet_record.hpp"
#include "analyze/record/totals.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"
#include "dissect/icrc.hpp"

namespace roce::analyze {

/// Facts of a frame in addition to its record.
struct FastFrame {
  dissect::IcrcPlace icrc_place;
  Totals::Marks marks;  ///< all but the ICRC
  bool cut = false;     ///< truncated (dissect::Stop::cut_by_capture), so the ICRC cannot be checked
};

/// Whether the fast path can be used with these options.
[[nodiscard]] bool fast_way_exists(const dissect::Options& options) noexcept;

/// Fills `record` and `facts` and returns true. If it returns false, they are undefined and the frame needs
/// dissect() and make_record(). A frame that is taken here has a transport header, no Note and no tunnel,
/// its dissection ends with Stop::complete or Stop::cut_by_capture, its ICRC is checkable unless the frame is
/// truncated, and it has no link-local address for gid_disagrees(). Thread-safe; reads only inside the frame.
[[nodiscard]] bool make_record_fast(const capture::Frame& frame, PacketRecord& record,
                                    FastFrame& facts) noexcept;

}  // namespace roce::analyze
