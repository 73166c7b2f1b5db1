// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/diagnosis_columns.hpp"

#include <fmt/format.h>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"

namespace roce::analyze {
namespace {

using DiagnosisIn = const Diagnosis&;

template <std::optional<dissect::IpAddress> Diagnosis::*member>
constexpr DiagnosisColumn address_column(std::string_view name, std::string_view help) {
  return {name, name, help, false, 2, nullptr, [](DiagnosisIn d) {
            return d.*member ? address_text(*(d.*member)) : std::string();
          }};
}
template <std::optional<std::int64_t> Diagnosis::*member>
constexpr DiagnosisColumn time_column(std::string_view name, std::string_view help) {
  return {name,
          name,
          help,
          true,
          hidden_column,
          [](DiagnosisIn d) { return static_cast<double>((d.*member).value_or(0)); },
          [](DiagnosisIn d) { return d.*member ? time_text(*(d.*member)) : std::string(); },
          [](DiagnosisIn d) { return d.*member ? std::to_string(*(d.*member)) : std::string(); }};
}
template <auto member>
std::uint64_t cost_of(DiagnosisIn d) {
  return d.cost.*member;
}
template <auto member>
constexpr DiagnosisColumn cost_column(std::string_view name, std::string_view heading,
                                      std::string_view help) {
  return count_column<Diagnosis, cost_of<member>>(name, heading, help, 3);
}
template <auto member>
constexpr DiagnosisColumn duration_column(std::string_view name, std::string_view heading,
                                          std::string_view help) {
  return {name,
          heading,
          help,
          true,
          3,
          [](DiagnosisIn d) { return static_cast<double>(d.cost.*member); },
          [](DiagnosisIn d) { return d.cost.*member == 0 ? std::string() : duration_text(d.cost.*member); },
          [](DiagnosisIn d) { return std::to_string(d.cost.*member); }};
}
template <auto member>
std::uint64_t number_told(DiagnosisIn d) {
  return d.*member;
}
template <auto member>
constexpr DiagnosisColumn number_column(std::string_view name, std::string_view heading,
                                        std::string_view help) {
  return count_column<Diagnosis, number_told<member>>(name, heading, help, 2);
}

constexpr DiagnosisColumn columns_of_diagnoses[] = {
    {"severity", "severity", "fatal, degraded or odd", false, 0,
     [](DiagnosisIn d) { return static_cast<double>(d.severity); },
     [](DiagnosisIn d) { return std::string(consequence_names[d.severity]); }, nullptr, CellType::text},
    {"cause", "cause", "what is wrong, as listed in docs/diagnoses.md", false, 0, nullptr,
     [](DiagnosisIn d) { return std::string(d.cause); }},
    {"sentence", "what is wrong", "the same with place and figures", false, 0, nullptr,
     [](DiagnosisIn d) { return d.sentence; }},
    {"level", "level", "on what it holds: connection, direction, host, port or capture", false, 2, nullptr,
     [](DiagnosisIn d) { return std::string(level_names[d.level]); }},
    address_column<&Diagnosis::from>("sender", "sender of the packets that it hit"),
    address_column<&Diagnosis::to>("receiver", "their receiver"),
    address_column<&Diagnosis::host>("host", "the host that all have in common"),
    {"seen", "seen", "where on their way, seen from the capture point", false, 1, nullptr,
     [](DiagnosisIn d) { return std::string(whereabouts_names[d.seen]); }},
    {"kind", "kind", "how losses are spread", false, 1, nullptr,
     [](DiagnosisIn d) { return std::string(pattern_names[d.pattern]); }},
    number_column<&Diagnosis::at_least>("at_least", "at least",
                                        "packets, NAKs, queue pairs: as the sentence says"),
    {"at_most", "at most", "the same at most; empty: as many, or nobody knows", true, 2,
     [](DiagnosisIn d) { return static_cast<double>(d.at_most.value_or(0)); },
     [](DiagnosisIn d) { return d.at_most ? std::to_string(*d.at_most) : std::string(); }},
    number_column<&Diagnosis::of>("of_packets", "of", "packets that these are a part of"),
    cost_column<&Cost::repeated_packets>("repeated_packets", "repeated", "packets sent again for it"),
    cost_column<&Cost::repeated_bytes>("repeated_bytes", "repeated bytes", "the same in bytes on the wire"),
    cost_column<&Cost::discarded_packets>("discarded_packets", "discarded",
                                          "packets that receivers threw away, at most"),
    cost_column<&Cost::failed>("failed", "failed", "connections that ended by it"),
    duration_column<&Cost::stalled_ns>("stalled_ns", "stalled",
                                       "time without goodput, of all connections in ns"),
    duration_column<&Cost::recovery_median_ns>("recovery_median_ns", "recovery",
                                               "median of its incidents in ns"),
    time_column<&Diagnosis::since_ns>("since", "begin, ns since the epoch"),
    time_column<&Diagnosis::until_ns>("until", "end, ns since the epoch"),
    {"confidence", "confidence", "confidence, 0 to 1", true, hidden_column,
     [](DiagnosisIn d) { return d.confidence; },
     [](DiagnosisIn d) { return fmt::format("{:.0f} %", 100 * d.confidence); },
     [](DiagnosisIn d) { return fmt::format("{:.4g}", d.confidence); }, CellType::real},
    number_column<&Diagnosis::incident_count>("incidents", "incidents", "number of its incidents"),
    number_column<&Diagnosis::connection_count>("connections", "connections",
                                                "number of connections that it hit"),
    {"packets", "packets", "numbers of the first few packets that show it", false, hidden_column, nullptr,
     [](DiagnosisIn d) { return fmt::format("{}", fmt::join(d.packets, " ")); }},
    {"would_decide", "would decide", "which capture or counter would decide what is not excluded", false,
     hidden_column, nullptr, [](DiagnosisIn d) { return d.would_decide; }},
    {"advice", "advice", "what to do next", false, hidden_column, nullptr,
     [](DiagnosisIn d) { return d.advice; }},
};

}  // namespace

std::span<const DiagnosisColumn> diagnosis_columns() noexcept {
  return columns_of_diagnoses;
}

}  // namespace roce::analyze
