// SPDX-License-Identifier: Apache-2.0
#include "analyze/congestion.hpp"

#include <array>

#include "analyze/connection.hpp"
#include "analyze/flow_table.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint64_t enough = 20;
constexpr double few = 0.05;

/// Whether hardly any distance is much shorter than they are on average, without the longest ones: something
/// keeps them apart.
bool kept_apart(const Histogram& spacing) noexcept {
  constexpr double step = 0.1, most = 0.96;
  double sum = 0;
  unsigned parts = 0;
  for (double part = few; part < most; part += step) {
    sum += static_cast<double>(spacing.percentile(part));
    ++parts;
  }
  return spacing.count() >= enough && sum > 0 &&
         static_cast<double>(spacing.percentile(few)) * 2 * parts >= sum;
}

}  // namespace

// Where the NIC keeps CNPs of one scope apart, those of the scopes within it are farther apart still, and
// those of the scopes around it come at any distance, if several take part: so the widest scope that is kept
// apart is the one.
CnpSender::Limit CnpSender::limited_by() const noexcept {
  if (flows < 2 || port_spacing_ns.count() < enough) return Limit::unknown;
  if (kept_apart(port_spacing_ns)) return pairs > 1 ? Limit::port : Limit::address_pair;
  if (pairs > 1 && flows > pairs && kept_apart(pair_spacing_ns)) return Limit::address_pair;
  if (kept_apart(flow_spacing_ns)) return Limit::flow;
  // Where marks are rarer than a limit allows CNPs, those come when marks do, and show no limit. That there
  // is none is seen only from CNPs that come closer than any limit in use.
  constexpr std::uint64_t shortest_limit_ns = 4'000;  // what NICs come with
  return flow_spacing_ns.count() >= enough && flow_spacing_ns.percentile(few) < shortest_limit_ns
             ? Limit::none
             : Limit::unknown;
}

std::string_view limit_name(CnpSender::Limit limit) noexcept {
  constexpr std::array<std::string_view, 5> names{"", "none", "flow", "address_pair", "port"};
  return names[static_cast<std::size_t>(limit)];
}

void sum_up(Congestion& congestion, const std::vector<Flow>& flows,
            const std::vector<Connection>& connections) {
  using dissect::Ecn;
  for (const Flow& flow : flows) {
    const auto of = [&flow](Ecn ecn) { return flow.ecn[static_cast<std::size_t>(ecn)]; };
    congestion.ce_packets += of(Ecn::ce);
    congestion.ect_packets += of(Ecn::ect0) + of(Ecn::ect1) + of(Ecn::ce);
    congestion.cnp_packets += flow.opcodes.of(dissect::opcode_cnp);
  }
  for (const Connection& connection : connections) {
    for (const auto& side : connection.congestion) {
      if (side.there()) congestion.cnps_without_ce += (*side).cnps_without_ce;
    }
  }
}

}  // namespace roce::analyze
