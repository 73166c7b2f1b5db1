// SPDX-License-Identifier: Apache-2.0
#include "gui/models/analysis_session.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <fstream>

#include "analyze/policy/marking_policy.hpp"
#include "gui/models/worker_threads.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace analysis_session_test {
namespace {

using State = AnalysisSession::State;

QStringList files(const std::string& name) {
  return {QString::fromStdString(sample(name))};
}

AnalysisJob::Opener gated(const std::shared_ptr<GatedSource::Gate>& gate, const std::string& name) {
  return [gate, name]() -> capture::Expected<std::unique_ptr<capture::CaptureSource>> {
    auto source = capture::open_files({sample(name)});
    if (!source) return source;
    return std::make_unique<GatedSource>(std::move(*source), gate);
  };
}

bool ended(const AnalysisSession& session) {
  return eventually([&] { return session.state() != State::loading; });
}

TEST(AnalysisSession, ReadsACapture) {
  AnalysisSession session;
  const QSignalSpy states(&session, &AnalysisSession::state_changed);
  EXPECT_EQ(session.state(), State::empty);
  session.open(files("04_write_loss1.cb.pcap.zst"));
  EXPECT_EQ(session.state(), State::loading);
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::done);
  EXPECT_EQ(states.count(), 2);
  ASSERT_TRUE(session.snapshot());
  EXPECT_TRUE(session.snapshot()->final);
  EXPECT_EQ(session.snapshot()->totals.packets, 3744U);
  EXPECT_EQ(session.progress().packets, 3744U);
  EXPECT_EQ(session.progress().bytes, session.progress().size);
  session.close();
  EXPECT_EQ(session.state(), State::empty);
  EXPECT_FALSE(session.snapshot());
}

TEST(AnalysisSession, SaysWhyNothingCouldBeRead) {
  const QTemporaryDir folder;
  const std::string text = folder.filePath(QStringLiteral("notes.txt")).toStdString();
  std::ofstream(text) << "this is no capture, and long enough to tell";
  AnalysisSession session;
  for (const std::string& path : {std::string("/nowhere/at/all.pcap"), text, folder.path().toStdString()}) {
    session.open({QString::fromStdString(path)});
    ASSERT_TRUE(ended(session));
    EXPECT_EQ(session.state(), State::failed);
    EXPECT_TRUE(session.failure().contains(QString::fromStdString(path))) << session.failure().toStdString();
    EXPECT_FALSE(session.snapshot());
  }
  session.open(files("03_rping.pcap"));
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::done);
  EXPECT_TRUE(session.failure().isEmpty());
}

TEST(AnalysisSession, ShowsWhatADamagedFileHeld) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath(QStringLiteral("cut.pcap")).toStdString();
  std::filesystem::copy_file(sample("03_rping.pcap"), path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 7);
  AnalysisSession session;
  session.open({QString::fromStdString(path)});
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::done);
  ASSERT_TRUE(session.snapshot());
  EXPECT_GT(session.snapshot()->totals.packets, 0U);
  EXPECT_EQ(session.snapshot()->errors.size(), 1U);
}

TEST(AnalysisSession, ReloadsAFileThatVanished) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath(QStringLiteral("a.pcap")).toStdString();
  std::filesystem::copy_file(sample("03_rping.pcap"), path);
  AnalysisSession session;
  session.open({QString::fromStdString(path)});
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::done);
  std::filesystem::remove(path);
  session.reload();
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::failed);
  EXPECT_FALSE(session.snapshot());
  std::filesystem::copy_file(sample("03_rping.pcap"), path);
  session.reload();
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::done);
}

TEST(AnalysisSession, StopsAndShowsWhatItRead) {
  const auto gate = std::make_shared<GatedSource::Gate>();
  AnalysisSession session;
  session.open({QStringLiteral("a")}, gated(gate, "04_write_loss1.cb.pcap.zst"));
  ASSERT_TRUE(eventually([&] { return gate->is_reached(); }));
  EXPECT_EQ(session.state(), State::loading);
  session.cancel();
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::stopped);
  ASSERT_TRUE(session.snapshot());
  EXPECT_EQ(session.snapshot()->totals.packets, 100U);
}

