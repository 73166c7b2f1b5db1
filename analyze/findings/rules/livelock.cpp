// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {
namespace {

/// The sender goes back to the same PSN again and again although the peer answers: a plain retry chain gets
/// no answer and ends after retry_cnt + 1 tries, an RNR chain waits for the receiver.
bool is_livelock(const Connection& connection, unsigned side) {
  constexpr std::uint64_t least_runs = 4;
  constexpr std::uint64_t longest_chain = 8;
  const Events& sent = connection.sent[side];
  const Events& answers = connection.sent[1 - side];
  const std::uint64_t stuck = sent.count(Event::go_back_n_no_progress);
  const std::uint64_t runs = sent.count(Event::go_back_n);
  const std::uint64_t repeats = repeats_of(sent);
  if (stuck < least_runs || 2 * stuck < runs) return false;
  if (2 * sent.count(Event::retransmitted_rnr) > repeats) return false;
  const bool answered =
      answers.count(Event::nak_sequence_error) >= least_runs || connection.requester[1 - side].requests != 0;
  if (!answered && stuck <= longest_chain) return false;
  return 2 * repeats >= all_packets(connection, side);
}

}  // namespace

void find_livelock(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!is_livelock(connection, side)) return;
    add_case(snapshot, cases, connection,
             {side, side, Event::go_back_n_no_progress, all_packets(connection, side)});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const std::uint64_t repeats = group.sum([](const Case& c) { return repeats_of(c.sent()); });
    const std::uint64_t naks =
        group.sum([](const Case& c) { return c.answered().count(Event::nak_sequence_error); });
    return Words{
        Severity::error,
        fmt::format(
            "{}{} went back {} to the same PSN as before, without making progress. {} sent are "
            "retransmissions{}.{}{}",
            scope_text(group), from_text(group), times_text(group.count()), share_text(repeats, group.of),
            naks == 0 ? std::string(", and no NAK came: nothing arrives, or no answer comes back")
                      : fmt::format(", requested by {}", plural(naks, "sequence NAK", "sequence NAKs")),
            goodput_text(group), worst_text(group)),
        naks == 0
            ? fmt::format("The path to {} or back is broken while this lasts: check link state and drops of "
                          "each port, ACLs, ethtool -S DEV at both ends. {}",
                          to_text(group),
                          show_command(snapshot, group, "The retransmissions", shown_by_repeats()))
            : fmt::format("A packet is lost in every round. If it is always the same one, look at it (larger "
                          "than an MTU on the path, dropped by a filter). If not, the loss rate is too high "
                          "for such long bursts: find the drops (loss_before_capture, loss_after_capture) "
                          "and send smaller messages meanwhile. {}",
                          show_command(snapshot, group, "The retransmissions", shown_by_repeats())),
    };
  });
}

}  // namespace roce::analyze
