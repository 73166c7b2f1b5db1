// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_marks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace roce::support {
namespace {

constexpr const char* mismark_names[] = {"none", "dscp", "ecn",   "pcp",    "untagged",
                                         "vlan", "ttl",  "later", "repeats"};
constexpr const char* cnp_fault_names[] = {"none", "missing", "without_ce", "dscp", "ce_marked"};
constexpr const char* pause_names[] = {"none",         "resumed", "refreshed", "expiring",
                                       "needless_xon", "storm",   "mutual"};

constexpr std::uint8_t ect0 = 2, ce = 3, not_ect = 0;
constexpr std::uint64_t packets_before_change = 16;

constexpr FrameMarks designed{.dscp = 26, .ecn = ect0, .ttl = 64, .vlan = 100, .pcp = 3};
constexpr FrameMarks designed_cnp{.dscp = 48, .ecn = not_ect, .ttl = 64, .vlan = 100, .pcp = 6};

constexpr std::uint8_t paused_priority = 3;

/// IEEE 802.1Qbb: class-based flow control of one priority.
std::array<std::uint8_t, 60> pfc_frame(const MacAddress& port, std::uint8_t priority, std::uint16_t quanta) {
  std::array<std::uint8_t, 60> bytes{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
  std::copy(port.begin(), port.end(), bytes.begin() + 6);
  bytes[12] = 0x88;
  bytes[13] = 0x08;
  bytes[14] = bytes[15] = 0x01;
  bytes[17] = static_cast<std::uint8_t>(1U << priority);
  bytes[18 + 2U * priority] = static_cast<std::uint8_t>(quanta >> 8);
  bytes[19 + 2U * priority] = static_cast<std::uint8_t>(quanta);
  return bytes;
}

// The one that is asked for, or one of all.
template <class Fault>
Fault choose(Fault asked, Random& random) {
  return asked != Fault::none
             ? asked
             : static_cast<Fault>(1 + random.below(static_cast<std::uint64_t>(Fault::count_) - 1));
}

std::string number(const char* key, std::uint64_t value) {
  return std::string(",\"") + key + "\":" + std::to_string(value);
}

std::string address_text(std::uint32_t host, bool ipv6) {
  char text[48];
  if (ipv6) {
    std::snprintf(text, sizeof text, "fd78::%x", host & 0xffffU);
  } else {
    std::snprintf(text, sizeof text, "10.78.%u.%u", host >> 8 & 0xffU, host & 0xffU);
  }
  return text;
}

std::string mac_text(const MacAddress& mac) {
  char text[24];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
                mac[5]);
  return text;
}

}  // namespace

FaultMarks::FaultMarks(const FaultOptions& options, Write write)
    : options_(options), write_(std::move(write)), random_(options.seed ^ 0x3a4b), frames_(options) {
  for (const PausingPort& port : pausing_ports(options)) {
    ports_.emplace_back(port);
  }
}

FaultMarks::Flow& FaultMarks::flow_of(const Packet& packet, const Endpoints& endpoints) {
  const End sender = sender_of(packet);
  const std::uint32_t key = (packet.space & ~1U) + static_cast<unsigned>(sender);
  const auto found = flows_.find(key);
  if (found != flows_.end()) return found->second;
  Flow flow;
  flow.connection = packet.space / 2;
  flow.sender = sender;
  flow.endpoints = endpoints;
  // By the flow, not by the order in which flows begin.
  Random random(options_.seed * 1'000'003 + key);
  const MarkOptions& chosen = options_.marks;
  const auto sends = static_cast<unsigned>(sender);
  if (befalls(options_, endpoints.host[sends], endpoints.host[1 - sends])) {
    if (random.chance(chosen.mismarked)) {
      flow.mismark = choose(chosen.mismark, random);
    }
    flow.congested = random.chance(chosen.congested);
    if (random.chance(chosen.cnp_faults)) {
      flow.cnp_fault = choose(chosen.cnp_fault, random);
    }
  }
  return flows_.emplace(key, flow).first->second;
}

