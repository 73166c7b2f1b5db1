// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "capture/live/live.hpp"
#include "capture/sniffer/sniffer.hpp"
#include "tests/support/fake_ibverbs/report.hpp"

// A sniffer on the stand-in for libibverbs, with a tree of sysfs of its own.
namespace roce::capture::test {

class SnifferTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "roce_sniffer_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    file("proc/thread-self/status", "CapEff:\t000001ffffffffff\n");
    options_.device = "mlx5_0";
    violations_before_ = report().violations;
  }
  void TearDown() override {
    source_.reset();
    const FakeIbverbsReport after = report();
    EXPECT_EQ(after.alive, 0U) << "objects were not destroyed";
    EXPECT_EQ(after.violations, violations_before_) << "rules of libibverbs were broken, see above";
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }

  static FakeIbverbsReport report() {
    FakeIbverbsReport result{};
    void* const library = dlopen(ROCE_FAKE_IBVERBS, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const auto ask = reinterpret_cast<void (*)(FakeIbverbsReport*)>(dlsym(library, "fake_ibverbs_report"));
    if (ask != nullptr) ask(&result);
    return result;
  }

  /// A file below the root.
  std::string file(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
    return whole;
  }
  void link(const std::string& path, const std::string& to) const {
    const std::filesystem::path whole = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::filesystem::create_symlink(to, whole);
  }
  /// A row of the GID table of port 1.
  void gid(unsigned row, const std::string& netdev, const std::string& device = "mlx5_0") const {
    const std::string port = "sys/class/infiniband/" + device + "/ports/1/";
    file(port + "gids/" + std::to_string(row),
         "fe80:0000:0000:0000:0000:00ff:fe00:000" + std::to_string(row + 1));
    file(port + "gid_attrs/ndevs/" + std::to_string(row), netdev + "\n");
  }
  /// What sysfs has of a ConnectX with one port.
  void connectx(const std::string& mtu = "1500") const {
    const std::string device = "sys/class/infiniband/mlx5_0/";
    file(device + "node_type", "1: CA\n");
    link(device + "device/driver", "../../../../bus/pci/drivers/mlx5_core");
    file(device + "ports/1/rate", "100 Gb/sec (4X EDR)\n");
    gid(0, "eth2");
    gid(1, "eth2");
    file("sys/class/net/eth2/address", "02:00:00:00:00:01\n");
    file("sys/class/net/eth2/mtu", mtu + "\n");
  }
  static constexpr const char* counter = "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer";

  void script(const std::string& text) const { setenv("FAKE_IBVERBS", file("script", text).c_str(), 1); }
  [[nodiscard]] SnifferWorld world() const {
    SnifferWorld world;
    world.root = root_;
    world.library = ROCE_FAKE_IBVERBS;
    return world;
  }
  /// The error of opening; empty where it opened.
  std::string refusal(const std::string& text) {
    script(text);
    auto sniffer = Sniffer::open(options_, world());
    if (sniffer) return {};
    kind_ = sniffer.error().kind;
    return sniffer.error().describe();
  }
  void open(const std::string& text) {
    script(text);
    auto sniffer = Sniffer::open(options_, world());
    ASSERT_TRUE(sniffer) << sniffer.error().describe();
    sniffer_ = sniffer->get();
    auto source = make_live_source(std::move(*sniffer), options_);
    ASSERT_TRUE(source) << source.error().describe();
    source_ = std::move(*source);
  }
  /// Reads until `wanted` frames have come, then stops and reads the rest; or until the capture ends.
  void read(std::uint64_t wanted) {
    while (true) {
      FrameBatch batch;
      if (got_.size() >= wanted) source_->request_stop();
      const auto some = source_->next_batch(batch, 4096);
      if (!some) {
        error_ = some.error().describe();
        continue;
      }
      if (*some == 0) return;
      for (const Frame& frame : batch.frames) {
        got_.push_back({{frame.data, frame.data + frame.captured}, frame});
      }
    }
  }
  /// Behind the end of the capture.
  std::vector<std::string> notices() const { return sniffer_->notices(); }

  struct Got {
    std::vector<std::uint8_t> bytes;
    Frame frame;
  };
  std::string root_;
  LiveOptions options_;
  std::unique_ptr<LiveSource> source_;
  Sniffer* sniffer_ = nullptr;  ///< lives in source_
  std::vector<Got> got_;
  std::string error_;
  ErrorKind kind_{};
  std::uint64_t violations_before_ = 0;
};

}  // namespace roce::capture::test
