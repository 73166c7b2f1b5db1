// SPDX-License-Identifier: Apache-2.0
#include "gui/models/table_model.hpp"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <thread>
#include <tuple>
#include <type_traits>

#include "analyze/base/address_text.hpp"
#include "analyze/report/json/json_report.hpp"
#include "cli/report/report.hpp"
#include "gui/models/diagnosis_table.hpp"
#include "gui/models/fabric_tables.hpp"
#include "gui/models/finding_filter.hpp"
#include "gui/models/finding_tree.hpp"
#include "gui/models/overview_tables.hpp"
#include "gui/models/tables.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace table_model_test {
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

/// Shows all of them to a model that a tester watches. `size`: rows of a snapshot.
template <class Model>
void watch(const std::function<std::size_t(const analyze::Snapshot&)>& size) {
  Model model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  int column = 0;
  for (const SnapshotPtr& snapshot : growing()) {
    model.show(snapshot);
    ASSERT_EQ(static_cast<std::size_t>(model.rowCount()), snapshot ? size(*snapshot) : 0);
    model.sort(column % model.columnCount(), column % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
    ++column;
    EXPECT_EQ(model.rowCount(), model.all_rows());
    model.set_text(QStringLiteral("10.77"));
    model.set_severity(analyze::Severity::warning);
    for (int row = 0; row < model.rowCount(); ++row)
      EXPECT_GE(model.index(row, 0).data(TableModelBase::severity_role).toInt(),
                static_cast<int>(analyze::Severity::warning));
    model.set_severity(std::nullopt);
    model.set_text(QStringLiteral("no such text anywhere"));
    EXPECT_EQ(model.rowCount(), 0);
    EXPECT_EQ(static_cast<std::size_t>(model.all_rows()), snapshot ? size(*snapshot) : 0);
    model.set_text({});
  }
  EXPECT_EQ(resets.count(), 0);
}

TEST(TableModel, ConnectionsGrow) {
  watch<ConnectionModel>([](const analyze::Snapshot& s) { return s.connections.size(); });
}
TEST(TableModel, FlowsGrow) {
  watch<FlowModel>([](const analyze::Snapshot& s) { return s.flows.size(); });
}
TEST(TableModel, PathsGrow) {
  watch<PathModel>([](const analyze::Snapshot& s) { return analyze::path_rows(s).size(); });
}
TEST(TableModel, MarkingsGrow) {
  watch<MarkingModel>([](const analyze::Snapshot& s) { return s.markings.rows.size(); });
}
TEST(TableModel, FindingsGrow) {
  watch<FindingListModel>([](const analyze::Snapshot& s) { return s.findings.size(); });
}
TEST(TableModel, DiagnosesGrow) {
  watch<DiagnosisModel>([](const analyze::Snapshot& s) { return s.diagnoses.size(); });
}
TEST(TableModel, WorstConnectionsGrow) {
  watch<WorstConnectionModel>(
      [](const analyze::Snapshot& s) { return std::min(s.connections.size(), WorstConnectionTable::most); });
}
/// As the first page lists them, and all of them.
TEST(TableModel, ConnectionsBeginWithTheWorst) {
  for (const char* name : {"06_mix_4qp.pcap.zst", "11_three_hosts.pcap.zst"}) {
    const SnapshotPtr snapshot = analyzed(name);
    const ConnectionTable all(*snapshot);
    const WorstConnectionTable worst(*snapshot);
    ASSERT_EQ(all.size(), snapshot->connections.size()) << name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i < worst.size()) {
        EXPECT_EQ(all.row(i)->id, worst.row(i)->id) << name;
      }
      if (i == 0) continue;
      const auto rank = [&](std::size_t row) {
        return std::tuple(all.severity(row).has_value(), all.severity(row).value_or(analyze::Severity::info),
                          all.row(row).trouble(), all.row(row).bytes());
      };
      EXPECT_GE(rank(i - 1), rank(i)) << name << ", row " << i;
    }
  }
}
TEST(TableModel, HostsGrow) {
  watch<HostModel>([](const analyze::Snapshot& s) { return hosts_of(s).size(); });
}
TEST(TableModel, MatrixGrows) {
  watch<MarkMatrixModel>([](const analyze::Snapshot& s) { return MarkMatrixTable(s).size(); });
}

