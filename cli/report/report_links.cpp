// SPDX-License-Identifier: Apache-2.0
// Sections Pause and DCBX of the text report.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/results/pause_facts.hpp"
#include "cli/report/report_parts.hpp"

namespace roce::cli {

using analyze::DcbxPort;
using analyze::DcbxSettings;
using analyze::duty_of;
using analyze::is_speed_known;
using analyze::mac_text;
using analyze::PauseLane;
using analyze::PausePort;
using analyze::Snapshot;

namespace {

constexpr std::size_t most_ports = 8;  // lines of a section; --json has all

bool several_points(const Snapshot& s) {
  return std::any_of(s.pauses.ports.begin(), s.pauses.ports.end(),
                     [&](const PausePort& port) { return port.point != s.pauses.ports.front().point; });
}

/// "PFC 02:00:00:00:00:01 priority 3: 12 XOFF (8 while paused), 4 XON; paused 1.20 ms (12.0 %), longest ..."
std::string lane_text(const Snapshot& s, const PausePort& port, unsigned i, bool with_point) {
  const PauseLane& lane = *port.lanes[i];
  std::string text = mac_text(port.mac);
  if (with_point) text += fmt::format(" (capture point {})", port.point);
  text += i == PausePort::global ? std::string(", global PAUSE: ") : fmt::format(", priority {}: ", i);
  text += fmt::format("{} XOFF", lane.xoff.count);
  if (lane.refreshed != 0 && is_speed_known(port)) text += fmt::format(" ({} while paused)", lane.refreshed);
  text += fmt::format(", {} XON", lane.xon.count);
  if (is_speed_known(port)) {
    text += fmt::format("; paused {}", analyze::duration_text(lane.paused_ns));
    if (const auto duty = duty_of(s, port, lane)) text += fmt::format(" ({:.1f} %)", 100 * *duty);
    text += fmt::format(", longest {}", analyze::duration_text(lane.longest_ns));
  } else {
    text += fmt::format("; paused at most {} quanta", lane.asked_quanta);
  }
  if (lane.paused_at_end && is_speed_known(port)) text += ", still paused at the end";
  if (lane.overrun.count != 0)
    text += fmt::format("; {} sent to it while paused", packets_text(lane.overrun.count));
  return text;
}

std::string settings_text(const DcbxSettings& settings) {
  std::string text;
  if (settings.pfc) {
    text += fmt::format("PFC on {}{}", analyze::priorities_text(settings.pfc->enabled),
                        settings.pfc->in_use ? "" : " (not in use)");
    if (settings.pfc->willing) text += ", willing";
  } else {
    text += "no PFC";
  }
  using analyze::PacketVersion;
  for (const PacketVersion version : {PacketVersion::v2, PacketVersion::v1}) {
    if (const std::uint8_t roce = analyze::announced_roce_priorities(settings, version); roce != 0) {
      text += fmt::format("; RoCE{} on {}", version == PacketVersion::v1 ? " v1" : "",
                          analyze::priorities_text(roce));
    }
  }
  return text;
}

}  // namespace

void write_pauses(Page& page, const Snapshot& s) {
  std::vector<std::pair<const PausePort*, unsigned>> lanes;
  std::uint64_t frames = 0;
  bool unknown = false;
  for (const PausePort& port : s.pauses.ports) {
    frames += port.frames.count;
    for (unsigned i = 0; i < PausePort::lane_count; ++i) {
      if (!port.lanes[i]) continue;
      lanes.emplace_back(&port, i);
      unknown = unknown || !is_speed_known(port);
    }
  }
  if (s.pauses.ports.empty()) return;
  std::stable_sort(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) {
    return a.first->lanes[a.second]->paused_ns > b.first->lanes[b.second]->paused_ns;
  });
  page.section("Pause");
  page.line(fmt::format("{} of {}", plural(frames, "PAUSE or PFC frame", "PAUSE and PFC frames"),
                        plural(s.pauses.ports.size(), "port", "ports")));
  const bool with_point = several_points(s);
  for (std::size_t i = 0; i < std::min(most_ports, lanes.size()); ++i)
    page.line(lane_text(s, *lanes[i].first, lanes[i].second, with_point));
  if (lanes.size() > most_ports) page.line(fmt::format("and {} more: see --json", lanes.size() - most_ports));
  if (unknown) {
    page.line(
        "The link speed is not known, so the paused time is not either: set it with --link-speed, for "
        "example 100G.");
  }
}

void write_dcbx(Page& page, const Snapshot& s) {
  const std::vector<DcbxPort>& ports = s.dcbx.ports;
  const auto announce = static_cast<std::uint64_t>(
      std::count_if(ports.begin(), ports.end(), [](const DcbxPort& port) { return port.announces(); }));
  if (announce == 0) return;
  page.section("DCBX");
  page.line(fmt::format("{} of {} that send LLDP", announce, plural(ports.size(), "port", "ports")));
  std::size_t told = 0;
  for (const DcbxPort& port : ports) {
    if (!port.announces() || ++told > most_ports) continue;
    const std::string name = port.system.empty() ? port.chassis : port.system;
    std::string text = fmt::format("{} {}", printable(name), printable(port.port));
    if (port.ieee.any()) text += " (IEEE): " + settings_text(port.ieee);
    if (port.cee.any()) text += (port.ieee.any() ? "; CEE: " : " (CEE): ") + settings_text(port.cee);
    if (port.withdrawn()) text += "; withdrawn later (time to live 0)";
    if (port.changed != 0) text += fmt::format("; changed {}", plural(port.changed, "time", "times"));
    page.line(text);
  }
  if (announce > most_ports) page.line(fmt::format("and {} more: see --json", announce - most_ports));
}

}  // namespace roce::cli
