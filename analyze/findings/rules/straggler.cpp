// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/connection/congestion.hpp"
#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {
namespace {

/// All that one side of a connection sent in the capture.
struct Transfer {
  const Connection* connection = nullptr;
  const Flow* flow = nullptr;
  unsigned side = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] std::int64_t begin() const noexcept { return flow->first_time_ns; }
  [[nodiscard]] std::int64_t end() const noexcept { return flow->last_time_ns; }
};
using Transfers = std::vector<Transfer>;

/// Parallel transfers of like volume, all but one of which ended about together.
struct Burst {
  const Transfer* last = nullptr;
  std::int64_t begin_ns = 0;
  std::int64_t others_end_ns = 0;  ///< the last of the others
  std::size_t transfers = 0;
};

/// So many make a burst, each of so many packets: fewer end when they happen to.
constexpr std::size_t enough_transfers = 4;
constexpr std::uint64_t enough_packets = 64;
/// They begin within this part of the time that they take, and differ by so much in volume.
constexpr std::int64_t together = 10;
constexpr double like = 0.1;
/// The last one takes half as long again as the one before it, which took about as long as most.
constexpr double much_longer = 1.5;
constexpr double about_as_long = 1.25;

std::map<dissect::IpAddress, Transfers> by_receiver(const Snapshot& snapshot) {
  std::map<dissect::IpAddress, Transfers> all;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    const Flow* const flow = flow_of(snapshot, connection, side);
    const Requester& requester = connection.requester[side];
    if (flow == nullptr || !flow->any_time || requester.new_bytes == 0 || flow->packets < enough_packets)
      return;
    // What READs ask for goes the other way.
    const OperationStats* const reads = requester.operation(OperationKind::read);
    if (reads != nullptr && reads->count != 0) return;
    all[connection.ends[1 - side].address].push_back({&connection, flow, side, requester.new_bytes});
  });
  return all;
}

/// The burst whose last transfer is late by itself; `last` is null where there is none. `all`: to one
/// receiver.
Burst burst_of(Transfers& all) {
  Burst burst;
  if (all.size() < enough_transfers) return burst;
  std::sort(all.begin(), all.end(), [](const Transfer& a, const Transfer& b) { return a.end() < b.end(); });
  const auto [first, latest] = std::minmax_element(
      all.begin(), all.end(), [](const Transfer& a, const Transfer& b) { return a.begin() < b.begin(); });
  const auto [least, most] = std::minmax_element(
      all.begin(), all.end(), [](const Transfer& a, const Transfer& b) { return a.bytes < b.bytes; });
  const Transfer& slowest = all.back();
  const Transfer& before = all[all.size() - 2];
  const Transfer& middle = all[(all.size() - 2) / 2];
  const std::int64_t begin = first->begin();
  const auto took = [&](const Transfer& each) { return static_cast<double>(span_ns(begin, each.end())); };
  const bool at_once = together * span_ns(begin, latest->begin()) <= span_ns(begin, middle.end());
  const bool alike = static_cast<double>(most->bytes) <= (1 + like) * static_cast<double>(least->bytes);
  if (!at_once || !alike || took(before) > about_as_long * took(middle) ||
      took(slowest) < much_longer * took(before))
    return burst;
  burst.last = &slowest;
  burst.begin_ns = begin;
  burst.others_end_ns = before.end();
  burst.transfers = all.size();
  return burst;
}

/// What the last one suffered from, as far as the capture shows.
std::string suffered_text(const Snapshot& snapshot, const Burst& burst) {
  const Connection& connection = *burst.last->connection;
  std::uint64_t incidents = 0;
  std::int64_t stalled = 0;
  std::uint64_t lost = 0;
  for (const Incident& each : snapshot.incidents) {
    if (each.connection != connection.id || each.side != burst.last->side) continue;
    ++incidents;
    stalled += each.stalled_ns;
    lost += each.lost_at_least();
  }
  const std::int64_t late = span_ns(burst.others_end_ns, burst.last->end());
  if (stalled * 2 >= late) {
    return fmt::format(" It was without goodput for {} of that, in {}{}.",
                       duration_text(std::min(stalled, late)), plural(incidents, "incident", "incidents"),
                       lost == 0 ? std::string() : fmt::format(" with {} lost", packets_text(lost)));
  }
  const CongestionSide* const congestion =
      connection.congestion[burst.last->side].there() ? &*connection.congestion[burst.last->side] : nullptr;
  if (congestion != nullptr && congestion->cnps != 0)
    return fmt::format(" It got {}, so its sender slowed down.", plural(congestion->cnps, "CNP", "CNPs"));
  return incidents == 0
             ? " Nothing of it was lost or sent again: its sender was slow, or held back where this "
               "capture does not show it."
             : fmt::format(" Its {} explain {} of that.", plural(incidents, "incident", "incidents"),
                           duration_text(stalled));
}

}  // namespace

void find_straggler(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Burst> bursts;
  auto receivers = by_receiver(snapshot);
  for (auto& [receiver, transfers] : receivers) {
    const Burst burst = burst_of(transfers);
    if (burst.last != nullptr && sink.judges(*burst.last->connection)) bursts.push_back(burst);
  }
  const auto late = [](const Burst& burst) { return span_ns(burst.others_end_ns, burst.last->end()); };
  std::sort(bursts.begin(), bursts.end(), [&](const Burst& a, const Burst& b) { return late(a) > late(b); });
  if (bursts.size() > findings_a_rule) bursts.resize(findings_a_rule);
  for (const Burst& burst : bursts) {
    const Connection& connection = *burst.last->connection;
    Finding finding;
    finding.severity = Severity::notice;
    finding.subject = ends_text(connection, burst.last->side);
    finding.from = connection.ends[burst.last->side].address;
    finding.to = connection.ends[1 - burst.last->side].address;
    finding.count = 1;
    finding.connections.push_back(connection.id);
    finding.packets.push_back(burst.last->flow->first_packet() != 0 ? burst.last->flow->first_packet()
                                                                    : connection.first_frame);
    finding.first_time_ns = burst.begin_ns;
    finding.last_time_ns = burst.last->end();
    finding.confidence = 0.8;
    finding.explanation = fmt::format(
        "{} is the last of {} similar transfers to {} that began together: it ended {} after the first began "
        "and {} after all others had ended.{}",
        finding.subject, burst.transfers, address_text(*finding.to),
        duration_text(span_ns(burst.begin_ns, burst.last->end())), duration_text(late(burst)),
        suffered_text(snapshot, burst));
    finding.advice = fmt::format(
        "A collective that waits for all of them waits for this one. Its story: roceanalyze why FILE --qp "
        "0x{:x}. Its packets: {}",
        burst.last->flow->key.dst_qp,
        packets_command(snapshot, fmt::format("roce.flow == {}", burst.last->flow->id)));
    sink.add(std::move(finding));
  }
}

}  // namespace roce::analyze
