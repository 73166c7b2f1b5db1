// SPDX-License-Identifier: Apache-2.0
#include "cli/core/background_writer.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace roce::cli {
namespace {

/// A reader that takes nothing until it is told to.
struct Reader {
  std::mutex mutex;
  std::condition_variable changed;
  bool takes = false;
  bool asked = false;
  std::vector<std::string> got;

  void take(std::string_view text) {
    std::unique_lock lock(mutex);
    asked = true;
    changed.notify_all();
    changed.wait(lock, [this] { return takes; });
    got.emplace_back(text);
  }
  void wait_until_asked() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return asked; });
  }
  void start() {
    const std::lock_guard lock(mutex);
    takes = true;
    changed.notify_all();
  }
};

BackgroundWriter::Write to(const std::shared_ptr<Reader>& reader) {
  return [reader](std::string_view text) { reader->take(text); };
}

TEST(BackgroundWriter, writes_everything_in_order) {
  const auto reader = std::make_shared<Reader>();
  reader->start();
  std::vector<std::string> sent;
  {
    BackgroundWriter writer(to(reader), 1 << 20);
    for (int i = 0; i < 1000; ++i) {
      sent.push_back(std::to_string(i));
      EXPECT_TRUE(writer.post(sent.back()));
    }
    EXPECT_TRUE(writer.flush());
    EXPECT_TRUE(writer.idle());
    EXPECT_EQ(writer.dropped(), 0U);
    EXPECT_TRUE(writer.post("end"));
    sent.emplace_back("end");
  }
  EXPECT_EQ(reader->got, sent);
}

TEST(BackgroundWriter, drops_and_counts_what_does_not_fit) {
  const auto reader = std::make_shared<Reader>();
  {
    BackgroundWriter writer(to(reader), 10);
    EXPECT_TRUE(writer.post("longer than all that may wait"));  // the only one
    reader->wait_until_asked();
    EXPECT_FALSE(writer.idle());
    EXPECT_TRUE(writer.post("12345"));
    EXPECT_FALSE(writer.post("123456"));
    EXPECT_TRUE(writer.post("54321"));
    EXPECT_FALSE(writer.post("1"));
    EXPECT_EQ(writer.dropped(), 2U);
    reader->start();
    EXPECT_TRUE(writer.flush());
    EXPECT_TRUE(writer.post("again"));
  }
  EXPECT_EQ(reader->got,
            (std::vector<std::string>{"longer than all that may wait", "12345", "54321", "again"}));
}

TEST(BackgroundWriter, gives_up_a_reader_that_never_reads) {
  const auto reader = std::make_shared<Reader>();
  {
    BackgroundWriter writer(to(reader), 100, std::chrono::milliseconds(1));
    EXPECT_TRUE(writer.post("one"));
    reader->wait_until_asked();
    EXPECT_TRUE(writer.post("two"));
    EXPECT_FALSE(writer.flush());
    EXPECT_EQ(writer.dropped(), 2U);
    EXPECT_FALSE(writer.post("three"));
    EXPECT_EQ(writer.dropped(), 3U);
  }
  reader->start();  // its thread is still there, and owns what it uses
}

}  // namespace
}  // namespace roce::cli
