// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/capture_health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {

NoRoce no_roce(const Snapshot& snapshot) {
  if (snapshot.totals.packets != snapshot.frames_read) return {"none in the selection", {}};
  constexpr std::string_view none = "none in this capture";
  if (snapshot.exports.any())
    return {none, fmt::format("Switches exported samples of it: {}.", exports_text(snapshot.exports))};
  if (snapshot.totals.packets == 0) return {none, {}};
  std::string others;
  if (const std::string hidden = encrypted_text(snapshot.numbered); !hidden.empty()) {
    others =
        hidden +
        ": RoCE may be inside. Capture where it is decrypted: on the RDMA device of a host, or behind the "
        "gateway or switch port that ends the encryption.";
  }
  if (const std::string named = other_transports_text(snapshot); !named.empty())
    others += (others.empty() ? "" : " ") + named + ": no RoCE, counted by type only.";
  if (!others.empty()) return {none, others};
  return {none,
          "If there was RDMA traffic, the capture cannot see it: the NIC's RDMA offload bypasses the kernel. "
          "Capture at a mirror port of the switch, or on the RDMA device itself."};
}

std::string other_transports_text(const Snapshot& snapshot) {
  const auto count = [&](OtherTraffic kind) {
    return snapshot.totals.others[static_cast<std::size_t>(kind)];
  };
  std::string text;
  std::uint64_t packets = 0;
  for (const auto& [kind, name] :
       {std::pair<OtherTraffic, std::string_view>{OtherTraffic::uet, "UET (Ultra Ethernet)"},
        {OtherTraffic::falcon, "Falcon"},
        {OtherTraffic::veroce, "veRoCE"}}) {
    if (count(kind) == 0) continue;
    text += text.empty() ? packets_text(count(kind)) : fmt::format(", {}", count(kind));
    text += fmt::format(" of {}", name);
    packets += count(kind);
  }
  if (packets == 0) return text;
  return fmt::format("There {} {}", packets == 1 ? "is" : "are", text);
}

std::string_view stop_text(capture::StopReason reason) noexcept {
  using enum capture::StopReason;
  static constexpr EnumNames<capture::StopReason, 3> texts(
      {{request, "reading was interrupted"},
       {frame_limit, "reading was ended by the limit of packets"},
       {time_limit, "reading was ended by the limit of time"}});
  return texts[reason];
}

std::string_view words_of_diagnostic(std::string_view id) noexcept {
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"cut_short", "a file ends inside a record"},
      {"damaged_record", "a record has contradictory lengths"},
      {"shrunk_while_read", "a file became shorter while it was read"},
      {"no_timestamp", "frames without a timestamp"},
      {"unknown_interface", "packets of an interface that is not described"},
      {"decompression_failed", "a compressed stream is damaged or cut short"},
      {"oversized_record", "a record is too large to be valid"},
      {"cut_before_bth", "packets are cut before the end of the BTH"},
      {"unknown_link_type", "frames of an unsupported link type"},
      {"encrypted", "frames are encrypted by MACsec"},
      {"ip_fragment", "IP fragments"},
      {"cut_on_the_way", "packets were cut by a mirror or a NIC"},
      {"flows_evicted", "more flows than are followed"},
      {"incidents_dropped", "more incidents than are listed"},
      {"clock_stepped", "the clock of the timestamps was set"},
      {"order_by_clocks", "the order of two directions depends on two clocks"},
      {"link_ports", "PAUSE, PFC or LLDP of more ports than are followed"},
      {"exports_dropped", "exports of more switches than are followed"},
      {"interrupted", "reading was interrupted"},
      {"limited", "reading was ended by a limit"},
      {"verdicts_not_kept", "no room for temporary files"},
      {"input_failed", "an input could not be read to its end"},
  };
  for (const auto& [name, text] : words) {
    if (name == id) return text;
  }
  return id;
}

CaptureHealth capture_health(const Snapshot& s) {
  CaptureHealth assessment;
  assessment.anything = s.totals.roce_packets != 0 || !s.findings.empty();
  assessment.whole = s.complete();
  assessment.judged = !s.completeness.limited();
  // The list begins with the most severe.
  if (!s.findings.empty()) assessment.worst = s.findings.front().severity;
  assessment.diagnosis = worst_diagnosis(s);
  return assessment;
}

std::string incomplete_text(const Snapshot& s) {
  if (s.complete()) return {};
  const std::uint64_t before_bth = s.totals.diagnostics.of(DiagnosticId::cut_before_bth);
  std::vector<std::string_view> others;  // a comparison has those of two captures
  for (const Diagnostic& each : s.diagnostics) {
    const bool said = (before_bth != 0 && each.id == diagnostic_name(DiagnosticId::cut_before_bth)) ||
                      each.id == diagnostic_name(DiagnosticId::interrupted) ||
                      each.id == diagnostic_name(DiagnosticId::limited);
    const std::string_view words = words_of_diagnostic(each.id);
    if (each.severity != DiagnosticSeverity::info && !said &&
        std::find(others.begin(), others.end(), words) == others.end())
      others.push_back(words);
  }
  std::vector<std::string> parts;
  if (s.interrupted)
    parts.push_back(fmt::format("{} after {}", stop_text(s.stop_reason), packets_text(s.frames_read)));
  if (before_bth != 0) {
    parts.push_back(
        fmt::format("{} to UDP port 4791 {} cut before the end of the BTH and cannot be judged: capture at "
                    "least 128 bytes of each",
                    packets_text(before_bth), before_bth == 1 ? "is" : "are"));
  }
  if (!s.interrupted && before_bth == 0 && others.empty())
    others.push_back(words_of_diagnostic(diagnostic_name(DiagnosticId::input_failed)));
  if (!others.empty())
    parts.push_back(fmt::format("part of {} could not be read or judged ({})",
                                s.interrupted ? "that" : "the capture", fmt::join(others, ", ")));
  return fmt::format("{}; what follows speaks for {} only", fmt::join(parts, ", and "),
                     s.interrupted ? "these" : "the rest");
}

}  // namespace roce::analyze
