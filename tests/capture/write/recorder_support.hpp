// SPDX-License-Identifier: Apache-2.0
// What tests of the recorder share: a folder, a time that stands, frames that hold their number.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/write/recorder.hpp"
#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {

using std::chrono::seconds;

/// Names in the folder, sorted.
inline std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  DIR* const open = opendir(folder.name("").c_str());
  while (const dirent* const entry = readdir(open)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<std::string> paths_in(const Folder& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : names_in(folder)) paths.push_back(folder.name(name));
  return paths;
}

/// A time that stands until it is told to go on.
struct Time {
  std::chrono::steady_clock::time_point steady{};
  std::chrono::system_clock::time_point wall{seconds(1'795'172'933)};

  void pass(std::chrono::nanoseconds time) {
    steady += std::chrono::duration_cast<std::chrono::steady_clock::duration>(time);
    wall += std::chrono::duration_cast<std::chrono::system_clock::duration>(time);
  }
  Clocks clocks() {
    return {[this] { return steady; }, [this] { return wall; }};
  }
};

inline std::vector<InterfaceInfo> one_interface() {
  InterfaceInfo info;
  info.name = "veth0";
  info.link_type = 1;
  info.snap_length = 262'144;
  info.filter = "udp port 4791";
  info.operating_system = "Linux";
  info.hardware = "a pair of wires";
  info.speed_bps = 10'000'000'000;
  return {info};
}

class RecorderTest : public ::testing::Test {
 protected:
  RecorderOptions options(const std::string& name) {
    RecorderOptions options;
    options.path = folder.name(name);
    options.section.application = "roceanalyze test";
    options.clocks = time.clocks();
    return options;
  }
  std::unique_ptr<Recorder> create(RecorderOptions options) {
    auto made = Recorder::create(std::move(options), interfaces);
    EXPECT_TRUE(made) << made.error().describe();
    return made ? std::move(*made) : nullptr;
  }
  /// Frames of `size` bytes that hold their number.
  std::size_t record(Recorder& recorder, std::size_t count, std::uint32_t size = 100) {
    std::vector<Bytes> bytes;
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < count; ++i) {
      bytes.emplace_back(size, static_cast<std::uint8_t>(next));
      Frame frame;
      frame.captured = frame.wire = size;
      frame.time_ns = 1'795'172'933'000'000'000 + next++;
      frame.link_type = 1;
      frames.push_back(frame);
    }
    for (std::size_t i = 0; i < count; ++i) frames[i].data = bytes[i].data();
    return recorder.record(frames, interfaces);
  }
  /// All frames of these files, which must be whole and hold each number once, from `first` on.
  std::uint64_t frames_of(const std::vector<std::string>& paths, std::int64_t first = 0) {
    const Everything all = read_files(paths);
    EXPECT_TRUE(all.errors.empty()) << all.errors[0].describe();
    EXPECT_EQ(all.all_incidents(), 0U);
    for (std::size_t i = 0; i < all.frames.size(); ++i)
      EXPECT_EQ(all.frames[i].time_ns - 1'795'172'933'000'000'000, first + static_cast<std::int64_t>(i));
    return all.frames.size();
  }

  const Folder folder;
  Time time;
  std::vector<InterfaceInfo> interfaces = one_interface();
  std::int64_t next = 0;
};

}  // namespace roce::capture::test
