// SPDX-License-Identifier: Apache-2.0
// The JSON of pauses and DCBX.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/link_columns.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

constexpr std::array<std::string_view, 6> selector_keys{"reserved", "ethertype",  "tcp",
                                                        "udp",      "tcp_or_udp", "dscp"};

/// "ethertype", "udp" ...
std::string_view selector_key(std::uint8_t selector) noexcept {
  return selector_keys[selector < selector_keys.size() ? selector : 0U];
}

std::string_view winner_key(DcbxWinner winner) noexcept {
  using enum DcbxWinner;
  static constexpr EnumNames<DcbxWinner, 4> names({{same, "same"}, {a, "a"}, {b, "b"}, {neither, "neither"}});
  return names[winner];
}

/// null without a name
std::optional<std::string> interface_name(const Snapshot& s, std::uint16_t interface) {
  const bool named = interface < s.interfaces.size() && !s.interfaces[interface].name.empty();
  return named ? std::optional(s.interfaces[interface].name) : std::nullopt;
}

std::string_view lane_kind(unsigned lane) {
  return lane == PausePort::global ? "pause" : "pfc";
}
/// 0 to 7; null for global PAUSE.
std::optional<unsigned> lane_priority(unsigned lane) {
  return lane == PausePort::global ? std::nullopt : std::optional(lane);
}

/// Numbers of the bits that are set.
std::vector<unsigned> set_bits(unsigned bits) {
  std::vector<unsigned> set;
  for (unsigned p = 0; p < 8; ++p) {
    if ((bits >> p & 1U) != 0) set.push_back(p);
  }
  return set;
}

const JsonObject<WatchdogFacts>& watchdog_object() {
  using W = const WatchdogFacts&;
  static const auto object = [] {
    JsonObject<WatchdogFacts> o("pause_watchdog");
    o.key("fires", "times that the watchdog at the other end should have fired",
          [](W w) { return w.fires.count; });
    o.key("restored", "times that it should have restored the queue", [](W w) { return w.restored.count; });
    o.key("held_ns", "time from firing to restoration", &WatchdogFacts::held_ns);
    o.key("held_at_end", "the capture ended before restoration", &WatchdogFacts::held_at_end);
    o.key("flowed_packets", "RoCE packets to the port on this priority then, while paused",
          [](W w) { return w.flowed.count; });
    o.key("resumed_packets", "such packets after the last pause, before restoration",
          [](W w) { return w.resumed.count; });
    o.key("first_time", "time of the first firing", [](W w) { return json_time(w.fires.first_time_ns); });
    o.key("last_time", "time of the last firing", [](W w) { return json_time(w.fires.last_time_ns); });
    o.key("packets", "numbers of XOFFs that began these pauses", [](W w) { return w.fires.frames; });
    return o;
  }();
  return object;
}

/// A priority of a port, or its PAUSE.
struct PauseLaneIn {
  const Snapshot& s;
  const PausePort& port;
  unsigned number;
  [[nodiscard]] const PauseLane& lane() const { return *port.lanes[number]; }
  /// The end of a pause that expired is known only with the link speed.
  template <class Value>
  [[nodiscard]] std::optional<Value> if_known(Value value) const {
    return is_speed_known(port) ? std::optional<Value>(value) : std::nullopt;
  }
};
using L = const PauseLaneIn&;

const JsonObject<PauseLane>& overrun_object() {
  static const auto object = [] {
    JsonObject<PauseLane> o("traffic_while_paused");
    o.key("packets", "packets", [](const PauseLane& lane) { return lane.overrun.count; });
    o.key("bytes", "bytes on the wire", &PauseLane::overrun_bytes);
    return o;
  }();
  return object;
}

