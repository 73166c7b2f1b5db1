// SPDX-License-Identifier: Apache-2.0
// The command `capture` over a device that gives out the frames of a sample.
#include "cli/capture/capture_run.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "analyze/pipeline/analysis.hpp"
#include "analyze/report/json/json_report.hpp"
#include "capture/live/live_device.hpp"
#include "cli/capture/capture_limits.hpp"
#include "cli/capture/capture_recording.hpp"
#include "cli/core/output.hpp"
#include "cli/live/every_summary.hpp"

namespace roce::cli {
namespace {

using nlohmann::json;

const std::string rping = ROCE_SAMPLES "/03_rping.pcap";

/// All frames of a capture.
struct Sample {
  explicit Sample(const std::string& path) {
    auto source = capture::open_files({path});
    EXPECT_TRUE(source);
    while (true) {
      const auto got = (*source)->next_batch(batch, 4096);
      if (!got || *got == 0) break;
    }
  }
  capture::FrameBatch batch;
};

/// Gives out frames, then calls `at_end` and waits to be stopped, or fails.
class SampleDevice final : public capture::LiveDevice {
 public:
  SampleDevice(const Sample& sample, std::function<void()> at_end, std::string failure, std::size_t repeat)
      : sample_(sample), at_end_(std::move(at_end)), failure_(std::move(failure)), repeat_(repeat) {}

  [[nodiscard]] std::vector<capture::InterfaceInfo> interfaces() const override {
    capture::InterfaceInfo info;
    info.name = "fake0";
    info.link_type = 1;
    info.snap_length = 262'144;
    info.ticks_per_second = 1'000'000'000;
    info.hardware = "made of paper";
    return {info};
  }
  [[nodiscard]] std::string format() const override { return "fake"; }
  [[nodiscard]] capture::Expected<bool> take(capture::SlabQueue& queue) override {
    for (unsigned count = 0; count < 100 && next_ < sample_.batch.frames.size(); ++count) {
      capture::Frame frame = sample_.batch.frames[next_++];
      frame.interface = frame.point = frame.file = 0;
      queue.push(frame);
    }
    if (next_ < sample_.batch.frames.size()) return true;
    if (--repeat_ > 0) {
      next_ = 0;
      return true;
    }
    if (!failure_.empty()) {
      capture::Error error;
      error.kind = capture::ErrorKind::not_readable;
      error.message = failure_;
      return tl::unexpected<capture::Error>(error);
    }
    repeat_ = 1;
    return false;
  }
  [[nodiscard]] capture::Expected<void> wait(int stop, std::chrono::milliseconds at_most) override {
    // Not before all has been handed over.
    if (at_most >= std::chrono::milliseconds(1000) && at_end_) std::exchange(at_end_, nullptr)();
    pollfd waiting{stop, POLLIN, 0};
    (void)::poll(&waiting, 1, static_cast<int>(at_most.count()));
    return {};
  }
  void finish(capture::SlabQueue&) override {}
  [[nodiscard]] Drops drops() override { return {7, 5}; }

 private:
  const Sample& sample_;
  std::function<void()> at_end_;
  std::string failure_;
  std::size_t repeat_;
  std::size_t next_ = 0;
};

class CaptureRun : public ::testing::Test {
 protected:
  CaptureRun() {
    folder = std::filesystem::temp_directory_path() / "roce_capture_run_XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    options.live.device = "fake0";
    options.json = true;
    options.analyze.jobs = 2;
  }
  ~CaptureRun() override { std::filesystem::remove_all(folder); }

  CaptureSetup setup() {
    CaptureSetup made;
    made.open = [this](const capture::LiveOptions& live) {
      return capture::make_live_source(std::make_unique<SampleDevice>(sample, at_end, failure, repeat), live);
    };
    return made;
  }
  /// Runs it and keeps what it prints.
  int run(CaptureSetup how) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = run_capture(options, std::move(how));
    out = testing::internal::GetCapturedStdout();
    errors = testing::internal::GetCapturedStderr();
    return status;
  }
  int run() { return run(setup()); }

