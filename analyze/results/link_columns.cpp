// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/link_columns.hpp"

#include <fmt/format.h>

#include <string>

#include "analyze/base/units.hpp"
#include "analyze/base/value_format.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

using P = const PauseRow&;
using D = const DcbxRow&;

/// Empty without the link speed, since the end of a pause that expires depends on it.
template <class Get>
std::string if_known(P row, Get get) {
  return is_speed_known(*row.port) ? get(row.counts()) : std::string();
}
template <std::uint64_t PauseLane::*count>
std::string known_count(P row) {
  return if_known(row, [](const PauseLane& lane) { return std::to_string(lane.*count); });
}
template <std::int64_t PauseLane::*time>
std::string known_time(P row) {
  return if_known(row, [](const PauseLane& lane) { return duration_text(lane.*time); });
}
/// Without the link speed what it is at least: pauses that expire are as short as on the fastest link.
template <std::int64_t PauseLane::*time>
std::string least_time(P row) {
  const std::int64_t ns = row.counts().*time;
  if (is_speed_known(*row.port)) return duration_text(ns);
  return ns > 0 ? "at least " + duration_text(ns) : std::string();
}
template <std::int64_t PauseLane::*time>
std::string known_ns(P row) {
  return if_known(row, [](const PauseLane& lane) { return std::to_string(lane.*time); });
}
template <std::uint64_t PauseLane::*count>
double number_of(P row) {
  return static_cast<double>(row.counts().*count);
}

std::optional<double> duty(P row) {
  return duty_of(*row.snapshot, *row.port, row.counts());
}
std::string interface_name(P row) {
  const auto& interfaces = row.snapshot->interfaces;
  return row.port->interface < interfaces.size() ? interfaces[row.port->interface].name : std::string();
}
std::uint64_t first_packet(P row) {
  const PauseLane& lane = row.counts();
  return lane.xoff.count != 0 ? lane.xoff.frames[0] : lane.xon.frames[0];
}
std::uint64_t xoffs(P row) {
  return row.counts().xoff.count;
}
std::uint64_t xons(P row) {
  return row.counts().xon.count;
}
std::uint64_t storms(P row) {
  return row.counts().storms.count;
}

constexpr PauseColumn pauses[] = {
    {"port", "port", "source MAC address of the frames", false, 0, nullptr,
     [](P r) { return mac_text(r.port->mac); }, nullptr},
    {"kind", "kind", "pfc or pause (global)", false, 0, nullptr,
     [](P r) { return std::string(r.lane == PausePort::global ? "pause" : "pfc"); }, nullptr},
    {"priority", "priority", "0 to 7; empty: global PAUSE", true, 0,
     [](P r) { return r.lane == PausePort::global ? -1.0 : static_cast<double>(r.lane); },
     [](P r) { return r.lane == PausePort::global ? std::string() : std::to_string(r.lane); }, nullptr},
    {"point", "point", "capture point", true, 3, [](P r) { return static_cast<double>(r.port->point); },
     [](P r) { return std::to_string(r.port->point); }, nullptr},
    {"interface", "interface", "name of the capturing interface of the first frame", false, hidden_column,
     nullptr, interface_name, nullptr},
    {"link_speed", "link speed", "of the paused link, bit/s; empty: unknown", true, 3,
     [](P r) { return static_cast<double>(r.port->speed_bps); },
     [](P r) {
       return is_speed_known(*r.port) ? rate_text(static_cast<double>(r.port->speed_bps)) : std::string();
     },
     [](P r) { return is_speed_known(*r.port) ? std::to_string(r.port->speed_bps) : std::string(); }},
    count_column<PauseRow, xoffs>("xoff", "XOFF", "XOFF frames, including refreshes", 0),
    count_column<PauseRow, xons>("xon", "XON", "XON frames", 1),
    {"pauses", "pauses", "from XOFF to XON or expiry; empty: the link speed is unknown", true, 2,
     number_of<&PauseLane::pauses>, known_count<&PauseLane::pauses>, nullptr},
    {"refreshed", "refreshed", "XOFFs while paused", true, hidden_column, number_of<&PauseLane::refreshed>,
     known_count<&PauseLane::refreshed>, nullptr},
    {"expired", "expired", "pauses that ended without XON", true, hidden_column,
     number_of<&PauseLane::expired>, known_count<&PauseLane::expired>, nullptr},
    {"needless_xon", "spurious XON", "XONs while not paused", true, hidden_column,
     number_of<&PauseLane::needless_xon>, known_count<&PauseLane::needless_xon>, nullptr},
    {"paused_ns", "paused", "time paused; without the link speed only what is certain", true, 0,
     [](P r) { return static_cast<double>(r.counts().paused_ns); }, least_time<&PauseLane::paused_ns>,
     known_ns<&PauseLane::paused_ns>},
    {"duty", "duty", "share of the capture's time paused, 0 to 1; empty: unknown", true, 1,
     [](P r) { return duty(r).value_or(0); },
     [](P r) { return duty(r) ? fmt::format("{:.1f} %", 100 * *duty(r)) : std::string(); },
     [](P r) { return duty(r) ? fmt::format("{}", *duty(r)) : std::string(); }, CellType::real},
    {"longest_ns", "longest", "longest pause; without the link speed only what is certain", true, 1,
     [](P r) { return static_cast<double>(r.counts().longest_ns); }, least_time<&PauseLane::longest_ns>,
     known_ns<&PauseLane::longest_ns>},
    {"longest_packet", "longest packet", "number of the XOFF that began the longest one", true, hidden_column,
     [](P r) { return -static_cast<double>(r.counts().longest_packet); },
     [](P r) { return std::to_string(r.counts().longest_packet); }, nullptr},
    {"paused_quanta", "quanta", "time paused in quanta; an upper bound if the link speed is unknown", true, 2,
     [](P r) { return static_cast<double>(paused_quanta(*r.port, r.counts())); },
     [](P r) { return std::to_string(paused_quanta(*r.port, r.counts())); }, nullptr},
    {"paused_at_end", "at end", "whether it was paused when the capture ended", false, hidden_column, nullptr,
     [](P r) {
       return if_known(r, [](const PauseLane& l) { return std::string(l.paused_at_end ? "true" : "false"); });
     },
     nullptr},
    count_column<PauseRow, storms>("storms", "storms", "pauses of at least --pause-storm", 2),
    {"traffic_while_paused", "packets while paused",
     "RoCE packets to the port on this priority while it was paused", true, 2,
     [](P r) { return static_cast<double>(r.counts().overrun.count); },
     [](P r) { return if_known(r, [](const PauseLane& l) { return std::to_string(l.overrun.count); }); },
     nullptr},
    {"first_packet", "first packet", "number of the first XOFF, else of the first XON", true, 3,
     [](P r) { return -static_cast<double>(first_packet(r)); },
     [](P r) { return std::to_string(first_packet(r)); }, nullptr},
};

