// SPDX-License-Identifier: Apache-2.0
#include "gui/models/table_model.hpp"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <functional>
#include <nlohmann/json.hpp>

#include "analyze/json/json_report.hpp"
#include "cli/report.hpp"
#include "gui/models/finding_tree.hpp"
#include "gui/models/overview_tables.hpp"
#include "gui/models/table_filter.hpp"
#include "gui/models/tables.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

using Snapshots = std::vector<SnapshotPtr>;

/// What the window would be shown while it reads, and then of another file, and of none.
Snapshots growing() {
  Snapshots all;
  for (const std::uint64_t packets : {1U, 40U, 200U, 900U, 0U})
    all.push_back(analyzed("04_write_loss1.cb.pcap.zst", packets));
  for (const std::uint64_t packets : {30U, 600U, 0U}) all.push_back(analyzed("06_mix_4qp.pcap.zst", packets));
  all.push_back(analyzed("11_three_hosts.pcap.zst", 500));
  all.push_back(analyzed("11_three_hosts.pcap.zst"));
  all.push_back(analyzed("05_rnr_exhaust.pcap"));
  all.push_back(nullptr);
  return all;
}

/// Shows all of them to a model that a tester and a filter watch. `size`: rows of a snapshot.
template <class Model>
void watch(const std::function<std::size_t(const analyze::Snapshot&)>& size) {
  Model model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  TableFilter filter;
  filter.setSourceModel(&model);
  const QAbstractItemModelTester filter_tester(&filter,
                                               QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  int column = 0;
  for (const SnapshotPtr& snapshot : growing()) {
    model.show(snapshot);
    ASSERT_EQ(static_cast<std::size_t>(model.rowCount()), snapshot ? size(*snapshot) : 0);
    filter.set_text({});
    filter.set_severity(std::nullopt);
    filter.sort(column % model.columnCount(), column % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
    ++column;
    EXPECT_EQ(filter.rowCount(), model.rowCount());
    filter.set_text(QStringLiteral("10.77"));
    filter.set_severity(analyze::Severity::warning);
    for (int row = 0; row < filter.rowCount(); ++row)
      EXPECT_GE(filter.index(row, 0).data(TableModelBase::severity_role).toInt(),
                static_cast<int>(analyze::Severity::warning));
    filter.set_severity(std::nullopt);
    filter.set_text(QStringLiteral("no such text anywhere"));
    EXPECT_EQ(filter.rowCount(), 0);
    filter.set_text({});
  }
  EXPECT_EQ(resets.count(), 0);
}

TEST(TableModel, ConnectionsGrow) {
  watch<ConnectionModel>([](const analyze::Snapshot& s) { return s.connections.size(); });
}
TEST(TableModel, FlowsGrow) {
  watch<FlowModel>([](const analyze::Snapshot& s) { return s.flows.size(); });
}
TEST(TableModel, MarkingsGrow) {
  watch<MarkingModel>([](const analyze::Snapshot& s) { return s.markings.rows.size(); });
}
TEST(TableModel, FindingsGrow) {
  watch<FindingListModel>([](const analyze::Snapshot& s) { return s.findings.size(); });
}
TEST(TableModel, WorstConnectionsGrow) {
  watch<WorstConnectionModel>(
      [](const analyze::Snapshot& s) { return std::min(s.connections.size(), WorstConnectionTable::most); });
}
TEST(TableModel, HostsGrow) {
  watch<HostModel>([](const analyze::Snapshot& s) { return hosts_of(s).size(); });
}
TEST(TableModel, MatrixGrows) {
  watch<MarkMatrixModel>([](const analyze::Snapshot& s) { return MarkMatrixTable(s).size(); });
}

TEST(TableModel, KeepsPlaces) {
  HostModel model;
  model.show(analyzed("11_three_hosts.pcap.zst", 300));
  ASSERT_GT(model.rowCount(), 1);
  const QPersistentModelIndex kept = model.index(1, 0);
  const QString address = kept.data(TableModelBase::key_role).toString();
  model.show(analyzed("11_three_hosts.pcap.zst"));
  // It stayed, or was moved by being taken out and put in: never does it show another host.
  if (kept.isValid()) {
    EXPECT_EQ(kept.data(TableModelBase::key_role).toString(), address);
  }
  EXPECT_EQ(model.index(model.row_of(address), 0).data().toString(), address);
}

/// RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines{{{}}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = lines.back().back();
    if (quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      lines.back().emplace_back();
    } else if (c == '\n') {
      lines.push_back({{}});
    } else if (c != '\r') {
      cell += c;
    }
  }
  lines.pop_back();
  return lines;
}