TEST(TableModel, MatrixIsShadedByCongestion) {
  const SnapshotPtr snapshot = analyzed("07_ce_netem10.cb.pcap.zst");
  const MarkMatrixTable matrix(*snapshot);
  const auto columns = MarkMatrixTable::columns();
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    const MarkDirection& direction = matrix.row(row);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const MarkHeat heat = mark_heat(direction, column);
      EXPECT_FALSE(heat.violation);
      const bool congested = columns[column].name == "data" && direction.text.starts_with("10.77.0.1 ");
      EXPECT_NEAR(heat.ce, congested ? 124.0 / 1280 : 0, 1e-9)
          << direction.text << ", " << columns[column].name;
      EXPECT_EQ(columns[column].text(direction).find("CE: 124 (9.7 %)") != std::string::npos, congested);
    }
    EXPECT_EQ(mark_heat(direction, columns.size()).ce, 0);
  }
}

/// Counted by hand: what touches a tenth of the capture, wherever that lies.
TEST(TableModel, LimitsRowsToATimeRange) {
  bool any_left_out = false;
  for (const char* name : {"11_three_hosts.pcap.zst", "06_mix_4qp.pcap.zst", "04_write_loss1.cb.pcap.zst"}) {
    const SnapshotPtr snapshot = analyzed(name);
    const analyze::Totals& totals = snapshot->totals;
    const std::int64_t tenth = (totals.last_time_ns - totals.first_time_ns) / 10;
    ConnectionModel connections;
    WorstConnectionModel worst;
    HostModel hosts;
    FindingListModel findings;
    FindingTree tree;
    FindingFilter filter;
    filter.setSourceModel(&tree);
    tree.show(snapshot);
    TableModelBase* const tables[] = {&connections, &worst, &hosts, &findings};
    for (TableModelBase* table : tables) table->show(snapshot);
    for (int i = 0; i < 10; ++i) {
      const TimeSpan span{totals.first_time_ns + i * tenth, totals.first_time_ns + (i + 1) * tenth};
      for (TableModelBase* table : tables) table->set_time(span);
      filter.set_time(span);
      worst.show(snapshot);
      hosts.show(snapshot);
      std::vector<bool> there;
      QStringList addresses;
      for (const analyze::ConnectionRow& row : analyze::connection_rows(*snapshot)) {
        there.push_back(!(row->last_time_ns < span.from || row->first_time_ns > span.to));
        if (!there.back()) continue;
        for (const auto& end : row->ends) addresses << to_qt(analyze::address_text(end.address));
      }
      const auto count = static_cast<int>(std::count(there.begin(), there.end(), true));
      any_left_out = any_left_out || count < static_cast<int>(there.size());
      EXPECT_EQ(connections.rowCount(), count) << name << ", " << i;
      EXPECT_EQ(worst.rowCount(), count) << name << ", " << i;
      for (int row = 0; row < connections.rowCount(); ++row)
        EXPECT_TRUE(there[connections.row(row)->id]) << name << ", " << i;
      addresses.removeDuplicates();
      ASSERT_EQ(hosts.rowCount(), addresses.size()) << name << ", " << i;
      for (int row = 0; row < hosts.rowCount(); ++row)
        EXPECT_TRUE(addresses.contains(to_qt(hosts.row(row).address))) << name << ", " << i;
      const auto found =
          std::count_if(snapshot->findings.begin(), snapshot->findings.end(), [&](const auto& f) {
            return !f.first_time_ns || !(*f.last_time_ns < span.from || *f.first_time_ns > span.to);
          });
      EXPECT_EQ(findings.rowCount(), found) << name << ", " << i;
      int in_tree = 0;
      for (int kind = 0; kind < filter.rowCount(); ++kind) in_tree += filter.rowCount(filter.index(kind, 0));
      EXPECT_EQ(in_tree, found) << name << ", " << i;
    }
    for (TableModelBase* table : tables) table->set_time(std::nullopt);
    hosts.show(snapshot);
    EXPECT_EQ(static_cast<std::size_t>(connections.rowCount()), snapshot->connections.size());
    EXPECT_EQ(static_cast<std::size_t>(hosts.rowCount()), hosts_of(*snapshot).size());
    EXPECT_EQ(static_cast<std::size_t>(findings.rowCount()), snapshot->findings.size());
  }
  EXPECT_TRUE(any_left_out);
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
  // The window begins with the worst connection, the command line with the first; its numbers sort backwards.
  if constexpr (std::is_same_v<Model, ConnectionModel>)
    model.sort(model.column_of("id"), Qt::DescendingOrder);
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
    expect_as_csv<PathModel>(snapshot, cli::paths_csv(*snapshot, {}));
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
    model.sort(model.column_of("id"), Qt::DescendingOrder);
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
  const int packets = model.column_of("packets");
  model.sort(packets, Qt::AscendingOrder);
  ASSERT_GT(model.rowCount(), 2);
  for (int row = 1; row < model.rowCount(); ++row)
    EXPECT_LE(model.index(row - 1, packets).data().toULongLong(),
              model.index(row, packets).data().toULongLong());
}

