// SPDX-License-Identifier: Apache-2.0
#include "cli/packets/pipe_follower.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/core/source.hpp"

namespace roce::cli {
namespace pipe_follower_test {
namespace {

/// The first packets of a capture with losses (tests/cli/packets/packets_test.cpp).
class PipeFollowerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    read("04_write_loss1.cb.pcap.zst");
    all_.frames.resize(frames);
  }
  void read(const std::string& sample) {
    all_.clear();
    auto source = capture::open_files({std::string(ROCE_SAMPLES) + "/" + sample});
    ASSERT_TRUE(source.has_value());
    while ((*source)->next_batch(all_, 4096).value_or(0) != 0) {
    }
  }
  /// Frames [from, to) of the capture.
  [[nodiscard]] std::shared_ptr<const Piece> piece(std::size_t from, std::size_t to) const {
    auto made = std::make_shared<Piece>();
    const auto begin = all_.frames.begin();
    made->batch.frames.assign(begin + static_cast<std::ptrdiff_t>(from),
                              begin + static_cast<std::ptrdiff_t>(to));
    made->batch.keep_alive = all_.keep_alive;
    return made;
  }
  /// Returns how many frames there are to be printed, and what is said of them.
  std::size_t take(PipeFollower& pipe) {
    std::size_t taken = 0;
    for (; pipe.next(); ++taken) {
      const analyze::Verdict* const verdict = pipe.verdict();
      said_.push_back(verdict != nullptr ? *verdict : analyze::Verdict{});
    }
    return taken;
  }
  [[nodiscard]] static PipeFollower follower() { return {dissect::Options{}, true}; }

  static constexpr std::size_t frames = 1000;
  static constexpr std::size_t in_trouble = 160;  ///< a frame in an episode, see README.md
  capture::FrameBatch all_;
  std::vector<analyze::Verdict> said_;
};

TEST_F(PipeFollowerTest, SaysTheSameHoweverThePacketsCome) {
  std::vector<std::vector<std::uint32_t>> causes;
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, frames}) {
    PipeFollower pipe = follower();
    said_.clear();
    for (std::size_t from = 0; from < frames; from += size) {
      pipe.add(piece(from, std::min(frames, from + size)));
      take(pipe);
    }
    pipe.end();
    take(pipe);
    ASSERT_EQ(said_.size(), frames);
    causes.emplace_back();
    for (const analyze::Verdict& verdict : said_) {
      EXPECT_FALSE(verdict.has(analyze::Verdict::undecided));
      EXPECT_EQ(verdict.response, 0U);
      causes.back().push_back(verdict.connection << 16U | verdict.flags);
    }
    EXPECT_EQ(causes.back(), causes.front()) << size;
  }
}

TEST_F(PipeFollowerTest, WaitsOnlyWhileSomethingIsUndecided) {
  read("04_read_loss1.cb.pcap.zst");  // between losses all waits until the READs are answered
  PipeFollower pipe = follower();
  std::size_t at_once = 0, waits = 0, ended = 0;
  for (std::size_t at = 0; at < all_.frames.size(); ++at) {
    pipe.add(piece(at, at + 1));
    const std::size_t taken = take(pipe);
    at_once += taken == 1 ? 1 : 0;
    waits += taken == 0 ? 1 : 0;
    ended += taken > 1 ? 1 : 0;
  }
  EXPECT_GT(at_once, 10U);
  EXPECT_GT(waits, 1U);
  EXPECT_GT(ended, 0U);
}

TEST_F(PipeFollowerTest, WaitsNoLongerThanSomebodyWouldWatch) {
  PipeFollower pipe = follower();
  pipe.add(piece(0, in_trouble));
  const std::size_t before = take(pipe);
  ASSERT_LT(before, in_trouble);
  auto later = std::make_shared<Piece>(*piece(0, 1));  // one that is not RoCE
  later->batch.frames[0].time_ns = all_.frames[before].time_ns + 9'000'000'000;
  pipe.add(later);
  EXPECT_EQ(take(pipe), 0U);
  later = std::make_shared<Piece>(*later);
  later->batch.frames[0].time_ns += 1'500'000'000;
  pipe.add(later);
  EXPECT_GT(take(pipe), 0U);
}

TEST_F(PipeFollowerTest, HasAllAtTheEnd) {
  PipeFollower pipe = follower();
  pipe.add(piece(0, in_trouble));
  pipe.end();
  EXPECT_EQ(take(pipe), in_trouble);
  EXPECT_FALSE(pipe.next());
}

}  // namespace
}  // namespace pipe_follower_test
}  // namespace roce::cli