  static json report_of(const std::string& path) {
    auto source = capture::open_files({path});
    EXPECT_TRUE(source) << path;
    if (!source) return {};
    std::string text;
    report_json(*analyze::analyze(**source, {}), false, {text});
    return json::parse(text);
  }
  /// All of a report but what names its input.
  static json without_input(json report) {
    for (const char* key : {"files", "interfaces", "dropped", "drop_statistics"})
      report["capture"].erase(key);
    report["findings"].erase(
        std::remove_if(report["findings"].begin(), report["findings"].end(),
                       [](const json& finding) { return finding["id"] == "capture_drops"; }),
        report["findings"].end());
    report["diagnoses"].erase(std::remove_if(report["diagnoses"].begin(), report["diagnoses"].end(),
                                             [](const json& diagnosis) {
                                               return diagnosis["findings"][0]["id"] == "capture_drops";
                                             }),
                              report["diagnoses"].end());
    return report;
  }
  /// "[]" where both say the same.
  static std::string differences(const json& one, const json& other) {
    return json::diff(without_input(one), without_input(other)).dump();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path());
    std::sort(names.begin(), names.end());
    return names;
  }
  /// The lines of `out`.
  std::vector<json> objects() const {
    std::vector<json> all;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
    return all;
  }

  std::string folder;
  CaptureOptions options;
  const Sample sample{rping};
  std::function<void()> at_end = [] { ::kill(::getpid(), SIGINT); };
  std::string failure;
  std::size_t repeat = 1;
  std::string out;
  std::string errors;
};

TEST_F(CaptureRun, ReportsWhatTheFileOfTheSameFramesSays) {
  EXPECT_EQ(run(), exit_ok) << errors;
  const json live = json::parse(out);
  EXPECT_EQ(live["final"], true);
  EXPECT_EQ(live["capture"]["dropped"], 12);
  EXPECT_EQ(differences(live, report_of(rping)), "[]");
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
}

TEST_F(CaptureRun, RecordsWhatItAnalyses) {
  for (const char* name : {"a.pcapng", "a.pcapng.zst"}) {
    options.write = folder + "/" + name;
    EXPECT_EQ(run(), exit_ok) << errors;
    const json live = json::parse(out);
    json file = report_of(options.write);
    EXPECT_EQ(file["capture"]["dropped"], 12) << "drops stand in the file";
    EXPECT_EQ(file["capture"]["interfaces"][0]["name"], "fake0");
    EXPECT_EQ(file["capture"]["files"][0]["hardware"], live["capture"]["files"][0]["hardware"]);
    EXPECT_EQ(live["capture"]["files"][0]["hardware"], "made of paper");
    EXPECT_EQ(differences(file, live), "[]");
    EXPECT_NE(errors.find("recorded: "), std::string::npos);
  }
}

TEST_F(CaptureRun, StopsAfterACountOfPackets) {
  options.count = 17;
  at_end = nullptr;
  options.write = folder + "/a.pcapng";
  EXPECT_EQ(run(), exit_ok) << errors;
  EXPECT_EQ(json::parse(out)["capture"]["packets"], 17);
  EXPECT_EQ(report_of(options.write)["capture"]["packets"], 17);

  options.count = 0;
  options.stop = {"packets:5"};
  options.write.clear();
  EXPECT_EQ(run(), exit_ok) << errors;
  EXPECT_EQ(json::parse(out)["capture"]["packets"], 5);
}

TEST_F(CaptureRun, StopsAfterATimeWithoutAnyPacket) {
  options.stop = {"duration:0.2"};
  at_end = nullptr;
  EXPECT_EQ(run(), exit_ok) << errors;
  EXPECT_EQ(json::parse(out)["final"], true);
}

TEST_F(CaptureRun, ADeviceThatFailsIsReportedWithWhatCameBefore) {
  failure = "the interface went down";
  options.write = folder + "/a.pcapng";
  EXPECT_EQ(run(), exit_input);
  EXPECT_NE(errors.find("fake0: the interface went down"), std::string::npos) << errors;
  EXPECT_EQ(without_input(json::parse(out))["roce"], report_of(rping)["roce"]);
  EXPECT_EQ(report_of(options.write)["capture"]["packets"], sample.batch.frames.size());
}

TEST_F(CaptureRun, AFullDiskStopsCleanlyAndSaysWhatWasKept) {
  options.write = folder + "/a.pcapng";
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 4096;
  auto limited = setup();
  // What gtest keeps of the output is a file as well: only the recording may meet the limit.
  limited.open = [&, open = limited.open](const capture::LiveOptions& live) {
    setrlimit(RLIMIT_FSIZE, &small);
    return open(live);
  };
  struct Restore final : CaptureObserver {
    explicit Restore(const rlimit& limit) : limit_(limit) {}
    void on_end(const analyze::Snapshot&) override { setrlimit(RLIMIT_FSIZE, &limit_); }
    rlimit limit_;
  };
  limited.observers.push_back(std::make_unique<Restore>(before));
  EXPECT_EQ(run(std::move(limited)), exit_input);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(errors.find("recording stopped; kept: "), std::string::npos) << errors;
  const auto kept = report_of(options.write)["capture"]["packets"].get<std::uint64_t>();
  EXPECT_NE(errors.find("kept: " + std::to_string(kept) + " packets"), std::string::npos) << errors;
  EXPECT_FALSE(out.empty()) << "what was captured is reported";
}

