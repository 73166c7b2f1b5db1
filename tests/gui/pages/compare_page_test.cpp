// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/compare_page.hpp"

#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHeaderView>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdint>
#include <string>

#include "capture/write/pcapng_writer.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

QString path(const char* name) {
  return QString::fromStdString(sample(name));
}
const QString& at_a() {
  static const QString file = path("04_write_loss1.ca.pcap.zst");
  return file;
}
const QString& at_b() {
  static const QString file = path("04_write_loss1.cb.pcap.zst");
  return file;
}

QPushButton* button(ComparePage& page, const char* name) {
  return page.findChild<QPushButton*>(QString::fromLatin1(name));
}

void compare(ComparePage& page, const QString& a, const QString& b) {
  page.set_files(0, {a});
  page.set_files(1, {b});
  button(page, "compare_start")->click();
  ASSERT_TRUE(eventually([&page] { return !page.running(); }));
}

TEST(ComparePage, ShowsWhatWasLostAndLeadsToThePacket) {
  const auto window = make_window();
  ComparePage& page = window->compare();
  window->show_page(PageId::compare);
  EXPECT_FALSE(button(page, "compare_start")->isEnabled());
  compare(page, at_a(), at_b());
  ASSERT_TRUE(page.result());
  EXPECT_EQ(page.headline(), compare_headline(*page.result()));
  EXPECT_EQ(static_cast<std::size_t>(page.lost().rows().rowCount()), page.result()->lost.size());
  EXPECT_GT(page.figures().rows().rowCount(), 3);
  EXPECT_EQ(static_cast<std::size_t>(page.paths().rows().rowCount()), page.result()->paths.size());
  EXPECT_FALSE(page.result()->paths.empty());
  EXPECT_FALSE(page.figures().horizontalHeader()->stretchLastSection());  // both directions side by side
  EXPECT_EQ(static_cast<std::size_t>(page.findings().rows().rowCount()), page.result()->findings.size());

  page.lost().setCurrentIndex(page.lost().rows().index(0, 0));
  Q_EMIT page.lost().row_activated();
  const analyze::LostPacket& lost =
      page.result()->lost[static_cast<std::size_t>(page.lost().currentIndex().row())];
  EXPECT_EQ(window->session().files(), QStringList(lost.direction == 0 ? at_a() : at_b()));
  EXPECT_EQ(window->selection().packet(), lost.packet);
  EXPECT_EQ(window->selection().connection(), lost.connection);
  EXPECT_FALSE(window->packets().visibleRegion().isEmpty());
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(window->selection().packet(), lost.packet);
}

TEST(ComparePage, LeadsFromAFindingToItsPacketsInTheirCapture) {
  const auto window = make_window();
  ComparePage& page = window->compare();
  window->show_page(PageId::compare);
  // The other way round, so that what is lost is not in A alone.
  for (const auto& [a, b] : {std::pair(at_a(), at_b()), std::pair(at_b(), at_a())}) {
    window->show_page(PageId::compare);
    compare(page, a, b);
    ASSERT_TRUE(page.result());
    ASSERT_EQ(page.result()->findings.front().id, "lost_between");
    const QString& shows_it = at_a();
    const bool in_a = a == shows_it;
    EXPECT_TRUE(page.detail().toPlainText().contains(in_a ? QStringLiteral("Packets of A")
                                                          : QStringLiteral("Packets of B")))
        << page.detail().toPlainText().toStdString();
    const std::uint64_t packet = page.result()->findings.front().packets.front();
    Q_EMIT page.detail().anchorClicked(QUrl(QStringLiteral("packet:%1").arg(packet)));
    EXPECT_EQ(window->session().files(), QStringList(shows_it));
    EXPECT_EQ(window->selection().packet(), packet);
    EXPECT_FALSE(window->packets().visibleRegion().isEmpty());
    ASSERT_TRUE(has_ended(*window));
    // It is one of those that were lost.
    const auto& lost = page.result()->lost;
    EXPECT_TRUE(std::any_of(lost.begin(), lost.end(), [&](const auto& one) { return one.packet == packet; }));
  }
}

TEST(ComparePage, AsksBeforeEvidenceReplacesTheOpenCapture) {
  const auto window = make_window();
  open_sample(*window, "03_rping.pcap");
  const QStringList open = window->session().files();
  bool may = false;
  int asked = 0;
  window->set_questions({[](QWidget*) { return QStringList(); }, [](QWidget*) { return QString(); },
                         [](QWidget*) {}, [](QWidget*, const QString&) { return Unsaved::discard; },
                         [&](QWidget*, const QString&) {
                           ++asked;
                           return may;
                         }});
  ComparePage& page = window->compare();
  const auto before = window->selection().packet();
  Q_EMIT page.packet_wanted(QStringList(at_a()), 7, QVariant());
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(window->session().files(), open);
  EXPECT_EQ(window->selection().packet(), before);
  may = true;
  Q_EMIT page.packet_wanted(QStringList(at_a()), 7, QVariant());
  EXPECT_EQ(window->session().files(), QStringList(at_a()));
  EXPECT_EQ(window->selection().packet(), 7U);
  Q_EMIT page.packet_wanted(QStringList(at_a()), 2, QVariant());
  EXPECT_EQ(asked, 2);  // what is open already replaces nothing
  ASSERT_TRUE(has_ended(*window));
}

