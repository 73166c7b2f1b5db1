// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {
namespace {

// NICs answer a gap and react to a NAK in microseconds; some need milliseconds where firmware does it.
constexpr std::uint64_t slow_ns = 1'000'000;
constexpr std::uint64_t least_samples = 3;
// The times include the path from the capture point and back: they must stand out from ordinary answers.
constexpr std::uint64_t times_an_answer = 10;

/// The fastest answer of any operation, 0 if unknown: about a round trip. Where all were retransmitted, that
/// of a single packet.
std::uint64_t quickest_answer_ns(const Requester& requester) noexcept {
  std::uint64_t least = 0;
  for (const OperationStats& operation : requester.operations) {
    if (operation.latency_ns.count() == 0 || operation.retried >= operation.count) continue;
    const std::uint64_t ns = operation.latency_ns.min();
    least = least == 0 ? ns : std::min(least, ns);
  }
  return least == 0 ? requester.fastest_answer_ns : least;
}

bool is_slow(const Histogram& times, std::uint64_t answer_ns) noexcept {
  return times.count() >= least_samples &&
         times.percentile(0.5) >= std::max(slow_ns, times_an_answer * answer_ns);
}

bool nak_slow(const Requester& requester) noexcept {
  const std::uint64_t answer_ns = quickest_answer_ns(requester);
  return is_slow(requester.trouble->nak_generation_ns, answer_ns) ||
         is_slow(requester.trouble->nak_reaction_ns, answer_ns);
}

/// Whether the packets are the NAKs; otherwise they are the READ retries.
bool proven_by_naks(const Connection& connection, unsigned side) noexcept {
  return nak_slow(connection.requester[side]) &&
         connection.sent[1 - side].count(Event::nak_sequence_error) != 0;
}

constexpr std::string_view naks = "infiniband.aeth.syndrome == 0x60";
constexpr std::string_view reads = "roce.analysis.retransmission.cause == read_retry";

std::size_t naks_in(const Group& group) {
  return group.sum([](const Case& c) { return proven_by_naks(*c.connection, c.side) ? 1 : 0; });
}

std::string_view what_text(const Group& group) {
  const std::size_t by_naks = naks_in(group);
  return by_naks == group.cases.size() ? "The NAKs"
         : by_naks == 0                ? "The READ retries"
                                       : "The NAKs and READ retries";
}

Shown shown_by(const Group& group) {
  const std::size_t by_naks = naks_in(group);
  if (by_naks == group.cases.size()) return shown_by_answers(naks, Event::nak_sequence_error);
  Shown shown = shown_by_flag(reads, Event::retransmitted_read_retry);
  shown.copies_pass = true;
  if (by_naks == 0) return shown;
  shown.by = Shown::By::either;
  shown.damaged_pass = true;
  shown.test = fmt::format("{} || {}", naks, reads);
  shown.packets = [](const Connection& c, unsigned sender) {
    return c.sent[sender].count(Event::retransmitted_read_retry) +
           c.sent[1 - sender].count(Event::nak_sequence_error);
  };
  return shown;
}

std::string latencies_text(std::string_view what, const Histogram& times) {
  return fmt::format(" {}: {} (median of {}), {} at most.", what, wait_text(times.percentile(0.5)),
                     times.count(), wait_text(times.max()));
}

}  // namespace

void find_slow_recovery(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const Requester& requester = connection.requester[side];
    const std::uint64_t answer_ns = quickest_answer_ns(requester);
    const bool nak = nak_slow(requester);
    const bool read = is_slow(requester.trouble->read_rerequest_ns, answer_ns);
    if (!nak && !read) return;
    const bool added =
        (nak && add_case(snapshot, cases, connection, {side, 1 - side, Event::nak_sequence_error, 0})) ||
        add_case(snapshot, cases, connection, {side, side, Event::retransmitted_read_retry, 0});
    if (!added) return;
    cases.back().proof.count =
        std::max({requester.trouble->nak_generation_ns.count(), requester.trouble->nak_reaction_ns.count(),
                  requester.trouble->read_rerequest_ns.count()});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const Case& worst = group.worst();
    const Requester& requester = worst.requester();
    const std::uint64_t answer_ns = quickest_answer_ns(requester);
    std::string text = fmt::format("{}Recovery from loss between {} and {} is slow.", scope_text(group),
                                   from_text(group), to_text(group));
    if (is_slow(requester.trouble->nak_generation_ns, answer_ns)) {
      text += latencies_text(fmt::format("From a gap to the NAK of {}", address_text(worst.to().address)),
                             requester.trouble->nak_generation_ns);
    }
    if (is_slow(requester.trouble->nak_reaction_ns, answer_ns)) {
      text += latencies_text(
          fmt::format("From the NAK to the retransmission by {}", address_text(worst.from().address)),
          requester.trouble->nak_reaction_ns);
    }
    if (is_slow(requester.trouble->read_rerequest_ns, answer_ns)) {
      text += latencies_text(
          fmt::format("From a missing READ response to the retry by {}", address_text(worst.from().address)),
          requester.trouble->read_rerequest_ns);
    }
    if (answer_ns != 0) text += fmt::format(" The fastest ordinary answer took {}.", wait_text(answer_ns));
    return Words{
        Severity::notice,
        text + worst_text(group),
        fmt::format("The loss is the cause, this is what it costs. Some NICs recover in firmware: check "
                    "ethtool -i DEV on both ends against the vendor's release notes, update; is a host short "
                    "of CPU (Soft-RoCE: mpstat -P ALL 1)? {}",
                    show_command(snapshot, group, what_text(group), shown_by(group))),
    };
  });
}

}  // namespace roce::analyze
