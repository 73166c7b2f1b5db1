// SPDX-License-Identifier: Apache-2.0
#include "gui/models/overview_tables.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analyze/base/units.hpp"
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

constexpr std::uint8_t congestion_experienced = 3;  ///< RFC 3168, section 5

/// Packets that are marked CE, and all of them.
std::pair<std::uint64_t, std::uint64_t> ce_of(const std::vector<const Marking*>& marks) {
  std::uint64_t marked = 0, all = 0;
  for (const Marking* m : marks) {
    all += m->packets;
    if (m->ecn == congestion_experienced) marked += m->packets;
  }
  return {marked, all};
}
std::string ce_text(const std::vector<const Marking*>& marks) {
  const auto [marked, all] = ce_of(marks);
  return analyze::percent_text(marked, all);
}

/// One line for each marking.
template <TrafficClass traffic_class>
std::string seen(D d) {
  std::string text;
  for (const Marking* m : cell<traffic_class>(d)) {
    if (!text.empty()) text += '\n';
    text += analyze::marks_text(*m) + ": " + std::to_string(m->packets);
    if (m->ecn == congestion_experienced) text += " (" + ce_text(cell<traffic_class>(d)) + ")";
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
                                           const std::optional<TimeSpan>& time)
    : ConnectionTable(snapshot, most, time) {}

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

MarkHeat mark_heat(const MarkDirection& direction, std::size_t column) {
  MarkHeat heat;
  if (column >= std::size(columns_)) return heat;
  for (std::size_t i = 0; i < direction.classes.size(); ++i) {
    if (analyze::traffic_class_name(static_cast<TrafficClass>(i)) != columns_[column].name) continue;
    const auto& marks = direction.classes[i];
    const auto [marked, all] = ce_of(marks);
    heat.ce = all != 0 ? static_cast<double>(marked) / static_cast<double>(all) : 0;
    heat.violation =
        std::any_of(marks.begin(), marks.end(), [](const Marking* m) { return m->verdict == "violation"; });
  }
  return heat;
}

std::optional<Severity> MarkMatrixTable::severity(std::size_t i) const {
  for (const auto& marks : rows_[i].classes) {
    if (std::any_of(marks.begin(), marks.end(), [](const Marking* m) { return m->verdict == "violation"; }))
      return Severity::warning;
  }
  return std::nullopt;
}

}  // namespace roce::gui