std::string version_text(DcbxRow::Version version) {
  using enum DcbxRow::Version;
  static constexpr EnumNames<DcbxRow::Version, 3> names({{none, ""}, {ieee, "ieee"}, {cee, "cee"}});
  return std::string(names[version]);
}

/// A text of a port, which may hold any bytes, made printable.
template <std::string DcbxPort::*text>
std::string said(D row) {
  std::string out;
  append_printable(out, row.port->*text);
  return out;
}

/// "0 10 0 90": percent by class.
std::string bandwidths(D row) {
  const DcbxSettings& settings = row.settings();
  return settings.ets ? fmt::format("{}", fmt::join(settings.ets->bandwidth, " ")) : std::string();
}
std::string classes(D row) {
  const DcbxSettings& settings = row.settings();
  return settings.ets ? fmt::format("{}", fmt::join(settings.ets->class_of, " ")) : std::string();
}

/// Bits of priorities as "3" or "3 4", without commas because of CSV.
std::string priority_list(std::uint8_t bits) {
  std::string text;
  for (unsigned p = 0; p < 8; ++p) {
    if ((bits >> p & 1U) != 0) text += fmt::format("{}{}", text.empty() ? "" : " ", p);
  }
  return text;
}

std::string pfc_text(D row) {
  const std::optional<DcbxPfc>& pfc = row.settings().pfc;
  if (!pfc) return {};
  return pfc->enabled == 0 ? std::string("none") : priority_list(pfc->enabled);
}

std::string applications_text(D row) {
  constexpr std::string_view selectors[] = {"reserved", "ethertype", "tcp", "udp", "tcp_or_udp", "dscp"};
  std::string text;
  for (const DcbxApplication& application : row.settings().applications) {
    const std::string_view selector =
        selectors[application.selector < std::size(selectors) ? application.selector : 0];
    const bool hex = application.selector == DcbxApplication::ethertype;
    text += fmt::format(
        "{}{} {}: {}", text.empty() ? "" : "; ", selector,
        hex ? fmt::format("0x{:04x}", application.protocol) : std::to_string(application.protocol),
        priority_list(application.priorities));
  }
  return text;
}

template <PacketVersion version>
std::string roce_priorities(D row) {
  return priority_list(announced_roce_priorities(row.settings(), version));
}

std::uint64_t frames(D row) {
  return row.port->frames.count;
}
std::uint64_t changed(D row) {
  return row.port->changed;
}