TEST_F(CaptureRun, FilesThatCannotBeWrittenEndItBeforeItBegins) {
  options.write = folder + "/none/a.pcapng";
  EXPECT_EQ(run(), exit_input);
  EXPECT_TRUE(out.empty());
  EXPECT_NE(errors.find("none/a.pcapng"), std::string::npos);
}

TEST_F(CaptureRun, CaptureOnlyRecordsAndCounts) {
  options.json = false;
  options.capture_only = true;
  options.write = folder + "/a.pcapng";
  EXPECT_EQ(run(), exit_ok) << errors;
  EXPECT_TRUE(out.empty());
  EXPECT_NE(errors.find(" packets captured, 7 dropped by the kernel, 5 by the interface"), std::string::npos);
  EXPECT_EQ(differences(report_of(options.write), report_of(rping)), "[]");
}

TEST_F(CaptureRun, HangUpChangesTheFileAndUsr1Reports) {
  options.write = folder + "/a.pcapng";
  /// Sends the next signal when the one before was answered.
  struct Conductor final : CaptureObserver {
    Conductor(std::atomic<bool>& begin, std::string in) : begin_(begin), folder_(std::move(in)) {}
    void on_tick() override {
      if (!begin_ || waiting_) return;
      const auto files = std::distance(std::filesystem::directory_iterator(folder_), {});
      if (files < 3) {
        ::kill(::getpid(), SIGHUP);
      } else {
        ::kill(::getpid(), SIGUSR1);
        waiting_ = true;
      }
    }
    void on_report() override {
      if (!std::exchange(told_, true)) ::kill(::getpid(), SIGTERM);
    }
    std::atomic<bool>& begin_;
    std::string folder_;
    bool waiting_ = false;
    bool told_ = false;
  };
  std::atomic<bool> begin = false;
  at_end = [&] { begin = true; };
  auto how = setup();
  how.observers.push_back(std::make_unique<Conductor>(begin, folder));
  EXPECT_EQ(run(std::move(how)), exit_ok) << errors;
  const std::vector<json> reports = objects();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0]["final"], false);
  EXPECT_EQ(reports[1]["final"], true);
  EXPECT_GE(files().size(), 3U);
}

