// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/mtu_probe.hpp"

namespace roce::analyze {

void find_ip_fragments(const Snapshot& snapshot, FindingSink& sink) {
  const Totals& totals = snapshot.totals;
  const std::uint64_t fragments = totals.diagnostics.of(DiagnosticId::fragment);
  if (fragments == 0) return;
  // Only packets without DF can be fragmented on the path: without such flows the fragments are of other
  // traffic.
  const Flow* most = nullptr;
  std::uint64_t may_be_cut = 0;
  for (const Flow& flow : snapshot.flows) {
    may_be_cut += flow.clear_df;
    if (flow.clear_df != 0 && (most == nullptr || flow.clear_df > most->clear_df)) most = &flow;
  }
  Finding finding;
  finding.severity = most == nullptr ? Severity::notice : Severity::warning;
  finding.subject = most == nullptr
                        ? std::string("the capture")
                        : fmt::format("{} > {}", address_text(most->key.src), address_text(most->key.dst));
  finding.count = fragments;
  finding.packets = totals.fragments;
  finding.confidence = most == nullptr ? 0.5 : 0.8;
  if (most != nullptr && most->connection) finding.connections.push_back(*most->connection);
  finding.explanation = fmt::format(
      "{} of UDP datagrams. NICs do not reassemble RoCE packets (Soft-RoCE does), so each fragmented packet "
      "is lost.{}",
      plural(fragments, "IP fragment", "IP fragments"),
      totals.roce_packets == 0
          ? std::string(" No RoCE packet was captured, so these may be other UDP traffic.")
      : most == nullptr
          ? std::string(" All captured RoCE packets have DF set, so these may be other UDP traffic.")
          : fmt::format(" {} can be fragmented (DF clear), most of them from {} to {}.",
                        share_text(may_be_cut, totals.roce_packets, "RoCE packets"),
                        address_text(most->key.src), address_text(most->key.dst)));
  const Connection* cut = nullptr;
  for (const Connection& c : snapshot.connections) {
    const bool theirs = most != nullptr && most->connection == c.id;
    if (theirs || (most == nullptr && (cut == nullptr || c.pmtu > cut->pmtu))) cut = &c;
  }
  const std::uint32_t pmtu = cut != nullptr ? cut->pmtu : 0;
  const dissect::Transport transport = most != nullptr  ? most->key.transport
                                       : cut != nullptr ? cut->transport
                                                        : dissect::Transport::roce_v2_ipv4;
  const dissect::IpAddress to = most != nullptr  ? most->key.dst
                                : cut != nullptr ? cut->ends[1].address
                                                 : dissect::IpAddress{};
  finding.advice = fmt::format(
      "Compare the path MTU of the queue pairs plus up to 60 bytes of headers (80 with IPv6) with the MTU of "
      "every link and tunnel on the path: ip link show DEV on both hosts, the switch ports, {} HOST{}. Lower "
      "the path MTU or raise the link MTUs. {}",
      ping_text(pmtu, transport, to), pmtu == 0 ? " (for a path MTU of 1024)" : "",
      show_command(
          snapshot, "The packets", fragments, fragments,
          "((ip.flags.mf == 1 or ip.frag_offset > 0) and ip.proto == 17) or (ipv6.fraghdr.nxt == 17 and "
          "(ipv6.fraghdr.more == 1 or ipv6.fraghdr.offset > 0))"));
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
