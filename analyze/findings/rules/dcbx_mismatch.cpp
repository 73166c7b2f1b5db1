// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {
namespace {

struct Differences {
  std::vector<std::string> texts;
  Severity severity = Severity::info;
  std::uint8_t pfc = 0;  ///< priorities that both should have
  void add(Severity how, std::string text) {
    severity = std::max(severity, how);
    texts.push_back(std::move(text));
  }
};

/// The settings of the DCBX version that both ends use; null if there is none.
struct Spoken {
  const DcbxSettings* a = nullptr;
  const DcbxSettings* b = nullptr;
};
Spoken spoken_by_both(const DcbxPort& a, const DcbxPort& b) noexcept {
  if (a.ieee.any() && b.ieee.any()) return {&a.ieee, &b.ieee};
  if (a.cee.any() && b.cee.any()) return {&a.cee, &b.cee};
  return {};
}

/// Whether the port sent another announcement after the peer had announced its current settings.
bool had_time_to_announce(const DcbxPort& port, const DcbxPort& other) noexcept {
  return port.last_packet > std::max(other.frames.frames[0], other.last_change_packet);
}

std::string announcement_name(const DcbxPort& port) {
  return mac_text(port.mac);
}

void compare_pfc(const DcbxPort& a, const DcbxPfc& x, const DcbxPort& b, const DcbxPfc& y, Differences& out) {
  const auto both = [&](std::string_view more) {
    out.add(Severity::warning,
            fmt::format("PFC priorities are {} at {} and {} at {}{}", priorities_text(x.enabled),
                        announcement_name(a), priorities_text(y.enabled), announcement_name(b), more));
  };
  switch (pfc_winner(x, a.mac, y, b.mac)) {
    case DcbxWinner::same:
      out.pfc = x.enabled;
      break;
    case DcbxWinner::neither:
      out.pfc = x.enabled | y.enabled;
      both(", and neither is willing to accept the other's");
      break;
    case DcbxWinner::a:
      out.pfc = x.enabled;
      if (had_time_to_announce(b, a))
        both(fmt::format("; {} is willing and should have adopted the other's, but has not",
                         announcement_name(b)));
      break;
    case DcbxWinner::b:
      out.pfc = y.enabled;
      if (had_time_to_announce(a, b))
        both(fmt::format("; {} is willing and should have adopted the other's, but has not",
                         announcement_name(a)));
      break;
  }
  const auto capable = [&](const DcbxPort& port, const DcbxPfc& pfc) {
    const auto wanted = static_cast<unsigned>(std::popcount(out.pfc));
    if (pfc.max_classes != 0 && wanted > pfc.max_classes) {
      out.add(Severity::warning,
              fmt::format("{} supports PFC for {} only, but {} are enabled", announcement_name(port),
                          plural(pfc.max_classes, "priority", "priorities"), wanted));
    }
    if (!pfc.in_use)
      out.add(Severity::warning,
              fmt::format("{} announces PFC as disabled or in error", announcement_name(port)));
  };
  capable(a, x);
  capable(b, y);
}

void compare_ends(const DcbxPort& a, const DcbxPort& b, Differences& out) {
  const Spoken spoken = spoken_by_both(a, b);
  if (spoken.a == nullptr) {
    if (!a.announces() && !b.announces()) return;
    for (const DcbxPort* port : {&a, &b}) {
      if (const auto& pfc = port->settings().pfc) out.pfc |= pfc->enabled;
    }
    const bool versions = a.announces() && b.announces();
    const DcbxPort& silent = a.announces() ? b : a;
    if (versions) {
      out.add(Severity::warning, fmt::format("{} uses {} and {} {}, so neither accepts the other's settings",
                                             announcement_name(a), a.ieee.any() ? "IEEE DCBX" : "CEE",
                                             announcement_name(b), b.ieee.any() ? "IEEE DCBX" : "CEE"));
    } else if (!silent.incomplete) {
      out.add(Severity::notice,
              fmt::format("{} announces nothing, so its settings are not known", announcement_name(silent)));
    }
    return;
  }
  const DcbxSettings& x = *spoken.a;
  const DcbxSettings& y = *spoken.b;
  if (x.pfc && y.pfc) {
    compare_pfc(a, *x.pfc, b, *y.pfc, out);
  } else if (x.pfc || y.pfc) {
    const DcbxPort& silent = x.pfc ? b : a;
    const DcbxPfc& told = x.pfc ? *x.pfc : *y.pfc;
    out.pfc = told.enabled;
    if (!silent.incomplete && told.enabled != 0) {
      out.add(Severity::warning,
              fmt::format("{} announces PFC on {}, {} announces none", announcement_name(x.pfc ? a : b),
                          priorities_text(told.enabled), announcement_name(silent)));
    }
  }
  if (x.ets && y.ets && !x.ets->willing && !y.ets->willing && x.ets->class_of != y.ets->class_of) {
    out.add(Severity::notice, fmt::format("ETS maps the priorities to classes {} at {} and {} at {}",
                                          fmt::join(x.ets->class_of, " "), announcement_name(a),
                                          fmt::join(y.ets->class_of, " "), announcement_name(b)));
  }
  for (const PacketVersion version : {PacketVersion::v2, PacketVersion::v1}) {
    const std::uint8_t on_a = announced_roce_priorities(x, version);
    const std::uint8_t on_b = announced_roce_priorities(y, version);
    if (on_a == 0 || on_b == 0 || on_a == on_b) continue;
    out.add(Severity::warning, fmt::format("RoCE{} is mapped to {} at {} and {} at {}",
                                           version == PacketVersion::v1 ? " v1" : "", priority_words(on_a),
                                           announcement_name(a), priority_words(on_b), announcement_name(b)));
  }
}

}  // namespace

