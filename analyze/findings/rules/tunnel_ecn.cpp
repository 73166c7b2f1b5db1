// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/tunnels.hpp"

namespace roce::analyze {
namespace {

constexpr auto outside_capable = [](std::uint8_t ecn) {
  return ecn != static_cast<std::uint8_t>(dissect::Ecn::not_ect);
};

struct EcnMismatch {
  bool hidden;  ///< ECN-capable inside, not outside; else the other way round
  std::string_view test;
};
constexpr EcnMismatch ways_to_be_wrong[] = {
    {true, "roce.ecn != 0 && roce.outer.ecn == 0"},
    {false, "roce.ecn == 0 && roce.outer.ecn != 0"},
};

Words hidden_words(const TunnelCase& each) {
  return {
      Severity::warning,
      fmt::format("ECN-capable RoCE travels in an outer header that is Not-ECT from tunnel end {}: {}. A "
                  "congested switch of the fabric drops such packets where it would mark others CE, and "
                  "no CNP slows their sender down.",
                  each.ends(), share_text(each.proof.count, each.of)),
      fmt::format("On {}, which encapsulates: copy ECN into the outer header (the normal mode of RFC 6040, "
                  "4.1; Linux: tos inherit of ip link; switches: ECN or uniform mode of the VTEP).",
                  address_text(each.way->from))};
}

Words dropped_words(const TunnelCase& each) {
  return {
      Severity::warning,
      fmt::format("RoCE that is Not-ECT travels in an outer header that is ECN-capable from tunnel end {}: "
                  "{}. What a congested switch marks CE outside, {} drops when it decapsulates (RFC "
                  "6040, 4.2).",
                  each.ends(), share_text(each.proof.count, each.of), address_text(each.way->to)),
      fmt::format("Make the senders ECN-capable, or let {} copy ECN from the packets instead of setting it "
                  "(RFC 6040, 4.1).",
                  address_text(each.way->from))};
}

}  // namespace

void find_tunnel_ecn(const Snapshot& snapshot, FindingSink& sink) {
  const std::vector<TunnelWay> ways = tunnel_ways(snapshot);
  for (const EcnMismatch& wrong : ways_to_be_wrong) {
    std::vector<TunnelCase> cases;
    for (const TunnelWay& way : ways) {
      TunnelCase found;
      found.way = &way;
      found.test = wrong.test;
      for (const auto& [flow, row] : way.rows) {
        if (outside_capable(row->inner_ecn()) != wrong.hidden) continue;
        found.of += row->packets;
        if (outside_capable(row->outer.ecn()) != wrong.hidden) found.add(*flow, *row);
      }
      if (found.proof.count != 0) cases.push_back(std::move(found));
    }
    report_tunnels(sink, snapshot, cases, wrong.hidden ? hidden_words : dropped_words);
  }
}

}  // namespace roce::analyze
