// SPDX-License-Identifier: Apache-2.0
#include <QFile>
#include <QFileInfo>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

/// A program that captures one sample from whatever device, until it is told to end.
QString stand_in(const QTemporaryDir& folder, const char* last) {
  const QString path = folder.filePath(QStringLiteral("roceanalyze"));
  QFile file(path);
  EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("#!/bin/sh\ncat '" + QByteArray::fromStdString(sample("03_rping.pcap")) + "'\n" + last + "\n");
  file.close();
  EXPECT_TRUE(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
  return path;
}

LiveDevice fake(const char* name, bool possible) {
  LiveDevice device;
  device.name = QString::fromLatin1(name);
  device.possible = possible;
  device.how = possible ? QString() : QStringLiteral("mirror the port on the switch");
  return device;
}

/// Root runs it as it is; else pkexec would ask somebody.
bool runs_as_it_is(const QString& program) {
  return capture_rights(program) != CaptureRights::asked;
}

TEST(LivePage, CapturesShowsAndSaves) {
  const QTemporaryDir folder;
  const QString program = stand_in(folder, "cat >/dev/null");
  if (!runs_as_it_is(program)) GTEST_SKIP() << "pkexec would ask for a password";
  const auto window = make_window();
  LivePage& page = window->live();
  page.set_program(program);
  page.devices().show({fake("rdma0:1", false), fake("fake0", true)});
  page.start();  // nothing is chosen
  EXPECT_EQ(page.capture().state(), LiveCapture::State::idle);
  page.choose_device(QStringLiteral("rdma0:1"));
  page.start();
  EXPECT_EQ(page.capture().state(), LiveCapture::State::idle);
  page.choose_device(QStringLiteral("fake0"));
  page.set_filter(QStringLiteral("udp port 4791"));
  EXPECT_TRUE(page.command_text().contains(QStringLiteral("capture -i fake0 -f 'udp port 4791'")))
      << page.command_text().toStdString();
  page.start();
  ASSERT_EQ(page.capture().state(), LiveCapture::State::running);
  const std::uint64_t all = analyzed("03_rping.pcap")->totals.packets;
  ASSERT_TRUE(eventually(
      [&] { return window->session().snapshot() && window->session().snapshot()->totals.packets == all; }));
  EXPECT_TRUE(window->windowTitle().contains(QStringLiteral("fake0")));
  // The page that is seen follows; the others would when they are looked at.
  EXPECT_EQ(window->connections().table().rows().rowCount(), 0);
  window->show_page(PageId::connections);
  EXPECT_GT(window->connections().table().rows().rowCount(), 0);
  // Closing asks, for nothing was saved.
  bool asked = false;
  page.set_unsaved_question([&](QWidget*, const QString& what) {
    asked = what.contains(QStringLiteral("packets captured on fake0"));
    return Unsaved::keep;
  });
  EXPECT_FALSE(window->close());
  EXPECT_TRUE(asked);
  page.stop();
  ASSERT_TRUE(eventually([&] { return page.capture().state() == LiveCapture::State::idle; }));
  const QString saved = folder.filePath(QStringLiteral("saved.pcapng"));
  page.set_file_question([&](QWidget*) { return saved; });
  page.save();
  ASSERT_TRUE(eventually([&] { return !page.capture().has_unsaved(); }));
  EXPECT_TRUE(QFile::exists(saved));
  EXPECT_TRUE(window->close());
}

/// The recording lies in a temporary folder: what is written there is lost with it.
TEST(LivePage, WritesNothingBesideTheRecordingAndSavesItWhenTheWindowCloses) {
  const QTemporaryDir folder;
  const QString program = stand_in(folder, "cat >/dev/null");
  if (!runs_as_it_is(program)) GTEST_SKIP() << "pkexec would ask for a password";
  const auto window = make_window();
  LivePage& page = window->live();
  page.set_program(program);
  page.devices().show({fake("fake0", true)});
  page.choose_device(QStringLiteral("fake0"));
  page.start();
  ASSERT_TRUE(eventually([&] { return window->session().snapshot() != nullptr; }));
  const QString recorded = QFileInfo(window->session().files().front()).absolutePath();
  QStringList suggested;
  window->output().set_questions({[&](QWidget*, const QString&, const QString& name, const QString&) {
                                    suggested << name;
                                    return QString();
                                  },
                                  [](QWidget*, QPrinter&) { return false; }});
  for (const char* name : {"export_report", "export_graph"})
    window->findChild<QAction*>(QString::fromLatin1(name))->trigger();
  ASSERT_EQ(suggested.size(), 2);
  for (const QString& path : suggested) {
    EXPECT_EQ(QFileInfo(path).absolutePath(), documents_folder()) << path.toStdString();
    EXPECT_FALSE(path.startsWith(recorded)) << path.toStdString();
    EXPECT_TRUE(QFileInfo(path).fileName().startsWith(QStringLiteral("fake0")));
  }
  // Save ends the capture, saves it, and closes the window.
  const QString saved = folder.filePath(QStringLiteral("saved.pcapng"));
  page.set_file_question([&](QWidget*) { return saved; });
  page.set_unsaved_question([](QWidget*, const QString&) { return Unsaved::save; });
  EXPECT_FALSE(window->close());
  EXPECT_TRUE(eventually([&] { return !window->isVisible(); }));
  const auto whole = capture::open_files({saved.toStdString()});
  ASSERT_TRUE(whole);
  EXPECT_EQ(analyze::analyze(**whole, {})->totals.packets, analyzed("03_rping.pcap")->totals.packets);
}

TEST(LivePage, AsksBeforeItReplacesTheOpenCapture) {
  const QTemporaryDir folder;
  const QString program = stand_in(folder, "cat >/dev/null");
  if (!runs_as_it_is(program)) GTEST_SKIP() << "pkexec would ask for a password";
  const auto window = make_window();
  open_sample(*window, "03_rping.pcap");
  QStringList asked;
  window->set_questions({[](QWidget*) { return QStringList(); }, [](QWidget*) { return QString(); },
                         [](QWidget*) {}, [](QWidget*, const QString&) { return Unsaved::discard; },
                         [&asked](QWidget*, const QString& what) {
                           asked << what;
                           return false;
                         }});
  LivePage& page = window->live();
  page.set_program(program);
  page.devices().show({fake("fake0", true)});
  page.choose_device(QStringLiteral("fake0"));
  page.start();
  ASSERT_EQ(asked.size(), 1);
  EXPECT_TRUE(asked[0].contains(QStringLiteral("03_rping.pcap"))) << asked[0].toStdString();
  EXPECT_EQ(page.capture().state(), LiveCapture::State::idle);
  EXPECT_EQ(window->session().files().size(), 1);
  EXPECT_NE(window->session().snapshot(), nullptr);
}

TEST(LivePage, KeepsTheDeviceMarkedThatStartWouldCapture) {
  const auto window = make_window();
  LivePage& page = window->live();
  QSignalSpy looked(&page.devices(), &LiveDeviceModel::refreshed);
  window->show_page(PageId::live);
  ASSERT_TRUE(eventually([&] { return looked.count() == 1; }));  // at those of this host
  page.devices().show({fake("fake0", true), fake("fake1", true)});
  page.choose_device(QStringLiteral("fake1"));
  auto* table = page.findChild<QTableView*>();
  ASSERT_NE(table, nullptr);
  QApplication::processEvents();
  const QPoint beside(table->viewport()->width() / 2, table->viewport()->height() - 3);
  ASSERT_FALSE(table->indexAt(beside).isValid());
  QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::NoModifier, beside);
  ASSERT_TRUE(table->currentIndex().isValid());
  EXPECT_TRUE(table->selectionModel()->isRowSelected(table->currentIndex().row()));
  // Nor does another look at the devices, as long as it is there.
  page.devices().show({fake("fake2", true), fake("fake1", true)});
  EXPECT_EQ(table->currentIndex().row(), 1);
  EXPECT_TRUE(table->selectionModel()->isRowSelected(1));
  EXPECT_TRUE(page.command_text().contains(QStringLiteral("fake1")));
  page.devices().show({fake("fake2", true)});
  EXPECT_TRUE(page.command_text().isEmpty());
  page.devices().show({fake("fake2", true), fake("fake1", true)});
  page.choose_device(QStringLiteral("fake1"));
  EXPECT_TRUE(page.command_text().contains(QStringLiteral("fake1")));
}