/// A table of any size: numbers, which are their keys, and texts that go another way.
struct Numbers {
  using Row = int;
  [[nodiscard]] static std::string text(const int& n) { return "t" + std::to_string(n * 7919 % 10007); }
  [[nodiscard]] static std::span<const analyze::Column<int>> columns() {
    static constexpr analyze::Column<int> all[] = {
        {"number", "number", "", true, 0, [](const int& n) { return static_cast<double>(n); },
         [](const int& n) { return std::to_string(n); }, nullptr},
        {"text", "text", "", false, 0, nullptr, text, nullptr}};
    return all;
  }
  [[nodiscard]] std::size_t size() const { return numbers.size(); }
  [[nodiscard]] const int& row(std::size_t i) const { return numbers[i]; }
  [[nodiscard]] std::string key(std::size_t i) const { return std::to_string(numbers[i]); }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const {
    return numbers[i] % 100 == 0 ? std::optional(analyze::Severity::error) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

  std::vector<int> numbers;
};
using NumberModel = TableModel<Numbers>;

void show_numbers(NumberModel& model, std::vector<int> numbers) {
  model.show_table(std::make_unique<Numbers>(Numbers{std::move(numbers)}), nullptr);
}

std::vector<int> numbers_of(const NumberModel& model) {
  std::vector<int> numbers;
  for (int row = 0; row < model.rowCount(); ++row) numbers.push_back(model.index(row, 0).data().toInt());
  return numbers;
}

/// What is to be shown, found in the plainest way.
std::vector<int> expected_of(std::vector<int> numbers, const QString& text, bool errors, int column,
                             Qt::SortOrder order) {
  std::erase_if(numbers, [&](int n) {
    const bool holds = QString::number(n).contains(text) || to_qt(Numbers::text(n)).contains(text);
    return !holds || (errors && n % 100 != 0);
  });
  std::stable_sort(numbers.begin(), numbers.end(), [&](int a, int b) {
    if (order == Qt::DescendingOrder) std::swap(a, b);
    return column == 0 ? a < b : column == 1 && Numbers::text(a) < Numbers::text(b);
  });
  return numbers;
}

TEST(TableModel, LeadsLargeTablesThroughAnyFilterAndOrderAndKeepsPlaces) {
  NumberModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  std::minstd_rand random(5);
  std::vector<int> numbers;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    // From none to some thousand; some go, others come, and the rest changes its order.
    std::vector<int> all(round % 10 == 9 ? 100 : 4000);
    std::iota(all.begin(), all.end(), static_cast<int>(random() % 2000));
    if (round % 3 == 0) std::shuffle(all.begin(), all.end(), random);
    all.resize(all.size() - random() % (all.size() / 2));
    numbers = std::move(all);
    std::vector<std::pair<QPersistentModelIndex, int>> kept;
    for (int row = 0; row < model.rowCount(); row += 97)
      kept.emplace_back(model.index(row, 1), model.index(row, 0).data().toInt());
    const QString text = round % 4 == 1 ? QStringLiteral("7") : QString();
    const bool errors = round % 5 == 2;
    const int column = static_cast<int>(random() % 3) - 1;
    const auto order = random() % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder;
    show_numbers(model, numbers);
    model.set_text(text);
    model.set_severity(errors ? std::optional(analyze::Severity::error) : std::nullopt);
    model.sort(column, order);
    ASSERT_TRUE(eventually([&] { return model.is_settled(); }));
    ASSERT_EQ(numbers_of(model), expected_of(numbers, text, errors, column, order));
    EXPECT_EQ(static_cast<std::size_t>(model.all_rows()), numbers.size());
    for (const auto& [index, number] : kept) {
      if (!index.isValid()) continue;
      EXPECT_EQ(index.sibling(index.row(), 0).data().toInt(), number);
      EXPECT_EQ(model.row_of(QString::number(number)), index.row());
    }
    const int worst = model.worst_row();
    const bool bad = worst >= 0 && model.row(worst) % 100 == 0;
    EXPECT_EQ(bad, std::any_of(numbers.begin(), numbers.end(),
                               [&](int n) { return n % 100 == 0 && model.row_of(QString::number(n)) >= 0; }));
  }
  EXPECT_EQ(resets.count(), 0);
}