FrameMarks FaultMarks::marks_of(const Packet& packet, const Endpoints& endpoints, Time time,
                                std::uint64_t frame) {
  Flow& flow = flow_of(packet, endpoints);
  FrameMarks marks = designed;
  bool wrong = true;
  switch (flow.mismark) {
    case Mismark::dscp:
      marks.dscp = 0;
      break;
    case Mismark::ecn:
      marks.ecn = not_ect;
      break;
    case Mismark::pcp:
      marks.pcp = 5;
      break;
    case Mismark::untagged:
      marks.vlan.reset();
      break;
    case Mismark::vlan:
      marks.vlan = 200;
      break;
    case Mismark::ttl:
      marks.ttl = 63;
      break;
    case Mismark::later:
      wrong = flow.packets >= packets_before_change;
      if (wrong) marks.dscp = 0;
      break;
    case Mismark::repeats:
      wrong = packet.repeat.repeated;
      if (wrong) marks.dscp = 0;
      break;
    default:
      wrong = false;
  }
  ++flow.packets;
  if (wrong && flow.wrong++ == 0) flow.first_wrong = frame;
  const bool carries_data = packet.payload != 0;
  if (carries_data && (flow.congested || flow.cnp_fault == CnpFault::without_ce)) {
    const bool marked = flow.congested && flow.cnp_fault != CnpFault::without_ce && marks.ecn == ect0 &&
                        random_.chance(options_.marks.ce);
    if (marked) marks.ecn = ce;
    const bool unfounded = flow.cnp_fault == CnpFault::without_ce && random_.chance(options_.marks.ce);
    if (marked || unfounded) {
      congest(flow, (packet.space & ~1U) + static_cast<unsigned>(flow.sender), time, marked);
    }
  }
  return marks;
}

void FaultMarks::congest(Flow& flow, std::uint32_t key, Time time, bool is_ce) {
  if (is_ce) {
    ++flow.ce;
    if (!flow.first_ce) flow.first_ce = time;
  }
  if (flow.cnp_fault == CnpFault::missing) return;
  const unsigned receiver = 1 - static_cast<unsigned>(flow.sender);
  const std::uint64_t to = flow.endpoints.host[1 - receiver], from = flow.endpoints.host[receiver];
  std::uint64_t limit = key;
  if (options_.marks.cnp_per == CnpPer::address_pair) limit = from << 32U | to;
  if (options_.marks.cnp_per == CnpPer::port) limit = from;
  Time& allowed = allowed_[limit];
  const Time at = time + options_.marks.cnp_delay;
  if (at < allowed) return;
  allowed = at + options_.marks.cnp_spacing;
  cnps_.push({at, key});
}

void FaultMarks::send_cnp(const Cnp& cnp) {
  Flow& flow = flows_.at(cnp.flow);
  ++flow.cnps;
  if (flow.first_ce) {
    const Time delay = cnp.time - *flow.first_ce;
    ++flow.delays;
    flow.least_delay = std::min(flow.least_delay, delay);
    flow.largest_delay = std::max(flow.largest_delay, delay);
    flow.first_ce.reset();
  } else {
    ++flow.without_ce;
  }
  FrameMarks marks = designed_cnp;
  if (flow.cnp_fault == CnpFault::dscp) marks.dscp = 0;
  if (flow.cnp_fault == CnpFault::ce_marked) marks.ecn = ce;
  write_(cnp.time, frames_.make_cnp(other(flow.sender), flow.endpoints, marks).bytes);
}

void FaultMarks::send_pause(Port& port) {
  const Time now = port.timing.next();
  const std::uint16_t quanta = port.timing.take();
  write_(now, pfc_frame(host_mac(port.timing.host), paused_priority, quanta));
  const bool running = port.paused && static_cast<double>(now) < port.pauses.back().until;
  if (quanta != 0) {
    ++port.xoff;
    if (running) {
      ++port.refreshed;
    } else {
      port.pauses.push_back({.from = now});
    }
    port.paused = true;
    port.pauses.back().until = static_cast<double>(now) + port.timing.length(quanta);
  } else {
    ++port.xon;
    if (running) {
      port.pauses.back().until = static_cast<double>(now);
      port.pauses.back().end = "xon";
    } else {
      ++port.needless;
    }
    port.paused = false;
  }
}