/// Not alone: live_device_test.py makes the interface and sends a sample to it.
TEST(LivePage, CapturesFromANetworkInterface) {
  const QString interface = qEnvironmentVariable("ROCE_LIVE_INTERFACE");
  if (interface.isEmpty()) GTEST_SKIP() << "live_device_test.py runs it";
  const std::string sent = qEnvironmentVariable("ROCE_LIVE_SAMPLE").toStdString();
  const QTemporaryDir folder;
  const auto window = make_window();
  LivePage& page = window->live();
  page.set_program(qEnvironmentVariable("ROCE_LIVE_PROGRAM"));
  page.set_unsaved_question([](QWidget*, const QString&) { return Unsaved::keep; });
  window->show_page(PageId::live);
  ASSERT_TRUE(eventually([&] { return page.devices().row_of(interface) >= 0; }));
  EXPECT_TRUE(page.devices().device(page.devices().row_of(interface))->possible);
  page.choose_device(interface);
  page.start();
  const auto file = analyzed(sent);
  ASSERT_TRUE(eventually([&] {
    const auto seen = window->session().snapshot();
    return seen && seen->totals.packets == file->totals.packets;
  })) << window->message().toStdString();
  page.stop();
  ASSERT_TRUE(eventually([&] { return page.capture().state() == LiveCapture::State::idle; }));
  ASSERT_TRUE(eventually([&] { return window->session().snapshot()->final; }));
  const auto live = window->session().snapshot();
  EXPECT_EQ(live->totals.packets, file->totals.packets);
  EXPECT_EQ(live->totals.bytes, file->totals.bytes);
  EXPECT_EQ(live->flows.size(), file->flows.size());
  ASSERT_EQ(live->connections.size(), file->connections.size());
  const QString saved = folder.filePath(QStringLiteral("saved.pcapng"));
  page.set_file_question([&](QWidget*) { return saved; });
  page.save();
  ASSERT_TRUE(eventually([&] { return !page.capture().has_unsaved(); }));
  window->open({saved});
  ASSERT_TRUE(has_ended(*window));
  EXPECT_EQ(window->session().snapshot()->totals.packets, file->totals.packets);
  EXPECT_EQ(window->session().snapshot()->connections.size(), file->connections.size());
}