const JsonObject<PauseLaneIn>& pause_lane_object() {
  static const auto object = [] {
    JsonObject<PauseLaneIn> o("pause");
    o.key("port", "MAC address of the port that sends them", [](L l) { return mac_text(l.port.mac); });
    o.key("kind", "pfc, or pause for all priorities", [](L l) {
       return lane_kind(l.number);
     }).of({"pfc", "pause"});
    o.key("priority", "0 to 7; null of PAUSE", [](L l) { return lane_priority(l.number); });
    o.key("point", "capture point", [](L l) { return l.port.point; });
    o.key("interface", "name of the capturing interface; null: none",
          [](L l) { return interface_name(l.s, l.port.interface); });
    o.key("link_speed_bps", "speed of the link; null: not known",
          [](L l) { return l.if_known(l.port.speed_bps); });
    o.key("xoff", "XOFF frames", [](L l) { return l.lane().xoff.count; });
    o.key("xon", "XON frames", [](L l) { return l.lane().xon.count; });
    o.key("pauses", "pauses; null without the link speed", [](L l) { return l.if_known(l.lane().pauses); });
    o.key("refreshed", "XOFFs while paused; null without the link speed",
          [](L l) { return l.if_known(l.lane().refreshed); });
    o.key("expired", "pauses that ended without XON; null without the link speed",
          [](L l) { return l.if_known(l.lane().expired); });
    o.key("needless_xon", "XONs while not paused; null without the link speed",
          [](L l) { return l.if_known(l.lane().needless_xon); });
    o.key("paused_at_end", "the capture ended in a pause; null without the link speed",
          [](L l) { return l.if_known(l.lane().paused_at_end); });
    o.key("paused_ns", "paused time; null without the link speed",
          [](L l) { return l.if_known(l.lane().paused_ns); });
    o.key("longest_ns", "the longest pause; null without the link speed",
          [](L l) { return l.if_known(l.lane().longest_ns); });
    o.key("duty", "paused share of the time of the capture, 0 to 1; null without the link speed",
          [](L l) { return duty_of(l.s, l.port, l.lane()); });
    o.key("paused_quanta", "paused time; without the link speed the sum of the requested pause times",
          [](L l) { return paused_quanta(l.port, l.lane()); })
        .in("pause quanta of 512 bit times");
    o.key("paused_at_least_ns", "paused time; without the link speed as at 800 Gb/s, a lower bound",
          [](L l) { return l.lane().paused_ns; });
    o.key("longest_packet", "number of the XOFF that began the longest pause; null without one",
          [](L l) { return unless_zero(l.lane().longest_packet); });
    o.key("storms", "pauses of at least pause_storm_ns", [](L l) { return l.lane().storms.count; });
    o.object("traffic_while_paused", "RoCE to the port while paused; null without the link speed",
             overrun_object(), [](L l) { return is_speed_known(l.port) ? &l.lane() : nullptr; });
    o.object("watchdog", "the PFC watchdog at the other end; null without --pfc-watchdog", watchdog_object(),
             [](L l) { return l.lane().watchdog.get(); });
    // XONs where there is no XOFF.
    const auto shown = [](L l) -> const Sightings& {
      return l.lane().xoff.count == 0 ? l.lane().xon : l.lane().xoff;
    };
    o.key("first_time", "time of its first frame",
          [shown](L l) { return json_time(shown(l).first_time_ns); });
    o.key("last_time", "time of its last frame",
          [](L l) { return json_time(std::max(l.lane().xoff.last_time_ns, l.lane().xon.last_time_ns)); });
    o.key("packets", "numbers of the first eight XOFFs, or XONs if there is no XOFF",
          [shown](L l) { return shown(l).frames; });
    return o;
  }();
  return object;
}

const JsonObject<PausePort>& faults_object() {
  static const auto object = [] {
    JsonObject<PausePort> o("pause_faults");
    for (std::size_t i = 0; i < pause_fault_count; ++i) {
      o.key(std::string(pause_fault_name(static_cast<PauseFault>(i))), "frames with this fault",
            [i](const PausePort& port) { return port.faults[i].count; });
    }
    return o;
  }();
  return object;
}

struct PausePortIn {
  const Snapshot& s;
  const PausePort& port;
};

const JsonObject<PausePortIn>& pause_port_object() {
  using X = const PausePortIn&;
  static const auto object = [] {
    JsonObject<PausePortIn> o("pause_port");
    o.key("port", "MAC address", [](X x) { return mac_text(x.port.mac); });
    o.key("point", "capture point", [](X x) { return x.port.point; });
    o.key("interface", "name of the capturing interface; null: none",
          [](X x) { return interface_name(x.s, x.port.interface); });
    o.key("frames", "PFC and PAUSE frames", [](X x) { return x.port.frames.count; });
    o.key("copies", "second records of one frame, in no other count", [](X x) { return x.port.copies; });
    o.key("cut", "frames truncated by the capture", [](X x) { return x.port.cut; });
    o.key("untimed", "frames without a timestamp", [](X x) { return x.port.untimed; });
    o.object("faults", "faulty frames by fault", faults_object(),
             [](X x) -> const PausePort& { return x.port; });
    return o;
  }();
  return object;
}

struct MutualIn {
  const Pauses& pauses;
  const MutualPause& mutual;
};

const JsonObject<MutualIn>& mutual_object() {
  using X = const MutualIn&;
  static const auto object = [] {
    JsonObject<MutualIn> o("pause_mutual");
    o.key("ports", "MAC addresses of the two ports", [](X x) {
      return std::array{mac_text(x.pauses.ports[x.mutual.a].mac), mac_text(x.pauses.ports[x.mutual.b].mac)};
    });
    o.key("kind", "pfc, or pause for all priorities", [](X x) {
       return lane_kind(x.mutual.lane);
     }).of({"pfc", "pause"});
    o.key("priority", "0 to 7; null of PAUSE", [](X x) { return lane_priority(x.mutual.lane); });
    o.key("point", "capture point", [](X x) { return x.pauses.ports[x.mutual.a].point; });
    o.key("times", "times that both were paused", [](X x) { return x.mutual.times; });
    o.key("total_at_least_ns", "time in which both were paused, at least",
          [](X x) { return x.mutual.total_ns; });
    o.key("longest_at_least_ns", "the longest time, at least", [](X x) { return x.mutual.longest_ns; });
    o.key("packets", "numbers of packets that show it", [](X x) { return x.mutual.seen.frames; });
    return o;
  }();
  return object;
}

/// The PFC watchdog that was asked for.
using Watchdog = std::remove_cvref_t<decltype(Pauses::watchdog)>;

const JsonObject<Watchdog>& watchdog_times_object() {
  static const auto object = [] {
    JsonObject<Watchdog> o("pfc_watchdog");
    o.key("detection_ns", "detection time", [](const Watchdog& w) { return w.detection_ns; });
    o.key("restoration_ns", "restoration time", [](const Watchdog& w) { return w.restoration_ns; });
    return o;
  }();
  return object;
}

const JsonObject<DcbxEts>& dcbx_ets_object(bool recommended) {
  static const auto make = [](bool is_recommendation) {
    JsonObject<DcbxEts> o(is_recommendation ? "dcbx_ets_recommendation" : "dcbx_ets");
    o.key("willing", "takes the settings of its peer; null in a recommendation",
          [is_recommendation](const DcbxEts& e) {
            return is_recommendation ? std::nullopt : std::optional<bool>(e.willing);
          });
    o.key("class_of_priority", "traffic class of each priority", &DcbxEts::class_of);
    o.key("bandwidth", "bandwidth of each traffic class", &DcbxEts::bandwidth).in("%");
    o.key("selection", "transmission selection algorithm of each traffic class", &DcbxEts::selection);
    return o;
  };
  static const JsonObject<DcbxEts> own = make(false);
  static const JsonObject<DcbxEts> recommendation = make(true);
  return recommended ? recommendation : own;
}