void find_dcbx_mismatch(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for (const DcbxLink& link : links_of(snapshot.dcbx)) {
    const DcbxPort& a = snapshot.dcbx.ports[link.a];
    const DcbxPort& b = snapshot.dcbx.ports[link.b];
    Differences differences;
    compare_ends(a, b, differences);
    if (differences.texts.empty()) continue;
    Proof proof;
    for (const DcbxPort* port : {&a, &b}) {
      proof.add_frame(port->frames.frames[0]);
      proof.add_frame(port->last_packet);
      proof.add_time(port->frames.first_time_ns);
      proof.add_time(port->frames.last_time_ns);
    }
    proof.count = differences.texts.size();
    Finding finding =
        finding_of(differences.severity,
                   fmt::format("{} - {}", mac_text(a.mac), port_text(snapshot, b.mac, b.point)), proof);
    finding.confidence = 0.9;
    finding.explanation = fmt::format("The two ends of a link announce incompatible DCBX settings: {}.",
                                      fmt::join(differences.texts, "; "));
    std::uint8_t wanted = differences.pfc;
    for (const DcbxPort* port : {&a, &b}) {
      if (differences.pfc == 0) wanted |= announced_roce_priorities(port->settings());
    }
    finding.advice = fmt::format(
        "Configure both ends alike, or make the host willing and the switch not: mlnx_qos -i DEV --pfc {} "
        "(dcb pfc show dev DEV), with firmware DCBX mlxconfig -d DEV set LLDP_NB_DCBX_P1=1 DCBX_IEEE_P1=1 "
        "DCBX_WILLING_P1=1, with lldpad lldptool -T -i DEV -V PFC willing=yes; on the switch "
        "priority-flow-control mode on for the same priorities and IEEE DCBX. All LLDP frames of the two: {}",
        wanted != 0 ? pfc_list(wanted) : std::string("LIST"),
        packets_command(snapshot,
                        fmt::format("lldp && eth.src in {{{}, {}}}", mac_text(a.mac), mac_text(b.mac))));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze
