// SPDX-License-Identifier: Apache-2.0
// The parts of the report's JSON: tables of keys (see json_object.hpp). A table whose name ends in _keys has
// keys that others include, one that ends in _object is an object of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/base/histogram.hpp"
#include "analyze/base/json_object.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/results/connection_columns.hpp"
#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// A flow with what else is known of it.
struct FlowIn {
  const Snapshot& s;
  const Flow& flow;
};

/// Rows of a table in the order of a listing.
template <class Row>
struct ListedRows {
  ListedRows(std::vector<Row> all, std::span<const Column<Row>> columns, const Listing& listing)
      : rows(std::move(all)), order(listed(rows, columns, listing)) {}
  std::vector<Row> rows;
  std::vector<const Row*> order;  ///< into `rows`
  [[nodiscard]] auto begin() const noexcept { return order.begin(); }
  [[nodiscard]] auto end() const noexcept { return order.end(); }
};

/// The keys of the sequence analysis that flows and connections share.
const JsonObject<SequenceCounts>& sequence_keys();
/// {count, min, p50, p90, p99, max}, all 0 when empty; of nanoseconds, and of bytes.
const JsonObject<Histogram>& quantiles_object();
const JsonObject<Histogram>& size_quantiles_object();
/// {not_ect, ect0, ect1, ce}: packets by ECN codepoint
const JsonObject<std::array<std::uint64_t, 4>>& ecn_object();
/// {address, qp}
const JsonObject<Endpoint>& endpoint_object();

const JsonObject<ConnectionRow>& connection_object();
const JsonObject<Snapshot>& completeness_object();

// Keys of the whole report or of one of its pages.
const JsonObject<Snapshot>& first_keys();  ///< schema, final, complete, interrupted
const JsonObject<ReportPage>& cm_exchange_keys();
const JsonObject<ReportPage>& diagnosis_keys();
const JsonObject<ReportPage>& mrc_keys();       ///< null without MRC
const JsonObject<ReportPage>& export_keys();    ///< exports, drops
const JsonObject<ReportPage>& numbered_keys();  ///< shells, mirrors, named
const JsonObject<ReportPage>& finding_keys();
const JsonObject<ReportPage>& incident_keys();
const JsonObject<std::vector<Diagnostic>>& diagnostic_keys();
const JsonObject<ReportPage>& pause_keys();  ///< pause, pause_ports, pause_mutual ...: of `congestion`
const JsonObject<ReportPage>& dcbx_keys();
const JsonObject<ReportPage>& series_keys();
const JsonObject<ReportPage>& marking_keys();  ///< markings, markings_others, not_judged
const JsonObject<ReportPage>& congestion_keys();

// Keys of a connection and of a flow.
const JsonObject<Connection>&
connection_congestion_keys();                 ///< congestion: a and b, null without CE marks and CNPs
const JsonObject<FlowIn>& flow_marks_keys();  ///< marks, outer, points

/// A time in nanoseconds since the epoch, or null.
[[nodiscard]] JsonTime json_time(std::optional<std::int64_t> time_ns) noexcept;
/// null if empty
[[nodiscard]] inline std::optional<std::string> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}
/// null if 0
template <class Number>
[[nodiscard]] std::optional<Number> unless_zero(Number number) {
  return number == 0 ? std::nullopt : std::optional<Number>(number);
}
/// A number by numbers, and by names that `text` gives.
template <class Counts, class Text>
[[nodiscard]] JsonMap<std::uint64_t> counts_by(const Counts& counts, Text text) {
  JsonMap<std::uint64_t> map;
  for (const auto& entry : counts.sorted()) map.entries.emplace_back(text(entry.key), entry.count);
  return map;
}
/// Those that are not 0, by their place.
template <class Counts>
[[nodiscard]] JsonMap<std::uint64_t> counts_by_number(const Counts& counts) {
  JsonMap<std::uint64_t> map;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) map.entries.emplace_back(std::to_string(i), counts[i]);
  }
  return map;
}

/// Keys of maps: "26", "RC Acknowledge".
[[nodiscard]] std::string json_number_key(std::uint64_t number);
[[nodiscard]] std::string json_opcode_key(std::uint8_t opcode);
/// null without an address
[[nodiscard]] std::optional<std::string> address_or_null(const std::optional<dissect::IpAddress>& address);

inline constexpr std::array<std::string_view, 2> json_side_names{"a", "b"};
inline constexpr std::array<std::string_view, 4> json_ecn_names{"not_ect", "ect0", "ect1", "ce"};

}  // namespace roce::analyze
