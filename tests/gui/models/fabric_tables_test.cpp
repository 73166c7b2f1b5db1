// SPDX-License-Identifier: Apache-2.0
#include "gui/models/fabric_tables.hpp"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <nlohmann/json.hpp>

#include "analyze/base/address_text.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/mrc/mrc.hpp"
#include "analyze/report/json/json_report.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

using nlohmann::json;

dissect::IpAddress host(unsigned number) {
  const std::uint8_t bytes[] = {10, 0, 0, static_cast<std::uint8_t>(number)};
  return dissect::IpAddress::v4(bytes);
}

/// Two streams of MRC, shells and mirrors, and what a switch exported.
std::shared_ptr<analyze::Snapshot> made() {
  auto snapshot = std::make_shared<analyze::Snapshot>();
  auto mrc = std::make_shared<analyze::Mrc>();
  for (unsigned i = 0; i < 2; ++i) {
    analyze::MrcStream stream;
    stream.id = i;
    stream.key.src = host(1);
    stream.key.dst = host(2);
    stream.key.dst_qp = 0x100 + i;
    stream.packets = 900;
    for (unsigned path = 0; path < 3; ++path) {
      analyze::MrcPath& each = stream.paths.emplace_back();
      each.udp_source = static_cast<std::uint16_t>(50'000 + path);
      each.packets = 300;
      each.lost = path;
    }
    mrc->streams.push_back(std::move(stream));
  }
  mrc->packets = 1800;
  analyze::MrcLoss loss;
  loss.stream = 1;
  loss.path = 2;
  loss.psn = 77;
  loss.packet = 5;
  mrc->losses.push_back(loss);
  snapshot->mrc = std::move(mrc);
  for (const auto kind : {analyze::NumberedKind::esp, analyze::NumberedKind::erspan}) {
    analyze::NumberedStream stream;
    stream.key.kind = kind;
    stream.key.src = host(7);
    stream.key.dst = host(9);
    stream.key.id = 5;
    stream.packets = 400;
    stream.counts = true;
    stream.missing = 3;
    stream.gaps = 2;
    snapshot->numbered.streams.push_back(stream);
  }
  analyze::Exports& exports = snapshot->exports;
  exports.datagrams = 2;
  exports.agents.emplace_back().address = host(7);
  exports.sources.emplace_back().samples = 12;
  exports.flows.emplace_back().first_packet = 2;
  exports.queues.emplace_back().port = 12;
  exports.ports.emplace_back().index = 12;
  for (unsigned i = 0; i < 2; ++i) {
    analyze::ExportDrop& drop = exports.drops.emplace_back();
    drop.output = 12;
    drop.packet = 8 + i;
  }
  return snapshot;
}

/// A model that a tester watches, as the window shows it: nothing, the capture, nothing.
template <class Model>
class Watched {
 public:
  explicit Watched(const SnapshotPtr& snapshot)
      : tester_(&model_, QAbstractItemModelTester::FailureReportingMode::Fatal) {
    model_.show(std::make_shared<analyze::Snapshot>());
    EXPECT_EQ(model_.rowCount(), 0);
    model_.show(nullptr);
    model_.show(snapshot);
  }
  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] std::string cell(int row, std::string_view column) {
    EXPECT_GE(model_.column_of(column), 0) << column;
    return model_.index(row, model_.column_of(column))
        .data(TableModelBase::exact_role)
        .toString()
        .toStdString();
  }

 private:
  Model model_;
  QAbstractItemModelTester tester_;
};

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