TEST(TableModel, ShowsTheNewestOfManyLargeTables) {
  NumberModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  std::vector<int> numbers(3000);
  for (int i = 0; i < 100; ++i) {
    std::iota(numbers.begin(), numbers.end(), i);
    show_numbers(model, numbers);
    model.set_text(QString::number(i % 7));
    if (i % 3 == 0) QCoreApplication::processEvents();
    if (i % 20 == 7) {
      model.show_table(nullptr, nullptr);
      EXPECT_EQ(model.rowCount(), 0) << "nothing of what is closed stays";
      EXPECT_TRUE(model.is_settled());
    }
  }
  ASSERT_TRUE(eventually([&] { return model.is_settled(); }));
  EXPECT_EQ(numbers_of(model), expected_of(numbers, QString::number(99 % 7), false, -1, Qt::AscendingOrder));
  // Gone while it works: nothing arrives any more.
  auto other = std::make_unique<NumberModel>();
  show_numbers(*other, numbers);
  other = nullptr;
  QCoreApplication::processEvents();
}

TEST(TableModel, MakesATextOfTheRowsThatWereShown) {
  NumberModel model;
  std::vector<int> numbers(3000);
  std::iota(numbers.begin(), numbers.end(), 0);
  show_numbers(model, numbers);
  model.set_text(QStringLiteral("7"));
  model.sort(0, Qt::DescendingOrder);
  ASSERT_TRUE(eventually([&] { return model.is_settled(); }));
  QString expected = QStringLiteral("text\tnumber\n");
  for (const int row : {2, 3, 4, 40}) {
    expected += QStringLiteral("%1\t%2\n")
                    .arg(model.index(row, 1).data().toString(), model.index(row, 0).data().toString());
  }
  const auto text = model.text_of({{2, 4}, {40, 40}}, {1, 0});
  // Whatever is shown by then, and wherever it is made.
  model.show_table(nullptr, nullptr);
  QString made;
  std::thread([&] { made = text(); }).join();
  EXPECT_EQ(made, expected);
  EXPECT_EQ(model.text_of({}, {0})(), QString());
}

TEST(FindingTree, Grows) {
  FindingTree model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  FindingFilter filter;
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
}  // namespace table_model_test
}  // namespace roce::gui
