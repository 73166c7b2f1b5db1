// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/dcbx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "dissect/headers/lldp.hpp"
#include "dissect/headers/lldp_cee.hpp"
#include "dissect/headers/lldp_dcbx.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

constexpr std::uint16_t roce_udp_port = 4791, roce_v1_ethertype = 0x8915;
constexpr std::size_t applications_kept = 64;  // more than a frame has room for

/// The first byte of a TLV and the end of its bytes.
struct Tlv {
  const std::uint8_t* p;
  std::size_t length;
};

std::string hex_text(const std::uint8_t* p, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", p[i]);
  return text;
}

/// An identifier after type, length and subtype (IEEE 802.1AB, 8.5.2 and 8.5.3): addresses formatted, names
/// unchanged.
template <class Id>
std::string id_text(Tlv tlv, std::uint8_t component_subtype) {
  std::string text;
  if (Id::is_mac(tlv.p)) {
    append_mac(text, tlv.p + 3);
  } else if (Id::is_ipv4(tlv.p)) {
    append_ipv4(text, tlv.p + 4);
  } else if (Id::is_ipv6(tlv.p)) {
    append_ipv6(text, tlv.p + 4);
  } else {
    const std::uint8_t* value = tlv.p + 3;
    const std::size_t size = tlv.length - 3;
    const bool names =
        read<Id::subtype>(tlv.p) != component_subtype &&
        std::all_of(value, value + size, [](std::uint8_t c) { return c >= 0x20 && c != 0x7f; });
    text = names ? std::string(value, value + size) : hex_text(value, size);
  }
  return text;
}

template <class Ets>
void read_ets_table(DcbxEts& ets, const std::uint8_t* p, std::size_t classes_at) {
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint8_t pair = p[classes_at + i / 2];
    ets.class_of[i] = i % 2 == 0 ? pair >> 4U : pair & 15U;
    ets.bandwidth[i] = p[classes_at + 4 + i];
  }
}

template <class Ets>
DcbxEts read_ieee_ets(const std::uint8_t* p) {
  constexpr std::size_t classes_at = 7, selection_at = classes_at + 12;
  DcbxEts ets;
  if constexpr (Ets::is_configuration) {
    ets.willing = read<Ets::willing>(p) != 0;
    ets.max_classes = read<Ets::max_classes>(p);
  }
  read_ets_table<Ets>(ets, p, classes_at);
  for (std::size_t i = 0; i < 8; ++i) ets.selection[i] = p[selection_at + i];
  return ets;
}

DcbxEts read_cee_groups(const std::uint8_t* p) {
  using Groups = LldpDcbxCeePriorityGroups;
  constexpr std::size_t groups_at = 6;
  DcbxEts ets;
  ets.willing = read<Groups::willing>(p) != 0;
  ets.max_classes = read<Groups::classes>(p);
  read_ets_table<Groups>(ets, p, groups_at);
  return ets;
}

DcbxPfc read_ieee_pfc(const std::uint8_t* p) {
  DcbxPfc pfc;
  pfc.willing = read<LldpDcbxPfc::willing>(p) != 0;
  pfc.mbc = read<LldpDcbxPfc::mbc>(p) != 0;
  pfc.max_classes = read<LldpDcbxPfc::max_classes>(p);
  pfc.enabled = read<LldpDcbxPfc::enabled>(p);
  return pfc;
}

DcbxPfc read_cee_pfc(const std::uint8_t* p) {
  using Pfc = LldpDcbxCeePfc;
  DcbxPfc pfc;
  pfc.willing = read<Pfc::willing>(p) != 0;
  pfc.in_use = read<Pfc::enabled>(p) != 0 && read<Pfc::error>(p) == 0;
  pfc.max_classes = read<Pfc::classes>(p);
  pfc.enabled = read<Pfc::priorities>(p);
  return pfc;
}

DcbxApplication read_ieee_application(const std::uint8_t* p) {
  using Entry = LldpDcbxApplicationEntry;
  return {read<Entry::selector>(p), read<Entry::protocol>(p),
          static_cast<std::uint8_t>(1U << read<Entry::priority>(p))};
}

DcbxApplication read_cee_application(const std::uint8_t* p) {
  using Entry = LldpDcbxCeeApplicationEntry;
  constexpr std::array<std::uint8_t, 2> selectors{DcbxApplication::ethertype, DcbxApplication::tcp_or_udp};
  const std::uint8_t selector = read<Entry::selector>(p);
  return {selector < selectors.size() ? selectors[selector] : std::uint8_t{0}, read<Entry::protocol>(p),
          read<Entry::priorities>(p)};
}

