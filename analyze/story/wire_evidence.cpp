// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/wire_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/errors/completion_status.hpp"
#include "analyze/findings/shared/retry_chains.hpp"
#include "analyze/story/story_parts.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

constexpr Event fatal_naks[] = {Event::nak_invalid_request, Event::nak_remote_access_error,
                                Event::nak_remote_operational_error, Event::nak_invalid_rd_request};

std::string time_after(const Snapshot& snapshot, std::int64_t time_ns) {
  const std::int64_t first = snapshot.first_read_ns.value_or(snapshot.totals.first_time_ns);
  return time_ns == capture::no_time
             ? std::string()
             : fmt::format(" (+{:.6f} s)", static_cast<double>(span_ns(first, time_ns)) / 1e9);
}

WireEvidence retries_evidence(const Snapshot& snapshot, const Connection& connection, unsigned side) {
  WireEvidence evidence;
  const RetryChain& chain = connection.requester[side].trouble->worst_chain;
  if (!connection.requester[side].retries_exhausted || !can_be_judged(snapshot, connection)) return evidence;
  evidence.shown = true;
  evidence.first_packet = chain.first_frame;
  evidence.last_packet = chain.last_frame;
  const std::string text = chain_text(snapshot, connection, side);
  evidence.text =
      fmt::format("its retries run out at packet {}{}{}", chain.last_frame, text.empty() ? "" : ": ", text);
  evidence.brief = fmt::format("{} gave up at packet {}: {} was sent {}, and no answer came in time",
                               who(connection, side), chain.last_frame, dissect::operation_name(chain.opcode),
                               times_text(std::uint64_t{chain.resends} + 1));
  return evidence;
}

WireEvidence rnr_evidence(const Snapshot& snapshot, const Connection& connection, unsigned side) {
  WireEvidence evidence;
  if (!connection.requester[side].rnr_exhausted || !can_be_judged(snapshot, connection)) return evidence;
  const EventLog* naks = connection.sent[1 - side].find(Event::rnr_nak);
  evidence.shown = true;
  evidence.first_packet = naks != nullptr ? naks->frames[0] : 0;
  evidence.last_packet = naks != nullptr ? naks->last_frame : 0;
  evidence.text = fmt::format("{} answers with RNR NAKs until the retries run out, the last one in packet {}",
                              who(connection, 1 - side), evidence.last_packet);
  evidence.brief =
      fmt::format("{} gave up: {} had no receive posted until the RNR retries ran out (packet {})",
                  who(connection, side), who(connection, 1 - side), evidence.last_packet);
  return evidence;
}

/// A NAK of one of these kinds to the requests of a side.
template <class Kinds>
WireEvidence nak_evidence(const Connection& connection, unsigned side, const Kinds& kinds) {
  WireEvidence evidence;
  for (const Event kind : kinds) {
    const EventLog* log = connection.sent[1 - side].find(kind);
    if (log == nullptr) continue;
    evidence.shown = true;
    evidence.first_packet = evidence.last_packet = log->frames[0];
    const auto& refused = connection.requester[side].trouble->refused;
    const auto request = std::find_if(refused.begin(), refused.end(), [&](const RefusedRequest& r) {
      return r.nak_frame == evidence.last_packet;
    });
    evidence.text = fmt::format("{} refuses {} of {} in packet {}", who(connection, 1 - side),
                                request != refused.end() ? refused_text(*request) : "a request",
                                who(connection, side), evidence.last_packet);
    evidence.brief = fmt::format("{} refused a request of {} (packet {})", who(connection, 1 - side),
                                 who(connection, side), evidence.last_packet);
    if (request == refused.end()) return evidence;
    evidence.brief = fmt::format("{} refused {} of {} with NAK {} (packet {})", who(connection, 1 - side),
                                 dissect::operation_name(request->opcode), who(connection, side),
                                 nak_text(request->syndrome), evidence.last_packet);
    evidence.text += ": NAK " + nak_text(request->syndrome);
    if (request->request_frame != 0) evidence.first_packet = request->request_frame;
    return evidence;
  }
  return evidence;
}

WireEvidence nak_evidence(const Connection& connection, unsigned side, Event kind) {
  return nak_evidence(connection, side, std::initializer_list<Event>{kind});
}

