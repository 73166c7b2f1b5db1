// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/diagnostics.hpp"

#include <algorithm>

#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

struct Row {
  DiagnosticId id;
  std::string_view name;
  DiagnosticSeverity severity;
  std::string_view help;
};

using enum DiagnosticSeverity;

constexpr Row rows[] = {
    {DiagnosticId::cut_before_bth, "cut_before_bth", data_loss,
     "Datagrams to UDP port 4791 that are truncated before the end of the BTH: they cannot be analysed and "
     "are not counted as RoCE. Capture with a larger snap length (tcpdump -s 0; 128 bytes hold the "
     "headers)."},
    {DiagnosticId::cut_by_capture, "cut_by_capture", info,
     "Packets truncated by the snap length. The captured headers are used; payload and ICRC of these packets "
     "are not checked."},
    {DiagnosticId::contradicts_itself, "contradicts_itself", info,
     "Frames whose own length fields leave no room for a header that they announce. They are dissected up to "
     "there."},
    {DiagnosticId::too_deep, "too_deep", info,
     "Frames with more headers than the dissector follows. They are dissected up to that depth."},
    {DiagnosticId::unknown_link_type, "unknown_link_type", data_loss,
     "Frames of an unsupported link type. Capture with Ethernet, raw IP, Linux cooked, InfiniBand or ERF."},
    {DiagnosticId::encrypted, "encrypted", data_loss,
     "Encrypted MACsec frames: nothing after the SecTAG can be read. Capture where the traffic is "
     "decrypted."},
    {DiagnosticId::fragment, "ip_fragment", data_loss,
     "IP fragments of UDP datagrams. Only the first fragment shows whether it is RoCE, which must not be "
     "fragmented: compare the RDMA path MTU with the interface MTU of the hosts (ip link show) and of the "
     "switches between them."},
    {DiagnosticId::short_roce_datagram, "short_roce_datagram", info,
     "Datagrams to UDP port 4791 that are too short for a BTH and an ICRC; not counted as RoCE."},
    {DiagnosticId::only_source_port, "only_source_port_4791", info,
     "Datagrams from, but not to, UDP port 4791. RoCE v2 is identified by its destination port, so they are "
     "not counted as RoCE."},
    {DiagnosticId::cut_on_the_way, "cut_on_the_way", data_loss,
     "Packets shorter on the wire than their own length field: a mirror or a NIC truncated them before the "
     "capture. Headers are used, the ICRC is not checkable. Raise the mirror's truncation size."},
    {DiagnosticId::trimmed, "trimmed", info,
     "Packets that a switch trimmed instead of dropping them: their UDP length is that before. Headers are "
     "used, the ICRC is gone. See the finding trimmed."},
    {DiagnosticId::udp_length_mismatch, "udp_length_mismatch", info,
     "Datagrams whose UDP length exceeds the IP packet or is smaller than the UDP header; the IP length is "
     "used."},
    {DiagnosticId::zero_ip_length, "zero_ip_length", info,
     "IP packets with length 0, as captured before segmentation offload; the frame's length is used."},
    {DiagnosticId::unknown_opcode, "unknown_opcode", info,
     "Packets with a reserved or manufacturer opcode; dissected up to the BTH."},
    {DiagnosticId::transport_version, "transport_version", info,
     "Packets whose transport header version (TVer) is not 0."},
    {DiagnosticId::icrc_soft_roce_flush, "icrc_soft_roce_flush", info,
     "FLUSH packets with the ICRC of Linux Soft-RoCE, which includes their headers twice. Soft-RoCE peers "
     "accept it; other implementations drop the packet."},
    {DiagnosticId::ip_checksum, "ip_checksum", info,
     "RoCE packets with a wrong IPv4 header checksum, which their receiver discards. If all packets of a "
     "sender have one, they were captured before its NIC filled in the checksum (offload)."},
    {DiagnosticId::vcrc_mismatch, "vcrc_mismatch", info,
     "Native InfiniBand frames with a wrong variant CRC; some captures hold zeros or the ICRC in its "
     "place."},
    {DiagnosticId::gid_disagrees, "gid_disagrees", info,
     "Packets with a link-local GID that encodes another MAC address or VLAN than the frame has at that "
     "end."},
    {DiagnosticId::flows_evicted, "flows_evicted", data_loss,
     "Flows evicted from the flow table, which is bounded, because too many were active; their counters are "
     "only in the totals."},
    {DiagnosticId::flows_retired, "flows_retired", info,
     "Flows of a live capture that were idle for long and are no longer followed; their counters are only in "
     "the totals. A flow that continues later is listed as a new one."},
    {DiagnosticId::incidents_dropped, "incidents_dropped", data_loss,
     "Incidents that are not listed, because a connection has more than 4096 or all have more than 100 000: "
     "losses and retransmissions are counted in full, the list of incidents is not complete."},
    {DiagnosticId::clock_stepped, "clock_stepped", data_loss,
     "The clock of the timestamps was set forward or back during the capture. Later times are shown as by "
     "the clock before the step, so that durations are right; files that are written keep the original "
     "timestamps. Let the clock be slewed, not stepped (chrony, phc2sys)."},
    {DiagnosticId::several_points, "several_points", info,
     "Connections seen at several capture points. Each is followed at one of them, and its figures are those "
     "of that point; packets of the others count as duplicates made by the capture, or prove a loss between "
     "two points."},
    {DiagnosticId::clocks_differ, "clocks_differ", info,
     "Capture points whose clocks differ, as shown by packets that both captured. Each connection is "
     "followed at one point, so no verdict and no latency depends on that; times of packets of different "
     "points are not comparable. Synchronise the clocks (PTP, NTP)."},
    {DiagnosticId::order_by_clocks, "order_by_clocks", data_loss,
     "Connections whose two directions were captured only in different files, or by interfaces whose clocks "
     "put responses before their requests: the order of their packets depends on two clocks and cannot be "
     "checked. The confidence of their findings is lower. Capture both directions at one place."},
    {DiagnosticId::link_ports, "link_ports", data_loss,
     "PAUSE, PFC and LLDP frames of more ports than are followed (1024): the figures of pauses and DCBX do "
     "not include them."},
    {DiagnosticId::exports_dropped, "exports_dropped", data_loss,
     "Samples and drop notifications of more switches, data sources, flows, templates or drops than are "
     "followed: the figures of exports do not include them."},
    {DiagnosticId::interrupted, "interrupted", data_loss,
     "Reading was ended before the end of the input (Ctrl-C, a signal, Stop in the window): the results are "
     "those of the packets read until then."},
    {DiagnosticId::limited, "limited", data_loss,
     "Reading was ended by a limit of packets or of time (max-packets, max-time) before the end of the "
     "input: "
     "the results are those of the packets read until then."},
    {DiagnosticId::verdicts_not_kept, "verdicts_not_kept", data_loss,
     "Packets whose analysis could not be kept for the second pass, because the temporary directory is full: "
     "a filter on roce.connection, roce.direction or roce.analysis.* does not find them, and these fields "
     "are missing. Set TMPDIR to a directory with more space."},
    {DiagnosticId::input_failed, "input_failed", error,
     "An input could not be read to its end; everything before that point was analysed."},
};
static_assert(sizeof rows / sizeof rows[0] == diagnostic_count);
constexpr bool diagnostics_in_order() {
  for (std::size_t i = 0; i < diagnostic_count; ++i) {
    if (static_cast<std::size_t>(rows[i].id) != i) return false;
  }
  return true;
}
static_assert(diagnostics_in_order());

