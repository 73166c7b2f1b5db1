// SPDX-License-Identifier: Apache-2.0
// The short way must make of every frame what the general way makes, or leave it to that.
#include "analyze/record/fast_record.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "capture/core/source.hpp"
#include "tests/analyze/record/both_ways.hpp"
#include "tests/support/traffic.hpp"

namespace roce::analyze {
namespace {

/// How many frames were taken the short way, of how many.
struct Taken {
  std::size_t fast = 0;
  std::size_t known = 0;  ///< of them, those taken the shortest way
  std::size_t all = 0;
};

void check(const capture::Frame& frame, Taken& taken) {
  const BothWays both = go_both_ways(frame);
  ++taken.all;
  taken.fast += both.fast ? 1U : 0U;
  taken.known += both.known ? 1U : 0U;
  ASSERT_EQ(both.difference, "") << "link type " << frame.link_type << ", " << frame.captured << " of "
                                 << frame.wire << " bytes";
}

/// `bytes` as a frame of its own memory, so that a sanitizer sees one byte too far.
void check(const std::vector<std::uint8_t>& bytes, std::uint32_t wire, Taken& taken) {
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  capture::Frame frame;
  frame.data = copy.data();
  frame.captured = static_cast<std::uint32_t>(copy.size());
  frame.wire = std::max(wire, frame.captured);
  frame.link_type = dissect::link_ethernet;
  frame.time_ns = 77;
  frame.interface = 3;
  frame.point = 2;
  check(frame, taken);
}

TEST(FastRecord, AgreesOnAllSamples) {
  Taken taken;
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    if (!entry.is_regular_file()) continue;
    auto source = capture::open_files({entry.path().string()});
    if (!source) continue;  // truth tables, READMEs
    capture::FrameBatch batch;
    while (true) {
      batch.clear();
      const auto got = (*source)->next_batch(batch, 1000);
      if (got && *got == 0) break;
      for (const capture::Frame& frame : batch.frames) {
        ASSERT_NO_FATAL_FAILURE(check(frame, taken)) << entry.path();
      }
    }
  }
  EXPECT_GT(taken.all, 1000U);
  EXPECT_GT(taken.fast, taken.all / 2);
}

std::vector<support::TrafficOptions> kinds_of_traffic() {
  std::vector<support::TrafficOptions> kinds;
  for (const bool ipv6 : {false, true}) {
    for (const bool tagged : {false, true}) {
      for (const auto operation :
           {support::Operation::write, support::Operation::send, support::Operation::read}) {
        support::TrafficOptions options;
        options.ipv6 = ipv6;
        options.operation = operation;
        options.message_bytes = 1300;
        options.connections = 5;
        if (tagged) options.vlan = support::VlanTag{0x8100, 5, false, 7};
        kinds.push_back(options);
      }
      support::TrafficOptions datagrams;
      datagrams.ipv6 = ipv6;
      datagrams.service = support::Service::ud;
      datagrams.operation = support::Operation::send;
      kinds.push_back(datagrams);
    }
  }
  return kinds;
}

TEST(FastRecord, TakesTheCommonFrame) {
  for (const support::TrafficOptions& options : kinds_of_traffic()) {
    Taken taken;
    support::TrafficGenerator generator(options);
    for (int i = 0; i < 200; ++i) {
      const support::GeneratedFrame frame = generator.next();
      ASSERT_NO_FATAL_FAILURE(check({frame.bytes.begin(), frame.bytes.end()}, 0, taken));
    }
    EXPECT_EQ(taken.fast, taken.all);
    EXPECT_EQ(taken.known, options.service == support::Service::rc ? taken.all : 0);
  }
}

TEST(FastRecord, AgreesOnCutFrames) {
  for (const support::TrafficOptions& options : kinds_of_traffic()) {
    Taken taken;
    support::TrafficGenerator generator(options);
    for (int i = 0; i < 6; ++i) {
      const support::GeneratedFrame frame = generator.next();
      const auto wire = static_cast<std::uint32_t>(frame.bytes.size());
      for (std::size_t size = 0; size <= std::min<std::size_t>(frame.bytes.size(), 160); ++size) {
        const auto kept = frame.bytes.first(size);
        ASSERT_NO_FATAL_FAILURE(check({kept.begin(), kept.end()}, wire, taken));  // by the capture
        ASSERT_NO_FATAL_FAILURE(check({kept.begin(), kept.end()}, 0, taken));     // on the way
      }
    }
    EXPECT_GT(taken.fast, 0U);
  }
}

TEST(FastRecord, AgreesOnMutatedFrames) {
  std::mt19937 random(4791);
  const auto below = [&random](std::size_t n) { return random() % n; };
  Taken taken;
  for (const support::TrafficOptions& options : kinds_of_traffic()) {
    support::TrafficGenerator generator(options);
    for (int i = 0; i < 4000; ++i) {
      const support::GeneratedFrame frame = generator.next();
      std::vector<std::uint8_t> bytes(frame.bytes.begin(), frame.bytes.end());
      if (i % 3 == 0) bytes.resize(1 + below(bytes.size()));
      if (i % 5 == 0) bytes.insert(bytes.end(), below(9), 0);  // padding or an FCS
      for (std::size_t changes = below(4); changes-- > 0;) {
        // Where the headers are, and often by a little: most bytes matter only near their values.
        std::uint8_t& byte = bytes[below(std::min<std::size_t>(bytes.size(), 100))];
        const std::uint8_t near[] = {static_cast<std::uint8_t>(byte + 1), static_cast<std::uint8_t>(byte - 1),
                                     static_cast<std::uint8_t>(byte ^ 1U << below(8)),
                                     static_cast<std::uint8_t>(random()), 0};
        byte = near[below(5)];
      }
      const auto wire = static_cast<std::uint32_t>(bytes.size() + (i % 7 == 0 ? below(100) : 0));
      ASSERT_NO_FATAL_FAILURE(check(bytes, wire, taken));
    }
  }
  EXPECT_GT(taken.fast, taken.all / 4);
  EXPECT_LT(taken.fast, taken.all);
}

TEST(FastRecord, AgreesOnEveryOpcode) {
  support::TrafficGenerator generator(kinds_of_traffic().front());
  const support::GeneratedFrame frame = generator.next();
  Taken taken;
  constexpr std::size_t bth = 14 + 20 + 8;
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    std::vector<std::uint8_t> bytes(frame.bytes.begin(), frame.bytes.end());
    bytes[bth] = static_cast<std::uint8_t>(opcode);
    ASSERT_NO_FATAL_FAILURE(check(bytes, 0, taken));
  }
  EXPECT_GT(taken.fast, 80U);
  EXPECT_GT(taken.known, 20U);
}

TEST(FastRecord, DoesNotExistWhereUdpMeansSomethingElse) {
  dissect::Options options;
  EXPECT_TRUE(fast_way_exists(options));
  options.roce_ip_protocol = 254;
  EXPECT_TRUE(fast_way_exists(options));
  options.roce_ip_protocol = 17;
  EXPECT_FALSE(fast_way_exists(options));
}

}  // namespace
}  // namespace roce::analyze