template <class Model>
void expect_as_csv(const SnapshotPtr& snapshot, const std::string& csv) {
  Model model;
  model.show(snapshot);
  const auto lines = parse_csv(csv);
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(model.rowCount()) + 1);
  for (int column = 0; column < model.columnCount(); ++column) {
    const auto place = static_cast<std::size_t>(column);
    ASSERT_EQ(model.headerData(column, Qt::Horizontal, TableModelBase::name_role).toString().toStdString(),
              lines[0][place]);
    for (int row = 0; row < model.rowCount(); ++row) {
      ASSERT_EQ(model.index(row, column).data(TableModelBase::exact_role).toString().toStdString(),
                lines[static_cast<std::size_t>(row) + 1][place]);
    }
  }
}

TEST(TableModel, HoldsWhatTheCommandLinePrints) {
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    const SnapshotPtr snapshot = analyzed(name);
    ASSERT_TRUE(snapshot);
    expect_as_csv<ConnectionModel>(snapshot, cli::connections_csv(*snapshot, {}));
    expect_as_csv<FlowModel>(snapshot, cli::flows_csv(*snapshot, {}));
    expect_as_csv<MarkingModel>(snapshot, cli::markings_csv(*snapshot, {}));
  }
}

TEST(TableModel, HoldsWhatTheJsonOfConnectionsSays) {
  for (const char* name : {"04_write_loss1.cb.pcap.zst", "06_mix_4qp.pcap.zst", "05_rnr_exhaust.pcap",
                           "02_write_bw_cm.pcap.zst"}) {
    SCOPED_TRACE(name);
    const SnapshotPtr snapshot = analyzed(name);
    std::string text;
    analyze::connections_json(*snapshot, {}, false, {text});
    const auto connections = nlohmann::json::parse(text).at("connections");
    ConnectionModel model;
    model.show(snapshot);
    ASSERT_EQ(static_cast<std::size_t>(model.rowCount()), connections.size());
    for (int row = 0; row < model.rowCount(); ++row) {
      const auto& expected = connections[static_cast<std::size_t>(row)];
      const auto cell = [&](std::string_view column) {
        return model.index(row, model.column_of(column))
            .data(TableModelBase::exact_role)
            .toString()
            .toStdString();
      };
      EXPECT_EQ(cell("a"), expected.at("a").at("address"));
      EXPECT_EQ(cell("b"), expected.at("b").at("address"));
      EXPECT_EQ(cell("state"), expected.at("state"));
      EXPECT_EQ(cell("service"), expected.at("service"));
      for (const char* number : {"id", "packets", "bytes", "goodput_bytes", "goodput_bps", "throughput_bps",
                                 "in_flight_max", "acks", "cnps"})
        EXPECT_EQ(cell(number), std::to_string(expected.at(number).get<std::uint64_t>())) << number;
    }
  }
}

TEST(TableModel, SortsNumbersAsNumbers) {
  ConnectionModel model;
  model.show(analyzed("06_mix_4qp.pcap.zst"));
  TableFilter filter;
  filter.setSourceModel(&model);
  const int packets = model.column_of("packets");
  filter.sort(packets, Qt::AscendingOrder);
  ASSERT_GT(filter.rowCount(), 2);
  for (int row = 1; row < filter.rowCount(); ++row)
    EXPECT_LE(filter.index(row - 1, packets).data().toULongLong(),
              filter.index(row, packets).data().toULongLong());
}

TEST(FindingTree, Grows) {
  FindingTree model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  TableFilter filter;
  filter.setRecursiveFilteringEnabled(true);
  filter.setSourceModel(&model);
  const QAbstractItemModelTester filter_tester(&filter,
                                               QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  for (const SnapshotPtr& snapshot : growing()) {
    model.show(snapshot);
    std::size_t shown = 0;
    for (int i = 0; i < model.rowCount(); ++i) {
      const QModelIndex kind = model.index(i, 0);
      for (int j = 0; j < model.rowCount(kind); ++j) {
        const QModelIndex row = model.index(j, 0, kind);
        EXPECT_EQ(model.index_of(row.data(TableModelBase::key_role).toString()), row);
        EXPECT_EQ(model.finding(row)->id, model.finding(kind)->id);
        ++shown;
      }
    }
    EXPECT_EQ(shown, snapshot ? snapshot->findings.size() : 0);
    filter.set_severity(analyze::Severity::error);
    for (int i = 0; i < filter.rowCount(); ++i) EXPECT_GT(filter.rowCount(filter.index(i, 0)), 0);
    filter.set_severity(std::nullopt);
    filter.set_text(QStringLiteral("lost 10.77"));
    filter.set_text({});
    EXPECT_EQ(filter.rowCount(), model.rowCount());
  }
  EXPECT_EQ(resets.count(), 0);
}

}  // namespace
}  // namespace roce::gui
