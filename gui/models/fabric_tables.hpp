// SPDX-License-Identifier: Apache-2.0
// Tables of the fabric: pairs of hosts, paths, MRC, shells, mirrors and what switches exported, with the
// columns of reports and exports; see TableModel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/results/export_columns.hpp"
#include "analyze/results/mrc_columns.hpp"
#include "analyze/results/numbered_columns.hpp"
#include "analyze/results/pair_columns.hpp"
#include "analyze/results/path_columns.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

/// Common base: rows have neither severity nor id, and are told apart by their first `identity` columns.
template <class RowOf, auto columns_of, std::size_t identity>
class FabricRows {
 public:
  using Row = RowOf;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns() { return columns_of(); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const {
    std::string key;
    for (const analyze::Column<Row>& column : columns().first(identity)) key += column.text(rows_[i]) + ' ';
    return key;
  }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t) const { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

 protected:
  explicit FabricRows(std::vector<Row> rows) : rows_(std::move(rows)) {}

 private:
  std::vector<Row> rows_;
};

struct PairTable : FabricRows<analyze::HostPairRow, analyze::host_pair_columns, 2> {
  explicit PairTable(const analyze::Snapshot& snapshot) : FabricRows(analyze::host_pair_rows(snapshot)) {}
};
struct PathTable : FabricRows<analyze::PathRow, analyze::path_columns, 6> {
  explicit PathTable(const analyze::Snapshot& snapshot) : FabricRows(analyze::path_rows(snapshot)) {}
};
struct MrcStreamTable : FabricRows<const analyze::MrcStream*, analyze::mrc_stream_columns, 1> {
  explicit MrcStreamTable(const analyze::Snapshot& snapshot)
      : FabricRows(analyze::mrc_stream_rows(snapshot)) {}
};
struct MrcPathTable : FabricRows<analyze::MrcPathRow, analyze::mrc_path_columns, 3> {
  explicit MrcPathTable(const analyze::Snapshot& snapshot) : FabricRows(analyze::mrc_path_rows(snapshot)) {}
};
struct MrcLossTable : FabricRows<analyze::MrcLossRow, analyze::mrc_loss_columns, 5> {
  explicit MrcLossTable(const analyze::Snapshot& snapshot) : FabricRows(analyze::mrc_loss_rows(snapshot)) {}
};

template <analyze::NumberedRows which>
struct NumberedTable : FabricRows<analyze::NumberedStream, analyze::numbered_columns, 5> {
  explicit NumberedTable(const analyze::Snapshot& snapshot) : FabricRows(rows_of(snapshot)) {}

 private:
  static std::vector<analyze::NumberedStream> rows_of(const analyze::Snapshot& snapshot) {
    std::vector<analyze::NumberedStream> rows;
    for (const analyze::NumberedStream* each : analyze::numbered_rows(snapshot, which)) rows.push_back(*each);
    return rows;
  }
};
using ShellTable = NumberedTable<analyze::NumberedRows::shells>;
using MirrorTable = NumberedTable<analyze::NumberedRows::mirrors>;

template <class What, std::vector<What> analyze::Exports::*all, auto columns_of, std::size_t identity>
struct ExportedTable : FabricRows<analyze::ExportRow<What>, columns_of, identity> {
  explicit ExportedTable(const analyze::Snapshot& snapshot)
      : FabricRows<analyze::ExportRow<What>, columns_of, identity>(
            analyze::export_rows(snapshot.exports, snapshot.exports.*all)) {}
};
using ExportSourceTable =
    ExportedTable<analyze::ExportSource, &analyze::Exports::sources, analyze::export_source_columns, 3>;
using SampledFlowTable =
    ExportedTable<analyze::ExportFlow, &analyze::Exports::flows, analyze::export_flow_columns, 4>;
using ExportQueueTable =
    ExportedTable<analyze::ExportQueue, &analyze::Exports::queues, analyze::export_queue_columns, 3>;
using ExportPortTable =
    ExportedTable<analyze::ExportPort, &analyze::Exports::ports, analyze::export_port_columns, 2>;

/// The groups are its own.
struct ExportedDrops {
  std::vector<analyze::ExportDropGroup> groups;
};
struct ExportDropTable : private ExportedDrops,
                         FabricRows<analyze::ExportDropRow, analyze::export_drop_columns, 2> {
  explicit ExportDropTable(const analyze::Snapshot& snapshot)
      : ExportedDrops{analyze::drop_groups(snapshot.exports)},
        FabricRows(analyze::export_rows(snapshot.exports, groups)) {}
  ExportDropTable(const ExportDropTable&) = delete;
  ExportDropTable& operator=(const ExportDropTable&) = delete;
};

using PairModel = TableModel<PairTable>;
using PathModel = TableModel<PathTable>;
using MrcStreamModel = TableModel<MrcStreamTable>;
using MrcPathModel = TableModel<MrcPathTable>;
using MrcLossModel = TableModel<MrcLossTable>;
using ShellModel = TableModel<ShellTable>;
using MirrorModel = TableModel<MirrorTable>;
using ExportDropModel = TableModel<ExportDropTable>;
using SampledFlowModel = TableModel<SampledFlowTable>;
using ExportSourceModel = TableModel<ExportSourceTable>;
using ExportQueueModel = TableModel<ExportQueueTable>;
using ExportPortModel = TableModel<ExportPortTable>;

/// Packets that a row stands for: those that match a display filter, or one; neither: none can be shown.
struct RowPackets {
  std::string filter;
  std::uint64_t packet = 0;
};
[[nodiscard]] RowPackets packets_of(const analyze::HostPairRow& row);
[[nodiscard]] RowPackets packets_of(const analyze::PathRow& row);
[[nodiscard]] RowPackets packets_of(const analyze::MrcStream* row);
[[nodiscard]] RowPackets packets_of(const analyze::MrcPathRow& row);
[[nodiscard]] RowPackets packets_of(const analyze::MrcLossRow& row);
[[nodiscard]] RowPackets packets_of(const analyze::NumberedStream& row);
[[nodiscard]] RowPackets packets_of(const analyze::ExportDropRow& row);  ///< the first notification
[[nodiscard]] RowPackets packets_of(
    const analyze::ExportFlowRow& row);  ///< the datagram with its first sample

}  // namespace roce::gui
