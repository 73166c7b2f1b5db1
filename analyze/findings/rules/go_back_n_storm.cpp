// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/incident_counts.hpp"
#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {
namespace {

std::uint64_t runs_of(const Case& c) {
  return c.sent().count(Event::go_back_n);
}

/// Many go-back-N runs, and retransmissions are a good part of all packets sent.
bool is_go_back_n_storm(const Connection& connection, unsigned side) {
  constexpr std::uint64_t least_runs = 3;
  constexpr std::uint64_t least_repeats = 16;
  const Events& sent = connection.sent[side];
  const std::uint64_t repeats = repeats_of(sent);
  // RNR and timeouts have findings of their own; this one is about NAKs and missing READ responses.
  std::uint64_t by_loss = sent.count(Event::retransmitted_nak) + sent.count(Event::retransmitted_unknown);
  // Retried READ requests are small; what counts is the responses.
  if (connection.requester[side].operation(OperationKind::read) == nullptr)
    by_loss += sent.count(Event::retransmitted_read_retry);
  // After an RNR NAK the rest of a burst causes a sequence NAK: that is not loss either.
  if (2 * connection.sent[1 - side].count(Event::rnr_nak) >= sent.count(Event::go_back_n)) return false;
  return sent.count(Event::go_back_n) >= least_runs && repeats >= least_repeats &&
         10 * repeats >= all_packets(connection, side) && 2 * by_loss >= repeats;
}

/// Whether the reason for most retransmissions would only show in the other direction.
bool mostly_unknown(const Group& group) {
  const std::uint64_t known = group.sum([](const Case& c) {
    return c.sent().count(Event::retransmitted_nak) + c.sent().count(Event::retransmitted_read_retry);
  });
  return group.sum([](const Case& c) { return c.sent().count(Event::retransmitted_unknown); }) > known;
}

}  // namespace

void find_go_back_n_storm(const Snapshot& snapshot, FindingSink& sink) {
  constexpr Scale scale{.warning_from = 0, .error_from = 0.5};
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!is_go_back_n_storm(connection, side)) return;
    if (!add_case(snapshot, cases, connection, {side, side, Event::go_back_n, all_packets(connection, side)}))
      return;
    cases.back().proof.count = repeats_of(connection.sent[side]);
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const std::uint64_t runs = group.sum(runs_of);
    const std::uint64_t lost = group.sum([](const Case& c) { return losses_of(c.sent()); });
    const std::uint64_t naks =
        group.sum([](const Case& c) { return c.answered().count(Event::nak_sequence_error); });
    std::string text = fmt::format(
        "{}{} sent by {} are retransmissions ({}), in {} to an earlier PSN: {:.0f} packets each on average.",
        scope_text(group), share_text(group.count(), group.of), from_text(group), repeats_text(group),
        plural(runs, "go-back", "go-backs"),
        static_cast<double>(group.count()) / static_cast<double>(std::max<std::uint64_t>(runs, 1)));
    if (naks > 2 * lost) {
      text += fmt::format(" {} for {} known to be lost: others were late, or their loss is not visible here.",
                          plural(naks, "sequence NAK", "sequence NAKs"),
                          lost == 0 ? std::string("no packet") : packets_text(lost));
    } else if (lost != 0) {
      text += fmt::format(" Known to be lost: {}; the others came after them.", packets_text(lost));
    }
    const std::string incidents = incidents_text(snapshot, group, false, [](const Incident& each) {
      return each.learned == LearnedBy::sequence_nak || each.learned == LearnedBy::missing_response;
    });
    if (!incidents.empty()) text += fmt::format(" {}.", incidents);
    const bool unknown = mostly_unknown(group);
    if (unknown) {
      text +=
          " Whether sequence NAKs or timeouts made it go back is not known: only this direction was "
          "captured.";
    }
    text += waste_text(snapshot, group) + goodput_text(group) + worst_text(group);
    return Words{
        unknown ? Severity::notice : severity_of(group.count(), group.of, scale),
        std::move(text),
        fmt::format(
            "{}Stop the loss first: findings loss_before_capture and loss_after_capture show where it is, "
            "reordering whether packets arrive out of order. Then make a loss cheaper: selective repeat "
            "where both NICs support it (mlx5: mlxconfig -d DEV q RDMA_SELECTIVE_REPEAT_EN, or "
            "selective_repeat_forced_en of mlxreg -d DEV --reg_name ROCE_ACCL --get), fewer bytes in flight. "
            "{}",
            unknown ? "Capture both directions to see the reason. " : "",
            show_command(snapshot, group, "The retransmissions", shown_by_repeats())),
    };
  });
}

}  // namespace roce::analyze
