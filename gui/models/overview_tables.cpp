// SPDX-License-Identifier: Apache-2.0
#include "gui/models/overview_tables.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "gui/models/tables.hpp"

namespace roce::gui {
namespace {

using analyze::Column;
using analyze::Marking;
using analyze::Severity;
using analyze::TrafficClass;
using D = const MarkDirection&;

template <TrafficClass traffic_class>
const std::vector<const Marking*>& cell(D d) {
  return d.classes[static_cast<std::size_t>(traffic_class)];
}

/// One line for each marking.
template <TrafficClass traffic_class>
std::string seen(D d) {
  std::string text;
  for (const Marking* m : cell<traffic_class>(d)) {
    if (!text.empty()) text += '\n';
    text += analyze::marks_text(*m) + ": " + std::to_string(m->packets);
    if (m->verdict == "violation") text += ", intended " + m->expected;
  }
  return text;
}
template <TrafficClass traffic_class>
double packets(D d) {
  const auto& marks = cell<traffic_class>(d);
  return std::accumulate(marks.begin(), marks.end(), 0.0,
                         [](double sum, const Marking* m) { return sum + static_cast<double>(m->packets); });
}
template <TrafficClass traffic_class>
constexpr Column<MarkDirection> class_column(std::string_view name, std::string_view help) {
  return {name, name, help, false, 0, packets<traffic_class>, seen<traffic_class>, nullptr};
}

constexpr Column<MarkDirection> columns_[] = {
    {"direction", "direction", "source and destination address", false, 0, nullptr,
     [](D d) { return d.text; }, nullptr},
    class_column<TrafficClass::data>("data", "requests: SEND, WRITE, READ request"),
    class_column<TrafficClass::ack>("ack", "ACK and NAK"),
    class_column<TrafficClass::response>("response", "READ responses, which carry data"),
    class_column<TrafficClass::atomic>("atomic", "ATOMIC requests and responses"),
    class_column<TrafficClass::cm>("cm", "connection manager (CM) and other management datagrams (MADs)"),
    class_column<TrafficClass::cnp>("cnp", "congestion notification packets"),
    class_column<TrafficClass::other>("other", "reserved, unknown and vendor-specific opcodes"),
};

}  // namespace

WorstConnectionTable::WorstConnectionTable(const analyze::Snapshot& snapshot,
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
  for (std::size_t i = 0; i < shown; ++i) {
    rows_.push_back(all[ranks[i].place]);
    severities_.push_back(severities[ranks[i].place]);
  }
}

std::span<const Column<MarkDirection>> MarkMatrixTable::columns() {
  return columns_;
}

MarkMatrixTable::MarkMatrixTable(const analyze::Snapshot& snapshot) {
  std::unordered_map<std::string, std::size_t> at;
  for (const Marking& marking : snapshot.markings.rows) {
    std::string direction = analyze::direction_text(marking);
    const auto [found, fresh] = at.emplace(direction, rows_.size());
    if (fresh) rows_.emplace_back().text = std::move(direction);
    rows_[found->second].classes[static_cast<std::size_t>(marking.traffic_class)].push_back(&marking);
  }
}

std::optional<Severity> MarkMatrixTable::severity(std::size_t i) const {
  for (const auto& marks : rows_[i].classes) {
    if (std::any_of(marks.begin(), marks.end(), [](const Marking* m) { return m->verdict == "violation"; }))
      return Severity::warning;
  }
  return std::nullopt;
}

}  // namespace roce::gui
