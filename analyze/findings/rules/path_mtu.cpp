// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {
namespace {

using Pair = std::pair<dissect::IpAddress, dissect::IpAddress>;

Pair pair_of(const Connection& connection) {
  return std::minmax(connection.ends[0].address, connection.ends[1].address);
}

/// What happened to the packets of the wrong size.
enum class Fate { refused, taken, unknown };

Fate fate_of(const Group& group) {
  const auto naks = [](const Case& c) { return c.answered().count(Event::nak_invalid_request); };
  if (group.sum(naks) != 0) return Fate::refused;
  // A responder that drops them makes the sender retransmit.
  const bool all_taken = std::all_of(group.cases.begin(), group.cases.end(), [](const Case& c) {
    const Requester& requester = c.requester();
    return requester.acks != 0 && repeats_of(c.sent()) == 0 && losses_of(c.sent()) == 0 &&
           !requester.refused_fatally && !requester.retries_exhausted;
  });
  return all_taken ? Fate::taken : Fate::unknown;
}

std::string fate_text(const Group& group, Fate fate) {
  switch (fate) {
    case Fate::refused:
      return fmt::format(
          " {} by {}.",
          plural(group.sum([](const Case& c) { return c.answered().count(Event::nak_invalid_request); }),
                 "NAK (invalid request) was sent", "NAKs (invalid request) were sent"),
          to_text(group));
    case Fate::taken:
      return fmt::format(" {} accepted them: no NAK came and nothing was retransmitted.", to_text(group));
    default:
      return " A responder refuses such packets (NAK invalid request) or drops them.";
  }
}

void report_lengths(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection, {side, side, Event::wrong_length, all_packets(connection, side)});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const Connection& first = *group.first().connection;
    const Fate fate = fate_of(group);
    const std::string packets = show_command(
        snapshot, group, "The packets", shown_by_flag("roce.analysis.wrong_length", Event::wrong_length));
    return Words{
        fate == Fate::taken ? Severity::notice : Severity::warning,
        fmt::format(
            "{}{} sent by {} {} the wrong payload size: First and Middle packets must carry exactly the path "
            "MTU{}, the Last one the rest of the announced length.{}{}",
            scope_text(group), share_text(group.count(), group.of), from_text(group),
            verb(group.count(), "has", "have"),
            group.single() && first.pmtu != 0
                ? fmt::format(" ({} bytes{})", first.pmtu,
                              first.pmtu_by_cm ? ", from the CM" : ", the largest seen")
                : std::string(),
            fate_text(group, fate), worst_text(group)),
        fate == Fate::taken
            ? fmt::format("Both ends agree, so nothing fails. Did they reconnect the same queue pairs with "
                          "another path MTU (path_mtu in ibv_modify_qp)? {}",
                          packets)
            : fmt::format(
                  "Both ends must use the same path MTU (path_mtu of ibv_query_qp); it follows from the port "
                  "MTU: ibv_devinfo | grep active_mtu, ip link show DEV on {} and {}. Without the CM the "
                  "application sets it (path_mtu in ibv_modify_qp): do both sides compute it alike? {}",
                  from_text(group), to_text(group), packets),
        fate == Fate::taken ? "payload sizes differ from the path MTU" : "",
    };
  });
}

/// Connections with a smaller path MTU than others between the same hosts, or a tiny one.
void report_small(const Snapshot& snapshot, FindingSink& sink) {
  constexpr std::uint32_t tiny = 512;
  std::map<Pair, std::uint32_t> largest;
  for (const Connection& c : snapshot.connections) {
    std::uint32_t& known = largest[pair_of(c)];
    known = std::max(known, c.pmtu);
  }
  std::vector<Case> cases;
  for (const Connection& c : snapshot.connections) {
    if (c.pmtu == 0 || (c.pmtu > tiny && c.pmtu == largest[pair_of(c)])) continue;
    Case found;
    found.connection = &c;
    found.side = c.ends[0].address <= c.ends[1].address ? 0 : 1;  // the same for both directions
    found.proof.count = 1;
    found.proof.add_frame(c.first_frame);
    found.proof.add_time(c.first_time_ns);
    found.confidence = c.pmtu_by_cm ? 1 : 0.8;
    cases.push_back(std::move(found));
  }
  report_at_once(sink, std::move(cases), [&](const Group& group) {
    const Case* smallest = &group.first();
    for (const Case& c : group.cases) {
      if (c.connection->pmtu < smallest->connection->pmtu) smallest = &c;
    }
    const std::uint32_t pmtu = smallest->connection->pmtu;
    const std::uint32_t other = largest[pair_of(*smallest->connection)];
    // Ethernet with preamble and gap, IPv4, UDP, BTH, ICRC.
    constexpr std::uint32_t headers = 38 + 20 + 8 + 12 + 4;
    return Words{
        Severity::info,
        fmt::format(
            "{}Path MTU {} bytes{}: {} of the bytes on the wire are headers.", scope_text(group), pmtu,
            other > pmtu ? fmt::format(", {} on other connections of these hosts", other) : std::string(),
            percent_text(headers, headers + pmtu)),
        fmt::format("If the links support more (ip link show DEV on {} and {}, the switch ports in between), "
                    "raise the interface MTU so that the path MTU with 58 to 94 bytes of headers fits (4200 "
                    "for 4096, 1500 for 1024), and reconnect.",
                    from_text(group), to_text(group)),
        "small path MTU",
    };
  });
}

}  // namespace

void find_path_mtu(const Snapshot& snapshot, FindingSink& sink) {
  report_lengths(snapshot, sink);
  report_small(snapshot, sink);
}

}  // namespace roce::analyze
