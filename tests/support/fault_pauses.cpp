// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_pauses.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace roce::support {
namespace {

constexpr std::uint16_t longest = 0xffff;
constexpr std::uint16_t brief = 5'000;
constexpr double bits_of_quantum = 512;

/// A frame of a cycle: when, and what it asks for in quanta.
struct PauseStep {
  Time at;
  std::uint16_t quanta;
};
constexpr Time cycle_ns = 1'000'000;
std::span<const PauseStep> steps_of(PauseKind kind) {
  static constexpr PauseStep resumed[] = {{0, longest}, {50'000, 0}};
  static constexpr PauseStep refreshed[] = {
      {0, longest}, {100'000, longest}, {200'000, longest}, {350'000, 0}};
  static constexpr PauseStep expiring[] = {{0, brief}};
  static constexpr PauseStep needless[] = {{0, brief}, {100'000, 0}};
  static constexpr PauseStep storm[] = {
      {0, longest}, {200'000, longest}, {400'000, longest}, {600'000, longest}, {800'000, longest}};
  static constexpr PauseStep mutual[] = {{0, longest}, {80'000, 0}};
  switch (kind) {
    case PauseKind::resumed:
      return resumed;
    case PauseKind::refreshed:
      return refreshed;
    case PauseKind::expiring:
      return expiring;
    case PauseKind::needless_xon:
      return needless;
    case PauseKind::storm:
      return storm;
    case PauseKind::mutual:
      return mutual;
    default:
      return {};
  }
}

constexpr Time released_gap = 100;  // between packets that have waited

}  // namespace

PausingPort::PausingPort(const FaultOptions& options, std::uint32_t of_host, PauseKind of_kind, Time first)
    : host(of_host),
      kind(of_kind),
      bit_rate_(options.marks.link_gigabits),
      cycle_(first),
      end_(options.marks.pause_for > ~Time{0} - first ? ~Time{0} : first + options.marks.pause_for) {}

Time PausingPort::next() const {
  const std::span<const PauseStep> steps = steps_of(kind);
  return steps.empty() || cycle_ >= end_ ? ~Time{0} : cycle_ + steps[step_].at;
}

std::uint16_t PausingPort::take() {
  const std::span<const PauseStep> steps = steps_of(kind);
  const std::uint16_t quanta = steps[step_].quanta;
  if (++step_ == steps.size()) {
    step_ = 0;
    cycle_ += cycle_ns;
  }
  return quanta;
}

double PausingPort::length(std::uint16_t quanta) const {
  return quanta * bits_of_quantum / bit_rate_;
}

Time PausingPort::release(Time arrival) {
  while (next() <= std::max(arrival, paused_until_)) {  // a refresh, too, before what waits may go
    const Time at = next();
    if (at > arrival && at >= paused_until_) {
      break;
    }
    const std::uint16_t quanta = take();
    paused_until_ = quanta == 0 ? at : at + static_cast<Time>(std::ceil(length(quanta)));
  }
  const Time earliest = std::max(paused_until_, queued_ ? queue_until_ + released_gap : 0);
  queued_ = arrival < earliest;
  if (!queued_) {
    return arrival;
  }
  queue_until_ = earliest;
  return earliest;
}

std::vector<PausingPort> pausing_ports(const FaultOptions& options) {
  std::vector<PausingPort> ports;
  if (!options.marks.pauses) {
    return ports;
  }
  // Every host pauses in its own way; mutual ones by twos, at the same time.
  constexpr PauseKind kinds[] = {PauseKind::none,     PauseKind::resumed,      PauseKind::refreshed,
                                 PauseKind::expiring, PauseKind::needless_xon, PauseKind::storm,
                                 PauseKind::mutual,   PauseKind::mutual};
  for (std::uint32_t host = 1; host <= options.hosts; ++host) {
    const bool chosen = options.marks.pause_host == 0 || options.marks.pause_host == host;
    const PauseKind kind = options.marks.pause_kind != PauseKind::none ? options.marks.pause_kind
                                                                       : kinds[(host - 1) % std::size(kinds)];
    if (!chosen || kind == PauseKind::none) {
      continue;
    }
    const Time soon = options.skip + 100'000 + (kind == PauseKind::mutual ? host % 2 * 5'000 : host * 7'000);
    ports.emplace_back(options, host, kind, options.marks.pause_from != 0 ? options.marks.pause_from : soon);
  }
  return ports;
}

}  // namespace roce::support
