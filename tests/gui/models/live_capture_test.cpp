// SPDX-License-Identifier: Apache-2.0
// Processes of the tests stand in for the one that captures, but for one test on the loopback.
#include "gui/models/live_capture.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QAbstractItemModelTester>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSet>
#include <QTemporaryDir>
#include <fstream>

#include "analyze/policy/marking_policy.hpp"
#include "gui/models/commands.hpp"
#include "gui/models/live_devices.hpp"
#include "gui/models/worker_threads.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace live_capture_test {
namespace {

using State = LiveCapture::State;

const std::string rping = "03_rping.pcap";

/// Writes the sample, then does the rest.
QStringList writer(const char* rest) {
  const QString file = shell_word(QString::fromStdString(sample(rping)));
  return {QStringLiteral("sh"), QStringLiteral("-c"),
          QStringLiteral("cat %1; %2").arg(file, QString::fromLatin1(rest))};
}
constexpr const char* until_told = "cat >/dev/null";

LiveRequest request(std::uint64_t most_bytes = 0) {
  LiveRequest wanted;
  wanted.device = QStringLiteral("fake0");
  wanted.most_bytes = most_bytes;
  return wanted;
}

bool idle(const LiveCapture& capture) {
  return eventually([&] { return capture.state() == State::idle; });
}

std::uint64_t packets(const AnalysisSession& session) {
  return session.snapshot() ? session.snapshot()->totals.packets : 0;
}

TEST(LiveCapture, IsFollowedWhileItGoesOnAndKept) {
  const std::uint64_t all = analyzed(rping)->totals.packets;
  AnalysisSession session;
  LiveCapture capture(session);
  ASSERT_TRUE(capture.start(request(), writer(until_told)));
  ASSERT_TRUE(eventually([&] { return packets(session) == all; }));
  EXPECT_TRUE(session.is_live());
  EXPECT_FALSE(session.snapshot()->final);
  EXPECT_TRUE(capture.has_unsaved());
  EXPECT_FALSE(capture.has_recording());
  session.reload();  // nothing to read again yet
  EXPECT_EQ(packets(session), all);
  capture.stop();
  ASSERT_TRUE(idle(capture));
  EXPECT_FALSE(capture.failed()) << capture.message().toStdString();
  EXPECT_EQ(session.state(), AnalysisSession::State::done);
  EXPECT_TRUE(session.snapshot()->final);
  EXPECT_EQ(packets(session), all);
  EXPECT_TRUE(capture.message().contains(QString::number(all)));

  const QTemporaryDir folder;
  const QString saved = folder.filePath(QStringLiteral("saved.pcapng"));
  capture.save_as(saved);
  ASSERT_TRUE(eventually([&] { return !capture.has_unsaved(); }));
  const auto again = capture::open_files({saved.toStdString()});
  ASSERT_TRUE(again);
  const auto read = analyze::analyze(**again, {});
  EXPECT_EQ(read->totals.packets, all);
  EXPECT_EQ(read->connections.size(), session.snapshot()->connections.size());
  capture.save_as(QStringLiteral("/nowhere/at/all.pcapng"));
  ASSERT_TRUE(eventually([&] { return capture.failed(); }));
  EXPECT_TRUE(capture.message().contains(QStringLiteral("/nowhere/at/all.pcapng")));
  // What is reloaded is what was kept.
  session.reload();
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  EXPECT_EQ(packets(session), all);
}

TEST(LiveCapture, SaysWhyItCouldNotBegin) {
  AnalysisSession session;
  LiveCapture capture(session);
  const QString said = QStringLiteral("fake0: this process may not capture: CAP_NET_RAW is missing");
  ASSERT_TRUE(capture.start(request(), {QStringLiteral("sh"), QStringLiteral("-c"),
                                        QStringLiteral("echo '%1' >&2; exit 3").arg(said)}));
  ASSERT_TRUE(idle(capture));
  EXPECT_TRUE(capture.failed());
  EXPECT_TRUE(capture.message().contains(said)) << capture.message().toStdString();
  EXPECT_TRUE(capture.log().contains(said));
  EXPECT_EQ(session.state(), AnalysisSession::State::failed);
  EXPECT_FALSE(capture.has_unsaved());

  EXPECT_FALSE(capture.start(request(), {QStringLiteral("/nowhere/roceanalyze"), QStringLiteral("capture")}));
  EXPECT_TRUE(capture.failed());
  EXPECT_TRUE(capture.message().contains(QStringLiteral("/nowhere/roceanalyze")));
  EXPECT_EQ(capture.state(), State::idle);
}

TEST(LiveCapture, KeepsWhatCameBeforeItDied) {
  const std::uint64_t all = analyzed(rping)->totals.packets;
  AnalysisSession session;
  LiveCapture capture(session);
  ASSERT_TRUE(capture.start(request(), writer("kill -9 $$")));
  ASSERT_TRUE(idle(capture));
  EXPECT_TRUE(capture.failed());
  EXPECT_TRUE(capture.message().contains(QStringLiteral("signal"))) << capture.message().toStdString();
  EXPECT_EQ(packets(session), all);
  EXPECT_TRUE(capture.has_recording());
  EXPECT_TRUE(capture.has_unsaved());
}

TEST(LiveCapture, TellsThatTheDeviceWentAway) {
  AnalysisSession session;
  LiveCapture capture(session);
  ASSERT_TRUE(
      capture.start(request(), writer("echo 'fake0: the network interface was removed' >&2; exit 3")));
  ASSERT_TRUE(idle(capture));
  EXPECT_TRUE(capture.failed());
  EXPECT_TRUE(capture.message().contains(QStringLiteral("removed"))) << capture.message().toStdString();
  EXPECT_GT(packets(session), 0U);
}

TEST(LiveCapture, EndsAtTheLimitOfItsRecording) {
  AnalysisSession session;
  LiveCapture capture(session);
  ASSERT_TRUE(capture.start(request(2'000), writer(until_told)));
  ASSERT_TRUE(idle(capture));
  EXPECT_TRUE(capture.message().contains(QStringLiteral("limit"))) << capture.message().toStdString();
  EXPECT_GT(packets(session), 0U);
  EXPECT_LT(packets(session), analyzed(rping)->totals.packets);
}

TEST(LiveCapture, SaysThatTheDiskIsFull) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  Descriptor in(ends[1]);
  auto source = capture::open_files({sample(rping)});
  std::ifstream file(sample(rping), std::ios::binary);
  std::string head(4096, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  ASSERT_EQ(::write(ends[1], head.data(), head.size()), 4096);
  in.close();
  const auto opened = open_recorded(
      {std::make_shared<Descriptor>(ends[0]), "/dev/full", 0, std::make_shared<RecordingNews>()});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().describe().find("No space left"), std::string::npos) << opened.error().describe();
}

TEST(LiveCapture, EndsAProcessThatDoesNotListen) {
  AnalysisSession session;
  LiveCapture capture(session);
  ASSERT_TRUE(capture.start(request(), writer("exec sleep 1000")));
  ASSERT_TRUE(eventually([&] { return packets(session) != 0; }));
  capture.stop();
  ASSERT_TRUE(idle(capture));
  EXPECT_FALSE(capture.failed()) << capture.message().toStdString();
  EXPECT_GT(packets(session), 0U);
}

TEST(LiveCapture, EndsWhenSomethingElseIsOpened) {
  AnalysisSession session;
  LiveCapture capture(session);
  ASSERT_TRUE(capture.start(request(), writer(until_told)));
  ASSERT_TRUE(eventually([&] { return packets(session) != 0; }));
  session.open({QString::fromStdString(sample("04_write_loss1.cb.pcap.zst"))});
  ASSERT_TRUE(idle(capture));
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  EXPECT_EQ(packets(session), 3744U);
  // And again, also from the end of the one before.
  ASSERT_TRUE(capture.start(request(), writer(until_told)));
  ASSERT_TRUE(eventually([&] { return packets(session) != 0 && session.is_live(); }));
  session.cancel();
  ASSERT_TRUE(idle(capture));
  EXPECT_TRUE(capture.has_recording());
}

TEST(LiveCapture, GoesAtAnyMoment) {
  for (int i = 0; i < 6; ++i) {
    AnalysisSession session;
    LiveCapture capture(session);
    ASSERT_TRUE(capture.start(request(), writer(until_told)));
    if (i % 3 == 1) QCoreApplication::processEvents();
    if (i % 3 == 2) capture.stop();
  }
  EXPECT_TRUE(wait_for_background(std::chrono::seconds(60)));
}

TEST(LiveCapture, IsJudgedByAnotherPolicyWhenItHasEnded) {
  AnalysisSession session;
  LiveCapture capture(session);
  ASSERT_TRUE(capture.start(request(), writer(until_told)));
  ASSERT_TRUE(eventually([&] { return packets(session) != 0; }));
  const auto policy = analyze::load_policy(std::string(analyze::policy_profiles().front().name));
  ASSERT_TRUE(policy);
  session.set_policy(*policy);
  EXPECT_TRUE(session.is_live());
  capture.stop();
  ASSERT_TRUE(idle(capture));
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  EXPECT_EQ(session.snapshot()->policy, *policy);
}

TEST(LiveCapture, RunsTheCommandThatItShows) {
  LiveRequest wanted = request();
  wanted.filter = QStringLiteral("udp port 4791");
  wanted.promiscuous = false;
  const QString program = QStringLiteral("/usr/bin/roceanalyze");
  EXPECT_EQ(capture_command(program, wanted, CaptureRights::own).join(QLatin1Char(' ')),
            QStringLiteral("/usr/bin/roceanalyze capture -i fake0 -f udp port 4791 -p -w - --capture-only "
                           "--stop-with-stdin"));
  EXPECT_EQ(capture_command(program, wanted, CaptureRights::asked).front(), QStringLiteral("pkexec"));
  EXPECT_EQ(capture_command(program, wanted, CaptureRights::unknown).front(), program);
}

TEST(LiveCapture, CapturesTheLoopback) {
  const int raw = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (raw < 0) GTEST_SKIP() << "packet sockets are not allowed here";
  ::close(raw);
  AnalysisSession session;
  LiveCapture capture(session);
  LiveRequest wanted;
  wanted.device = QStringLiteral("lo");
  wanted.filter = QStringLiteral("udp dst port 4791");
  ASSERT_TRUE(
      capture.start(wanted, capture_command(QStringLiteral(ROCE_PROGRAM), wanted, CaptureRights::own)));
  const int sender = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(sender, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(4791);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const char text[] = "no RoCE at all, only its port";
  const bool seen = eventually([&] {
    ::sendto(sender, text, sizeof text, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    return packets(session) != 0 || capture.state() == State::idle;
  });
  ::close(sender);
  ASSERT_TRUE(seen);
  ASSERT_FALSE(capture.failed()) << capture.message().toStdString();
  capture.stop();
  ASSERT_TRUE(idle(capture));
  EXPECT_FALSE(capture.failed()) << capture.message().toStdString();
  EXPECT_GT(packets(session), 0U);
  // Whole: with the counts of drops that stand at the end.
  EXPECT_TRUE(session.snapshot()->dropped().has_value());

  ASSERT_TRUE(capture.start(
      wanted,
      {QStringLiteral(ROCE_PROGRAM), QStringLiteral("capture"), QStringLiteral("-i"), QStringLiteral("lo"),
       QStringLiteral("-f"), QStringLiteral("udp prot 4791"), QStringLiteral("-w"), QStringLiteral("-")}));
  ASSERT_TRUE(idle(capture));
  EXPECT_TRUE(capture.failed());
  EXPECT_TRUE(capture.message().contains(QStringLiteral("^^^^"))) << capture.message().toStdString();
}

TEST(LiveDevices, AreThoseOfTheCommand) {
  LiveDeviceModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  bool done = false;
  QObject::connect(&model, &LiveDeviceModel::refreshed, &model, [&] { done = true; });
  model.refresh();
  ASSERT_TRUE(eventually([&] { return done; }));
  QProcess command;
  command.start(QStringLiteral(ROCE_PROGRAM), {QStringLiteral("devices"), QStringLiteral("--json")});
  ASSERT_TRUE(command.waitForFinished());
  const QJsonObject facts = QJsonDocument::fromJson(command.readAllStandardOutput()).object();
  QSet<QString> wanted{QStringLiteral("any")}, shown;
  const QJsonArray netdevs = facts[QStringLiteral("netdevs")].toArray();
  for (const auto& netdev : netdevs) wanted << netdev.toObject()[QStringLiteral("name")].toString();
  EXPECT_GT(wanted.size(), 1);
  for (int row = 0; row < model.rowCount(); ++row) shown << model.device(row)->name;
  for (const QString& name : wanted) EXPECT_TRUE(shown.contains(name)) << name.toStdString();
}

TEST(LiveDevices, SayWhyOneCannotBeUsed) {
  capture::HostFacts host;
  capture::RdmaDevice mlx;
  mlx.name = "mlx5_0";
  mlx.driver = "mlx5";
  mlx.uverbs = "uverbs0";
  capture::RdmaPort port;
  port.number = 1;
  port.state = "ACTIVE";
  port.rate_bps = 100'000'000'000;
  mlx.ports = {port};
  capture::RdmaDevice other = mlx;
  other.name = "irdma0";
  other.driver = "irdma";
  host.devices = {mlx, other};
  capture::Netdev netdev;
  netdev.name = "eth0";
  host.netdevs = {netdev};
  capture::NetworkDevice down;
  down.name = "eth0";
  const std::vector<LiveDevice> rows = live_devices(host, {down});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, QStringLiteral("mlx5_0:1"));
  EXPECT_TRUE(rows[0].possible);
  EXPECT_TRUE(rows[0].state.contains(QStringLiteral("100")));
  EXPECT_FALSE(rows[1].possible);
  EXPECT_TRUE(rows[1].how.contains(QStringLiteral("SPAN")));
  EXPECT_FALSE(rows[2].possible);
  EXPECT_TRUE(rows[2].how.contains(QStringLiteral("ip link set dev eth0 up")));
}

TEST(LiveDevices, EscapeWhatADisplayWouldObey) {
  capture::NetworkDevice odd;
  odd.name = "e\x1b[2J";
  odd.description = "a\nb";
  odd.up = odd.running = true;
  LiveDeviceModel model;
  model.show(live_devices({}, {odd}));
  ASSERT_EQ(model.rowCount(), 1);
  EXPECT_EQ(model.index(0, LiveDeviceModel::name_column).data(), QStringLiteral("e\\x1b[2J"));
  EXPECT_EQ(model.index(0, LiveDeviceModel::description_column).data(), QStringLiteral("a\\nb"));
  EXPECT_EQ(model.row_of(QStringLiteral("e\x1b[2J")), 0) << "what is captured is still named as it is";
}

}  // namespace
}  // namespace live_capture_test
}  // namespace roce::gui
