// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/wire_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "analyze/base/units.hpp"
#include "analyze/host/wire_rules.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

/// Increments of counters; absent if a counter does not exist in both snapshots.
class Moved {
 public:
  Moved(const HostFacts& after, const HostDifference& difference) : difference_(difference) {
    for (const RdmaDevice& device : after.devices) {
      for (const RdmaPort& port : device.ports) {
        for (const HostCounter& counter : port.counters)
          known_.insert({place_of(device, port), CounterSource::port, counter.name});
        for (const HostCounter& counter : port.hw_counters)
          known_.insert({place_of(device, port), CounterSource::hardware, counter.name});
      }
    }
  }
  [[nodiscard]] std::optional<std::uint64_t> operator()(const std::string& place, CounterSource source,
                                                        std::string_view name) const {
    for (const CounterChange& change : difference_.counters) {
      if (change.source == source && change.name == name && change.place == place) return change.moved();
    }
    if (!known_.contains({place, source, std::string(name)})) return std::nullopt;
    return 0;
  }

 private:
  struct Name {
    std::string place;
    CounterSource source;
    std::string counter;
    auto operator<=>(const Name&) const = default;
  };
  const HostDifference& difference_;
  std::set<Name> known_;
};

WireCheck judge(const WireRule& rule, std::string place, std::uint64_t host, const WireCounts& counts) {
  const Expectation expected = rule.expect(counts);
  WireCheck check;
  check.place = std::move(place);
  check.counter = rule.counter;
  check.quantity = rule.quantity;
  check.host = host;
  check.wire = expected.wire;
  check.low = expected.low;
  check.high = expected.high;
  if (host < expected.low || host > expected.high) {
    check.verdict = WireVerdict::differs;
    check.why = host < expected.low ? "the counter is below the packets on the wire"
                                    : "the counter is above the capture: packets not captured, duplicated "
                                      "downstream of it, or of another time or link";
  } else if (host != expected.wire) {
    check.verdict = WireVerdict::explained;
    check.why = host < expected.wire ? expected.below : expected.above;
  }
  return check;
}

Addresses addresses_of(const RdmaPort& port) {
  Addresses own;
  for (const GidEntry& gid : port.gids) own.insert(dissect::IpAddress{gid.gid});
  return own;
}

WireCover cover_of(const HostDifference& difference, const Snapshot& snapshot) {
  if (!snapshot.totals.any_time) return WireCover::unknown;
  const std::int64_t first = snapshot.totals.first_time_ns, last = snapshot.totals.last_time_ns;
  if (first >= difference.before_ns && last <= difference.after_ns) return WireCover::whole;
  return last < difference.before_ns || first > difference.after_ns ? WireCover::apart : WireCover::beyond;
}

void add_notes(const HostDifference& difference, const Snapshot& snapshot, WireComparison& out) {
  const auto times = [&] {
    return fmt::format("snapshots from {} to {}, capture from {} to {}", time_text(difference.before_ns),
                       time_text(difference.after_ns), time_text(snapshot.totals.first_time_ns),
                       time_text(snapshot.totals.last_time_ns));
  };
  if (out.cover == WireCover::beyond) {
    out.notes.push_back("A part of the capture is outside the time of the snapshots (" + times() +
                        "), if the clocks agree: counters may be lower.");
  } else if (out.cover == WireCover::apart) {
    out.notes.push_back("Capture and snapshots are of different times (" + times() +
                        "), if the clocks agree: then they cannot be compared.");
  } else if (out.cover == WireCover::unknown) {
    out.notes.push_back("The capture has no timestamps: it is not known whether it is of the same time.");
  }
  if (const auto dropped = snapshot.dropped(); dropped && *dropped != 0)
    out.notes.push_back(fmt::format("The capture dropped {} packets: counters may be higher.", *dropped));
  if (snapshot.totals.packets != snapshot.frames_read)
    out.notes.push_back("A filter or time range left out packets: counters may be higher.");
  if (snapshot.evicted_flows != 0)
    out.notes.push_back(
        fmt::format("{} packets of evicted flows are not included in any figure.", snapshot.evicted_packets));
  if (!snapshot.icrc_checked) out.notes.push_back("ICRCs were not checked: damaged packets count as good.");
}

/// Findings for packets counted on one side only, without evidence of their loss in the capture.
void add_missing(WireComparison& out) {
  for (const WireCheck& check : out.checks) {
    const bool packets = check.quantity == "RoCE packets sent" || check.quantity == "RoCE packets received";
    // Two packets may be in flight when a connection ends.
    constexpr std::uint64_t few = 2;
    const std::uint64_t gap = check.host > check.wire ? check.host - check.wire : check.wire - check.host;
    if (!packets || check.verdict != WireVerdict::explained || gap <= few) continue;
    HostFinding finding{"host_packets_missing", Severity::notice, check.place, "", "", {}};
    finding.explanation = fmt::format(
        "{} incremented by {}, the capture has {} of these packets: {} {}. {}{}.", check.counter, check.host,
        check.wire, gap,
        check.host > check.wire ? "did not reach the capture point" : "did not reach this host",
        static_cast<char>(std::toupper(static_cast<unsigned char>(check.why.front()))), check.why.substr(1));
    finding.advice =
        "Look for the loss between this host and the capture point: roceanalyze FILE (its findings of "
        "losses), "
        "ethtool -S DEV, drop counters of the switch ports between.";
    finding.evidence.push_back(fmt::format("{} {}, wire {}", check.counter, check.host, check.wire));
    out.findings.push_back(std::move(finding));
  }
}

void add_findings(WireComparison& out) {
  std::map<std::string, HostFinding> by_place;
  for (const WireCheck& check : out.checks) {
    if (check.verdict != WireVerdict::differs) continue;
    HostFinding& finding = by_place[check.place];
    finding.id = "host_counter_differs";
    // A counter below the wire is wrong; one above it may have counted more traffic.
    const bool missed = check.host < check.low && out.cover == WireCover::whole;
    finding.severity = std::max(finding.severity, missed ? Severity::warning : Severity::notice);
    finding.subject = check.place;
    std::string allowed = check.high == WireCheck::unlimited ? fmt::format("{} or more", check.low)
                          : check.low == check.high          ? fmt::format("{}", check.low)
                                                             : fmt::format("{} to {}", check.low, check.high);
    finding.explanation += fmt::format("{}{} incremented by {}, the capture has {} ({}): expected {}",
                                       finding.explanation.empty() ? "" : ". ", check.counter, check.host,
                                       check.wire, check.quantity, allowed);
    finding.evidence.push_back(
        fmt::format("{} {}, wire {}, expected {}", check.counter, check.host, check.wire, allowed));
  }
  for (auto& [place, finding] : by_place) {
    finding.explanation += '.';
    finding.advice =
        "Check that the capture has all of this port's traffic, and only the time between the snapshots. If "
        "so, do not "
        "trust the counter: several NICs count wrongly (Lumina, SIGCOMM 2023); report it to the vendor, with "
        "both files.";
    out.findings.push_back(std::move(finding));
  }
  add_missing(out);
  sort_findings(out.findings);
}

}  // namespace

std::string_view wire_verdict_name(WireVerdict verdict) noexcept {
  using enum WireVerdict;
  static constexpr EnumNames<WireVerdict, 3> names(
      {{agrees, "agrees"}, {explained, "explained"}, {differs, "differs"}});
  return names[verdict];
}

WireComparison compare_with_wire(const HostFacts& after, const HostDifference& difference,
                                 const Snapshot& snapshot) {
  WireComparison out;
  out.cover = cover_of(difference, snapshot);
  add_notes(difference, snapshot, out);
  const Moved moved(after, difference);
  for (const RdmaDevice& device : after.devices) {
    for (const RdmaPort& port : device.ports) {
      WireCounts counts = wire_counts(snapshot, addresses_of(port));
      if (counts.flows == 0) continue;
      ++out.ports;
      const std::string place = place_of(device, port);
      if (const RetryCounter* const retries = retry_counter_of(device.driver)) {
        const std::uint64_t counted = moved(place, CounterSource::hardware, retries->counter).value_or(0);
        counts.retries_unseen = counted - std::min(counted, retries->seen(counts));
      }
      for (const WireRule& rule : wire_rules()) {
        if (!rule.driver.empty() && rule.driver != device.driver) continue;
        if (const auto host = moved(place, rule.source, rule.counter))
          out.checks.push_back(judge(rule, place, *host, counts));
      }
    }
  }
  if (out.ports == 0) {
    out.notes.push_back(
        "The capture has no packet of any address (GID) of this host: nothing can be compared. Is it a "
        "capture "
        "of this host's traffic?");
  }
  if (out.cover != WireCover::apart) add_findings(out);
  return out;
}

}  // namespace roce::analyze
