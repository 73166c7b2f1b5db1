// SPDX-License-Identifier: Apache-2.0
#include "analyze/packet/verdict_store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace roce::analyze {
namespace {

constexpr std::uint64_t in_memory = 8 * 16'384;

/// Resident bytes of this process that belong to files.
std::uint64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssFile:", 0) == 0) return std::stoull(line.substr(8)) * 1024;
  }
  return 0;
}

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit lower{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(VerdictStore, MakesWhatIsAskedForAndFindsNothingElse) {
  VerdictStore store;
  EXPECT_EQ(store.find(1), nullptr);
  EXPECT_EQ(store.at(0), nullptr);
  EXPECT_EQ(store.find(0), nullptr);
  Verdict* const verdict = store.at(3);
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->connection, Verdict::no_connection);
  EXPECT_EQ(verdict->flags, 0U);
  verdict->gap = 5;
  EXPECT_EQ(store.at(3)->gap, 5U);
  ASSERT_NE(store.find(3), nullptr);
  EXPECT_EQ(store.find(3)->gap, 5U);
  EXPECT_EQ(store.find(2), nullptr);
  EXPECT_EQ(store.find(4), nullptr);
  EXPECT_EQ(store.find(1'000'000), nullptr);
  EXPECT_EQ(store.lost(), 0U);
}

