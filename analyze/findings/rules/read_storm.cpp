// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {
namespace {

/// Many READs are retried, and a good part of what the responder sends is retransmitted responses.
bool is_read_storm(const Connection& connection, unsigned responder) {
  constexpr std::uint64_t least_reads = 3;
  constexpr std::uint64_t least_repeats = 16;
  // Where the READ request itself was lost, its responses are first transmissions.
  const std::uint64_t anew = connection.requester[1 - responder].trouble->responses_anew;
  std::uint64_t repeats = connection.sent[responder].count(Event::response_repeated);
  repeats -= std::min(repeats, anew);
  return reads_asked_again(connection.requester[1 - responder]) >= least_reads && repeats >= least_repeats &&
         10 * repeats >= all_packets(connection, responder);
}

/// Whether the capture shows the length of some READ.
bool has_lengths(const Requester& requester) {
  const OperationStats* reads = requester.operation(OperationKind::read);
  return reads == nullptr || reads->bytes != 0;
}

}  // namespace

void find_read_storm(const Snapshot& snapshot, FindingSink& sink) {
  constexpr Scale scale{.warning_from = 0, .error_from = 0.5};
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!is_read_storm(connection, side)) return;
    add_case(snapshot, cases, connection,
             {side, side, Event::response_repeated, all_packets(connection, side)});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const std::uint64_t lost = group.sum([](const Case& c) { return losses_of(c.sent()); });
    const std::uint64_t late = group.sum([](const Case& c) { return c.sent().count(Event::out_of_order); });
    const auto asker = [](const Case& c) -> const Requester& { return c.connection->requester[1 - c.side]; };
    const std::uint64_t again = group.sum([&](const Case& c) { return reads_asked_again(asker(c)); });
    const std::uint64_t reads =
        group.sum([&](const Case& c) { return asker(c).operation(OperationKind::read)->count; });
    std::string text = fmt::format(
        "{}{} sent by {} are retransmitted READ responses: {} retried {} of {} READs, and each retry returns "
        "everything from the missing response on.",
        scope_text(group), share_text(group.count(), group.of), from_text(group), to_text(group), again,
        std::max(reads, again));
    if (lost != 0) text += fmt::format(" Known to be lost: {}.", packets_text(lost));
    const bool cut = snapshot.totals.diagnostics.of(DiagnosticId::cut_by_capture) != 0;
    if (lost == 0 && cut && group.sum([&](const Case& c) { return has_lengths(asker(c)) ? 1 : 0; }) == 0) {
      text +=
          " How many of them were lost, and where, is not known: the capture truncated the READ requests "
          "before their length (RETH, up to byte 70 with IPv4, 90 with IPv6; more with tags and tunnels).";
    }
    if (late != 0) {
      text += fmt::format(" {} came late (out of order): many NICs treat that as lost.", packets_text(late));
    }
    text += goodput_text(group) + worst_text(group);
    Shown shown = shown_by_flag("roce.class == response && roce.analysis.retransmission.cause == read_retry",
                                Event::response_repeated);
    shown.copies_pass = true;
    return Words{
        severity_of(group.count(), group.of, scale),
        std::move(text),
        fmt::format(
            "Stop the loss first: findings loss_before_capture and loss_after_capture show where it is, "
            "reordering whether responses arrive out of order. If none of these is reported, capture at {} "
            "to see what reaches it. Then make a loss cheaper: smaller READs, fewer outstanding ones "
            "(max_rd_atomic). {}",
            to_text(group), show_command(snapshot, group, "The packets", shown)),
    };
  });
}

}  // namespace roce::analyze