DiagnosticSeverity convert(capture::IncidentSeverity severity) noexcept {
  switch (severity) {
    case capture::IncidentSeverity::info:
      return info;
    case capture::IncidentSeverity::data_loss:
      return data_loss;
    case capture::IncidentSeverity::error:
      return error;
  }
  return error;
}

}  // namespace

std::string_view severity_name(DiagnosticSeverity severity) noexcept {
  using enum DiagnosticSeverity;
  static constexpr EnumNames<DiagnosticSeverity, 3> names(
      {{info, "info"}, {data_loss, "data_loss"}, {error, "error"}});
  return names[severity];
}

std::string_view diagnostic_name(DiagnosticId id) noexcept {
  return rows[static_cast<std::size_t>(id)].name;
}

DiagnosticId stop_diagnostic(capture::StopReason reason) noexcept {
  return reason == capture::StopReason::request ? DiagnosticId::interrupted : DiagnosticId::limited;
}

std::vector<Diagnostic> list_diagnostics(const DiagnosticCounts& counts, const capture::Statistics& capture,
                                         const std::vector<capture::Error>& errors) {
  std::vector<Diagnostic> list;
  for (std::size_t i = 0; i < static_cast<std::size_t>(capture::Incident::count_); ++i) {
    if (capture.incidents[i] == 0) continue;
    const capture::IncidentInfo& incident = capture::incident_info(static_cast<capture::Incident>(i));
    list.push_back({incident.id, convert(incident.severity), capture.incidents[i], incident.help, {}});
  }
  for (const Row& row : rows) {
    std::uint64_t count = counts.of(row.id);
    std::vector<std::string> details;
    if (row.id == DiagnosticId::input_failed) {
      count += errors.size();
      for (const capture::Error& failed : errors) details.push_back(failed.describe());
    }
    if (count != 0) list.push_back({row.name, row.severity, count, row.help, std::move(details)});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
  return list;
}

}  // namespace roce::analyze
