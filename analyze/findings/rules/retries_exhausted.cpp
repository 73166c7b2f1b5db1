// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/hosts_seen.hpp"
#include "analyze/findings/shared/mtu_probe.hpp"
#include "analyze/findings/shared/retry_chains.hpp"
#include "analyze/results/unpaired_connections.hpp"

namespace roce::analyze {
namespace {

std::vector<Case> exhausted_cases(const Snapshot& snapshot) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const Requester& requester = connection.requester[side];
    if (!gave_up(connection, side)) return;
    if (!add_case(snapshot, cases, connection, {side, side, Event::retries_exhausted, 0})) return;
    Proof& proof = cases.back().proof;
    proof.count = std::max<std::uint64_t>(proof.count, 1);
    proof.add_frame(requester.trouble->worst_chain.last_frame);
    // Packets of the other direction would have been paired; here their absence is the point.
    if (!connection.paired()) cases.back().confidence = std::max(cases.back().confidence, 0.7);
  });
  return cases;
}

/// The copies of the request that was given up.
Shown shown_by_chain(const Case& c) {
  const RetryChain& chain = c.requester().trouble->worst_chain;
  Shown shown;
  shown.test = fmt::format(
      "infiniband.bth.psn == {} && infiniband.bth.opcode == {} && frame.number >= {} && frame.number <= {}",
      chain.psn, chain.opcode, chain.first_frame, chain.last_frame);
  shown.copies_pass = true;
  // The first transmission of a READ may have another PSN.
  const bool first_too = chain.first_seen && chain.reissued_after == 0;
  shown.packets = [side = c.side, copies = chain.resends + (first_too ? 1U : 0U)](
                      const Connection& connection, unsigned sender) -> std::uint64_t {
    // The peer may have a request with this PSN too.
    return sender == side ? copies : connection.requester[sender].requests;
  };
  return shown;
}

/// Answers passed the capture point: the peer did answer.
bool was_answered(const Case& c) {
  return c.requester().trouble->worst_chain.answered;
}

std::string answered_text(const Case& c) {
  if (c.requester().trouble->worst_chain.too_late) {
    return " An answer was captured only long after the next retransmission was due: the sender had given up "
           "before.";
  }
  return fmt::format(
      " Answers to it were captured before its first retransmission: they were lost between the capture "
      "point and {}, or its NIC dropped them.",
      endpoint_text(c.from()));
}

/// What is known of the side that does not answer.
std::string silence_text(const Snapshot& snapshot, const HostsSeen& hosts, const Case& c) {
  const Connection& connection = *c.connection;
  const RetryChain& chain = c.requester().trouble->worst_chain;
  const std::string to = endpoint_text(c.to());
  if (answers_other_psns(snapshot, connection, c.side)) {
    return fmt::format(
        " {} does answer ({}), but only PSNs that {} did not send: the two ends were set up with different "
        "starting PSNs.",
        to, packets_text(connection.packets[1 - c.side]), endpoint_text(c.from()));
  }
  std::string text;
  if (connection.packets[1 - c.side] == 0) {
    text =
        UnpairedConnections(snapshot).may_be_answered(connection)
            ? fmt::format(
                  " No packet is known to be from {}: there are packets in that direction, but nothing shows "
                  "whose they are.",
                  to)
            : fmt::format(" No packet from {} was captured at all.", to);
  } else {
    text = fmt::format(" {} had answered before ({}).", to, packets_text(connection.packets[1 - c.side]));
  }
  const Flow* own = flow_of(snapshot, connection, 1 - c.side);
  if (own != nullptr && own->any_time && own->last_time_ns > chain.first_time_ns) {
    text +=
        " It went on sending on this connection, but nothing that answers this request: the request is lost "
        "or silently dropped each time, or taken for a duplicate (compare the starting PSNs of both ends).";
  }
  const auto host = hosts.find(c.to().address);
  // Up while the request was retransmitted, not just when it was first sent.
  const std::int64_t meanwhile = chain.first_time_ns + span_ns(chain.first_time_ns, chain.last_time_ns) / 2;
  const auto last_other =
      host == hosts.end() ? std::nullopt : last_time_without(host->second, connection.flow[1 - c.side]);
  if (host == hosts.end()) {
    text += fmt::format(
        " No other RoCE packet from {} was captured either: the host is down or unreachable, it has no such "
        "queue pair, or its direction is missing from the capture.",
        address_text(c.to().address));
  } else if (last_other && *last_other > meanwhile) {
    text += fmt::format(
        " Meanwhile {} did send other RoCE packets: the host is up, so this queue pair is gone or in the "
        "error state, or one path is broken.",
        address_text(c.to().address));
  } else if (last_other) {
    text += fmt::format(
        " During the retries no other RoCE packet came from {} either: the host is down or unreachable, or "
        "had nothing else to send.",
        address_text(c.to().address));
  }
  const CmExchange* cm = exchange_of(snapshot, connection);
  if (cm != nullptr && cm->dreq && cm->dreq.frame < chain.last_frame) {
    text += fmt::format(" A disconnect request (DREQ) had been sent in packet {}.", cm->dreq.frame);
  }
  return text;
}