/// Reads one TLV into `port`, whose identity is already set.
void read_tlv(HeaderId id, Tlv tlv, DcbxPort& port) {
  const auto text = [&] { return std::string(tlv.p + LldpTlv::header_size, tlv.p + tlv.length); };
  const auto add = [](std::vector<DcbxApplication>& list, const DcbxApplication& entry) {
    if (list.size() < applications_kept) list.push_back(entry);
  };
  switch (id) {
    case HeaderId::lldp_ttl:
      port.ttl = read<LldpTtl::seconds>(tlv.p);
      break;
    case HeaderId::lldp_port_description:
      port.description = text();
      break;
    case HeaderId::lldp_system_name:
      port.system = text();
      break;
    case HeaderId::lldp_capabilities:
      port.enabled_capabilities = read<LldpCapabilities::enabled>(tlv.p);
      break;
    case HeaderId::lldp_dcbx_ets_configuration:
      port.ieee.ets = read_ieee_ets<LldpDcbxEtsConfiguration>(tlv.p);
      break;
    case HeaderId::lldp_dcbx_ets_recommendation:
      port.ieee.recommended = read_ieee_ets<LldpDcbxEtsRecommendation>(tlv.p);
      break;
    case HeaderId::lldp_dcbx_pfc:
      port.ieee.pfc = read_ieee_pfc(tlv.p);
      break;
    case HeaderId::lldp_dcbx_application_entry:
      add(port.ieee.applications, read_ieee_application(tlv.p));
      break;
    case HeaderId::lldp_dcbx_cee_priority_groups:
      port.cee.ets = read_cee_groups(tlv.p);
      break;
    case HeaderId::lldp_dcbx_cee_pfc:
      port.cee.pfc = read_cee_pfc(tlv.p);
      break;
    case HeaderId::lldp_dcbx_cee_application_entry:
      add(port.cee.applications, read_cee_application(tlv.p));
      break;
    default:
      break;
  }
}

std::string pfc_text(const std::optional<DcbxPfc>& pfc) {
  return pfc ? fmt::format("{}{}", priorities_text(pfc->enabled), pfc->willing ? " willing" : "")
             : std::string("not announced");
}
std::string ets_text(const std::optional<DcbxEts>& ets) {
  if (!ets) return "not announced";
  return fmt::format("classes {} bandwidth {}{}", fmt::join(ets->class_of, " "),
                     fmt::join(ets->bandwidth, " "), ets->willing ? " willing" : "");
}

/// Describes how one version's settings changed.
void append_changes(std::string& out, const char* version, const DcbxSettings& before,
                    const DcbxSettings& now) {
  const auto add = [&](const char* what, const std::string& from, const std::string& to) {
    if (!out.empty()) out += "; ";
    out += fmt::format("{} {}: {} -> {}", version, what, from, to);
  };
  if (before.pfc != now.pfc) add("PFC", pfc_text(before.pfc), pfc_text(now.pfc));
  if (before.ets != now.ets) add("ETS", ets_text(before.ets), ets_text(now.ets));
  if (before.recommended != now.recommended)
    add("recommended ETS", ets_text(before.recommended), ets_text(now.recommended));
  if (before.applications != now.applications) {
    add("RoCE priority", priorities_text(announced_roce_priorities(before)),
        priorities_text(announced_roce_priorities(now)));
  }
}

}  // namespace

