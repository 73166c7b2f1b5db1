// SPDX-License-Identifier: Apache-2.0
// What became of a connection: for its applications, and for who reads this.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/errors/completion_status.hpp"
#include "analyze/findings/shared/commands.hpp"
#include "analyze/story/story_parts.hpp"
#include "analyze/story/wire_evidence.hpp"
#include "dissect/aeth.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

/// What the responder's application sees when it refuses: IBTA 9.9.3, 11.6.3.
std::string_view responder_sees(std::uint8_t code) noexcept {
  switch (code) {
    case 1:
      return "the asynchronous event IBV_EVENT_QP_REQ_ERR, or IBV_WC_LOC_LEN_ERR of the receive if the "
             "message was longer";
    case 2:
      return "the asynchronous event IBV_EVENT_QP_ACCESS_ERR";
    case 3:
      return "a local error of the receive, like IBV_WC_LOC_PROT_ERR if its L_Key or address was wrong";
    default:
      return "an asynchronous error of its queue pair";
  }
}

std::uint8_t status_of_nak(std::uint8_t code) noexcept {
  switch (code) {
    case 1:
      return wc_remote_invalid_request;
    case 2:
      return wc_remote_access;
    default:
      return wc_remote_operation;
  }
}

std::string sees(const Connection& connection, unsigned side, std::uint8_t status, std::string_view more) {
  return fmt::format(
      "the application on {} sees {}{}, and IBV_WC_WR_FLUSH_ERR of all that it had posted behind it",
      who(connection, side), completion_text(status), more);
}

}  // namespace

const RefusedRequest* first_refused(const Connection& connection, unsigned side) noexcept {
  const Requester& requester = connection.requester[side];
  if (!requester.refused_fatally || requester.trouble->refused.empty()) return nullptr;
  return &requester.trouble->refused.front();
}

std::string nak_text(std::uint8_t syndrome) {
  const std::string_view name = dissect::nak_name(dissect::aeth_code(syndrome));
  return name.empty() ? fmt::format("0x{:02x}", syndrome) : fmt::format("{}, 0x{:02x}", name, syndrome);
}

std::string refused_text(const RefusedRequest& refused) {
  std::string text = refused.request_frame != 0
                         ? fmt::format("{} (PSN {}, packet {}", dissect::operation_name(refused.opcode),
                                       refused.psn, refused.request_frame)
                         : fmt::format("a request (PSN {}, not captured", refused.psn);
  if (refused.has_reth)
    text += fmt::format("; address 0x{:016x}, R_Key 0x{:08x}, {} bytes", refused.virtual_address,
                        refused.r_key, refused.length);
  return text + ")";
}

void tell_applications(const Snapshot& snapshot, const Connection& connection,
                       std::vector<StoryLine>& lines) {
  const auto tell = [&lines](std::string text) {
    lines.push_back(line_of_all(StoryKind::application, std::move(text)));
  };
  const bool judged = can_be_judged(snapshot, connection);
  bool failed = false;
  for (unsigned side = 0; side < 2; ++side) {
    const std::string peer = who(connection, 1 - side);
    if (const RefusedRequest* refused = first_refused(connection, side)) {
      const std::uint8_t code = dissect::aeth_code(refused->syndrome);
      tell(sees(connection, side, status_of_nak(code), ""));
      tell(fmt::format("the application on {} sees {}", peer, responder_sees(code)));
    } else if (judged && connection.requester[side].retries_exhausted) {
      tell(sees(connection, side, wc_retries_exceeded, ", vendor error 0x81 with mlx5"));
      tell(fmt::format(
          "the application on {} sees no error of this queue pair: its receives wait until somebody tells it",
          peer));
    } else if (judged && connection.requester[side].rnr_exhausted) {
      tell(sees(connection, side, wc_rnr_retries_exceeded, ""));
      tell(fmt::format("the application on {} sees no error: it had no receive posted", peer));
    } else {
      continue;
    }
    failed = true;
  }
  const bool half = connection.state == Connection::State::half_seen;
  if (failed || half || !judged) return;
  const bool closed = connection.state == Connection::State::closed;
  const std::string troubled =
      incidents_summary(snapshot, connection).empty()
          ? ""
          : ": of what is told above they see delay only, for it was repaired or is still going on";
  tell(fmt::format("neither application sees an error of this queue pair{}{}", closed ? "" : " up to here",
                   troubled));
}

void tell_commands(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines) {
  const auto command = [&](const std::string& test) {
    lines.push_back(line_of_all(StoryKind::next, packets_command(snapshot, test)));
  };
  const std::string own = fmt::format("roce.connection == {}", connection.id);
  for (unsigned side = 0; side < 2; ++side) {
    const WireEvidence failure = failure_on_wire(snapshot, connection, side);
    if (!failure.shown || failure.last_packet > last_filtered_frame) continue;
    command(fmt::format("{} && frame.number >= {} && frame.number <= {}", own, failure.first_packet,
                        failure.last_packet));
    return;
  }
  const Incident* worst = nullptr;
  for (const Incident& incident : snapshot.incidents) {
    if (incident.connection != connection.id) continue;
    if (worst == nullptr || incident.stalled_ns > worst->stalled_ns) worst = &incident;
  }
  command(worst != nullptr ? fmt::format("roce.incident == {}", worst->id) : own);
}

}  // namespace roce::analyze
