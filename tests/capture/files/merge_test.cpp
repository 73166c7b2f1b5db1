// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "capture/files/reading_limits.hpp"
#include "tests/capture/bytes_builder.hpp"
#include "tests/capture/compress.hpp"

namespace roce::capture::test {
namespace {

Bytes with_times(std::initializer_list<std::uint32_t> times, std::uint8_t mark) {
  Builder file;
  file.pcap_header();
  for (const std::uint32_t time : times) file.pcap_record(time, 0, {mark, static_cast<std::uint8_t>(time)});
  return file.bytes;
}

std::string order(const Everything& all) {
  std::string text;
  for (const Copy& frame : all.frames) {
    text += static_cast<char>(frame.data[0]);
    text += std::to_string(frame.data[1]) + " ";
  }
  return text;
}

TEST(Merge, ByTimeAndByArgumentWhereTimesAreEqual) {
  const Folder folder;
  const std::string a = folder.write("a", with_times({1, 4, 5, 9}, 'a'));
  const std::string b = folder.write("b", with_times({2, 4, 5, 6}, 'b'));
  const std::string c = folder.write("c", gzip(with_times({3, 10, 11}, 'c')));
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{100}}) {
    const Everything all = read_files({a, b, c}, {}, limit);
    EXPECT_EQ(order(all), "a1 b2 c3 a4 b4 a5 b5 b6 a9 c10 c11 ") << limit;
    EXPECT_EQ(all.all_incidents(), 0U);
    EXPECT_EQ(all.statistics.frames, 11U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all.files[i].packets, all.interfaces[i].packets);
  }
  EXPECT_EQ(order(read_files({b, a})), "a1 b2 b4 a4 b5 a5 b6 a9 ");
}

TEST(Merge, StoppedMeansThatMoreWouldFollow) {
  const Folder folder;
  const std::vector<std::string> paths{folder.write("a", with_times({1, 4}, 'a')),
                                       folder.write("b", with_times({2, 6}, 'b'))};
  // The stop comes after so many batches of one frame; the last one finds the end.
  for (const auto& [batches, stopped] : {std::pair(0, true), {2, true}, {4, true}, {5, false}}) {
    const auto source = open_files(paths);
    ASSERT_TRUE(source.has_value());
    FrameBatch batch;
    for (int i = 0; i < batches; ++i) {
      batch.clear();
      ASSERT_TRUE((*source)->next_batch(batch, 1).has_value());
    }
    (*source)->request_stop();
    batch.clear();
    EXPECT_EQ((*source)->next_batch(batch, 1).value_or(9), 0U);
    EXPECT_EQ((*source)->stopped(), stopped) << batches;
  }
}

// Only what would have followed makes a limit one that has left something unread.
TEST(ReadingLimits, LeaveOutWhatIsBeyondAndSayWhetherThereIsAny) {
  const Folder folder;
  const std::vector<std::string> paths{folder.write("a", with_times({1, 4}, 'a')),
                                       folder.write("b", with_times({2, 6}, 'b'))};
  for (const std::uint64_t frames : {1U, 3U, 4U, 5U}) {
    const auto source = within(std::move(*open_files(paths)), {frames, std::nullopt});
    const Everything all = read_all(*source, 2);
    EXPECT_EQ(order(all), std::string("a1 b2 a4 b6 ").substr(0, std::min<std::size_t>(frames, 4) * 3));
    EXPECT_EQ(source->stopped(), frames < 4);
    EXPECT_EQ(source->statistics().frames, std::min<std::uint64_t>(frames, 4));
    EXPECT_EQ(source->files()[0].packets + source->files()[1].packets, source->statistics().frames);
    EXPECT_EQ(source->stop_reason() == StopReason::frame_limit, source->stopped());
  }
}