TEST(AnalysisSession, OpensAnotherWhileOneIsRead) {
  const auto gate = std::make_shared<GatedSource::Gate>();
  AnalysisSession session;
  session.open({QStringLiteral("a")}, gated(gate, "04_write_loss1.cb.pcap.zst"));
  ASSERT_TRUE(eventually([&] { return gate->is_reached(); }));
  std::vector<std::uint64_t> seen;
  QObject::connect(&session, &AnalysisSession::snapshot_changed, &session, [&] {
    if (session.snapshot()) seen.push_back(session.snapshot()->totals.packets);
  });
  session.open(files("03_rping.pcap"));
  gate->let_go();
  ASSERT_TRUE(ended(session));
  ASSERT_TRUE(wait_for_background(std::chrono::seconds(60)));  // the first is over as well
  QCoreApplication::processEvents();
  const std::uint64_t packets = analyzed("03_rping.pcap")->totals.packets;
  EXPECT_EQ(seen, std::vector<std::uint64_t>{packets});
  EXPECT_EQ(session.state(), State::done);
}

TEST(AnalysisSession, GoesWhileItReads) {
  const auto gate = std::make_shared<GatedSource::Gate>();
  {
    AnalysisSession session;
    session.open({QStringLiteral("a")}, gated(gate, "04_write_loss1.cb.pcap.zst"));
    ASSERT_TRUE(eventually([&] { return gate->is_reached(); }));
  }
  QCoreApplication::processEvents();
  EXPECT_TRUE(wait_for_background(std::chrono::seconds(60)));
  for (int i = 0; i < 30; ++i) {  // at whatever moment
    AnalysisSession session;
    session.open(files("03_rping.pcap"));
    if (i % 3 == 1) QCoreApplication::processEvents();
    if (i % 3 == 2) session.open(files("04_write_loss1.cb.pcap.zst"));
  }
  QCoreApplication::processEvents();
  EXPECT_TRUE(wait_for_background(std::chrono::seconds(60)));
}

TEST(AnalysisSession, DoesNotWaitForAPipeThatNobodyWritesTo) {
  const QTemporaryDir folder;
  const std::string pipe = folder.filePath(QStringLiteral("pipe")).toStdString();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  AnalysisSession session;
  session.open({QString::fromStdString(pipe)});
  QCoreApplication::processEvents();
  session.cancel();
  session.open(files("03_rping.pcap"));
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::done);
  // Lets the thread go that waits for a writer: one that writes nothing.
  { const std::fstream writer(pipe, std::ios::in | std::ios::out); }
  EXPECT_TRUE(wait_for_background(std::chrono::seconds(60)));
}

TEST(AnalysisSession, OpensAgainFromWhatItTells) {
  AnalysisSession session;
  int opened = 0;
  QObject::connect(&session, &AnalysisSession::snapshot_changed, &session, [&] {
    if (session.snapshot() && opened++ == 0) session.open(files("03_rping.pcap"));
  });
  session.open(files("04_write_loss1.cb.pcap.zst"));
  ASSERT_TRUE(eventually([&] { return opened == 2 && session.state() == State::done; }));
  EXPECT_EQ(session.snapshot()->totals.packets, analyzed("03_rping.pcap")->totals.packets);
}

TEST(AnalysisSession, JudgesByAPolicy) {
  AnalysisSession session;
  session.open(files("02_write_bw_tclass106.pcap.zst"));
  ASSERT_TRUE(ended(session));
  EXPECT_TRUE(session.snapshot()->violations.empty());
  const auto policy = analyze::load_policy(std::string(analyze::policy_profiles().front().name));
  ASSERT_TRUE(policy);
  session.set_policy(*policy);
  EXPECT_EQ(session.state(), State::loading);
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.snapshot()->policy, *policy);
}

TEST(AnalysisSession, SurvivesAnOpenerThatThrows) {
  AnalysisSession session;
  session.open({QStringLiteral("a")}, []() -> capture::Expected<std::unique_ptr<capture::CaptureSource>> {
    throw std::bad_alloc();
  });
  ASSERT_TRUE(ended(session));
  EXPECT_EQ(session.state(), State::failed);
  EXPECT_TRUE(session.failure().contains(QStringLiteral("memory")));
}

}  // namespace
}  // namespace analysis_session_test
}  // namespace roce::gui