std::string one_chain_text(const Snapshot& snapshot, const HostsSeen& hosts, const Case& c) {
  const std::string chain = chain_text(snapshot, *c.connection, c.side);
  const bool answered = was_answered(c);
  std::string text = fmt::format("{} gave up: {}{}.", endpoint_text(c.from()),
                                 chain.empty() ? std::string("its last request was retransmitted") : chain,
                                 answered ? ", and got no answer in time" : ", and was never answered");
  const CmExchange* cm = exchange_of(snapshot, *c.connection);
  if (cm != nullptr && cm->retry_count)
    text += fmt::format(" Retry count set by the CM: {}.", *cm->retry_count);
  if (const std::string missing = missing_text(*c.connection, c.side); !missing.empty())
    return text + missing;
  return text + (answered ? answered_text(c) : silence_text(snapshot, hosts, c));
}

}  // namespace

void find_retries_exhausted(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases = exhausted_cases(snapshot);
  if (cases.empty()) return;
  const HostsSeen hosts = hosts_seen(snapshot);
  report_cases(sink, std::move(cases), [&](const Group& group) {
    std::string text = one_chain_text(snapshot, hosts, group.first());
    if (!group.single() && was_answered(group.first())) {
      text = fmt::format(
          "{}{} gave up after retransmitting a request whose answers did not come back in time. The first: "
          "{}",
          scope_text(group), plural(group.count(), "queue pair", "queue pairs"), text);
    } else if (!group.single()) {
      text = fmt::format(
          "{}{} gave up after retransmitting a request that was never answered; {} unresponsive. The first: "
          "{}",
          scope_text(group), plural(group.count(), "queue pair", "queue pairs"),
          to_text(group) +
              (group.kind == Group::Kind::pair || group.kind == Group::Kind::to_host ? " is" : " are"),
          text);
    }
    const RetryChain& chain = group.first().requester().trouble->worst_chain;
    std::string look = fmt::format(
        "On {}: is the host up and the port active (ibv_devinfo, ip link), does the queue pair still exist "
        "(rdma resource show qp), do packets arrive (rdma statistic show; ethtool -S DEV | grep -iE "
        "'rdma|discard|drop')? From {}: {} to it, as long as its largest packets, because a path MTU black "
        "hole answers small ones only. Check switch ACLs and ECMP paths for UDP 4791.",
        to_text(group), from_text(group),
        ping_text(group.first().connection->pmtu, group.first().connection->transport,
                  group.first().to().address));
    if (answers_other_psns(snapshot, *group.first().connection, group.first().side)) {
      look =
          "Compare what the application gave both queue pairs: the rq_psn of each must be the sq_psn of the "
          "other (ibv_modify_qp; rdma resource show qp shows rq-psn and sq-psn).";
    }
    const bool one_request =
        group.single() && std::max(chain.first_frame, chain.last_frame) <= last_filtered_frame;
    return Words{
        Severity::error,
        std::move(text),
        fmt::format(
            "The application sees IBV_WC_RETRY_EXC_ERR (\"transport retry counter exceeded\"), syndrome 0x81 "
            "with mlx5. {} {}",
            look,
            one_request ? show_command(snapshot, group, "The request", shown_by_chain(group.first()))
                        : show_command(snapshot, group, "The retransmissions", shown_by_repeats())),
        {},
        {one_request ? chain.first_frame : 0},
    };
  });
}

}  // namespace roce::analyze