/// What is there instead of the failure that was logged.
std::string instead_text(const Snapshot& snapshot, const Connection& connection, unsigned side,
                         bool of_requests) {
  const WireEvidence other = failure_on_wire(snapshot, connection, side);
  const WireEvidence of_peer = failure_on_wire(snapshot, connection, 1 - side);
  if (other.shown || of_peer.shown)
    return "another failure of this queue pair: " + (other.shown ? other.text : of_peer.text);
  if (of_requests && connection.packets[side] + connection.left_out[side] == 0)
    return fmt::format("no packet that {} sent: that direction is not in the capture", who(connection, side));
  if (!can_be_judged(snapshot, connection))
    return "nothing that can be judged: " + capture_limits_text(snapshot);
  std::string text = fmt::format("no failure of this queue pair up to its last packet{}",
                                 time_after(snapshot, connection.last_time_ns));
  if (const std::uint64_t repeats = connection.sent[side].count(Event::retransmitted_timeout);
      of_requests && repeats != 0)
    text += fmt::format(", but {} after timeouts, which were answered", plural(repeats, "repeat", "repeats"));
  return text +
         ": the capture ended before the error, or it was taken at another place than where packets went";
}

/// A flushed request says that there was an error or an end before.
WireEvidence flush_evidence(const Snapshot& snapshot, const Connection& connection, unsigned side) {
  for (const unsigned each : {side, 1 - side}) {
    WireEvidence failure = failure_on_wire(snapshot, connection, each);
    if (!failure.shown) continue;
    failure.text = "why it was flushed: " + failure.text;
    return failure;
  }
  const CmExchange* exchange = exchange_of(snapshot, connection);
  if (exchange != nullptr && (exchange->dreq || exchange->drep)) {
    const CmSeen& seen = exchange->dreq ? exchange->dreq : exchange->drep;
    return {true, "why it was flushed: " + disconnect_text(*exchange), {}, seen.frame, seen.frame};
  }
  return {false,
          "no failure before: a flush follows an error of another request, or the end of the program",
          {},
          0,
          0};
}

WireEvidence or_instead(WireEvidence evidence, const Snapshot& snapshot, const Connection& connection,
                        unsigned side, bool of_requests) {
  if (!evidence.shown && evidence.text.empty())
    evidence.text = instead_text(snapshot, connection, side, of_requests);
  return evidence;
}

/// An error in the responder of this side: it tells its peer by a NAK.
WireEvidence own_nak(const Snapshot& snapshot, const Connection& connection, unsigned side, Event kind) {
  WireEvidence evidence = nak_evidence(connection, 1 - side, kind);
  if (!evidence.shown && !failure_on_wire(snapshot, connection, side).shown &&
      !failure_on_wire(snapshot, connection, 1 - side).shown)
    evidence.text = "nothing: a local memory or work request error need not show on the wire";
  return or_instead(std::move(evidence), snapshot, connection, side, false);
}

WireEvidence evidence_of_event(const Snapshot& snapshot, const Connection& connection, unsigned side,
                               std::string_view event) {
  if (event.find("access") != event.npos)
    return own_nak(snapshot, connection, side, Event::nak_remote_access_error);
  if (event.find("request") != event.npos)
    return own_nak(snapshot, connection, side, Event::nak_invalid_request);
  for (const unsigned each : {side, 1 - side}) {
    WireEvidence failure = failure_on_wire(snapshot, connection, each);
    if (failure.shown) return failure;
  }
  return {false, instead_text(snapshot, connection, side, false), {}, 0, 0};
}

}  // namespace

WireEvidence failure_on_wire(const Snapshot& snapshot, const Connection& connection, unsigned side) {
  const Requester& requester = connection.requester[side];
  if (requester.refused_fatally) {
    if (WireEvidence nak = nak_evidence(connection, side, fatal_naks); nak.shown) return nak;
  }
  if (requester.rnr_exhausted) return rnr_evidence(snapshot, connection, side);
  return retries_evidence(snapshot, connection, side);
}

WireEvidence wire_evidence_of(const Snapshot& snapshot, const Connection& connection, unsigned side,
                              const LoggedError& error) {
  const auto requests = [&](WireEvidence evidence) {
    return or_instead(std::move(evidence), snapshot, connection, side, true);
  };
  if (!error.status) return evidence_of_event(snapshot, connection, side, error.event);
  switch (*error.status) {
    case wc_retries_exceeded:
      return requests(retries_evidence(snapshot, connection, side));
    case wc_rnr_retries_exceeded:
      return requests(rnr_evidence(snapshot, connection, side));
    case wc_remote_invalid_request:
      return requests(nak_evidence(connection, side, Event::nak_invalid_request));
    case wc_remote_access:
      return requests(nak_evidence(connection, side, Event::nak_remote_access_error));
    case wc_remote_operation:
      return requests(nak_evidence(connection, side, Event::nak_remote_operational_error));
    case wc_local_length:
      return own_nak(snapshot, connection, side, Event::nak_invalid_request);
    case wc_local_access:
      return own_nak(snapshot, connection, side, Event::nak_remote_access_error);
    case wc_local_protection:
    case wc_local_qp_operation:
      return own_nak(snapshot, connection, side, Event::nak_remote_operational_error);
    case wc_flushed:
      return flush_evidence(snapshot, connection, side);
    default:
      return evidence_of_event(snapshot, connection, side, {});
  }
}

}  // namespace roce::analyze