TEST(ReadingLimits, TheReasonIsWhatCameFirst) {
  const Folder folder;
  const std::vector<std::string> paths{folder.write("a", with_times({1, 4}, 'a'))};
  const auto now = std::chrono::steady_clock::now();
  const auto stopped_by = [&](std::chrono::steady_clock::time_point deadline, bool request) {
    const auto source = within(std::move(*open_files(paths)), {0, deadline});
    if (request) source->request_stop();
    FrameBatch batch;
    while (source->next_batch(batch, 1).value_or(0) != 0) {
      batch.clear();
      std::this_thread::sleep_for(std::chrono::milliseconds(request ? 0 : 200));
    }
    return source->stopped() ? std::optional(source->stop_reason()) : std::nullopt;
  };
  EXPECT_EQ(stopped_by(now + std::chrono::hours(1), false), std::nullopt);
  EXPECT_EQ(stopped_by(now + std::chrono::hours(1), true), StopReason::request);
  EXPECT_EQ(stopped_by(std::chrono::steady_clock::now() + std::chrono::milliseconds(100), false),
            StopReason::time_limit);
}

TEST(Merge, FilesKeepTheirOwnOrder) {
  const Folder folder;
  const std::string a = folder.write("a", with_times({5, 1, 7}, 'a'));
  const std::string b = folder.write("b", with_times({2, 6}, 'b'));
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
    const Everything all = read_files({a, b}, {}, limit);
    EXPECT_EQ(order(all), "b2 a5 a1 b6 a7 ") << limit;
    EXPECT_EQ(all.count(Incident::time_backwards), 1U);
  }
}

TEST(Merge, FilesAndInterfacesHaveGlobalNumbers) {
  const Folder folder;
  Builder first;
  first.section().interface(1).interface(228).enhanced_packet(1, 1'000'000, {'a', 1}).interface(113);
  first.enhanced_packet(2, 4'000'000, {'a', 4});
  Builder second;
  second.section().interface(276).enhanced_packet(0, 2'000'000, {'b', 2});
  const Everything all = read_files({folder.write("a", first.bytes), folder.write("b", second.bytes)});
  ASSERT_EQ(order(all), "a1 b2 a4 ");
  ASSERT_EQ(all.interfaces.size(), 4U);
  for (const Copy& frame : all.frames) {
    EXPECT_EQ(all.interfaces.at(frame.interface).link_type, frame.link_type);
    EXPECT_EQ(all.interfaces.at(frame.interface).file, frame.file);
  }
  EXPECT_EQ(all.frames[1].file, 1U);
  EXPECT_EQ(all.frames[2].link_type, 113U);
}

