// SPDX-License-Identifier: Apache-2.0
// The JSON of pauses and DCBX.
#include <algorithm>
#include <array>
#include <string_view>

#include "analyze/base/units.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/link_columns.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

/// "ethertype", "udp" ...
std::string_view selector_key(std::uint8_t selector) noexcept {
  constexpr std::array<std::string_view, 6> names{"reserved", "ethertype",  "tcp",
                                                  "udp",      "tcp_or_udp", "dscp"};
  return names[selector < names.size() ? selector : 0U];
}

std::string_view winner_key(DcbxWinner winner) noexcept {
  using enum DcbxWinner;
  static constexpr EnumNames<DcbxWinner, 4> names({{same, "same"}, {a, "a"}, {b, "b"}, {neither, "neither"}});
  return names[winner];
}

void write_place(JsonWriter& json, const Snapshot& s, std::uint16_t point, std::uint16_t interface) {
  json.field("point", point);
  const bool named = interface < s.interfaces.size() && !s.interfaces[interface].name.empty();
  named ? json.field("interface", s.interfaces[interface].name) : json.null_field("interface");
}

void write_packets(JsonWriter& json, const Sightings& sightings) {
  json.key("packets").begin_row();
  for (const std::uint64_t frame : sightings.frames) json.value(frame);
  json.end_row();
}

/// 0 to 7; null for global PAUSE.
void write_priority(JsonWriter& json, unsigned lane) {
  json.field("kind", lane == PausePort::global ? "pause" : "pfc");
  lane == PausePort::global ? json.null_field("priority") : json.field("priority", lane);
}

void write_watchdog(JsonWriter& json, const WatchdogFacts* watchdog) {
  json.key("watchdog");
  if (watchdog == nullptr) {
    json.null();
    return;
  }
  json.begin_object().field("fires", watchdog->fires.count).field("restored", watchdog->restored.count);
  json.field("held_ns", watchdog->held_ns).field("held_at_end", watchdog->held_at_end);
  json.field("flowed_packets", watchdog->flowed.count).field("resumed_packets", watchdog->resumed.count);
  write_time(json, "first_time", watchdog->fires.first_time_ns);
  write_time(json, "last_time", watchdog->fires.last_time_ns);
  write_packets(json, watchdog->fires);
  json.end_object();
}

void write_lane(JsonWriter& json, const Snapshot& s, const PausePort& port, unsigned i) {
  const PauseLane& lane = *port.lanes[i];
  const bool known = is_speed_known(port);
  const auto time = [&](std::string_view key, std::int64_t ns) {
    known ? json.field(key, ns) : json.null_field(key);
  };
  json.begin_object().field("port", mac_text(port.mac));
  write_priority(json, i);
  write_place(json, s, port.point, port.interface);
  known ? json.field("link_speed_bps", port.speed_bps) : json.null_field("link_speed_bps");
  json.field("xoff", lane.xoff.count).field("xon", lane.xon.count);
  // The end of a pause that expired is known only with the link speed.
  const auto counted = [&](std::string_view key, std::uint64_t count) {
    known ? json.field(key, count) : json.null_field(key);
  };
  counted("pauses", lane.pauses);
  counted("refreshed", lane.refreshed);
  counted("expired", lane.expired);
  counted("needless_xon", lane.needless_xon);
  known ? json.field("paused_at_end", lane.paused_at_end) : json.null_field("paused_at_end");
  time("paused_ns", lane.paused_ns);
  time("longest_ns", lane.longest_ns);
  const auto duty = duty_of(s, port, lane);
  duty ? json.field("duty", *duty) : json.null_field("duty");
  json.field("paused_quanta", paused_quanta(port, lane)).field("paused_at_least_ns", lane.paused_ns);
  lane.longest_packet != 0 ? json.field("longest_packet", lane.longest_packet)
                           : json.null_field("longest_packet");
  json.field("storms", lane.storms.count);
  json.key("traffic_while_paused");
  if (known) {
    json.begin_object().field("packets", lane.overrun.count).field("bytes", lane.overrun_bytes);
    json.end_object();
  } else {
    json.null();
  }
  write_watchdog(json, lane.watchdog.get());
  Sightings all = lane.xoff;
  if (lane.xoff.count == 0) all = lane.xon;
  write_time(json, "first_time", all.first_time_ns);
  write_time(json, "last_time", std::max(lane.xoff.last_time_ns, lane.xon.last_time_ns));
  write_packets(json, all);
  json.end_object();
}

void write_ets(JsonWriter& json, std::string_view key, const std::optional<DcbxEts>& ets, bool recommended) {
  json.key(key);
  if (!ets) {
    json.null();
    return;
  }
  json.begin_object();
  recommended ? json.null_field("willing") : json.field("willing", ets->willing);
  const auto row = [&](std::string_view name, const std::array<std::uint8_t, 8>& values) {
    json.key(name).begin_row();
    for (const std::uint8_t value : values) json.value(value);
    json.end_row();
  };
  row("class_of_priority", ets->class_of);
  row("bandwidth", ets->bandwidth);
  row("selection", ets->selection);
  json.end_object();
}

