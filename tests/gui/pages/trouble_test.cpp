// SPDX-License-Identifier: Apache-2.0
// What goes wrong while a capture is read: the window is closed, another capture is opened, the file goes,
// the pipe ends, filters change faster than they are answered. Nothing crashes or leaks, and nothing of what
// was shown before stays. Also run with sanitizers: tests/README.md.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QTemporaryDir>
#include <fstream>
#include <sstream>
#include <thread>

#include "capture/write/pcapng_writer.hpp"
#include "gui/models/health.hpp"
#include "gui/models/worker_threads.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace trouble_test {
namespace {

using State = AnalysisSession::State;

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";
constexpr const char* mixed = "06_mix_4qp.pcap.zst";

/// Reads a sample until the gate: then the window is in the midst of it.
std::shared_ptr<GatedSource::Gate> open_gated(MainWindow& window, const char* name) {
  auto gate = std::make_shared<GatedSource::Gate>();
  window.session().open({QString::fromStdString(sample(name))},
                        [gate, name]() -> capture::Expected<std::unique_ptr<capture::CaptureSource>> {
                          auto source = capture::open_files({sample(name)});
                          if (!source) return source;
                          return std::make_unique<GatedSource>(std::move(*source), gate);
                        });
  EXPECT_TRUE(eventually([&] { return gate->is_reached(); }));
  return gate;
}

/// All that the window shows of its capture, as text: two windows on the same capture show the same.
QStringList everything_shown(MainWindow& window) {
  EXPECT_TRUE(eventually([&] { return window.is_settled() && window.packets().model().state().complete; }));
  QStringList lines{window.overview().headline(), window.windowTitle()};
  const auto add = [&lines](const QAbstractItemModel& model) {
    lines << QStringLiteral("%1 rows").arg(model.rowCount());
    for (int row = 0; row < std::min(model.rowCount(), 300); ++row) {
      QStringList cells;
      for (int column = 0; column < model.columnCount(); ++column)
        cells << model.index(row, column).data().toString();
      lines << cells.join(QLatin1Char('\t'));
    }
  };
  for (TableView* table :
       {&window.overview().findings(), &window.overview().connections(), &window.overview().hosts(),
        &window.connections().table(), &window.markings().table()})
    add(*table->model());
  add(window.packets().model());
  // Children come in the order in which they were last in front.
  QStringList details;
  for (const auto* detail : window.findChildren<DetailView*>()) details << detail->toPlainText();
  details.sort();
  lines << details;
  for (const auto* tree : window.findChildren<QTreeView*>()) {
    if (tree->objectName() != QLatin1String("findings")) continue;
    add(*tree->model());
    for (int kind = 0; kind < tree->model()->rowCount(); ++kind)
      lines << QString::number(tree->model()->rowCount(tree->model()->index(kind, 0)));
  }
  return lines;
}

QStringList shown_of(const char* name) {
  const auto window = make_window();
  open_sample(*window, name);
  return everything_shown(*window);
}

void expect_same(const QStringList& shown, const QStringList& alone) {
  EXPECT_EQ(shown.size(), alone.size());
  for (qsizetype i = 0; i < std::min(shown.size(), alone.size()); ++i)
    ASSERT_EQ(shown[i].toStdString(), alone[i].toStdString()) << "line " << i;
}

TEST(Trouble, ClosingAtAnyMomentOfReading) {
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE(i);
    const auto window = make_window();
    window->show_page(static_cast<PageId>(i % page_count));
    const auto gate = open_gated(*window, lossy);
    if (i % 2 == 1) QTest::qWait(30 * i);
    if (i % 4 >= 2) gate->let_go();
    if (i % 4 == 3) QApplication::processEvents();
    window->close();
    EXPECT_EQ(window->session().state(), State::empty);
    if (i % 3 == 0) QApplication::processEvents();
  }
  QApplication::processEvents();
  EXPECT_TRUE(wait_for_background(std::chrono::seconds(60)));
}

TEST(Trouble, OpeningAnotherCaptureWhileOneIsReadLeavesNothingOfIt) {
  const QStringList alone = shown_of(mixed);
  for (int i = 0; i < page_count; ++i) {
    SCOPED_TRACE(i);
    const auto window = make_window();
    window->show_page(static_cast<PageId>(i));
    const auto gate = open_gated(*window, lossy);
    // As long as it takes until the first snapshot and packets of it are seen.
    if (i % 2 == 0) {
      ASSERT_TRUE(eventually([&] {
        return window->session().snapshot() != nullptr && window->packets().model().rowCount() > 0;
      }));
    }
    window->open({QString::fromStdString(sample(mixed))});
    // The list may have the first packets of the new one by now; the end shows whose they are.
    EXPECT_EQ(window->connections().table().rows().rowCount(), 0);
    EXPECT_EQ(window->overview().findings().rows().rowCount(), 0);
    gate->let_go();
    ASSERT_TRUE(has_ended(*window));
    expect_same(everything_shown(*window), alone);
  }
}