void FaultMarks::advance(Time time) {
  while (true) {
    Port* port = nullptr;
    for (Port& one : ports_) {
      if (port == nullptr || one.timing.next() < port->timing.next()) port = &one;
    }
    const Time pause = port != nullptr ? port->timing.next() : ~Time{0};
    const Time cnp = cnps_.empty() ? ~Time{0} : cnps_.top().time;
    if (std::min(pause, cnp) > time) return;
    if (pause <= cnp) {
      send_pause(*port);
    } else {
      const Cnp next = cnps_.top();
      cnps_.pop();
      send_cnp(next);
    }
  }
}

std::string FaultMarks::place(const Flow& flow, bool back) const {
  const unsigned from = static_cast<unsigned>(flow.sender) ^ (back ? 1U : 0U);
  const unsigned to = 1 - from;
  return number("connection", flow.connection) + ",\"direction\":\"" + (from == 0 ? "a_to_b" : "b_to_a") +
         "\",\"src\":\"" + address_text(flow.endpoints.host[from], options_.ipv6) + "\",\"dst\":\"" +
         address_text(flow.endpoints.host[to], options_.ipv6) + '"' + number("dst_qp", flow.endpoints.qp[to]);
}

void FaultMarks::finish(Time last, const Tell& tell) {
  const auto named = [](const char* key, const char* value) {
    return std::string("{\"") + key + "\":\"" + value + '"';
  };
  for (const auto& [key, flow] : flows_) {
    if (flow.wrong != 0) {
      tell(named("marking", mismark_names[static_cast<unsigned>(flow.mismark)]) + place(flow, false) +
           number("packets", flow.wrong) + number("frame", flow.first_wrong) + "}\n");
    }
    const bool wrong_cnps = flow.cnp_fault == CnpFault::dscp || flow.cnp_fault == CnpFault::ce_marked;
    if (wrong_cnps && flow.cnps != 0) {
      tell(named("cnp_marking", cnp_fault_names[static_cast<unsigned>(flow.cnp_fault)]) + place(flow, true) +
           number("packets", flow.cnps) + "}\n");
    }
    if (flow.ce != 0 || flow.cnps != 0) {
      tell(named("congestion", cnp_fault_names[static_cast<unsigned>(flow.cnp_fault)]) + place(flow, false) +
           number("ce", flow.ce) + number("cnps", flow.cnps) + number("without_ce", flow.without_ce) +
           number("delays", flow.delays) + number("least_delay", flow.delays != 0 ? flow.least_delay : 0) +
           number("largest_delay", flow.largest_delay) + "}\n");
    }
  }
  for (Port& port : ports_) {
    if (port.pauses.empty()) continue;
    bool at_end = false;
    if (port.paused && port.pauses.back().until > static_cast<double>(last)) {
      at_end = true;
      port.pauses.back().until = static_cast<double>(last);
      port.pauses.back().end = "capture";
    }
    std::string pauses;
    for (const Pause& pause : port.pauses) {
      char text[96];
      std::snprintf(text, sizeof text, "%s[%llu,%.2f,\"%s\"]", pauses.empty() ? "" : ",",
                    static_cast<unsigned long long>(pause.from), pause.until, pause.end);
      pauses += text;
    }
    tell(named("pause", pause_names[static_cast<unsigned>(port.timing.kind)]) + ",\"port\":\"" +
         mac_text(host_mac(port.timing.host)) + '"' + number("priority", paused_priority) +
         number("xoff", port.xoff) + number("xon", port.xon) + number("refreshed", port.refreshed) +
         number("needless_xon", port.needless) + ",\"paused_at_end\":" + (at_end ? "true" : "false") +
         ",\"pauses\":[" + pauses + "]}\n");
  }
}

}  // namespace roce::support
