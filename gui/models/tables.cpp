// SPDX-License-Identifier: Apache-2.0
#include "gui/models/tables.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include "analyze/base/address_text.hpp"
#include "capture/core/frame.hpp"

namespace roce::gui {

using analyze::Severity;

std::optional<TimeSpan> time_of(const analyze::ConnectionRow& connection) {
  if (connection->first_time_ns == capture::no_time) return std::nullopt;
  return TimeSpan{connection->first_time_ns, connection->last_time_ns};
}

std::optional<TimeSpan> time_of(const analyze::Finding& finding) {
  if (!finding.first_time_ns) return std::nullopt;
  return TimeSpan{*finding.first_time_ns, finding.last_time_ns.value_or(*finding.first_time_ns)};
}

ConnectionTable::ConnectionTable(const analyze::Snapshot& snapshot)
    : ConnectionTable(snapshot, snapshot.connections.size(), std::nullopt) {}

ConnectionTable::ConnectionTable(const analyze::Snapshot& snapshot, std::size_t most,
                                 const std::optional<TimeSpan>& time) {
  const std::vector<Row> all = analyze::connection_rows(snapshot);
  const auto severities = connection_severities(snapshot);
  struct Rank {
    int severity;
    std::uint64_t trouble, bytes;
    std::size_t place;
  };
  std::vector<Rank> ranks;
  ranks.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_in(time_of(all[i]), time)) continue;
    ranks.push_back(
        {severities[i] ? static_cast<int>(*severities[i]) : -1, all[i].trouble(), all[i].bytes(), i});
  }
  const std::size_t shown = std::min(most, ranks.size());
  std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(shown), ranks.end(),
                    [](const Rank& a, const Rank& b) {
                      if (a.severity != b.severity) return a.severity > b.severity;
                      if (a.trouble != b.trouble) return a.trouble > b.trouble;
                      return a.bytes != b.bytes ? a.bytes > b.bytes : a.place < b.place;
                    });
  rows_.reserve(shown);
  severities_.reserve(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    rows_.push_back(all[ranks[i].place]);
    severities_.push_back(severities[ranks[i].place]);
  }
}

HostTable::HostTable(const analyze::Snapshot& snapshot, const std::optional<TimeSpan>& time)
    : rows_(hosts_of(snapshot)) {
  if (!time) return;
  std::unordered_set<std::string> seen;
  for (const analyze::ConnectionRow& connection : analyze::connection_rows(snapshot)) {
    if (!is_in(time_of(connection), time)) continue;
    for (const auto& end : connection->ends) seen.insert(analyze::address_text(end.address));
  }
  std::erase_if(rows_, [&](const Host& host) { return !seen.contains(host.address); });
}

std::string MarkingTable::key(std::size_t i) const {
  const Row& row = rows_[i];
  return std::string(analyze::traffic_class_name(row.traffic_class)) + ' ' + analyze::direction_text(row) +
         ' ' + std::to_string(row.dscp) + ' ' + std::to_string(row.ecn) + ' ' +
         (row.pcp ? std::to_string(*row.pcp) : std::string("-"));
}

std::optional<Severity> MarkingTable::severity(std::size_t i) const {
  return rows_[i].verdict == "violation" ? std::optional(Severity::warning) : std::nullopt;
}

const analyze::Finding* find_finding(const analyze::Snapshot& snapshot, const QString& key) {
  const std::string wanted = key.toStdString();
  int alike = 0;
  for (const analyze::Finding& finding : snapshot.findings) {
    const std::string own = finding_key(finding);
    if (own == wanted) return &finding;
    // Keys that would repeat have a number appended (KeyedTable).
    if (wanted.starts_with(own) &&
        std::string_view(wanted).substr(own.size()) == '\x1f' + std::to_string(alike++))
      return &finding;
  }
  return nullptr;
}

}  // namespace roce::gui