const JsonObject<DcbxPfc>& dcbx_pfc_object() {
  static const auto object = [] {
    JsonObject<DcbxPfc> o("dcbx_pfc");
    o.key("willing", "takes the settings of its peer", [](const DcbxPfc& p) { return p.willing; });
    o.key("mbc", "MACsec bypass capable", [](const DcbxPfc& p) { return p.mbc; });
    o.key("in_use", "the settings are in use", [](const DcbxPfc& p) { return p.in_use; });
    o.key("max_classes", "most priorities that may have PFC", [](const DcbxPfc& p) { return p.max_classes; });
    o.key("enabled", "priorities with PFC", [](const DcbxPfc& p) { return set_bits(p.enabled); });
    return o;
  }();
  return object;
}

const JsonObject<DcbxApplication>& dcbx_application_object() {
  using A = const DcbxApplication&;
  static const auto object = [] {
    JsonObject<DcbxApplication> o("dcbx_application");
    o.key("selector", "what the protocol is a number of", [](A a) {
       return selector_key(a.selector);
     }).of(selector_keys);
    o.key("protocol", "EtherType, port or DSCP", [](A a) { return a.protocol; });
    o.key("roce", "it is that of RoCE", &DcbxApplication::is_roce);
    o.key("priorities", "its priorities", [](A a) { return set_bits(a.priorities); });
    return o;
  }();
  return object;
}

const JsonObject<DcbxSettings>& dcbx_settings_object() {
  using S = const DcbxSettings&;
  static const auto object = [] {
    JsonObject<DcbxSettings> o("dcbx_settings");
    o.object("pfc", "PFC; null: not announced", dcbx_pfc_object(),
             [](S s) { return s.pfc ? &*s.pfc : nullptr; });
    o.object("ets", "ETS; null: not announced", dcbx_ets_object(false),
             [](S s) { return s.ets ? &*s.ets : nullptr; });
    o.object("ets_recommendation", "ETS that it recommends; null: none", dcbx_ets_object(true),
             [](S s) { return s.recommended ? &*s.recommended : nullptr; });
    o.list(
        "applications", "priorities of applications", dcbx_application_object(),
        [](S s) -> const auto& { return s.applications; });
    return o;
  }();
  return object;
}

const JsonObject<DcbxPort::Change>& dcbx_change_object() {
  using X = const DcbxPort::Change&;
  static const auto object = [] {
    JsonObject<DcbxPort::Change> o("dcbx_change");
    o.key("packet", "number of the packet", [](X x) { return x.packet; });
    o.key("time", "its time", [](X x) { return json_time(x.time_ns); });
    o.key("what", "what changed", [](X x) { return x.what; });
    return o;
  }();
  return object;
}

const JsonObject<DcbxPort>& dcbx_port_object() {
  using X = const DcbxPort&;
  static const auto object = [] {
    JsonObject<DcbxPort> o("dcbx_port");
    o.key("mac", "MAC address", [](X x) { return mac_text(x.mac); });
    o.key("point", "capture point", [](X x) { return x.point; });
    o.key("chassis", "chassis id", [](X x) { return x.chassis; });
    o.key("port", "port id", [](X x) { return x.port; });
    o.key("system", "system name", [](X x) { return x.system; });
    o.key("description", "port description", [](X x) { return x.description; });
    o.key("ttl", "how long the announcement holds", [](X x) { return x.ttl; }).in("s");
    o.key("incomplete", "some of its settings could not be read", [](X x) { return x.incomplete; });
    o.key("frames", "LLDP frames", [](X x) { return x.frames.count; });
    o.key("first_time", "time of the first", [](X x) { return json_time(x.frames.first_time_ns); });
    o.key("last_time", "time of the last", [](X x) { return json_time(x.frames.last_time_ns); });
    o.key("packets", "numbers of the first few", [](X x) { return x.frames.frames; });
    o.object("ieee", "IEEE DCBX; null: none", dcbx_settings_object(),
             [](X x) { return x.ieee.any() ? &x.ieee : nullptr; });
    o.object("cee", "CEE DCBX; null: none", dcbx_settings_object(),
             [](X x) { return x.cee.any() ? &x.cee : nullptr; });
    o.key("changed", "times that settings changed", [](X x) { return x.changed; });
    o.list(
        "changes", "the first of these changes", dcbx_change_object(),
        [](X x) -> const auto& { return x.changes; });
    return o;
  }();
  return object;
}

