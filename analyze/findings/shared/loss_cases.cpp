// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/loss_cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"

namespace roce::analyze {
namespace {

std::uint64_t wasted_bytes_of(const Snapshot& snapshot, const Case& c) {
  const Flow* flow = flow_of(snapshot, *c.connection, c.side);
  return flow == nullptr ? 0 : flow->sequence().wasted_bytes;
}

}  // namespace

std::uint64_t losses_of(const Events& sent) noexcept {
  return sent.count(Event::lost_before_capture) + sent.count(Event::lost_after_capture) +
         sent.count(Event::lost_between_points) + sent.count(Event::lost_trimmed);
}

bool late_taken_for_lost(const Events& sent, const Events& answered) noexcept {
  const std::uint64_t naks = answered.count(Event::nak_sequence_error);
  return sent.count(Event::out_of_order) != 0 && naks >= 3 && naks > 2 * losses_of(sent);
}

std::uint64_t reads_asked_again(const Requester& requester) noexcept {
  const OperationStats* reads = requester.operation(OperationKind::read);
  return reads == nullptr ? 0 : reads->retried;
}

bool late_responses_taken_for_lost(const Connection& connection, unsigned responder) noexcept {
  const Events& sent = connection.sent[responder];
  const std::uint64_t again = reads_asked_again(connection.requester[1 - responder]);
  return sent.count(Event::out_of_order) != 0 && sent.count(Event::retransmitted_read_retry) != 0 &&
         again >= 3 && again > 2 * losses_of(sent);
}

std::vector<Case> loss_cases(const Snapshot& snapshot, Event lost) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const Events& sent = connection.sent[side];
    const bool placed = lost == Event::lost_before_capture || lost == Event::lost_after_capture;
    if (placed && !snapshot.completeness.bears(needs::losses_at_a_place, connection)) return;
    // UC does not retransmit: uc_message_loss reports it, but not where it is known to have been lost.
    if (connection.service == dissect::Service::uc && sent.count(Event::uc_message_lost) != 0 &&
        lost != Event::lost_between_points && lost != Event::lost_trimmed)
      return;
    // What came to the capture point, and what should have.
    const std::uint64_t all = all_packets(connection, side) + sent.count(Event::lost_before_capture) +
                              sent.count(Event::lost_by_capture);
    // Corrupted packets count as lost: icrc_corruption reports them, and a few more whose address was hit.
    const std::uint64_t damaged = sent.count(Event::icrc_mismatch);
    if (lost == Event::lost_before_capture && 10 * damaged >= 9 * sent.count(lost) && damaged != 0 &&
        20 * damaged < all)
      return;
    add_case(snapshot, cases, connection, {side, side, lost, all});
  });
  return cases;
}

Severity loss_severity(std::uint64_t lost, std::uint64_t of) noexcept {
  constexpr Scale scale{.warning_from = 1e-4, .error_from = 0.01, .error_at_least = 10};
  constexpr std::uint64_t few = 2;
  return lost <= few ? Severity::notice : severity_of(lost, of, scale);
}

Severity loss_severity(const Group& group) noexcept {
  return loss_severity(group.count(), group.of);
}

std::string losses_in_text(std::uint64_t losses, const std::string& incidents) {
  return incidents.empty() ? "" : fmt::format(" {} in {}.", plural(losses, "loss", "losses"), incidents);
}

std::string waste_text(const Snapshot& snapshot, const Group& group) {
  const std::uint64_t wasted = group.sum([](const Case& c) { return c.sent().count(Event::wasted); });
  if (wasted == 0) return {};
  const std::uint64_t bytes = group.sum([&](const Case& c) { return wasted_bytes_of(snapshot, c); });
  return fmt::format(
      " Up to {}{} arrived out of sequence (after a gap) and {} discarded.", packets_text(wasted),
      bytes == 0 ? std::string() : fmt::format(" ({})", bytes_text(bytes)), verb(wasted, "was", "were"));
}

std::string repair_text(const Snapshot& snapshot, const Group& group) {
  std::string text;
  const std::uint64_t repeats = group.sum([](const Case& c) { return repeats_of(c.sent()); });
  if (repeats != 0) text = fmt::format(" {} retransmitted: {}.", packets_text(repeats), repeats_text(group));
  text += waste_text(snapshot, group);
  const std::uint64_t damaged = group.sum([](const Case& c) {
    const std::uint64_t wrong = c.sent().count(Event::icrc_mismatch);
    // All of them: the capture is at fault, and they were followed.
    return 20 * wrong >= 19 * c.connection->packets[c.side] ? 0 : wrong;
  });
  if (damaged != 0) {
    text += fmt::format(
        " {} of this direction arrived with a wrong ICRC (finding icrc_corruption) and count as lost.",
        packets_text(damaged));
  }
  return text + goodput_text(group);
}

}  // namespace roce::analyze