void write_settings(JsonWriter& json, std::string_view key, const DcbxSettings& settings) {
  json.key(key);
  if (!settings.any()) {
    json.null();
    return;
  }
  json.begin_object();
  json.key("pfc");
  if (settings.pfc) {
    json.begin_object().field("willing", settings.pfc->willing).field("mbc", settings.pfc->mbc);
    json.field("in_use", settings.pfc->in_use).field("max_classes", settings.pfc->max_classes);
    json.key("enabled").begin_row();
    for (unsigned p = 0; p < 8; ++p) {
      if ((settings.pfc->enabled >> p & 1U) != 0) json.value(p);
    }
    json.end_row().end_object();
  } else {
    json.null();
  }
  write_ets(json, "ets", settings.ets, false);
  write_ets(json, "ets_recommendation", settings.recommended, true);
  json.key("applications").begin_array();
  for (const DcbxApplication& application : settings.applications) {
    json.begin_object().field("selector", selector_key(application.selector));
    json.field("protocol", application.protocol).field("roce", application.is_roce());
    json.key("priorities").begin_row();
    for (unsigned p = 0; p < 8; ++p) {
      if ((application.priorities >> p & 1U) != 0) json.value(p);
    }
    json.end_row().end_object();
  }
  json.end_array().end_object();
}

void write_port(JsonWriter& json, const DcbxPort& port) {
  json.begin_object().field("mac", mac_text(port.mac)).field("point", port.point);
  json.field("chassis", port.chassis).field("port", port.port).field("system", port.system);
  json.field("description", port.description).field("ttl", port.ttl).field("incomplete", port.incomplete);
  json.field("frames", port.frames.count);
  write_time(json, "first_time", port.frames.first_time_ns);
  write_time(json, "last_time", port.frames.last_time_ns);
  write_packets(json, port.frames);
  write_settings(json, "ieee", port.ieee);
  write_settings(json, "cee", port.cee);
  json.field("changed", port.changed).key("changes").begin_array();
  for (const DcbxPort::Change& change : port.changes) {
    json.begin_object().field("packet", change.packet);
    write_time(json, "time", change.time_ns);
    json.field("what", change.what).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void write_pauses(JsonWriter& json, const Snapshot& s, const Listing& listing) {
  const Pauses& pauses = s.pauses;
  json.key("pause").begin_array();
  const std::vector<PauseRow> rows = pause_rows(s);
  for (const PauseRow* row : listed(rows, pause_columns(), listing))
    write_lane(json, s, *row->port, row->lane);
  json.end_array();
  json.key("pause_ports").begin_array();
  for (const PausePort& port : pauses.ports) {
    json.begin_object().field("port", mac_text(port.mac));
    write_place(json, s, port.point, port.interface);
    json.field("frames", port.frames.count).field("copies", port.copies).field("cut", port.cut);
    json.field("untimed", port.untimed).key("faults").begin_object();
    for (std::size_t i = 0; i < pause_fault_count; ++i) {
      json.field(pause_fault_name(static_cast<PauseFault>(i)), port.faults[i].count);
    }
    json.end_object().end_object();
  }
  json.end_array();
  json.key("pause_mutual").begin_array();
  for (const MutualPause& mutual : pauses.mutual) {
    json.begin_object().key("ports").begin_row();
    json.value(mac_text(pauses.ports[mutual.a].mac)).value(mac_text(pauses.ports[mutual.b].mac)).end_row();
    write_priority(json, mutual.lane);
    json.field("point", pauses.ports[mutual.a].point).field("times", mutual.times);
    json.field("total_at_least_ns", mutual.total_ns).field("longest_at_least_ns", mutual.longest_ns);
    write_packets(json, mutual.seen);
    json.end_object();
  }
  json.end_array();
  json.field("pause_storm_ns", pauses.storm_ns).key("pfc_watchdog");
  if (pauses.watchdog) {
    json.begin_object().field("detection_ns", pauses.watchdog.detection_ns);
    json.field("restoration_ns", pauses.watchdog.restoration_ns).end_object();
  } else {
    json.null();
  }
}

void write_dcbx(JsonWriter& json, const Snapshot& s) {
  json.key("dcbx").begin_object().key("ports").begin_array();
  for (const DcbxPort& port : s.dcbx.ports) write_port(json, port);
  json.end_array().key("links").begin_array();
  for (const DcbxLink& link : links_of(s.dcbx)) {
    const DcbxPort& a = s.dcbx.ports[link.a];
    const DcbxPort& b = s.dcbx.ports[link.b];
    json.begin_object().field("a", link.a).field("b", link.b).key("pfc_winner");
    const std::optional<DcbxPfc>& x = a.settings().pfc;
    const std::optional<DcbxPfc>& y = b.settings().pfc;
    if (x && y) {
      json.value(winner_key(pfc_winner(*x, a.mac, *y, b.mac)));
    } else {
      json.null();
    }
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace roce::analyze
