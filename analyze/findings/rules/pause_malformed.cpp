// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

using enum PauseFault;
constexpr EnumNames<PauseFault, pause_fault_count> words({
    {reserved_bits, "{} with reserved bits set in the class enable vector (its high byte must be 0)"},
    {no_priority, "{} of PFC with no priority enabled"},
    {wrong_destination, "{} to another address than 01:80:c2:00:00:01, which bridges may forward"},
    {tagged, "{} with a VLAN tag, which a MAC does not recognise as pause frames"},
    {too_short, "{} that end before their pause times"},
});

}  // namespace

void find_pause_malformed(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for (const PausePort& port : snapshot.pauses.ports) {
    Proof proof;
    std::string text;
    for (std::size_t i = 0; i < pause_fault_count; ++i) {
      const Sightings& fault = port.faults[i];
      if (fault.count == 0) continue;
      proof.add(&fault);
      if (!text.empty()) text += ", ";
      text += fmt::format(fmt::runtime(words[static_cast<PauseFault>(i)]), packets_text(fault.count));
    }
    if (proof.count == 0) continue;
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(Severity::warning, who, proof);
    finding.confidence = 0.9;
    finding.explanation = fmt::format(
        "Port {} sends PAUSE or PFC frames that violate IEEE 802.3, Annexes 31B and 31D: {}. How the "
        "receiver handles them is undefined.",
        who, text);
    finding.advice =
        "Update firmware and driver of that port (ethtool -i DEV). Frames from a traffic generator, or from "
        "a mirror that adds its own tag, are no fault of the port: where were they captured? All pause "
        "frames of that port: " +
        packets_command(snapshot, pause_filter(port.mac));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze
