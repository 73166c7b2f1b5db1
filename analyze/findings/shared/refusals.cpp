// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/refusals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint8_t syndrome_value = 0x1f;

const RefusedRequest* request_of(const Case& c, std::uint8_t code) noexcept {
  const auto& refused = c.requester().trouble->refused;
  const auto found = std::find_if(refused.begin(), refused.end(), [&](const RefusedRequest& r) {
    return (r.syndrome & syndrome_value) == code;
  });
  return found == refused.end() ? nullptr : &*found;
}

/// "RDMA WRITE First (PSN 12, packet 40; address 0x7f.., R_Key 0x00001234, 65536 bytes)".
std::string request_text(const RefusedRequest& r) {
  const bool captured = r.request_frame != 0;
  std::string text = captured ? fmt::format("{} (PSN {}, packet {}", dissect::operation_name(r.opcode), r.psn,
                                            r.request_frame)
                              : fmt::format("a packet (PSN {}, not captured", r.psn);
  if (r.has_reth) {
    text += fmt::format("; {}address 0x{:016x}, R_Key 0x{:08x}",
                        captured ? "" : "its message: ", r.virtual_address, r.r_key);
    const dissect::Operation operation = dissect::opcode_info(r.opcode).operation;
    const bool atomic =
        operation == dissect::Operation::compare_swap || operation == dissect::Operation::fetch_add;
    if (!atomic) text += fmt::format(", {} bytes", r.length);
  }
  return text + ")";
}

/// The packet that was refused; 0 if there are several, or it was not captured.
std::uint64_t request_frame(const Case& c, std::uint8_t code) noexcept {
  const RefusedRequest* r = request_of(c, code);
  if (r == nullptr || c.proof.count != 1 || r->request_frame > last_filtered_frame) return 0;
  return r->request_frame;
}

Shown shown_by(const Refusal& refusal, std::uint64_t request) {
  const std::string naks = fmt::format("infiniband.aeth.syndrome == 0x{:02x}", 0x60 + refusal.code);
  Shown shown = shown_by_answers(naks, refusal.event);
  if (request == 0) return shown;
  shown.by = Shown::By::either;
  shown.test = fmt::format("{} || frame.number == {}", naks, request);
  shown.packets = [event = refusal.event](const Connection& c, unsigned side) -> std::uint64_t {
    const std::uint64_t refused = c.sent[1 - side].count(event);
    return refused == 0 ? 0 : refused + 1;
  };
  return shown;
}

std::string one_text(const Case& c, const Refusal& refusal) {
  const RefusedRequest* r = request_of(c, refusal.code);
  if (r == nullptr) {
    return fmt::format("{} refused a request from {}: NAK 0x{:02x}, {}.", endpoint_text(c.to()),
                       endpoint_text(c.from()), 0x60 + refusal.code, refusal.name);
  }
  std::string text =
      fmt::format("{} refused {} from {} in packet {}: NAK 0x{:02x}, {}.", endpoint_text(c.to()),
                  request_text(*r), endpoint_text(c.from()), r->nak_frame, 0x60 + refusal.code, refusal.name);
  if (c.connection->pmtu != 0 && refusal.code == 1)
    text += fmt::format(" Path MTU of the connection: {}.", c.connection->pmtu);
  return text;
}

}  // namespace

void find_refused(const Snapshot& snapshot, FindingSink& sink, const Refusal& refusal) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const Requester& requester = connection.requester[side];
    if (!add_case(snapshot, cases, connection, {side, 1 - side, refusal.event, requester.requests})) return;
    Case& found = cases.back();
    // The NAK alone proves it; how certain the pairing of the two directions is matters little.
    found.confidence = std::max(found.confidence, 0.9);
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    std::string text = one_text(group.first(), refusal);
    if (!group.single()) {
      text = fmt::format("{}{} refused {}. The first: {}", scope_text(group), to_text(group),
                         plural(group.count(), "request", "requests"), text);
    }
    const std::uint64_t request = group.single() ? request_frame(group.first(), refusal.code) : 0;
    return Words{
        Severity::error,
        fmt::format("{} {} The connection is in the error state from here on.", text, refusal.means),
        fmt::format("The application on {} sees {}. On {}: {} {}", from_text(group), refusal.completion,
                    to_text(group), refusal.advice,
                    show_command(snapshot, group, request != 0 ? "The NAK and its request" : "The NAKs",
                                 shown_by(refusal, request))),
        {},
        {request},
    };
  });
}

}  // namespace roce::analyze
