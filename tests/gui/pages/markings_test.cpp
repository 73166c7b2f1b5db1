// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "analyze/base/address_text.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

std::string read(const QString& file) {
  std::ifstream in(file.toStdString());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(PolicyEditor, TakesEveryProfileAsItIs) {
  PolicyEditor editor;
  for (const analyze::PolicyProfile& profile : analyze::policy_profiles()) {
    SCOPED_TRACE(profile.name);
    editor.start_from(to_qt(profile.name));
    EXPECT_EQ(editor.text().toStdString(), profile.text);
    EXPECT_TRUE(editor.errors().empty());
  }
}

TEST(PolicyEditor, MarksMistakesWhereTheyAre) {
  PolicyEditor editor;
  editor.show();
  auto* text = editor.findChild<QPlainTextEdit*>();
  QSignalSpy applied(&editor, &PolicyEditor::applied);
  editor.set_text(QStringLiteral("[class.data]\ndscp = 26\ndsp = 3\n"));
  // What is typed is read by itself.
  ASSERT_TRUE(eventually([&] { return !editor.errors().empty(); }));
  EXPECT_EQ(editor.errors().front().line, 3U);
  EXPECT_TRUE(editor.message().contains(QStringLiteral(":3:")));
  ASSERT_EQ(text->extraSelections().size(), 1);
  EXPECT_EQ(text->extraSelections().front().cursor.selectedText(), QStringLiteral("dsp"));
  editor.apply();
  EXPECT_EQ(applied.count(), 0);
  // Also where there is nothing to mark but the line, and behind letters of two units.
  editor.set_text(QStringLiteral("# \U0001F600\n[class.data\n"));
  editor.check();
  ASSERT_FALSE(editor.errors().empty());
  ASSERT_FALSE(text->extraSelections().isEmpty());
  EXPECT_FALSE(text->extraSelections().front().cursor.selectedText().isEmpty());
  editor.set_text(QStringLiteral("[class.data]\ndscp = 26\n"));
  editor.apply();
  EXPECT_EQ(applied.count(), 1);
  EXPECT_TRUE(text->extraSelections().isEmpty());
  editor.set_text({});
  editor.check();
  EXPECT_TRUE(editor.errors().empty());
  editor.apply();
  EXPECT_EQ(applied.count(), 1);
}

TEST(PolicyEditor, SavesWhatCanBeLoaded) {
  const QTemporaryDir folder;
  const QString file = folder.filePath(QStringLiteral("mine.toml"));
  PolicyEditor editor;
  QSignalSpy says(&editor, &PolicyEditor::says);
  editor.start_from(to_qt(analyze::policy_profiles().front().name));
  EXPECT_TRUE(editor.save_as(file));
  EXPECT_EQ(read(file), analyze::policy_profiles().front().text);
  EXPECT_TRUE(analyze::load_policy(file.toStdString()));
  EXPECT_FALSE(editor.save_as(QStringLiteral("/nowhere/at/all.toml")));
  EXPECT_TRUE(says.last().front().toString().contains(QStringLiteral("/nowhere/at/all.toml")));
  editor.start_from(QStringLiteral("/nowhere/at/all.toml"));
  EXPECT_TRUE(says.last().front().toString().contains(QStringLiteral("/nowhere/at/all.toml")));
  EXPECT_EQ(editor.text().toStdString(), analyze::policy_profiles().front().text);
}

TEST(MarkingsPage, JudgesByWhatIsEdited) {
  const auto window = make_window();
  open_sample(*window, "02_write_bw_tclass106.pcap.zst");
  window->show_page(PageId::markings);
  PolicyEditor& editor = window->markings().editor();
  editor.set_text(QStringLiteral("[class.data]\ndscp = 1\n"));
  editor.apply();
  ASSERT_TRUE(has_ended(*window));
  const analyze::Snapshot& s = *window->session().snapshot();
  ASSERT_TRUE(s.policy);
  const auto broken = [](const analyze::Marking& m) { return m.verdict == "violation"; };
  ASSERT_TRUE(std::any_of(s.markings.rows.begin(), s.markings.rows.end(), broken));
  // A violation leads to its packets and its connections.
  TableView& table = window->markings().table();
  for (int row = 0; row < table.rows().rowCount(); ++row) {
    table.setCurrentIndex(table.rows().index(row, 0));
    if (table.currentIndex().data(TableModelBase::severity_role).isValid()) break;
  }
  const analyze::Marking& chosen = s.markings.rows[static_cast<std::size_t>(table.currentIndex().row())];
  EXPECT_EQ(chosen.verdict, "violation");
  Q_EMIT table.row_activated();
  EXPECT_EQ(window->selection().packet(), chosen.first_packet);
  EXPECT_FALSE(window->connections().visibleRegion().isEmpty());
  EXPECT_GT(window->connections().table().rows().rowCount(), 0);
}

TEST(MarkingsPage, SaysThatItsTablesAreOfTheWholeCapture) {
  const auto window = make_window();
  open_sample(*window, "02_write_bw_tclass106.pcap.zst");
  window->show_page(PageId::markings);
  const auto says_so = [&] {
    const auto labels = window->markings().findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->text().contains(QStringLiteral("not the selected time range"));
    });
  };
  EXPECT_FALSE(says_so());
  const std::int64_t first = window->session().snapshot()->totals.first_time_ns;
  window->selection().set_time(TimeSpan{first, first + 1000});
  EXPECT_TRUE(says_so());
  window->selection().set_time({});
  EXPECT_FALSE(says_so());
}

TEST(MarkingsPage, ShowsTheSpreadOfSourcePortsOfEverySample) {
  const auto window = make_window();
  const QAbstractItemModelTester tester(const_cast<PortSpreadModel*>(&window->markings().spreads()),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    open_sample(*window, name);
    // Counted in another way: all packets of flows with payload, by pair.
    std::map<std::pair<std::string, std::string>, std::set<std::uint16_t>> ports;
    std::uint64_t packets = 0;
    for (const analyze::Flow& flow : window->session().snapshot()->flows) {
      if (flow.payload_bytes == 0 || flow.key.dst_qp <= 1) continue;
      for (const auto& entry : flow.udp_sports.sorted()) {
        ports[{analyze::address_text(flow.key.src), analyze::address_text(flow.key.dst)}].insert(entry.key);
        packets += entry.count;
      }
    }
    const PortSpreadModel& model = window->markings().spreads();
    ASSERT_EQ(static_cast<std::size_t>(model.rowCount()), ports.size());
    std::uint64_t shown = 0;
    for (int row = 0; row < model.rowCount(); ++row) {
      const PortSpread& spread = model.row(row);
      EXPECT_EQ(spread.ports, (ports[{spread.src, spread.dst}].size()));
      EXPECT_LE(spread.busiest_packets, spread.packets);
      shown += spread.packets;
    }
    EXPECT_GE(shown, packets);
    for (int tab = 0; tab < window->markings().tabs().count(); ++tab) {
      window->markings().tabs().setCurrentIndex(tab);
      QApplication::processEvents();
    }
  }
}

}  // namespace
}  // namespace roce::gui