TEST(FabricTables, HoldWhatTheReportSays) {
  const std::shared_ptr<analyze::Snapshot> snapshot = made();
  std::string text;
  analyze::report_json(*snapshot, false, {text});
  const json report = json::parse(text);

  Watched<MrcStreamModel> streams(snapshot);
  Watched<MrcPathModel> paths(snapshot);
  Watched<MrcLossModel> losses(snapshot);
  const json& told = report.at("mrc").at("streams");
  ASSERT_EQ(static_cast<std::size_t>(streams.model().rowCount()), told.size());
  ASSERT_EQ(paths.model().rowCount(), 6);
  for (int row = 0; row < streams.model().rowCount(); ++row) {
    const json& stream = told[static_cast<std::size_t>(row)];
    for (const char* key : {"src", "dst", "packets"})
      EXPECT_EQ(streams.cell(row, key), text_of(stream.at(key)));
    EXPECT_EQ(streams.cell(row, "stream"), text_of(stream.at("id")));
    EXPECT_EQ(streams.cell(row, "paths"), std::to_string(stream.at("paths").size()));
  }
  EXPECT_EQ(paths.cell(0, "lost"), "2");  // of the first stream the worst first
  EXPECT_EQ(losses.cell(0, "psn"), "77");
  EXPECT_EQ(losses.cell(0, "udp_source"), "50002");

  Watched<ShellModel> shells(snapshot);
  Watched<MirrorModel> mirrors(snapshot);
  ASSERT_EQ(shells.model().rowCount(), 1);
  ASSERT_EQ(mirrors.model().rowCount(), 1);
  for (const char* key : {"name", "src", "dst", "packets", "bytes", "missing", "gaps"}) {
    EXPECT_EQ(shells.cell(0, key), text_of(report.at("shells")[0].at(key))) << key;
    EXPECT_EQ(mirrors.cell(0, key), text_of(report.at("mirrors")[0].at(key))) << key;
  }

  Watched<ExportDropModel> drops(snapshot);
  ASSERT_EQ(drops.model().rowCount(), 1);
  ASSERT_EQ(report.at("drops").size(), 1U);
  EXPECT_EQ(drops.cell(0, "packets"), text_of(report.at("drops")[0].at("packets")));
  EXPECT_EQ(Watched<SampledFlowModel>(snapshot).model().rowCount(), 1);
  EXPECT_EQ(Watched<ExportSourceModel>(snapshot).cell(0, "samples"), "12");
  EXPECT_EQ(Watched<ExportQueueModel>(snapshot).cell(0, "port"), "12");
  EXPECT_EQ(Watched<ExportPortModel>(snapshot).cell(0, "port"), "12");
}

TEST(FabricTables, HoldThePathsOfTheCommand) {
  for (const char* name :
       {"04_write_loss1.cb.pcap.zst", "06_mix_4qp.pcap.zst", "07_ce_netem_v6.cb.pcap.zst"}) {
    SCOPED_TRACE(name);
    const SnapshotPtr snapshot = analyzed(name);
    std::string text;
    analyze::paths_json(*snapshot, {}, false, {text});
    const json told = json::parse(text).at("paths");
    Watched<PathModel> paths(snapshot);
    ASSERT_EQ(static_cast<std::size_t>(paths.model().rowCount()), told.size());
    ASSERT_FALSE(told.empty());
    for (int row = 0; row < paths.model().rowCount(); ++row) {
      for (const char* key : {"src", "dst", "packets", "bytes", "ce", "out_of_order"})
        EXPECT_EQ(paths.cell(row, key), text_of(told[static_cast<std::size_t>(row)].at(key))) << key;
    }
  }
}

/// What a row leads to is a filter that can be applied, or a packet.
TEST(FabricTables, LeadToPackets) {
  const std::shared_ptr<analyze::Snapshot> snapshot = made();
  std::vector<std::string> filters;
  const auto add = [&filters](auto&& model) {
    for (int row = 0; row < model.rowCount(); ++row) filters.push_back(packets_of(model.row(row)).filter);
  };
  add(Watched<MrcStreamModel>(snapshot).model());
  add(Watched<MrcPathModel>(snapshot).model());
  add(Watched<ShellModel>(snapshot).model());
  add(Watched<MirrorModel>(snapshot).model());
  add(Watched<PathModel>(analyzed("07_ce_netem_v6.cb.pcap.zst")).model());
  analyze::NumberedStream stream;
  for (std::size_t kind = 0; kind < analyze::numbered_kind_count; ++kind) {
    stream.key.kind = static_cast<analyze::NumberedKind>(kind);
    const bool wide = stream.key.kind == analyze::NumberedKind::macsec;  // an SCI has 8 bytes
    const std::uint64_t largest = wide ? 0x5254'0000'0a01'0001U : 0x3ffU;
    for (const std::uint64_t id : {std::uint64_t{0}, largest}) {
      stream.key.id = id;
      filters.push_back(packets_of(stream).filter);
    }
  }
  for (const std::string& filter : filters) EXPECT_TRUE(analyze::Filter::compile(filter)) << filter;
  EXPECT_EQ(packets_of(Watched<ExportDropModel>(snapshot).model().row(0)).packet, 8U);
  EXPECT_EQ(packets_of(Watched<SampledFlowModel>(snapshot).model().row(0)).packet, 2U);
  EXPECT_EQ(packets_of(Watched<MrcLossModel>(snapshot).model().row(0)).packet, 5U);
}

}  // namespace
}  // namespace roce::gui
