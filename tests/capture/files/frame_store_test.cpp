// SPDX-License-Identifier: Apache-2.0
#include "capture/files/frame_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <numeric>
#include <random>

#include "tests/capture/bytes_builder.hpp"
#include "tests/capture/compress.hpp"

namespace roce::capture::test {
namespace {

/// What a source delivered, and the store that looked on.
struct Kept {
  Everything all;
  std::shared_ptr<FrameStore> store;
};

Kept keep(const std::vector<std::string>& paths, const FrameStore::Limits& limits = {},
          const OpenOptions& options = {}, std::size_t limit = 7) {
  Kept kept;
  kept.store = std::make_shared<FrameStore>(limits);
  auto source = open_files(paths, options);
  if (!source) return kept;
  const auto keeping = keep_frames(std::move(*source), kept.store);
  kept.all = read_all(*keeping, limit);
  return kept;
}

Copy copy_of(const Frame& frame, const FrameStore::Reader& reader) {
  return {frame.time_ns,
          frame.captured,
          frame.wire,
          frame.interface,
          frame.link_type,
          frame.file,
          Bytes(frame.data, frame.data + frame.captured),
          std::vector<std::string>(reader.comments().begin(), reader.comments().end())};
}

/// Every frame, in a wild order, is what it was the first time.
void expect_all(const Kept& kept) {
  ASSERT_EQ(kept.store->size(), kept.all.frames.size());
  EXPECT_FALSE(kept.store->problem());
  std::vector<std::uint64_t> numbers(kept.all.frames.size());
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{1});
  FrameStore::Reader forward(kept.store);
  for (const std::uint64_t number : numbers) {
    const auto frame = forward.read(number);
    ASSERT_TRUE(frame) << frame.error().describe();
    EXPECT_EQ(kept.store->has_comments(number), !kept.all.frames[number - 1].comments.empty()) << number;
    EXPECT_EQ(copy_of(*frame, forward), kept.all.frames[number - 1]) << number;
  }
  std::shuffle(numbers.begin(), numbers.end(), std::minstd_rand(7));
  FrameStore::Reader wild(kept.store);
  for (const std::uint64_t number : numbers) {
    const auto frame = wild.read(number);
    ASSERT_TRUE(frame) << frame.error().describe();
    EXPECT_EQ(copy_of(*frame, wild), kept.all.frames[number - 1]) << number;
  }
}

Bytes some_data(std::uint32_t i) {
  Bytes data(40 + i * 37 % 1400);
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<std::uint8_t>(i * 31 + k);
  return data;
}

Bytes some_pcap(std::uint32_t records, bool big, std::uint32_t magic, std::uint32_t first = 100,
                std::uint32_t step = 3, std::uint16_t minor = 4) {
  Builder file(big);
  file.pcap_header(magic, 1, 2, minor);
  for (std::uint32_t i = 0; i < records; ++i) {
    const Bytes data = some_data(i);
    file.pcap_record(first + i * step, i, data, static_cast<std::uint32_t>(data.size()) + i % 2);
  }
  return file.bytes;
}

Bytes some_pcapng(bool big) {
  Builder file(big);
  const Builder like = file.like();
  Bytes nanoseconds = Builder(big).option(9, Bytes{9}).option64(14, 1000).bytes;
  file.section().interface(1).interface(228, 0, nanoseconds);
  for (std::uint32_t i = 0; i < 300; ++i) {
    if (i % 7 == 3)
      file.old_packet(1, 0xffff, 5'000'000 + i, some_data(i), Builder(big).option(1, "of old").bytes);
    if (i % 11 == 5) file.simple_packet(some_data(i));
    // None, one or several, among options of other kinds.
    Builder options(big);
    for (std::uint32_t k = 0; k < i % 4; ++k)
      options.option(1, std::string(i % 9 * 40 + 1, static_cast<char>('a' + k))).option64(4, 0);
    file.enhanced_packet(i % 2, 5'000'000 + i, some_data(i), 1600, options.bytes);
  }
  // The next section is in the other byte order.
  Builder second(!big);
  second.section().interface(113);
  for (std::uint32_t i = 0; i < 50; ++i) second.enhanced_packet(0, 9'000'000 + i, some_data(i));
  return file.raw(second.bytes).bytes;
}

TEST(FrameStore, ReadsEveryFormAgain) {
  const Folder folder;
  const std::vector<Bytes> forms = {some_pcap(500, false, 0xA1B2C3D4),
                                    some_pcap(500, true, 0xA1B2C3D4),
                                    some_pcap(500, false, 0xA1B23C4D),
                                    some_pcap(500, true, 0xA1B23C4D),
                                    some_pcap(50, false, 0xA1B2C3D4, 100, 3, 3),
                                    some_pcapng(false),
                                    some_pcapng(true)};
  for (std::size_t i = 0; i < forms.size(); ++i) {
    SCOPED_TRACE(i);
    for (const bool packed : {false, true}) {
      const Kept kept = keep({folder.write("form", packed ? gzip(forms[i]) : forms[i])}, {}, {4096});
      EXPECT_GE(kept.all.frames.size(), 50U);
      expect_all(kept);
    }
  }
}

TEST(FrameStore, SaysWhatInterfacesCountedInTheEnd) {
  const Folder folder;
  Builder file;
  file.section().interface(1).enhanced_packet(0, 1'000'000, {1, 2});
  Builder body;
  file.block(5, body.u32(0).u32(0).u32(0).option64(5, 42).bytes);
  const Kept kept = keep({folder.write("counted", file.bytes)});
  EXPECT_EQ(kept.store->interfaces()->at(0).dropped_by_interface, 42U);
  EXPECT_FALSE(kept.store->any_comments());
}

TEST(FrameStore, NumbersFramesOfSeveralFilesAsTheyAreMerged) {
  const Folder folder;
  std::vector<std::string> paths;
  // Interleaved in time, one compressed; more files than windows of a reader.
  for (std::uint32_t i = 0; i < 12; ++i) {
    const Bytes bytes = some_pcap(200, i % 2 == 0, 0xA1B2C3D4, 100 + i, 12);
    paths.push_back(folder.write("part" + std::to_string(i), i % 5 == 4 ? zstd(bytes) : bytes));
  }
  for (const std::size_t slab : {std::size_t{2048}, std::size_t{512U << 10U}}) {
    const Kept kept = keep(paths, {}, {slab}, 50);
    EXPECT_EQ(kept.all.frames.size(), 2400U);
    expect_all(kept);
  }
}

TEST(FrameStore, KeepsFewBytesInMemoryAndManyInAFile) {
  const Folder folder;
  const std::string path = folder.write("packed", gzip(some_pcap(3000, false, 0xA1B2C3D4)));
  for (const std::size_t memory : {std::size_t{1}, std::size_t{10'000}, std::size_t{100U << 20U}}) {
    FrameStore::Limits limits;
    limits.memory_bytes = memory;
    limits.kept_free = 0;
    limits.directory = folder.name("");
    expect_all(keep({path}, limits));
  }
}

TEST(FrameStore, SaysWhyFramesBehindALimitAreNotThere) {
  const Folder folder;
  const std::string packed = folder.write("packed", gzip(some_pcap(1000, false, 0xA1B2C3D4)));
  const auto refused = [&](const FrameStore::Limits& limits, const char* words) {
    const Kept kept = keep({packed}, limits);
    EXPECT_EQ(kept.all.frames.size(), 1000U) << "the analysis goes on";
    EXPECT_LT(kept.store->size(), 1000U);
    EXPECT_EQ(kept.store->size() + kept.store->not_kept(), 1000U);
    ASSERT_TRUE(kept.store->problem());
    EXPECT_NE(kept.store->problem()->describe().find(words), std::string::npos)
        << kept.store->problem()->describe();
    FrameStore::Reader reader(kept.store);
    for (std::uint64_t number = 1; number <= kept.store->size(); ++number) {
      ASSERT_TRUE(reader.read(number)) << number;
    }
    EXPECT_FALSE(reader.read(kept.store->size() + 1));
    EXPECT_FALSE(reader.read(0));
  };
  FrameStore::Limits limits;
  limits.spooled_bytes = 200'000;
  refused(limits, "not in an uncompressed file");
  limits = {};
  limits.frames = 600;
  refused(limits, "at most 600 packets");
  limits = {};
  limits.memory_bytes = 10'000;
  limits.directory = folder.name("nowhere");
  refused(limits, "TMPDIR");
  limits = {};
  limits.memory_bytes = 10'000;
  limits.kept_free = UINT64_MAX / 2;
  refused(limits, "nearly full");
  // A plain file needs none of it.
  limits.spooled_bytes = 0;
  expect_all(keep({folder.write("plain", some_pcap(1000, false, 0xA1B2C3D4))}, limits));
}

TEST(FrameStore, AFileThatShrinksVanishesOrChangesIsToldAndTheRestIsRead) {
  const Folder folder;
  const Bytes bytes = some_pcap(1000, false, 0xA1B2C3D4);
  const auto error_of = [](const Kept& kept, std::uint64_t number) {
    const auto frame = FrameStore::Reader(kept.store).read(number);
    return frame ? std::string() : frame.error().describe();
  };
  const std::string shrinking = folder.write("shrinking", bytes);
  const Kept shrunk = keep({shrinking});
  ASSERT_EQ(truncate(shrinking.c_str(), static_cast<off_t>(bytes.size() / 2)), 0);
  EXPECT_EQ(error_of(shrunk, 1), "");
  EXPECT_NE(error_of(shrunk, 1000).find("become shorter"), std::string::npos);
  EXPECT_NE(error_of(shrunk, 1000).find(shrinking), std::string::npos);

  // A reader that has the file open reads on; one that comes later does not find it.
  const std::string vanishing = folder.write("vanishing", bytes);
  const Kept gone = keep({vanishing});
  FrameStore::Reader early(gone.store);
  ASSERT_TRUE(early.read(1));
  ASSERT_EQ(unlink(vanishing.c_str()), 0);
  EXPECT_TRUE(early.read(1000));
  const std::string vanished = folder.write("vanished", bytes);
  const Kept away = keep({vanished});
  ASSERT_EQ(unlink(vanished.c_str()), 0);
  EXPECT_NE(error_of(away, 1).find("cannot be opened again"), std::string::npos) << error_of(away, 1);
  ASSERT_EQ(mkfifo(vanished.c_str(), 0600), 0);
  EXPECT_NE(error_of(away, 1), "") << "nobody waits for a pipe";

  const std::string changing = folder.write("changing", bytes);
  const Kept changed = keep({changing});
  folder.write("changing", Bytes(bytes.size(), 0xff));
  EXPECT_NE(error_of(changed, 5).find("has changed"), std::string::npos) << error_of(changed, 5);
}

TEST(FrameStore, KnowsTheTimesOfGroups) {
  const Folder folder;
  Builder file;
  file.pcap_header();
  for (std::uint32_t i = 0; i < 3000; ++i) file.pcap_record(i == 1500 ? 7 : 1000 + i, 0, {1, 2, 3});
  const Kept kept = keep({folder.write("times", file.bytes)});
  constexpr std::int64_t second = 1'000'000'000;
  EXPECT_EQ(kept.store->first_time(), 1000 * second);
  EXPECT_EQ(kept.store->times_of_group(0).from, 1000 * second);
  EXPECT_EQ(kept.store->times_of_group(0).to, 2023 * second);
  EXPECT_EQ(kept.store->times_of_group(1).from, 7 * second);
  EXPECT_EQ(kept.store->times_of_group(2).to, 3999 * second);
}

}  // namespace
}  // namespace roce::capture::test