std::string priorities_text(std::uint8_t bits) {
  std::string text;
  for (unsigned p = 0; p < 8; ++p) {
    if ((bits >> p & 1U) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", p);
  }
  return text.empty() ? std::string("none") : text;
}

bool DcbxApplication::is_roce() const noexcept {
  return ((selector == udp || selector == tcp_or_udp) && protocol == roce_udp_port) ||
         (selector == ethertype && protocol == roce_v1_ethertype);
}

DcbxWinner pfc_winner(const DcbxPfc& a, std::uint64_t mac_a, const DcbxPfc& b, std::uint64_t mac_b) noexcept {
  if (a.enabled == b.enabled) return DcbxWinner::same;
  if (!a.willing && !b.willing) return DcbxWinner::neither;
  if (a.willing && b.willing) return mac_a < mac_b ? DcbxWinner::a : DcbxWinner::b;
  return a.willing ? DcbxWinner::b : DcbxWinner::a;
}

std::uint8_t announced_roce_priorities(const DcbxSettings& settings, PacketVersion version) noexcept {
  unsigned bits = 0;
  for (const DcbxApplication& application : settings.applications) {
    const bool v1 = application.selector == DcbxApplication::ethertype;
    if (!application.is_roce() || (version != PacketVersion::any && v1 != (version == PacketVersion::v1)))
      continue;
    bits |= application.priorities;
  }
  return static_cast<std::uint8_t>(bits);
}

PriorityMap with_announced_dscps(PriorityMap map, const DcbxSettings& settings) noexcept {
  for (const DcbxApplication& application : settings.applications) {
    if (application.selector != DcbxApplication::dscp || application.protocol >= map.by_dscp.size()) continue;
    for (std::uint8_t p = 0; p < 8; ++p) {
      if ((application.priorities >> p & 1U) != 0) map.by_dscp[application.protocol] = p;
    }
  }
  return map;
}

std::vector<DcbxLink> links_of(const DcbxTable& table) {
  const auto counts_less = [&](std::size_t a, std::size_t b) {
    const auto rank = [](const DcbxPort& port) {
      return std::tuple(!port.withdrawn(), port.announces(), port.last_packet);
    };
    return rank(table.ports[a]) < rank(table.ports[b]);
  };
  std::map<std::uint16_t, std::vector<std::size_t>> at;  // by point: one port a MAC address
  for (std::size_t i = 0; i < table.ports.size(); ++i) {
    std::vector<std::size_t>& ends = at[table.ports[i].point];
    const auto same = std::find_if(ends.begin(), ends.end(), [&](std::size_t other) {
      return table.ports[other].mac == table.ports[i].mac;
    });
    if (same == ends.end()) {
      if (ends.size() < 3) ends.push_back(i);  // three are enough to know that it is no single link
    } else if (counts_less(*same, i)) {
      *same = i;
    }
  }
  std::vector<DcbxLink> links;
  for (const auto& [point, ends] : at) {
    if (ends.size() == 2) links.push_back({ends[0], ends[1]});
  }
  return links;
}

void DcbxTracker::see(std::uint64_t number, const capture::Frame& frame, const Dissection& d) {
  const std::optional<LinkView> link = link_view(frame.data, d);
  DcbxPort now;
  now.mac = link ? link->src : 0;
  now.point = frame.point;
  now.incomplete = d.stop != Stop::complete;
  bool chassis = false;
  bool port = false;
  for (const Layer& layer : d.all()) {
    const Tlv tlv{frame.data + layer.offset, layer.length};
    constexpr std::uint8_t chassis_component = 1, port_component = 2;  // IEEE 802.1AB: RFC 4133 names
    if (layer.id == HeaderId::lldp_chassis_id && !chassis) {
      now.chassis = id_text<LldpChassisId>(tlv, chassis_component);
      chassis = true;
    } else if (layer.id == HeaderId::lldp_port_id && !port) {
      now.port = id_text<LldpPortId>(tlv, port_component);
      port = true;
    } else {
      read_tlv(layer.id, tlv, now);
    }
  }
  if (!chassis || !port) return;  // does not identify its port

  const Key key{now.point, now.mac, now.chassis, now.port};
  auto found = places_.find(key);
  if (found == places_.end()) {
    if (table_.ports.size() >= port_limit_) {
      ++table_.dropped_frames;
      return;
    }
    places_.emplace(key, table_.ports.size());
    now.frames.add(number, frame.time_ns);
    now.last_packet = number;
    table_.ports.push_back(std::move(now));
    return;
  }
  DcbxPort& known = table_.ports[found->second];
  // An incomplete frame withdraws nothing; withdrawn settings are kept.
  const bool withdraws = now.ttl == 0;
  if (!now.incomplete && !withdraws && (now.ieee != known.ieee || now.cee != known.cee)) {
    ++known.changed;
    if (known.changed > 1 && now.ieee == known.ieee_before && now.cee == known.cee_before)
      ++known.changed_back;
    known.last_change_packet = number;
    if (known.changes.size() < DcbxPort::changes_kept) {
      std::string what;
      append_changes(what, "IEEE", known.ieee, now.ieee);
      append_changes(what, "CEE", known.cee, now.cee);
      known.changes.push_back({number, frame.time_ns, std::move(what)});
    }
    known.ieee_before = std::exchange(known.ieee, std::move(now.ieee));
    known.cee_before = std::exchange(known.cee, std::move(now.cee));
  }
  known.incomplete = known.incomplete && now.incomplete;
  known.ttl = now.ttl;
  if (now.enabled_capabilities != 0) known.enabled_capabilities = now.enabled_capabilities;
  if (!now.system.empty()) known.system = std::move(now.system);
  if (!now.description.empty()) known.description = std::move(now.description);
  known.frames.add(number, frame.time_ns);
  known.last_packet = number;
}

DcbxTable DcbxTracker::finish() {
  places_.clear();
  return std::exchange(table_, {});
}

}  // namespace roce::analyze