TEST(ComparePage, TellsNothingFoundFromNotLooked) {
  const auto window = make_window();
  ComparePage& page = window->compare();
  auto* tabs = page.findChild<QTabWidget*>();
  ASSERT_NE(tabs, nullptr);
  EXPECT_EQ(tabs->tabText(1), QStringLiteral("Lost"));
  // The same file under two names.
  const QString other_name = QFileInfo(at_a()).path() + QStringLiteral("/./") + QFileInfo(at_a()).fileName();
  compare(page, at_a(), other_name);
  EXPECT_EQ(tabs->tabText(1), QStringLiteral("Lost (0)"));
  EXPECT_EQ(tabs->tabText(2), QStringLiteral("Changed markings (0)"));
  EXPECT_TRUE(page.headline().contains(QStringLiteral("same capture"))) << page.headline().toStdString();
  compare(page, at_a(), at_b());
  EXPECT_FALSE(page.headline().contains(QStringLiteral("same capture")));
  // Without a packet there is no evidence to name.
  compare(page, at_a(), path("03_rping.pcap"));
  EXPECT_FALSE(page.detail().toPlainText().contains(QStringLiteral("Packets of")));
  compare(page, at_a(), QStringLiteral("/nowhere/at all.pcap"));
  EXPECT_EQ(tabs->tabText(1), QStringLiteral("Lost"));
}

TEST(ComparePage, TakesWhatTheWindowHasOpened) {
  // Wherever the samples lie: the command is one that a shell takes as it is.
  const QTemporaryDir folder;
  ASSERT_TRUE(QDir(folder.path()).mkpath(QStringLiteral("my captures")));
  const QString a = folder.filePath(QStringLiteral("my captures/a.pcap.zst"));
  const QString b = folder.filePath(QStringLiteral("my captures/b.pcap.zst"));
  ASSERT_TRUE(QFile::copy(at_a(), a) && QFile::copy(at_b(), b));
  const auto window = make_window();
  ComparePage& page = window->compare();
  window->open({b});
  ASSERT_TRUE(has_ended(*window));
  for (QPushButton* each : page.findChildren<QPushButton*>()) {
    if (each->text() == ComparePage::tr("This capture") && each->isEnabled()) each->click();
  }
  EXPECT_EQ(page.files(0), QStringList(b));
  EXPECT_EQ(page.files(1), QStringList(b));
  page.set_files(0, {a});
  page.filter_field().setText(QStringLiteral("infiniband.bth.opcode == 17"));
  EXPECT_EQ(page.command(),
            QStringLiteral("roceanalyze compare '%1' '%2' -Y 'infiniband.bth.opcode == 17'").arg(a, b));
}

TEST(ComparePage, AsksForCaptures) {
  const auto window = make_window();
  ComparePage& page = window->compare();
  page.set_question([] { return QStringList{QStringLiteral("/x/1.pcap"), QStringLiteral("/x/2.pcap")}; });
  for (QPushButton* each : page.findChildren<QPushButton*>()) {
    if (each->text() == ComparePage::tr("Choose...")) each->click();
  }
  EXPECT_EQ(page.files(0).size(), 2);
  EXPECT_EQ(page.files(1).back(), QStringLiteral("/x/2.pcap"));
  EXPECT_EQ(page.command(), QStringLiteral("roceanalyze compare /x/1.pcap /x/1.pcap --more-a /x/2.pcap "
                                           "--more-b /x/2.pcap"));
}

TEST(ComparePage, SaysWhatIsWrong) {
  const auto window = make_window();
  ComparePage& page = window->compare();
  page.compare();
  EXPECT_FALSE(page.running());
  EXPECT_TRUE(window->message().contains(QStringLiteral("two captures")));
  compare(page, at_a(), QStringLiteral("/nowhere/at all.pcap"));
  EXPECT_TRUE(page.headline().contains(QStringLiteral("/nowhere/at all.pcap")));
  EXPECT_EQ(page.lost().rows().rowCount(), 0);
}

/// Every 16th packet of a sample, as a switch samples; false: it was not written.
bool write_sampled(const std::string& name, const std::string& path) {
  auto source = capture::open_files({sample(name)});
  auto writer = capture::PcapngWriter::create(path, "a test", {});
  if (!source || !writer) return false;
  capture::FrameBatch batch;
  std::uint64_t number = 0;
  while ((*source)->next_batch(batch, 1000).value_or(0) != 0) {
    for (const capture::Frame& frame : batch.frames) {
      if (++number % 16 != 0) continue;
      if (!writer->write(frame, (*source)->interfaces()[frame.interface], {})) return false;
    }
    batch.clear();
  }
  return writer->finish().has_value();
}

TEST(ComparePage, SaysWhatTheCapturesDoNotBear) {
  const QTemporaryDir folder;
  const QString sampled = folder.filePath(QStringLiteral("sampled.pcapng"));
  ASSERT_TRUE(write_sampled("04_write_loss1.cb.pcap.zst", sampled.toStdString()));
  const auto window = make_window();
  window->show_page(PageId::compare);
  ComparePage& page = window->compare();
  const auto* limits = page.findChild<QLabel*>(QStringLiteral("compare_limits"));
  ASSERT_NE(limits, nullptr);
  compare(page, at_a(), sampled);
  ASSERT_TRUE(page.result());
  EXPECT_TRUE(limits->isVisible());
  EXPECT_TRUE(limits->text().startsWith(QStringLiteral("LIMITED: the capture at B lacks")))
      << limits->text().toStdString();
  compare(page, at_a(), at_b());
  EXPECT_FALSE(limits->isVisible());
}

TEST(ComparePage, StopsAndIsClosedWhileItReads) {
  const auto window = make_window();
  ComparePage& page = window->compare();
  page.set_files(0, {at_a()});
  page.set_files(1, {at_b()});
  for (int i = 0; i < 5; ++i) page.compare();
  page.stop();
  ASSERT_TRUE(eventually([&page] { return !page.running(); }));
  page.compare();
  window->close();
}

}  // namespace
}  // namespace roce::gui