struct DcbxLinkIn {
  const Snapshot& s;
  DcbxLink link;
};

const JsonObject<DcbxLinkIn>& dcbx_link_object() {
  using X = const DcbxLinkIn&;
  static const auto object = [] {
    JsonObject<DcbxLinkIn> o("dcbx_link");
    o.key("a", "index in ports", [](X x) { return x.link.a; });
    o.key("b", "index in ports", [](X x) { return x.link.b; });
    o.key("pfc_winner", "whose PFC settings hold; null: one of them announces none", [](X x) {
       const DcbxPort& a = x.s.dcbx.ports[x.link.a];
       const DcbxPort& b = x.s.dcbx.ports[x.link.b];
       const std::optional<DcbxPfc>& of_a = a.settings().pfc;
       const std::optional<DcbxPfc>& of_b = b.settings().pfc;
       return of_a && of_b ? std::optional(winner_key(pfc_winner(*of_a, a.mac, *of_b, b.mac))) : std::nullopt;
     }).of({"same", "a", "b", "neither"});
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& dcbx_object() {
  using S = const Snapshot&;
  static const auto object = [] {
    JsonObject<Snapshot> o("dcbx");
    o.list(
        "ports", "ports that announce themselves by LLDP, in order of first appearance", dcbx_port_object(),
        [](S s) -> const auto& { return s.dcbx.ports; });
    o.list("links", "ports that are connected", dcbx_link_object(), [](S s) {
      std::vector<DcbxLinkIn> all;
      for (const DcbxLink& link : links_of(s.dcbx)) all.push_back({s, link});
      return all;
    });
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<ReportPage>& pause_keys() {
  using P = const ReportPage&;
  static const auto object = [] {
    JsonObject<ReportPage> o("pauses");
    o.list("pause", "PFC by port and priority, and PAUSE by port", pause_lane_object(), [](P p) {
      const std::vector<PauseRow> rows = pause_rows(p.s);
      std::vector<PauseLaneIn> all;
      for (const PauseRow* row : listed(rows, pause_columns(), p.listing))
        all.push_back({p.s, *row->port, row->lane});
      return all;
    });
    o.list("pause_ports", "ports that send such frames", pause_port_object(), [](P p) {
      std::vector<PausePortIn> all;
      for (const PausePort& port : p.s.pauses.ports) all.push_back({p.s, port});
      return all;
    });
    o.list("pause_mutual", "ports that paused each other at the same time", mutual_object(), [](P p) {
      std::vector<MutualIn> all;
      for (const MutualPause& mutual : p.s.pauses.mutual) all.push_back({p.s.pauses, mutual});
      return all;
    });
    o.key("pause_storm_ns", "from here on a pause is a storm", [](P p) { return p.s.pauses.storm_ns; });
    o.object("pfc_watchdog", "times of --pfc-watchdog; null without", watchdog_times_object(),
             [](P p) { return p.s.pauses.watchdog ? &p.s.pauses.watchdog : nullptr; });
    return o;
  }();
  return object;
}

const JsonObject<ReportPage>& dcbx_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("dcbx_page");
    o.object("dcbx", "settings that ports announce by LLDP", dcbx_object(),
             [](const ReportPage& page) -> const Snapshot& { return page.s; });
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