TEST(Trouble, WhatNobodyChoseIsTheWorstInTheEnd) {
  for (const bool chosen : {false, true}) {
    const auto window = make_window();
    Selection& selection = window->selection();
    for (const PageId page : {PageId::findings, PageId::connections}) window->show_page(page);
    const auto gate = open_gated(*window, mixed);
    // Of the first packets.
    ASSERT_TRUE(eventually([&] { return selection.connection().has_value(); }));
    const auto row_of = [&](int row) {
      const QAbstractItemModel& model = *window->connections().table().model();
      return static_cast<std::uint32_t>(model.index(row, 0).data(TableModelBase::id_role).toULongLong());
    };
    const std::uint32_t early = *selection.connection();
    const std::uint32_t other = row_of(0) == early ? row_of(1) : row_of(0);
    if (chosen) selection.set_connection(other);
    gate->let_go();
    ASSERT_TRUE(eventually([&] { return window->session().state() == State::done && window->is_settled(); }));
    const auto& table = static_cast<const TableModelBase&>(*window->connections().table().model());
    EXPECT_EQ(*selection.connection(), chosen ? other : row_of(table.worst_row()));
  }
}

/// Many connections, the later ones with more packets: copies of a sample with other queue pairs.
bool write_many(const std::string& path, unsigned connections) {
  auto writer = capture::PcapngWriter::create(path, "a test", {});
  if (!writer) return false;
  for (unsigned copy = 0; copy < connections; ++copy) {
    auto source = capture::open_files({sample("02_write_bw_64k.pcap.zst")});
    capture::FrameBatch batch;
    if (!source || (*source)->next_batch(batch, 100 + 10 * copy).value_or(0) == 0) return false;
    for (capture::Frame frame : batch.frames) {
      std::vector<std::uint8_t> bytes(frame.data, frame.data + frame.captured);
      constexpr std::size_t second_byte_of_qp = 14 + 20 + 8 + 6;  // behind Ethernet, IPv4 and UDP
      if (bytes.size() > second_byte_of_qp) bytes[second_byte_of_qp] = static_cast<std::uint8_t>(copy + 1);
      frame.data = bytes.data();
      frame.time_ns += std::int64_t{copy} * 1'000'000'000;
      if (!writer->write(frame, (*source)->interfaces()[frame.interface], {})) return false;
    }
  }
  return writer->finish().has_value();
}

TEST(Trouble, OfManyAlikeOneOfTheListedIsSelected) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("many.pcapng"));
  ASSERT_TRUE(write_many(path.toStdString(), 60));
  const auto window = make_window();
  AnalysisChoice choice = window->session().choice();
  choice.check_icrc = false;  // it covers the queue pair
  window->session().set_choice(choice);
  window->open({path});
  ASSERT_TRUE(has_ended(*window));
  ASSERT_TRUE(eventually([&] { return window->is_settled(); }));
  ASSERT_GE(window->session().snapshot()->connections.size(), 60U);
  TableView& worst = window->overview().connections();
  EXPECT_GE(worst.currentIndex().row(), 0);
  ASSERT_TRUE(window->selection().connection());
  EXPECT_EQ(worst.currentIndex().data(TableModelBase::id_role).toUInt(), *window->selection().connection());
  EXPECT_GE(window->connections().table().currentIndex().row(), 0);
  // What somebody chooses stays, listed there or not.
  window->selection().set_connection(0);
  QApplication::processEvents();
  EXPECT_EQ(*window->selection().connection(), 0U);
}

TEST(Trouble, AFileThatVanishes) {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("gone.pcap"));
  ASSERT_TRUE(QFile::copy(QString::fromStdString(sample("05_rnr_exhaust.pcap")), path));
  const auto window = make_window();
  window->show_page(PageId::packets);
  // While it is read.
  auto gate = std::make_shared<GatedSource::Gate>();
  window->session().open({path},
                         [gate, path]() -> capture::Expected<std::unique_ptr<capture::CaptureSource>> {
                           auto source = capture::open_files({path.toStdString()});
                           if (!source) return source;
                           return std::make_unique<GatedSource>(std::move(*source), gate);
                         });
  ASSERT_TRUE(eventually([&] { return gate->is_reached(); }));
  ASSERT_TRUE(QFile::remove(path));
  gate->let_go();
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(window->session().state(), State::done);
  const std::uint64_t all = analyzed("05_rnr_exhaust.pcap")->frames_read;
  ASSERT_TRUE(eventually([&] { return window->packets().model().state().complete; }));
  EXPECT_EQ(window->packets().model().state().packets, all);
  // What needs the file says that it is gone; what is known stays.
  EXPECT_FALSE(everything_shown(*window).isEmpty());
  window->packets().filter().apply(QStringLiteral("infiniband.bth.psn >= 0"));
  ASSERT_TRUE(eventually([&] { return window->packets().model().state().complete; }));
  window->show_page(PageId::connections);
  window->connections().graphs().setCurrentIndex(ConnectionGraphs::sequence);
  ASSERT_TRUE(eventually([&] {
    const auto state = window->connections().graphs().tracer().state();
    return state == ConnectionTracer::State::failed || state == ConnectionTracer::State::done ||
           state == ConnectionTracer::State::impossible;
  }));
  window->connections().graphs().setCurrentIndex(ConnectionGraphs::details);
  // Read again, there is nothing, and nothing stays.
  window->open({path});
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(window->session().state(), State::failed);
  EXPECT_TRUE(window->message().contains(path)) << window->message().toStdString();
  ASSERT_TRUE(eventually([&] { return window->is_settled(); }));
  EXPECT_EQ(window->packets().model().rowCount(), 0);
  EXPECT_EQ(window->connections().table().rows().rowCount(), 0);
  EXPECT_EQ(window->overview().headline(), QStringLiteral("Nothing could be read"));
}

