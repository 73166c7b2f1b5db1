// SPDX-License-Identifier: Apache-2.0
// The tables of a snapshot; see TableModel for what a table must have.
#pragma once

#include <QString>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/results/connection_columns.hpp"
#include "analyze/results/finding_columns.hpp"
#include "analyze/results/flow_columns.hpp"
#include "analyze/results/host_columns.hpp"
#include "analyze/results/marking_columns.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

// Findings and hosts have the columns of reports and exports.
using analyze::finding_columns;
using analyze::finding_key;
using analyze::first_sentence;
using analyze::host_columns;
using Host = analyze::HostRow;
[[nodiscard]] inline std::vector<Host> hosts_of(const analyze::Snapshot& snapshot) {
  return analyze::host_rows(snapshot);
}

/// The finding with the key_role of a row of a table or tree; null: the snapshot has none. Lives as long as
/// the snapshot.
[[nodiscard]] const analyze::Finding* find_finding(const analyze::Snapshot& snapshot, const QString& key);

using analyze::connection_severities;

/// From the first to the last packet of a connection; nullopt: they have no times.
[[nodiscard]] std::optional<TimeSpan> time_of(const analyze::ConnectionRow& connection);
/// From the first to the last time of a finding; nullopt: it has none.
[[nodiscard]] std::optional<TimeSpan> time_of(const analyze::Finding& finding);

/// The connections with the most trouble first, then those with the most bytes.
class ConnectionTable {
 public:
  using Row = analyze::ConnectionRow;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns() {
    return analyze::connection_columns();
  }
  explicit ConnectionTable(const analyze::Snapshot& snapshot);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const { return std::to_string(rows_[i]->id); }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const { return severities_[i]; }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t i) const { return rows_[i]->id; }
  [[nodiscard]] std::optional<TimeSpan> time(std::size_t i) const { return time_of(rows_[i]); }

 protected:
  /// At most so many, of those seen in that time range; nullopt: of all.
  ConnectionTable(const analyze::Snapshot& snapshot, std::size_t most, const std::optional<TimeSpan>& time);

 private:
  std::vector<Row> rows_;
  std::vector<std::optional<analyze::Severity>> severities_;
};

class FlowTable {
 public:
  using Row = analyze::Flow;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns() { return analyze::flow_columns(); }
  explicit FlowTable(const analyze::Snapshot& snapshot) : rows_(snapshot.flows) {}
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const { return std::to_string(rows_[i].id); }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t) const { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t i) const { return rows_[i].id; }

 private:
  const std::vector<Row>& rows_;
};

class MarkingTable {
 public:
  using Row = analyze::Marking;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns() { return analyze::marking_columns(); }
  explicit MarkingTable(const analyze::Snapshot& snapshot) : rows_(snapshot.markings.rows) {}
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const;  ///< traffic class, direction and markings
  /// Warning where the policy is violated.
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const;
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

 private:
  const std::vector<Row>& rows_;
};

class FindingTable {
 public:
  using Row = analyze::Finding;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns() { return finding_columns(); }
  explicit FindingTable(const analyze::Snapshot& snapshot) : rows_(snapshot.findings) {}
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const { return finding_key(rows_[i]); }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const { return rows_[i].severity; }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }
  [[nodiscard]] std::optional<TimeSpan> time(std::size_t i) const { return time_of(rows_[i]); }

 private:
  const std::vector<Row>& rows_;
};

/// All hosts, or those with connections seen in a time range.
class HostTable {
 public:
  using Row = Host;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns() { return host_columns(); }
  explicit HostTable(const analyze::Snapshot& snapshot, const std::optional<TimeSpan>& time = std::nullopt);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const { return rows_[i].address; }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const { return rows_[i].worst; }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

 private:
  std::vector<Row> rows_;
};

using ConnectionModel = TableModel<ConnectionTable>;
using FlowModel = TableModel<FlowTable>;
using MarkingModel = TableModel<MarkingTable>;
using FindingListModel = TableModel<FindingTable>;
using HostModel = TableModel<HostTable>;

}  // namespace roce::gui
