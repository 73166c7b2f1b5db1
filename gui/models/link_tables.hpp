// SPDX-License-Identifier: Apache-2.0
// Tables of links: DCBX announcements, PAUSE and PFC, and the spread of UDP source ports; see TableModel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/results/link_columns.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

class DcbxTableRows {
 public:
  using Row = analyze::DcbxRow;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns() { return analyze::dcbx_columns(); }
  explicit DcbxTableRows(const analyze::Snapshot& snapshot) : rows_(analyze::dcbx_rows(snapshot)) {}
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const;  ///< capture point, MAC address, chassis, port, version
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t) const { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

 private:
  std::vector<Row> rows_;
};

class PauseTable {
 public:
  using Row = analyze::PauseRow;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns() { return analyze::pause_columns(); }
  explicit PauseTable(const analyze::Snapshot& snapshot) : rows_(analyze::pause_rows(snapshot)) {}
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const;  ///< capture point, MAC address, priority
  /// Warning for a pause storm, notice for packets that arrived although their priority was paused.
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const;
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

 private:
  std::vector<Row> rows_;
};

/// The UDP source ports from which one address sends RoCE v2 data to another: the entropy for ECMP hashing.
struct PortSpread {
  std::string src, dst;
  std::uint64_t flows = 0;  ///< with payload: flows of acknowledgements need no spreading
  std::uint64_t ports = 0;  ///< distinct source ports
  bool more = false;        ///< some flow had more ports than are kept: `ports` is a minimum
  std::uint64_t packets = 0;
  std::uint64_t zero = 0;     ///< packets with source port 0
  std::uint16_t busiest = 0;  ///< the source port with the most packets
  std::uint64_t busiest_packets = 0;
};
[[nodiscard]] std::vector<PortSpread> port_spreads(const analyze::Snapshot& snapshot);  ///< most flows first

class PortSpreadTable {
 public:
  using Row = PortSpread;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns();
  explicit PortSpreadTable(const analyze::Snapshot& snapshot) : rows_(port_spreads(snapshot)) {}
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const { return rows_[i].src + ' ' + rows_[i].dst; }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t) const { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

 private:
  std::vector<Row> rows_;
};

using DcbxModel = TableModel<DcbxTableRows>;
using PauseModel = TableModel<PauseTable>;
using PortSpreadModel = TableModel<PortSpreadTable>;

}  // namespace roce::gui