TEST_F(CaptureRun, ASummaryEachInterval) {
  auto how = setup();
  auto steady = std::make_shared<std::chrono::steady_clock::time_point>();
  how.observers.push_back(
      std::make_unique<EverySummary>(std::chrono::seconds(10), true, true, [steady] { return *steady; }));
  /// Lets 25 seconds pass and then stops.
  struct Time final : CaptureObserver {
    explicit Time(std::shared_ptr<std::chrono::steady_clock::time_point> time) : time_(std::move(time)) {}
    void on_tick() override {
      if (++ticks_ <= 5) *time_ += std::chrono::seconds(5);
      if (ticks_ == 6) ::kill(::getpid(), SIGINT);
    }
    std::shared_ptr<std::chrono::steady_clock::time_point> time_;
    int ticks_ = 0;
  };
  how.observers.push_back(std::make_unique<Time>(steady));
  at_end = nullptr;
  EXPECT_EQ(run(std::move(how)), exit_ok) << errors;
  std::vector<json> lines = objects();
  // Findings as they appear stand between the summaries, or behind them.
  const auto found = std::erase_if(
      lines, [](const json& line) { return line.contains("kind") && line["kind"] == "finding"; });
  EXPECT_GE(found, 1U);
  ASSERT_EQ(lines.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(lines[i]["final"], i == 2);
}

TEST_F(CaptureRun, WhatDoesNotGoTogetherIsSaid) {
  const auto wrong = [](auto change) {
    CaptureOptions asked;
    change(asked);
    return capture_usage_error(asked);
  };
  EXPECT_EQ(wrong([](CaptureOptions&) {}), "");
  EXPECT_EQ(wrong([](CaptureOptions& o) {
              o.listen = {"sflow://:6343", "ipfix://"};
              o.live.device = "sflow://:6343,ipfix://";
            }),
            "");
  EXPECT_NE(wrong([](CaptureOptions& o) {
              o.listen = {"sflow://:6343"};
              o.live.device = "eth0";
            }),
            "");
  EXPECT_NE(wrong([](CaptureOptions& o) { o.ring = {"filesize:10"}; }), "");
  EXPECT_NE(wrong([](CaptureOptions& o) { o.stop = {"filesize:10"}; }), "");
  EXPECT_EQ(wrong([](CaptureOptions& o) { o.stop = {"duration:10", "packets:3"}; }), "");
  EXPECT_NE(wrong([](CaptureOptions& o) {
              o.write = "f";
              o.ring = {"files:10"};
            }),
            "");
  EXPECT_EQ(wrong([](CaptureOptions& o) {
              o.write = "f";
              o.ring = {"files:10", "duration:60"};
            }),
            "");
  EXPECT_NE(wrong([](CaptureOptions& o) {
              o.write = "-";
              o.ring = {"duration:60"};
            }),
            "");
  EXPECT_NE(wrong([](CaptureOptions& o) { o.trigger = {"warning"}; }), "");
  EXPECT_EQ(wrong([](CaptureOptions& o) {
              o.trigger = {"warning"};
              o.write = "f";
            }),
            "");
  for (const char* ending : {".gz", ".lz4", ".xz"}) {
    EXPECT_NE(wrong([&](CaptureOptions& o) { o.write = std::string("a.pcapng") + ending; }), "") << ending;
    EXPECT_EQ(wrong([&](CaptureOptions& o) {
                o.write = std::string("a.pcapng") + ending;
                o.compress = "none";
              }),
              "");
  }
  EXPECT_EQ(wrong([](CaptureOptions& o) { o.write = "a.pcapng.zst"; }), "");
  EXPECT_NE(wrong([](CaptureOptions& o) { o.before = "5s"; }), "");
  EXPECT_NE(wrong([](CaptureOptions& o) { o.trigger_memory_mib = 8; }), "");
  EXPECT_NE(wrong([](CaptureOptions& o) {
              o.write = "f";
              o.ring = {"duration:60"};
              o.whole_ring = true;
            }),
            "");
  EXPECT_NE(wrong([](CaptureOptions& o) { o.compress = "zstd"; }), "");
  EXPECT_NE(wrong([](CaptureOptions& o) {
              o.trigger = {"warning"};
              o.write = "f";
              o.trigger_limits = {"packets:5"};
            }),
            "");
  EXPECT_NE(wrong([](CaptureOptions& o) { o.capture_only = true; }), "");
  EXPECT_NE(wrong([](CaptureOptions& o) {
              o.capture_only = true;
              o.write = "f";
              o.json = true;
            }),
            "");
}

TEST(CaptureRecording, SaysKeptOnlyWhereTheFileSystemIsStillThere) {
  capture::RecordingSummary summary;
  summary.given = 20;
  summary.packets = 10;
  summary.bytes = 1234;
  summary.files = 1;
  summary.last_path = "a.pcapng";
  EXPECT_EQ(stopped_text(summary, ENOSPC, true),
            "recording stopped; kept: 10 packets, 1234 bytes in a.pcapng (of 20 captured)");
  EXPECT_EQ(
      stopped_text(summary, EIO, false),
      "recording stopped; written until then: 10 packets, 1234 bytes in a.pcapng; data that the system had "
      "not yet written to the disk is lost");
  summary = {};
  EXPECT_EQ(stopped_text(summary, EROFS, false), "recording stopped; kept: nothing was written");
}

TEST(CaptureLimits, AreReadAsTsharkReadsThem) {
  const auto limits = parse_limits({"duration:1.5", "filesize:10", "packets:3", "files:2"});
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->duration_ns, 1'500'000'000U);
  EXPECT_EQ(limits->bytes, 10'000U);
  EXPECT_EQ(limits->packets, 3U);
  EXPECT_EQ(limits->files, 2U);
  for (const char* text :
       {"", "duration", "duration:", ":5", "duration:0", "duration:-1", "duration:5s", "packets:1.5",
        "filesize:1e3", "filesize:99999999999999999999", "size:5", "files:2x", "duration:nan"}) {
    EXPECT_NE(limit_error(text), "") << text;
    EXPECT_FALSE(parse_limits({"files:2", text})) << text;
  }
}

}  // namespace
}  // namespace roce::cli
