// SPDX-License-Identifier: Apache-2.0
// One frame through make_record_fast() and through dissect() and make_record(), with all that is
// counted of it, compared. For the unit test and the fuzz target; needs no test library.
#pragma once

#include <cstring>
#include <string>

#include "analyze/fast_record.hpp"
#include "analyze/totals.hpp"
#include "dissect/dissect.hpp"
#include "dissect/gid.hpp"
#include "dissect/icrc.hpp"

namespace roce::analyze {

struct BothWays {
  bool fast = false;       ///< the short way took the frame
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
  // Once more when its headers are known.
  FlowImages images;
  PacketBrief brief;
  FastFrame brief_facts;
  if (make_brief_fast(frame, images, brief, brief_facts)) {
    both.difference = "unknown headers were known";
    return both;
  }
  const std::uint32_t image = put_image(images, frame, 42, fast.path);
  if (!make_brief_fast(frame, images, brief, brief_facts) || brief.image != image || brief.place != 42) {
    both.difference = "known headers were not known";
    return both;
  }
  brief.image = brief.place = 0;
  const PacketBrief& part = fast;
  if (std::memcmp(&brief, &part, sizeof brief) != 0 || !(brief_facts.marks == facts.marks) ||
      brief_facts.cut != facts.cut || brief_facts.icrc_place.icrc != facts.icrc_place.icrc) {
    both.difference = "the brief differs from the record";
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
  return both;
}

}  // namespace roce::analyze
