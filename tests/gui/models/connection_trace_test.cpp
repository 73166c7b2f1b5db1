// SPDX-License-Identifier: Apache-2.0
#include "gui/models/connection_trace.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <atomic>
#include <fstream>

#include "gui/models/worker_threads.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace connection_trace_test {
namespace {

using State = ConnectionTracer::State;

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";

bool loaded(AnalysisSession& session, const std::string& name) {
  session.open({QString::fromStdString(sample(name))});
  return eventually([&] { return session.state() == AnalysisSession::State::done; });
}

bool settled(const ConnectionTracer& tracer) {
  return eventually([&] { return tracer.state() != State::reading && tracer.state() != State::waiting; });
}

TEST(ConnectionTracer, ReadsTheChosenConnection) {
  AnalysisSession session;
  ConnectionTracer tracer(session);
  EXPECT_EQ(tracer.state(), State::none);
  tracer.choose(0);
  EXPECT_EQ(tracer.state(), State::none);
  ASSERT_TRUE(loaded(session, lossy));
  ASSERT_TRUE(settled(tracer));
  ASSERT_EQ(tracer.state(), State::done) << tracer.reason().toStdString();
  const analyze::Connection& connection = session.snapshot()->connections[0];
  EXPECT_EQ(tracer.trace()->connection, 0U);
  EXPECT_EQ(tracer.trace()->points.size(), connection.packets[0] + connection.packets[1]);
  tracer.choose({});
  EXPECT_EQ(tracer.state(), State::none);
  EXPECT_FALSE(tracer.trace());
  tracer.choose(77);
  EXPECT_EQ(tracer.state(), State::none);
}

/// The list of packets has the verdicts: another analysis would let the first graph wait for nothing.
TEST(ConnectionTracer, ReadsTheCaptureOnceForTheFirstConnection) {
  const auto opened = std::make_shared<std::atomic<int>>(0);
  AnalysisSession session;
  session.open({QString::fromStdString(sample(lossy))}, [opened] {
    ++*opened;
    return capture::open_files({sample(lossy)});
  });
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  ASSERT_EQ(*opened, 1);
  ConnectionTracer tracer(session);
  tracer.choose(0);
  ASSERT_TRUE(settled(tracer));
  ASSERT_EQ(tracer.state(), State::done) << tracer.reason().toStdString();
  EXPECT_EQ(*opened, 2);
  // The verdicts are those of an analysis of its own.
  analyze::VerdictStore verdicts;
  analyze::AnalysisOptions analysis;
  analysis.verdicts = &verdicts;
  static_cast<void>(analyze::analyze(**capture::open_files({sample(lossy)}), analysis));
  const auto own = analyze::trace_connection(**capture::open_files({sample(lossy)}), verdicts, {});
  ASSERT_EQ(tracer.trace()->points.size(), own.points.size());
  for (std::size_t i = 0; i < own.points.size(); ++i) {
    const analyze::TracePoint &a = own.points[i], &b = tracer.trace()->points[i];
    ASSERT_EQ(a.packet, b.packet);
    ASSERT_EQ(a.marks, b.marks) << a.packet;
    ASSERT_EQ(a.verdict.flags, b.verdict.flags) << a.packet;
    ASSERT_EQ(a.verdict.lost_before, b.verdict.lost_before) << a.packet;
    ASSERT_EQ(a.verdict.in_flight, b.verdict.in_flight) << a.packet;
  }
}

TEST(PacketStore, ShowsARefusedConnectionAsAnError) {
  for (const char* name : {"03_rping_noserver.pcap", "10_srp.pcap"}) {
    AnalysisSession session;
    ASSERT_TRUE(loaded(session, name));
    ASSERT_EQ(session.packets()->size(), 2U);
    EXPECT_EQ(meaning_of(session.packets()->marks(1)), PacketMeaning::control) << name;
    EXPECT_EQ(meaning_of(session.packets()->marks(2)), PacketMeaning::error) << name;
    EXPECT_NE(session.packets()->meanings_of_block(0) & 1U << static_cast<unsigned>(PacketMeaning::error),
              0U);
  }
}

TEST(ConnectionTracer, KeepsTheLastOnesAndReadsThemOnce) {
  AnalysisSession session;
  ConnectionTracer tracer(session);
  ASSERT_TRUE(loaded(session, "06_mix_4qp.pcap.zst"));
  const std::size_t count = session.snapshot()->connections.size();
  ASSERT_GT(count, 2U);
  std::vector<ConnectionTracer::Trace> traces;
  for (std::uint32_t id = 0; id < count; ++id) {
    tracer.choose(id);
    ASSERT_TRUE(settled(tracer));
    ASSERT_TRUE(tracer.trace());
    EXPECT_EQ(tracer.trace()->connection, id);
    traces.push_back(tracer.trace());
  }
  for (std::uint32_t id = 0; id < count; ++id) {
    tracer.choose(id);
    EXPECT_EQ(tracer.state(), State::done);
    EXPECT_EQ(tracer.trace(), traces[id]);
  }
  // Of another reading they are worth nothing.
  session.reload();
  EXPECT_EQ(tracer.state(), State::waiting);
  EXPECT_FALSE(tracer.trace());
  ASSERT_TRUE(settled(tracer));
  ASSERT_TRUE(tracer.trace());
  EXPECT_NE(tracer.trace(), traces[count - 1]);
}

TEST(ConnectionTracer, ShowsNothingOfWhatWasChosenBefore) {
  AnalysisSession session;
  ConnectionTracer tracer(session);
  ASSERT_TRUE(loaded(session, "06_mix_4qp.pcap.zst"));
  QObject::connect(&tracer, &ConnectionTracer::changed, [&] {
    if (tracer.trace()) {
      EXPECT_EQ(tracer.trace()->connection, tracer.connection());
    }
  });
  for (int i = 0; i < 100; ++i) {
    tracer.choose(static_cast<std::uint32_t>(i % 3));
    if (i % 10 == 0) QCoreApplication::processEvents();
    if (i == 50) session.reload();
  }
  ASSERT_TRUE(settled(tracer));
  ASSERT_TRUE(tracer.trace());
  EXPECT_EQ(tracer.trace()->connection, 99U % 3U);
  // And of another capture neither.
  tracer.choose(1);
  ASSERT_TRUE(loaded(session, "03_rping.pcap"));
  EXPECT_FALSE(tracer.trace() && tracer.trace()->connection != 1);
  session.close();
  EXPECT_EQ(tracer.state(), State::none);
  EXPECT_FALSE(tracer.trace());
}

TEST(ConnectionTracer, WaitsUntilTheCaptureHasBeenRead) {
  const auto gate = std::make_shared<GatedSource::Gate>();
  AnalysisSession session;
  ConnectionTracer tracer(session);
  tracer.choose(0);
  session.open({QString::fromStdString(sample(lossy))},
               [gate]() -> capture::Expected<std::unique_ptr<capture::CaptureSource>> {
                 auto source = capture::open_files({sample(lossy)});
                 if (!source) return source;
                 return std::make_unique<GatedSource>(std::move(*source), gate);
               });
  ASSERT_TRUE(eventually([&] { return gate->is_reached(); }));
  EXPECT_EQ(tracer.state(), State::waiting);
  // Stopped, it is what was read until then.
  session.cancel();
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::stopped; }));
  gate->let_go();
  ASSERT_TRUE(settled(tracer));
  ASSERT_EQ(tracer.state(), State::done) << tracer.reason().toStdString();
  EXPECT_EQ(tracer.trace()->frames, session.snapshot()->frames_read);
}