TEST(LivePage, ScrollsTheListAlongUntilItIsTouched) {
  const QTemporaryDir folder;
  const QString program = stand_in(folder, "cat >/dev/null");
  if (!runs_as_it_is(program)) GTEST_SKIP() << "pkexec would ask for a password";
  const auto window = make_window();
  LivePage& page = window->live();
  page.set_program(program);
  page.set_unsaved_question([](QWidget*, const QString&) { return Unsaved::discard; });
  PacketsPage& packets = window->packets();
  window->show_page(PageId::packets);
  const int all = static_cast<int>(analyzed("03_rping.pcap")->totals.packets);
  const auto begin = [&] {
    // The page may have looked at those of this host meanwhile.
    page.devices().show({fake("fake0", true)});
    page.choose_device(QStringLiteral("fake0"));
    page.start();
    ASSERT_EQ(page.capture().state(), LiveCapture::State::running) << page.capture().message().toStdString();
    ASSERT_TRUE(eventually([&] { return packets.model().rowCount() == all; }));
  };
  const auto end = [&] {
    page.stop();
    ASSERT_TRUE(eventually([&] { return page.capture().state() == LiveCapture::State::idle; }));
    ASSERT_TRUE(has_ended(*window));
  };
  PacketListView& list = packets.list();
  QScrollBar& bar = *list.verticalScrollBar();
  // Left alone it shows what came last, and then that is what there is to look at.
  begin();
  EXPECT_TRUE(list.follows());
  EXPECT_EQ(list.current_row(), -1);
  EXPECT_GT(bar.maximum(), 0);
  EXPECT_EQ(bar.value(), bar.maximum());
  EXPECT_EQ(window->selection().packet(), std::nullopt);
  end();
  ASSERT_TRUE(eventually([&] { return list.current_row() == all - 1; }));
  EXPECT_FALSE(list.follows());
  // A key, a click and a wheel mean that somebody looks at what is there now.
  begin();
  const int seen = bar.value();
  QTest::keyClick(&list, Qt::Key_Up);
  EXPECT_FALSE(list.follows());
  EXPECT_GE(list.current_row(), seen);
  end();
  begin();
  QTest::mouseClick(list.viewport(), Qt::LeftButton, Qt::NoModifier, QPoint(80, 5));
  EXPECT_FALSE(list.follows());
  EXPECT_EQ(list.current_row(), bar.value());
  end();
  begin();
  bar.triggerAction(QAbstractSlider::SliderSingleStepSub);
  EXPECT_FALSE(list.follows());
  const int scrolled_to = bar.value();
  EXPECT_LT(scrolled_to, bar.maximum());
  end();
  ASSERT_TRUE(eventually([&] { return list.current_row() >= 0; }));
  EXPECT_EQ(list.current_row(), scrolled_to);
  EXPECT_EQ(bar.value(), scrolled_to);
  // A file is read from its beginning.
  begin();
  end();
  window->open({QString::fromStdString(sample("03_rping.pcap"))});
  ASSERT_TRUE(has_ended(*window));
  EXPECT_TRUE(eventually([&] { return list.current_row() == 0; })) << list.current_row();
  EXPECT_EQ(bar.value(), 0);
}

TEST(LivePage, SaysWhyACaptureEnded) {
  const QTemporaryDir folder;
  const QString program = stand_in(folder, "echo 'fake0: the network interface was removed' >&2; exit 3");
  if (!runs_as_it_is(program)) GTEST_SKIP() << "pkexec would ask for a password";
  const auto window = make_window();
  LivePage& page = window->live();
  page.set_program(program);
  page.set_unsaved_question([](QWidget*, const QString&) { return Unsaved::discard; });
  page.devices().show({fake("fake0", true)});
  page.choose_device(QStringLiteral("fake0"));
  page.start();
  ASSERT_TRUE(eventually([&] { return page.capture().state() == LiveCapture::State::idle; }));
  EXPECT_TRUE(window->message().contains(QStringLiteral("removed"))) << window->message().toStdString();
  EXPECT_GT(window->session().snapshot()->totals.packets, 0U);
}

TEST(LivePage, TellsThatThereIsNoProgram) {
  const auto window = make_window();
  LivePage& page = window->live();
  page.set_program({});
  page.devices().show({fake("fake0", true)});
  page.choose_device(QStringLiteral("fake0"));
  page.start();
  EXPECT_EQ(page.capture().state(), LiveCapture::State::idle);
}

}  // namespace
}  // namespace roce::gui