constexpr DcbxColumn announcements[] = {
    {"port", "port", "source MAC address of the LLDP frames", false, 0, nullptr,
     [](D r) { return mac_text(r.port->mac); }, nullptr},
    {"point", "point", "capture point", true, 3, [](D r) { return static_cast<double>(r.port->point); },
     [](D r) { return std::to_string(r.port->point); }, nullptr},
    {"system", "system", "LLDP system name", false, 1, nullptr, said<&DcbxPort::system>, nullptr},
    {"port_id", "port id", "LLDP port ID", false, 1, nullptr, said<&DcbxPort::port>, nullptr},
    {"chassis", "chassis", "LLDP chassis ID", false, hidden_column, nullptr, said<&DcbxPort::chassis>,
     nullptr},
    {"description", "description", "LLDP port description", false, hidden_column, nullptr,
     said<&DcbxPort::description>, nullptr},
    {"version", "version", "ieee (802.1Q) or cee; empty: no DCBX announced", false, 0, nullptr,
     [](D r) { return version_text(r.version); }, nullptr},
    {"pfc", "PFC on", "priorities with PFC, none, or empty: not announced", false, 0, nullptr, pfc_text,
     nullptr},
    {"pfc_willing", "willing", "whether it accepts the peer's PFC settings", false, 1, nullptr,
     [](D r) {
       const std::optional<DcbxPfc>& pfc = r.settings().pfc;
       return pfc ? std::string(pfc->willing ? "true" : "false") : std::string();
     },
     nullptr},
    {"pfc_in_use", "in use", "CEE: whether PFC is enabled and without error", false, hidden_column, nullptr,
     [](D r) {
       const std::optional<DcbxPfc>& pfc = r.settings().pfc;
       return pfc ? std::string(pfc->in_use ? "true" : "false") : std::string();
     },
     nullptr},
    {"pfc_max_classes", "PFC classes", "maximum number of priorities with PFC", true, hidden_column, nullptr,
     [](D r) {
       const std::optional<DcbxPfc>& pfc = r.settings().pfc;
       return pfc ? std::to_string(pfc->max_classes) : std::string();
     },
     nullptr, CellType::integer},
    {"roce_v2", "RoCE on", "priorities announced for UDP port 4791", false, 0, nullptr,
     roce_priorities<PacketVersion::v2>, nullptr},
    {"roce_v1", "RoCE v1 on", "priorities announced for ethertype 0x8915", false, 2, nullptr,
     roce_priorities<PacketVersion::v1>, nullptr},
    {"applications", "applications", "all announced priorities of applications and DSCPs", false, 3, nullptr,
     applications_text, nullptr},
    {"ets_class", "ETS class", "traffic class of each priority", false, hidden_column, nullptr, classes,
     nullptr},
    {"ets_bandwidth", "ETS bandwidth", "bandwidth of each traffic class in percent", false, 3, nullptr,
     bandwidths, nullptr},
    {"ttl", "TTL", "validity of the last frame in seconds", true, hidden_column,
     [](D r) { return static_cast<double>(r.port->ttl); }, [](D r) { return std::to_string(r.port->ttl); },
     nullptr},
    count_column<DcbxRow, frames>("frames", "frames", "LLDP frames of the port", 2),
    count_column<DcbxRow, changed>("changed", "changed",
                                   "of them, those with other settings than the one before", 2),
    {"first_packet", "first packet", "number of the first frame", true, 3,
     [](D r) { return -static_cast<double>(r.port->frames.frames[0]); },
     [](D r) { return std::to_string(r.port->frames.frames[0]); }, nullptr},
};

}  // namespace

std::span<const PauseColumn> pause_columns() noexcept {
  return pauses;
}

std::vector<PauseRow> pause_rows(const Snapshot& snapshot) {
  std::vector<PauseRow> rows;
  for (const PausePort& port : snapshot.pauses.ports) {
    for (unsigned i = 0; i < PausePort::lane_count; ++i) {
      if (port.lanes[i]) rows.push_back({&snapshot, &port, i});
    }
  }
  return rows;
}

std::span<const DcbxColumn> dcbx_columns() noexcept {
  return announcements;
}

std::vector<DcbxRow> dcbx_rows(const Snapshot& snapshot) {
  std::vector<DcbxRow> rows;
  for (const DcbxPort& port : snapshot.dcbx.ports) {
    if (port.ieee.any()) rows.push_back({&port, DcbxRow::Version::ieee});
    if (port.cee.any()) rows.push_back({&port, DcbxRow::Version::cee});
    if (!port.announces()) rows.push_back({&port, DcbxRow::Version::none});
  }
  return rows;
}

}  // namespace roce::analyze
