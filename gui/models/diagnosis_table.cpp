// SPDX-License-Identifier: Apache-2.0
#include "gui/models/diagnosis_table.hpp"

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {
namespace {

using analyze::CellType;
using analyze::Diagnosis;
using analyze::hidden_column;
using DiagnosisIn = const DiagnosisTable::Row&;

std::string cost_text(DiagnosisIn row) {
  return diagnosis_cost_text(*row.of);
}

template <std::optional<std::int64_t> Diagnosis::*member>
std::string time_shown(DiagnosisIn row) {
  const auto& time = row.of->*member;
  return time && row.in->totals.any_time ? shown_time(*row.in, *time).toStdString() : std::string();
}
template <std::optional<std::int64_t> Diagnosis::*member>
std::string time_exact(DiagnosisIn row) {
  const auto& time = row.of->*member;
  return time ? std::to_string(*time) : std::string();
}
template <std::optional<std::int64_t> Diagnosis::*member>
double time_number(DiagnosisIn row) {
  return static_cast<double>((row.of->*member).value_or(0));
}

constexpr analyze::Column<DiagnosisTable::Row> columns_of_diagnoses[] = {
    {"severity", "severity",
     "fatal: a queue pair ended or a request was refused; degraded: time or bandwidth "
     "was lost; odd: no harm in this capture",
     false, 0, [](DiagnosisIn row) { return static_cast<double>(row.of->severity); },
     [](DiagnosisIn row) { return std::string(analyze::consequence_names[row.of->severity]); }, nullptr,
     CellType::text},
    {"sentence", "what is wrong", "what is wrong, where and how much", false, 0, nullptr,
     [](DiagnosisIn row) { return row.of->sentence; }, nullptr},
    {"place", "place", "the connection, hosts or port that it is about", false, 0, nullptr,
     [](DiagnosisIn row) { return row.of->subject; }, nullptr},
    {"since", "since", "when it was seen first", true, 0, time_number<&Diagnosis::since_ns>,
     time_shown<&Diagnosis::since_ns>, time_exact<&Diagnosis::since_ns>},
    {"until", "until", "when it was seen last", true, hidden_column, time_number<&Diagnosis::until_ns>,
     time_shown<&Diagnosis::until_ns>, time_exact<&Diagnosis::until_ns>},
    {"cost", "cost", "connections that ended by it, packets sent again, time without goodput", true, 0,
     [](DiagnosisIn row) { return static_cast<double>(row.of->cost.stalled_ns); }, cost_text, nullptr,
     CellType::text},
    {"cause", "cause", "name of the cause, as in JSON", false, hidden_column, nullptr,
     [](DiagnosisIn row) { return std::string(row.of->cause); }, nullptr},
    {"kind", "kind", "how losses are spread", false, hidden_column, nullptr,
     [](DiagnosisIn row) { return std::string(analyze::pattern_names[row.of->pattern]); }, nullptr},
    {"incidents", "incidents", "number of incidents that are part of it", true, hidden_column,
     [](DiagnosisIn row) { return static_cast<double>(row.of->incident_count); },
     [](DiagnosisIn row) { return std::to_string(row.of->incident_count); }, nullptr},
    {"confidence", "confidence", "confidence, 0 to 100 %", true, hidden_column,
     [](DiagnosisIn row) { return row.of->confidence; },
     [](DiagnosisIn row) {
       return analyze::percent_text(static_cast<std::uint64_t>(100 * row.of->confidence), 100);
     },
     nullptr, CellType::text},
};

}  // namespace

std::string diagnosis_cost_text(const Diagnosis& diagnosis) {
  const analyze::Cost& cost = diagnosis.cost;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (cost.failed != 0) add(analyze::plural(cost.failed, "connection", "connections") + " ended");
  if (cost.repeated_packets != 0) add(analyze::plural(cost.repeated_packets, "repeat", "repeats"));
  if (cost.stalled_ns != 0) add(analyze::duration_text(cost.stalled_ns) + " without goodput");
  return text;
}

DiagnosisTable::DiagnosisTable(const analyze::Snapshot& snapshot) {
  rows_.reserve(snapshot.diagnoses.size());
  for (const Diagnosis& each : snapshot.diagnoses) rows_.push_back({&each, &snapshot});
}

std::span<const analyze::Column<DiagnosisTable::Row>> DiagnosisTable::columns() {
  return columns_of_diagnoses;
}

std::string DiagnosisTable::key(std::size_t i) const {
  const Diagnosis& d = *rows_[i].of;
  // Figures in its words change while a capture is read.
  std::string key(d.cause);
  key += '\x1f' + std::string(analyze::level_names[d.level]);
  for (const auto& host : {d.from, d.to, d.host}) key += '\x1f' + (host ? analyze::address_text(*host) : "");
  if (d.level == analyze::Level::connection && !d.connections.empty())
    key += '\x1f' + std::to_string(d.connections.front());
  return key;
}

std::optional<TimeSpan> DiagnosisTable::time(std::size_t i) const {
  const Diagnosis& d = *rows_[i].of;
  if (!d.since_ns) return std::nullopt;
  return TimeSpan{*d.since_ns, std::max(*d.since_ns, d.until_ns.value_or(*d.since_ns))};
}

}  // namespace roce::gui
