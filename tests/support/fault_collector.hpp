// SPDX-License-Identifier: Apache-2.0
// What a simulation gives, collected for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "tests/support/fault_frames.hpp"
#include "tests/support/fault_simulator.hpp"

namespace roce::support {

struct Seen {
  Packet packet;
  Time time;
  bool copy;
  std::vector<std::uint8_t> bytes;
};

class Collector final : public SimulatorSink {
 public:
  explicit Collector(const FaultOptions& options) : frames_(options) {}

  void captured(const Packet& packet, const Endpoints& endpoints, Time time, bool copy) override {
    const FaultFrame frame = frames_.make(packet, endpoints, copy);
    seen.push_back({packet, time, copy, {frame.bytes.begin(), frame.bytes.end()}});
  }
  void captured_cm(CmMessage message, std::uint32_t connection, const Endpoints& endpoints,
                   Time time) override {
    const FaultFrame frame = frames_.make(message, connection, endpoints);
    managed.push_back({{}, time, false, {frame.bytes.begin(), frame.bytes.end()}});
  }
  void frame(const FrameTruth& truth) override {
    EXPECT_TRUE(truths.emplace(truth.frame, truth).second) << "two truths for frame " << truth.frame;
  }
  void lost(const LossTruth& truth) override { losses.push_back(truth); }
  void connection(const ConnectionTruth& truth) override { connections.push_back(truth); }

  const FrameTruth* truth_of(std::size_t index) const {
    const auto found = truths.find(index + 1);
    return found == truths.end() ? nullptr : &found->second;
  }
  bool is_retransmission(std::size_t index) const {
    const FrameTruth* const truth = truth_of(index);
    return truth != nullptr && truth->repeat.repeated && truth->duplicate_of == 0;
  }
  std::uint64_t count_lost(LostWhere where) const {
    return static_cast<std::uint64_t>(
        std::count_if(losses.begin(), losses.end(), [&](const LossTruth& l) { return l.where == where; }));
  }

  std::vector<Seen> seen;
  std::vector<Seen> managed;
  std::map<std::uint64_t, FrameTruth> truths;
  std::vector<LossTruth> losses;
  std::vector<ConnectionTruth> connections;

 private:
  FaultFrames frames_;
};

struct Outcome {
  explicit Outcome(const FaultOptions& options) : collector(options) {
    Simulator simulator(options, collector);
    simulator.run();
    totals = simulator.totals();
  }
  Collector collector;
  SimulatorTotals totals;
};

inline FaultOptions small(std::string_view preset) {
  FaultOptions options{.packets = 20'000, .connections = 16};
  EXPECT_TRUE(apply_preset(preset, options));
  return options;
}

}  // namespace roce::support