TEST(Merge, CommentsStayWithTheirPackets) {
  const Folder folder;
  std::vector<std::string> paths;
  constexpr std::uint32_t files = 3, packets = 200;
  for (std::uint32_t i = 0; i < files; ++i) {
    Builder file;
    file.section().interface(1);
    for (std::uint32_t k = 0; k < packets; ++k) {
      // Runs of different length, so that frames wait for those of other files.
      const std::uint64_t time = 1'000'000 + k / (i + 1) * 100 * (i + 1) + i;
      const std::string text = std::to_string(i) + "." + std::to_string(k);
      file.enhanced_packet(0, time, {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(k)}, 0,
                           k % 3 == 0 ? Builder().option(1, text).option(1, "again").bytes : Bytes{});
    }
    paths.push_back(folder.write(std::to_string(i), i == 1 ? gzip(file.bytes) : file.bytes));
  }
  for (const std::size_t limit : {std::size_t{1}, std::size_t{7}, std::size_t{10'000}}) {
    const Everything all = read_files(paths, {2048}, limit);
    ASSERT_EQ(all.frames.size(), std::size_t{files} * packets);
    for (const Copy& frame : all.frames) {
      const std::string text = std::to_string(frame.data[0]) + "." + std::to_string(frame.data[1]);
      const auto expected =
          frame.data[1] % 3 == 0 ? std::vector<std::string>{text, "again"} : std::vector<std::string>{};
      ASSERT_EQ(frame.comments, expected) << text << " limit " << limit;
    }
  }
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// A ring set whose names sort otherwise than its times: few files are open at any moment.
TEST(Merge, ALargeRingIsOpenedFileByFile) {
  const Folder folder;
  constexpr std::uint32_t files = 300;
  for (std::uint32_t i = 0; i < files; ++i) {
    Builder file;
    file.pcap_header();
    const std::uint32_t slot = (i * 7) % files;
    for (std::uint32_t k = 0; k < 3; ++k) file.pcap_record(1 + 10 * slot + k, 0, {1});
    folder.write("ring_" + std::to_string(i) + ".pcap", file.bytes);
  }
  const std::size_t before = open_descriptors();
  auto source = open_files({folder.name("ring_*.pcap")});
  ASSERT_TRUE(source);
  EXPECT_LE(open_descriptors(), before + 2);
  EXPECT_EQ((*source)->files().size(), files);
  EXPECT_EQ((*source)->interfaces().size(), files) << "known before the first frame";
  FrameBatch batch;
  std::int64_t last = -1;
  std::size_t frames = 0;
  while (true) {
    batch.clear();
    const auto got = (*source)->next_batch(batch, 10);
    ASSERT_TRUE(got);
    if (*got == 0) break;
    for (const Frame& frame : batch.frames) {
      EXPECT_GE(frame.time_ns, last);
      last = frame.time_ns;
    }
    frames += *got;
    EXPECT_LE(open_descriptors(), before + 8);
  }
  EXPECT_EQ(frames, 3U * files);
  EXPECT_EQ((*source)->interfaces().size(), files) << "and the same after it";
}

TEST(Merge, AFileThatVanishesBeforeItsTurnIsAnError) {
  const Folder folder;
  const std::string a = folder.write("a", with_times({1, 2}, 'a'));
  const std::string b = folder.write("b", with_times({5, 6}, 'b'));
  auto source = open_files({a, b});
  ASSERT_TRUE(source);
  unlink(b.c_str());
  const Everything all = read_all(**source);
  EXPECT_EQ(order(all), "a1 a2 ");
  ASSERT_EQ(all.errors.size(), 1U);
  EXPECT_EQ(all.errors[0].kind, ErrorKind::not_found);
}

/// Does not compress: files of these are read in several pieces.
Bytes large_frame(std::uint8_t mark, std::uint8_t number, std::size_t size = 9000) {
  Bytes frame{mark, number};
  for (std::uint32_t random = mark * 256U + number; frame.size() < size;) {
    random = random * 1664525U + 1013904223U;
    frame.push_back(static_cast<std::uint8_t>(random >> 24U));
  }
  return frame;
}

// All files overlap in time.
TEST(Merge, MoreFilesOverlapThanMayBeOpen) {
  const Folder folder;
  constexpr std::uint32_t files = 40, packets = 60;
  std::vector<std::string> paths;
  for (std::uint32_t i = 0; i < files; ++i) {
    Builder file;
    file.pcap_header();
    for (std::uint32_t k = 0; k < packets; ++k)
      file.pcap_record(1 + k, i, large_frame(static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(k)));
    const std::string name = std::to_string(i);
    paths.push_back(folder.write(name, i % 4 == 1   ? gzip(file.bytes)
                                       : i % 4 == 2 ? zstd(file.bytes)
                                                    : file.bytes));
  }
  const Everything expected = read_files(paths, {256});
  ASSERT_EQ(expected.frames.size(), std::size_t{files} * packets);
  const std::size_t before = open_descriptors();
  const auto source = open_files(paths, {256, 3});
  ASSERT_TRUE(source);
  const Everything all = read_all(**source, 7);
  EXPECT_TRUE(all.errors.empty());
  EXPECT_EQ(order(all), order(expected));
  EXPECT_EQ(all.all_incidents(), 0U);

  const auto again = open_files(paths, {256, 3});
  FrameBatch batch;
  while ((*again)->next_batch(batch, 7).value_or(0) != 0) {
    EXPECT_LE(open_descriptors(), before + 5);  // those, and the signals to stop of both sources
    batch.clear();
  }
}

TEST(Merge, AFileThatIsReplacedWhileItIsReadIsAnError) {
  constexpr std::uint32_t packets = 1500;  // more than are read ahead of their turn
  const auto with_frames = [](std::uint32_t first, std::uint8_t mark) {
    Builder file;
    file.pcap_header();
    for (std::uint32_t k = 0; k < packets; ++k)
      file.pcap_record(first + k, 0, large_frame(mark, static_cast<std::uint8_t>(k), 300));
    return file.bytes;
  };
  const auto replace = [](const Folder& folder, const std::string& path, const Bytes& bytes) {
    ASSERT_EQ(rename(folder.write("new", bytes).c_str(), path.c_str()), 0);
  };
  // Before its turn, and while it is closed to let others be open.
  for (const std::uint32_t first_of_b : {10'000U, 1U}) {
    const Folder folder;
    const std::string a = folder.write("a", with_frames(1, 'a'));
    const std::string b = folder.write("b", with_frames(first_of_b, 'b'));
    auto source = open_files({a, b}, {256, 1});
    ASSERT_TRUE(source);
    FrameBatch batch;
    for (int i = 0; i < 6; ++i) ASSERT_EQ((*source)->next_batch(batch, 1).value_or(0), 1U);
    replace(folder, b, with_frames(first_of_b, 'c'));
    const Everything all = read_all(**source, 1);
    ASSERT_EQ(all.errors.size(), 1U) << first_of_b;
    EXPECT_EQ(all.errors[0].path, b);
    EXPECT_EQ(all.errors[0].message, "was replaced by another file while it was read");
    EXPECT_EQ((*source)->files()[0].packets, packets);
    EXPECT_LT((*source)->files()[1].packets, packets);
    for (const Copy& frame : all.frames) EXPECT_NE(frame.data[0], 'c');
  }
}

TEST(Merge, BytesStayAliveAsLongAsTheirBatch) {
  const Folder folder;
  const std::string a = folder.write("a", zstd(with_times({1, 3, 5, 7}, 'a')));
  const std::string b = folder.write("b", with_times({2, 4, 6, 8}, 'b'));
  std::vector<FrameBatch> batches;
  {
    auto source = open_files({a, b});
    ASSERT_TRUE(source);
    while (true) {
      FrameBatch batch;
      if ((*source)->next_batch(batch, 1).value() == 0) break;
      batches.push_back(std::move(batch));
    }
  }
  Everything all;
  for (const FrameBatch& batch : batches) copy_frames(batch, all.frames);
  EXPECT_EQ(order(all), "a1 b2 a3 b4 a5 b6 a7 b8 ");
}

TEST(Merge, BatchesOfLargeFramesFromStreamsAreBounded) {
  const Folder folder;
  std::vector<std::string> paths;
  for (std::uint32_t k = 0; k < 2; ++k) {
    Builder file;
    file.pcap_header();
    for (std::uint32_t i = 0; i < 400; ++i) file.pcap_record(i, k, Bytes(100'000));
    paths.push_back(folder.write(std::to_string(k), zstd(file.bytes)));
  }
  auto source = open_files(paths);
  ASSERT_TRUE(source);
  FrameBatch batch;
  std::size_t frames = 0;
  while (true) {
    batch.clear();
    const std::size_t got = (*source)->next_batch(batch, 65'536).value();
    if (got == 0) break;
    EXPECT_LE(got, 400U) << "40 MB of slabs, not 80";
    frames += got;
  }
  EXPECT_EQ(frames, 800U);
}

TEST(Merge, PacketsWithoutTimeStayBehindTheirPredecessor) {
  const Folder folder;
  Builder first;
  first.section().interface().enhanced_packet(0, 3'000'000, {'a', 3}).simple_packet({'a', 0});
  first.enhanced_packet(0, 5'000'000, {'a', 5});
  const Everything all =
      read_files({folder.write("a", first.bytes), folder.write("b", with_times({1, 4}, 'b'))});
  EXPECT_EQ(order(all), "b1 a3 a0 b4 a5 ");
}

}  // namespace
}  // namespace roce::capture::test
