// SPDX-License-Identifier: Apache-2.0
// One frame through make_record_fast() and through dissect() and make_record(), with all that is
// counted of it, compared. For the unit test and the fuzz target; needs no test library.
#pragma once

#include <cstring>
#include <string>

#include "analyze/record/cached_frames.hpp"
#include "analyze/record/common_packet.hpp"
#include "analyze/record/fast_record.hpp"
#include "analyze/record/totals.hpp"
#include "dissect/dissect.hpp"
#include "dissect/gid.hpp"
#include "dissect/icrc.hpp"
#include "dissect/ip_checksum.hpp"

namespace roce::analyze {

struct BothWays {
  bool fast = false;       ///< the short way took the frame
  bool known = false;      ///< and so did the shortest, when its headers were known
  std::string difference;  ///< what differs; empty: nothing
};

inline bool same_counts(const Totals& a, const Totals& b) {
  bool same = a.packets == b.packets && a.bytes == b.bytes && a.captured_bytes == b.captured_bytes &&
              a.any_time == b.any_time && a.first_time_ns == b.first_time_ns &&
              a.last_time_ns == b.last_time_ns && a.roce_packets == b.roce_packets &&
              a.roce_bytes == b.roce_bytes && a.by_transport == b.by_transport &&
              a.by_tunnel == b.by_tunnel && a.opcodes == b.opcodes && a.icrc == b.icrc && a.dscp == b.dscp &&
              a.ecn == b.ecn && a.pcp == b.pcp && a.untagged == b.untagged && a.others == b.others &&
              a.icrc_mismatches == b.icrc_mismatches;
  for (std::size_t i = 0; i < diagnostic_count; ++i) {
    const auto id = static_cast<DiagnosticId>(i);
    same = same && a.diagnostics.of(id) == b.diagnostics.of(id);
  }
  return same;
}

/// The frame once more when its headers are known: what differs from its record and what is counted of that.
/// `icrc`: null where ICRCs are not checked.
inline std::string go_known_way(const capture::Frame& frame, const PacketRecord& as_made,
                                const FastFrame& facts, const dissect::IcrcResult* icrc, bool& known) {
  PacketRecord record = as_made;
  record.flags = static_cast<std::uint8_t>(record.flags | PacketRecord::selected);
  if (icrc != nullptr) {
    record.icrc = static_cast<std::uint8_t>(icrc->status);
    const std::uint32_t network = facts.icrc_place.network;
    if (facts.icrc_place.network_id == dissect::HeaderId::ipv4 &&
        !dissect::ipv4_checksum_right({frame.data + network, frame.captured - network})) {
      record.more = static_cast<std::uint8_t>(record.more | PacketRecord::bad_header);
    }
  }
  record.common = static_cast<std::uint8_t>(common_of(record));

  HeaderCache images;
  const CachedFrames frames(images, icrc != nullptr);
  PacketBrief brief;
  Totals totals;
  if (frames.take({&frame, 1}, 0, &brief, totals) != 0) return "unknown headers were known";
  record.place = 42;
  record.image = put_image(images, frame, record.place, record);
  if (frames.take({&frame, 1}, 0, &brief, totals) == 0) {
    // Of these, one that is cut may lack what others show.
    const bool may_be_left = facts.cut || !record.has(PacketRecord::payload_whole);
    return record.common == 0 || may_be_left ? "" : "known headers were not known";
  }
  known = true;
  const PacketBrief& part = record;
  if (std::memcmp(&brief, &part, sizeof brief) != 0) return "the brief differs from the record";
  Totals expected;
  expected.count_fast(9, frame, record.opcode, facts.marks, facts.cut, icrc);
  expected.settle();
  totals.settle();
  return same_counts(totals, expected) ? "" : "the totals of known frames differ";
}

inline BothWays go_both_ways(const capture::Frame& frame, const dissect::Options& options = {}) {
  BothWays both;
  PacketRecord fast;
  FastFrame facts;
  both.fast = fast_way_exists(options) && make_record_fast(frame, fast, facts);
  if (!both.fast) return both;

  const dissect::Bytes bytes{frame.data, frame.captured};
  dissect::Dissection d;
  dissect::dissect(bytes, frame.wire, frame.link_type, d, options);
  PacketRecord general;
  make_record(frame, d, general);
  if (!general.has(PacketRecord::valid)) {
    both.difference = "the general way finds no transport";
    return both;
  }
  if (std::memcmp(&fast, &general, sizeof fast) != 0) {
    std::size_t at = 0;
    while (reinterpret_cast<const char*>(&fast)[at] == reinterpret_cast<const char*>(&general)[at]) ++at;
    both.difference = "the records differ at byte " + std::to_string(at);
    return both;
  }
  const dissect::IcrcResult expected = dissect::check_icrc(bytes, d);
  dissect::IcrcResult found;
  if (facts.cut) {
    found.obstacle = dissect::CrcObstacle::cut;
  } else {
    found = dissect::check_icrc_at(bytes, facts.icrc_place);
  }
  if (found.status != expected.status || found.obstacle != expected.obstacle ||
      found.found != expected.found || found.computed != expected.computed ||
      found.soft_roce_flush != expected.soft_roce_flush) {
    both.difference = "the ICRCs differ";
    return both;
  }
  Totals general_totals, fast_totals;
  general_totals.count(9, frame, d, general, &expected);
  if (dissect::gid_disagrees(bytes, d)) general_totals.diagnostics.add(DiagnosticId::gid_disagrees);
  fast_totals.count_fast(9, frame, fast.opcode, facts.marks, facts.cut, &found);
  fast_totals.settle();
  if (!same_counts(general_totals, fast_totals)) both.difference = "the totals differ";
  for (const bool check_icrc : {false, true}) {
    if (both.difference.empty()) {
      both.difference = go_known_way(frame, fast, facts, check_icrc ? &found : nullptr, both.known);
    }
  }
  return both;
}

}  // namespace roce::analyze