TEST(ConnectionTracer, SaysWhyThereIsNothing) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath(QStringLiteral("a.pcap")).toStdString();
  std::filesystem::copy_file(sample("03_rping.pcap"), path);
  AnalysisSession session;
  ConnectionTracer tracer(session);
  session.open({QString::fromStdString(path)});
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  // It became another one.
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  tracer.choose(0);
  ASSERT_TRUE(settled(tracer));
  EXPECT_EQ(tracer.state(), State::failed);
  EXPECT_TRUE(tracer.reason().contains(QStringLiteral("Reload")));
  // It is gone.
  std::filesystem::remove(path);
  tracer.choose({});
  tracer.choose(0);
  ASSERT_TRUE(settled(tracer));
  EXPECT_EQ(tracer.state(), State::failed);
  EXPECT_TRUE(tracer.reason().contains(QString::fromStdString(path)));
  // A pipe tells once.
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  session.open({QString::fromStdString(path)}, [] { return capture::open_files({sample("03_rping.pcap")}); });
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  EXPECT_EQ(tracer.state(), State::impossible);
  EXPECT_FALSE(tracer.reason().isEmpty());
}

TEST(ConnectionTracer, TakesADamagedFileAsTheAnalysisDoes) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath(QStringLiteral("cut.pcap")).toStdString();
  std::filesystem::copy_file(sample("03_rping.pcap"), path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 7);
  AnalysisSession session;
  ConnectionTracer tracer(session);
  tracer.choose(0);
  session.open({QString::fromStdString(path)});
  ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
  ASSERT_TRUE(settled(tracer));
  EXPECT_EQ(tracer.state(), State::done) << tracer.reason().toStdString();
}

TEST(ConnectionTracer, GoesWhileItReads) {
  AnalysisSession session;
  ASSERT_TRUE(loaded(session, lossy));
  for (int i = 0; i < 10; ++i) {
    ConnectionTracer tracer(session);
    tracer.choose(0);
    if (i % 2 == 0) QCoreApplication::processEvents();
  }
  EXPECT_TRUE(wait_for_background(std::chrono::seconds(60)));
}

}  // namespace
}  // namespace connection_trace_test
}  // namespace roce::gui
