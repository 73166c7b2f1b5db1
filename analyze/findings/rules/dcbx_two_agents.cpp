// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/base/value_format.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {
namespace {

/// One change and its reversal happen where somebody tries settings out; two agents keep alternating.
constexpr std::uint64_t turns = 2;

/// "PFC on 3, willing (IEEE)".
std::string announced_text(const DcbxSettings& ieee, const DcbxSettings& cee) {
  const DcbxSettings& settings = ieee.any() ? ieee : cee;
  std::string text = "nothing";
  if (settings.pfc) {
    text = fmt::format("PFC on {}{}", priorities_text(settings.pfc->enabled),
                       settings.pfc->willing ? ", willing" : "");
  } else if (settings.any()) {
    text = "no PFC";
  }
  if (const std::uint8_t roce = announced_roce_priorities(settings); roce != 0)
    text += fmt::format(", RoCE on {}", priorities_text(roce));
  return settings.any() ? fmt::format("{} ({})", text, ieee.any() ? "IEEE" : "CEE") : text;
}

/// Whether it makes a difference which of the two applies.
bool contradict(const DcbxSettings& a, const DcbxSettings& b) noexcept {
  const std::uint8_t on_a = announced_roce_priorities(a);
  const std::uint8_t on_b = announced_roce_priorities(b);
  return (a.pfc && b.pfc && a.pfc->enabled != b.pfc->enabled) || (on_a != 0 && on_b != 0 && on_a != on_b);
}

/// When a port is reconfigured its agents come one after the other, and the first one signs off.
bool at_the_same_time(const DcbxPort& a, const DcbxPort& b) noexcept {
  return a.last_packet > b.frames.frames[0] && b.last_packet > a.frames.frames[0];
}

std::string agent_name(const DcbxPort& port) {
  std::string text = "chassis ";
  append_printable(text, port.chassis);
  text += ", port ";
  append_printable(text, port.port);
  return text;
}

struct Agents {
  Proof proof;
  std::string text;
  bool contradict = false;

  void add(const DcbxPort& port) {
    proof.add(&port.frames);
    proof.add_frame(port.last_packet);
  }
};

Agents of_one_name(const DcbxPort& port, const std::string& who) {
  Agents agents;
  agents.add(port);
  agents.contradict =
      contradict(port.ieee_before.any() ? port.ieee_before : port.cee_before, port.settings());
  agents.text = fmt::format(
      "Port {} alternates between {} and {}, {} back and forth: most likely two LLDP agents use the same "
      "identity.",
      who, announced_text(port.ieee_before, port.cee_before), announced_text(port.ieee, port.cee),
      times_text(port.changed_back));
  return agents;
}

Agents of_two_names(const DcbxPort& a, const DcbxPort& b, const std::string& who) {
  Agents agents;
  agents.add(a);
  agents.add(b);
  agents.contradict = contradict(a.settings(), b.settings());
  agents.text =
      fmt::format("Two LLDP agents are active on port {}: one ({}) announces {}, the other ({}) {}.", who,
                  agent_name(a), announced_text(a.ieee, a.cee), agent_name(b), announced_text(b.ieee, b.cee));
  return agents;
}

}  // namespace

void find_dcbx_two_agents(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  const auto tell = [&](const DcbxPort& port, const Agents& agents) {
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(agents.contradict ? Severity::warning : Severity::notice, who, agents.proof);
    finding.confidence = 0.8;
    finding.explanation = agents.text +
                          " The link partner cannot know which of them applies: it uses the one received "
                          "last, or neither.";
    finding.advice =
        "Keep only one of them, usually either the firmware's or the operating system's (lldpad, lldpd): "
        "mlxconfig -d DEV set LLDP_NB_DCBX_P1=0 LLDP_NB_RX_MODE_P1=0 LLDP_NB_TX_MODE_P1=0, ethtool "
        "--set-priv-flags DEV fw-lldp-agent off; or systemctl stop lldpad, lldptool -L -i DEV "
        "adminStatus=disabled. All LLDP frames of that port: " +
        packets_command(snapshot, fmt::format("lldp && eth.src == {}", mac_text(port.mac)));
    findings.push_back(std::move(finding));
  };
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::vector<const DcbxPort*>> by_mac;
  for (const DcbxPort& port : snapshot.dcbx.ports) {
    const std::string who = port_text(snapshot, port.mac, port.point);
    if (port.changed_back >= turns) tell(port, of_one_name(port, who));
    if (port.announces() && !port.withdrawn()) by_mac[{port.point, port.mac}].push_back(&port);
  }
  for (const auto& [end, ports] : by_mac) {
    // One pair per port is enough; agents that contradict each other come first.
    const DcbxPort* pair[2] = {nullptr, nullptr};
    for (std::size_t i = 0; i < ports.size(); ++i) {
      for (std::size_t j = i + 1; j < ports.size(); ++j) {
        if (!at_the_same_time(*ports[i], *ports[j])) continue;
        if (pair[0] != nullptr && !contradict(ports[i]->settings(), ports[j]->settings())) continue;
        if (pair[0] != nullptr && contradict(pair[0]->settings(), pair[1]->settings())) continue;
        pair[0] = ports[i];
        pair[1] = ports[j];
      }
    }
    if (pair[0] == nullptr) continue;
    const std::string who = port_text(snapshot, pair[0]->mac, pair[0]->point);
    tell(*pair[0], of_two_names(*pair[0], *pair[1], who));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze
