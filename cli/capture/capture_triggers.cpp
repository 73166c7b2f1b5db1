// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/capture_triggers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/results/finding.hpp"
#include "capture/core/edit_distance.hpp"
#include "cli/core/fail_on.hpp"
#include "cli/core/output.hpp"

namespace roce::cli {
namespace {

using analyze::Snapshot;

std::uint64_t retransmitted(const Snapshot& snapshot) {
  std::uint64_t sum = 0;
  for (const analyze::Flow& flow : snapshot.flows) sum += flow.sequence().retransmitted_packets();
  return sum;
}

std::uint64_t lost(const Snapshot& snapshot) {
  std::uint64_t sum = 0;
  for (const analyze::Flow& flow : snapshot.flows) {
    for (const std::uint64_t packets : flow.sequence().lost) sum += packets;
  }
  return sum;
}

std::uint64_t ce_marked(const Snapshot& snapshot) {
  return snapshot.totals.ecn[static_cast<std::size_t>(dissect::Ecn::ce)];
}

/// Events that trigger by their count, also without a finding.
struct Event {
  std::string_view word;
  std::string_view what;
  std::uint64_t (*count)(const Snapshot&);
};
constexpr Event events[] = {{"retransmission", "retransmitted packets", retransmitted},
                            {"loss", "lost packets", lost},
                            {"ce", "packets with a CE mark", ce_marked}};

const Event* find_event(std::string_view word) {
  const auto* const found = std::find_if(std::begin(events), std::end(events),
                                         [&](const Event& each) { return each.word == word; });
  return found == std::end(events) ? nullptr : found;
}

}  // namespace

std::string trigger_error(const std::string& word) {
  if (severity_named(word) || find_event(word) != nullptr || analyze::find_rule(word) != nullptr) return {};
  std::vector<std::string_view> words = {"info", "notice", "warning", "error"};
  for (const Event& each : events) words.push_back(each.word);
  const std::size_t without_rules = words.size();
  for (const analyze::FindingRule& rule : analyze::finding_rules()) words.push_back(rule.id);
  const std::string_view meant = capture::nearest_word(word, words);
  words.resize(without_rules);
  return fmt::format("not a trigger: '{}' ({}, or the id of a finding in docs/findings){}", word,
                     fmt::join(words, ", "),
                     meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant));
}

TriggerWatch::TriggerWatch(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (const auto severity = severity_named(word)) {
      severity_ = std::min(severity_.value_or(*severity), *severity);
    } else if (const Event* event = find_event(word)) {
      counted_.push_back({static_cast<std::size_t>(event - std::begin(events)), 0});
    } else {
      ids_.push_back(word);
    }
  }
}

bool TriggerWatch::chosen(const analyze::Finding& finding) const {
  return (severity_ && finding.severity >= *severity_) ||
         std::find(ids_.begin(), ids_.end(), finding.id) != ids_.end();
}

std::vector<TriggerEvent> TriggerWatch::look(const Snapshot& snapshot,
                                             const std::vector<analyze::FindingNews>& news) {
  std::vector<TriggerEvent> result;
  const std::int64_t now = snapshot.totals.last_time_ns;
  for (Counted& each : counted_) {
    const Event& event = events[each.event];
    const std::uint64_t count = event.count(snapshot);
    // Counts decrease when flows are evicted: only increases trigger.
    if (count > each.before)
      result.push_back({fmt::format("trigger: {} more {}", count - each.before, event.what), now});
    each.before = count;
  }
  for (const analyze::FindingNews& each : news) {
    const analyze::Finding& finding = each.finding;
    if (!chosen(finding)) continue;
    result.push_back({fmt::format("trigger: {} {}: {}: {}", analyze::severity_name(finding.severity),
                                  finding.id, finding.subject, finding.explanation),
                      finding.last_time_ns.value_or(now)});
  }
  return result;
}

}  // namespace roce::cli