TEST(VerdictStore, KeepsMillionsInAFile) {
  constexpr std::uint64_t frames = 3'000'000;
  const std::uint64_t before = resident_file_bytes();
  VerdictStore store;
  for (std::uint64_t n = 1; n <= frames; ++n) {
    Verdict* const verdict = store.at(n);
    ASSERT_NE(verdict, nullptr);
    verdict->response_time_ns = static_cast<std::int64_t>(n) * 3;
    if (n > 700'000 && n % 1000 == 0) store.at(n - 700'000)->original = static_cast<std::uint32_t>(n);
  }
  EXPECT_LT(resident_file_bytes(), before + (std::uint64_t{56} << 20U));
  std::uint64_t wrong = 0;
  for (std::uint64_t n = 1; n <= frames; ++n) {
    const Verdict* const verdict = store.find(n);
    const bool amended = n % 1000 == 0 && n + 700'000 <= frames;
    if (verdict == nullptr || verdict->response_time_ns != static_cast<std::int64_t>(n) * 3 ||
        verdict->original != (amended ? n + 700'000 : 0)) {
      ++wrong;
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_LT(resident_file_bytes(), before + (std::uint64_t{56} << 20U));
  EXPECT_EQ(store.find(frames + 1), nullptr);
  EXPECT_EQ(store.lost(), 0U);
}

TEST(VerdictStore, TakesAnyOrder) {
  VerdictStore store;
  std::mt19937 random(1);
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 3000; ++i) numbers.push_back(random() % 3'000'000 + 1);
  for (const std::uint64_t n : numbers) {
    Verdict* const verdict = store.at(n);
    ASSERT_NE(verdict, nullptr);
    verdict->gap = static_cast<std::uint32_t>(n) & 0xffffffU;
  }
  for (const std::uint64_t n : numbers) {
    ASSERT_NE(store.find(n), nullptr);
    EXPECT_EQ(store.find(n)->gap, n);
  }
}

TEST(VerdictStore, RefusesNumbersThatVerdictsCannotName) {
  VerdictStore store;
  constexpr std::uint64_t last = std::numeric_limits<std::uint32_t>::max();
  ASSERT_NE(store.at(last), nullptr);
  EXPECT_NE(store.find(last), nullptr);
  EXPECT_EQ(store.at(last + 1), nullptr);
  EXPECT_EQ(store.at(last + 1), nullptr);  // the same again
  EXPECT_EQ(store.at(std::numeric_limits<std::uint64_t>::max()), nullptr);
  EXPECT_EQ(store.find(std::numeric_limits<std::uint64_t>::max()), nullptr);
  EXPECT_EQ(store.lost(), 2U);
}

TEST(VerdictStore, CountsWhatFindsNoSpace) {
  VerdictStore store;
  {
    const FileSizeLimit limit(1'800'000);  // two chunks; more would kill by SIGXFSZ, were it tried
    for (std::uint64_t n = 1; n <= in_memory + 5 * 16'384; ++n) {
      Verdict* const verdict = store.at(n);
      ASSERT_EQ(verdict != nullptr, n <= in_memory + 2 * 16'384) << n;
      if (verdict != nullptr) verdict->gap = static_cast<std::uint32_t>(n) & 0xffffffU;
    }
  }
  EXPECT_EQ(store.lost(), 3 * 16'384U);
  EXPECT_EQ(store.at(in_memory + 3 * 16'384), nullptr);  // again: no second count
  EXPECT_EQ(store.lost(), 3 * 16'384U);
  EXPECT_EQ(store.find(in_memory + 3 * 16'384), nullptr);
  EXPECT_EQ(store.find(in_memory + 7)->gap, in_memory + 7);
  EXPECT_NE(store.at(in_memory + 6 * 16'384), nullptr);  // there is space again
  EXPECT_EQ(store.lost(), 3 * 16'384U);
}

TEST(VerdictStore, TellsConnectionsThatTurnedOutToBeOneByTheNumberOfTheOne) {
  VerdictStore store;
  for (std::uint64_t n = 1; n <= 3; ++n) store.at(n)->connection = static_cast<std::uint32_t>(n + 4);
  store.at(2)->set(Verdict::b_to_a);
  store.merge_connection(7, 5);  // what 7 said, its side b says
  EXPECT_EQ(store.find(1)->connection, 5U);
  EXPECT_FALSE(store.find(1)->has(Verdict::b_to_a));
  EXPECT_EQ(store.find(2)->connection, 6U);
  EXPECT_TRUE(store.find(2)->has(Verdict::b_to_a));
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(store.find(3)->connection, 5U);
    EXPECT_TRUE(store.find(3)->has(Verdict::b_to_a));
  }
}

/// As for the packets of a pipe, which may have no end.
TEST(VerdictStore, NeedsNoMoreRoomForVerdictsThatAreForgotten) {
  VerdictStore store;
  const auto files = [] {
    const std::filesystem::directory_iterator open("/proc/self/fd");
    return std::distance(begin(open), end(open));
  };
  const auto before = files();
  for (std::uint64_t number = 1; number <= 4 * in_memory; ++number) {
    ASSERT_EQ(store.find(number), nullptr) << "of a forgotten one";
    store.at(number)->gap = 7;
    store.forget_before(number > 100 ? number - 100 : 1);
  }
  EXPECT_EQ(files(), before) << "all of it is in memory";
  EXPECT_EQ(store.at(1), nullptr);
  EXPECT_EQ(store.find(1), nullptr);
  EXPECT_EQ(store.lost(), 0U);
  EXPECT_EQ(store.find(4 * in_memory - 100)->gap, 7U);
}

TEST(VerdictStore, LeavesNoNameInTheTemporaryDirectory) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  std::string directory = std::filesystem::temp_directory_path() / "verdict_store_test_XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  for (const std::string& wish : {directory, directory + "/nowhere", std::string()}) {
    ::setenv("TMPDIR", wish.c_str(), 1);
    VerdictStore store;
    EXPECT_NE(store.at(in_memory + 1), nullptr) << wish;
    EXPECT_TRUE(std::filesystem::is_empty(directory));
  }
  std::filesystem::remove(directory);
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
}

TEST(VerdictStore, MovesWithItsContents) {
  VerdictStore a;
  a.at(in_memory + 1)->gap = 7;
  VerdictStore b = std::move(a);
  ASSERT_NE(b.find(in_memory + 1), nullptr);
  EXPECT_EQ(b.find(in_memory + 1)->gap, 7U);
  b = VerdictStore();
  EXPECT_EQ(b.find(in_memory + 1), nullptr);
}

}  // namespace
}  // namespace roce::analyze
