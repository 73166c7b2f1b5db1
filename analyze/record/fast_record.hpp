// SPDX-License-Identifier: Apache-2.0
// The short way for the common frame: Ethernet, at most two tags, IPv4 without options or IPv6 without
// extension headers, UDP to 4791, and a BTH about which there is nothing to say. It makes the record
// that dissect() and make_record() would make, without listing headers on the way; whatever is out of
// the ordinary is left to them.
#pragma once

#include "analyze/record/packet_record.hpp"
#include "analyze/record/totals.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"
#include "dissect/icrc.hpp"

namespace roce::analyze {

/// What is known of a frame beside its record.
struct FastFrame {
  dissect::IcrcPlace icrc_place;
  Totals::Marks marks;  ///< but for the ICRC
  bool cut = false;     ///< bytes are missing (dissect::Stop::cut_by_capture), so the ICRC cannot be checked
};

/// Whether the short way exists with these options at all.
[[nodiscard]] bool fast_way_exists(const dissect::Options& options) noexcept;

/// Fills `record` and `facts` and returns true, or returns false: then the general way has to be
/// gone, and `record` and `facts` mean nothing. A frame that is taken here has a transport header, no
/// Note, no tunnel, no other obstacle to its ICRC than being cut, ends in Stop::complete or
/// Stop::cut_by_capture, and no link-local address that gid_disagrees() would judge. Thread-safe; reads
/// only inside the frame.
[[nodiscard]] bool make_record_fast(const capture::Frame& frame, PacketRecord& record,
                                    FastFrame& facts) noexcept;

}  // namespace roce::analyze