TEST(Trouble, APipeThatEndsAndOneThatIsCutOff) {
  const QTemporaryDir folder;
  std::ifstream file(sample("03_rping.pcap"), std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string bytes = content.str();
  const std::uint64_t all = analyzed("03_rping.pcap")->totals.packets;
  for (const bool cut : {false, true}) {
    SCOPED_TRACE(cut);
    const QString path = folder.filePath(cut ? QStringLiteral("cut") : QStringLiteral("whole"));
    ASSERT_EQ(::mkfifo(QFile::encodeName(path).constData(), 0600), 0);
    const auto window = make_window();
    window->open({path});
    std::thread writer([&] {
      const int pipe = ::open(QFile::encodeName(path).constData(), O_WRONLY);
      const std::size_t half = bytes.size() / 2;
      EXPECT_EQ(::write(pipe, bytes.data(), half), static_cast<ssize_t>(half));
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      const std::size_t rest = cut ? 7 : bytes.size() - half;
      EXPECT_EQ(::write(pipe, bytes.data() + half, rest), static_cast<ssize_t>(rest));
      ::close(pipe);
    });
    // What has come is there before the rest does.
    EXPECT_TRUE(eventually([&] { return window->packets().model().rowCount() > 0; }));
    ASSERT_TRUE(has_ended(*window));
    writer.join();
    EXPECT_EQ(window->session().state(), State::done);
    ASSERT_TRUE(eventually([&] { return window->is_settled(); }));
    const analyze::Snapshot& s = *window->session().snapshot();
    EXPECT_EQ(window->overview().headline(), health_of(s).line);
    if (cut) {
      EXPECT_LT(s.totals.packets, all);
      EXPECT_EQ(s.errors.size(), 1U);
    } else {
      EXPECT_EQ(s.totals.packets, all);
      EXPECT_TRUE(s.errors.empty());
    }
  }
}

TEST(Trouble, AHundredQuickFiltersOnEveryPageWhileItReads) {
  const QStringList alone = shown_of(mixed);
  const auto window = make_window();
  const auto gate = open_gated(*window, mixed);
  auto* findings = window->findings().findChild<FilterBar*>();
  auto* marks = window->markings().findChild<FilterBar*>();
  ASSERT_NE(findings, nullptr);
  ASSERT_NE(marks, nullptr);
  for (int i = 0; i < 100; ++i) {
    const QString word = i % 2 == 0 ? QStringLiteral("10.77.0.%1").arg(i % 5) : QString();
    window->show_page(static_cast<PageId>(i % page_count));
    window->connections().search(word);
    window->connections().table().sortByColumn(i % 9, i % 4 < 2 ? Qt::AscendingOrder : Qt::DescendingOrder);
    findings->field()->setText(word);
    findings->set_severity(i % 3 == 0 ? std::optional(analyze::Severity::warning) : std::nullopt);
    marks->field()->setText(word);
    window->packets().filter().apply(i % 3 == 0   ? QStringLiteral("infiniband.bth.psn >= %1").arg(i)
                                     : i % 3 == 1 ? QStringLiteral("roce.analysis.retransmission")
                                                  : QString());
    if (i % 10 == 0) QApplication::processEvents();
    if (i == 30) gate->let_go();
    if (i == 60) window->session().reload();
  }
  window->connections().search({});
  window->connections().table().sortByColumn(-1, Qt::AscendingOrder);
  findings->field()->setText({});
  findings->set_severity(std::nullopt);
  marks->field()->setText({});
  window->packets().filter().apply({});
  ASSERT_TRUE(has_ended(*window));
  window->selection().clear();
  window->open({QString::fromStdString(sample(mixed))});
  ASSERT_TRUE(has_ended(*window));
  expect_same(everything_shown(*window), alone);
}

}  // namespace
}  // namespace trouble_test
}  // namespace roce::gui
