// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <numeric>
#include <thread>

#include "tests/capture/bytes_builder.hpp"
#include "tests/capture/compress.hpp"

namespace roce::capture::test {
namespace {

Bytes counted(std::size_t size, std::size_t seed) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(seed));
  return bytes;
}

Bytes varied_pcap() {
  Builder file(true);
  file.pcap_header();
  for (std::uint32_t i = 0; i < 500; ++i) file.pcap_record(100 + i, i, counted((i * 37) % 300, i), 2000);
  return file.bytes;
}

Bytes varied_pcapng() {
  Builder file;
  file.section().interface(1, 100).interface(228);
  for (std::uint32_t i = 0; i < 300; ++i) {
    file.enhanced_packet(i % 2, 1000 + i, counted((i * 53) % 400, i));
    if (i % 50 == 7) file.simple_packet(counted(90, i));
    if (i % 60 == 9) file.block(0x7777, counted(i, i));
  }
  return file.bytes;
}

/// Standard input from a pipe for the time of its life.
class PipedInput {
 public:
  PipedInput() : kept_(dup(STDIN_FILENO)) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writer_ = ends[1];
  }
  ~PipedInput() {
    close_writer();
    dup2(kept_, STDIN_FILENO);
    ::close(kept_);
  }
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;
  void write(const Bytes& bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got = ::write(writer_, bytes.data() + done, bytes.size() - done);
      if (got <= 0) return;
      done += static_cast<std::size_t>(got);
    }
  }
  void close_writer() {
    if (writer_ >= 0) ::close(writer_);
    writer_ = -1;
  }

 private:
  int kept_;
  int writer_ = -1;
};

Everything through_pipe(const Bytes& bytes) {
  PipedInput input;
  std::thread writer([&] {
    input.write(bytes);
    input.close_writer();
  });
  Everything all = read_files({"-"});
  writer.join();
  return all;
}

TEST(Streams, SameFramesWhateverTheSlabSize) {
  const Folder folder;
  for (const Bytes& bytes : {varied_pcap(), varied_pcapng()}) {
    const std::string path = folder.write("f", bytes);
    const Everything whole = read_files({path});
    ASSERT_TRUE(whole.errors.empty()) << whole.errors[0].describe();
    ASSERT_GE(whole.frames.size(), 300U);
    for (std::size_t slab = 64; slab < 700; slab += 13) {
      const Everything streamed = read_files({path}, {slab});
      ASSERT_TRUE(streamed.errors.empty()) << streamed.errors[0].describe();
      ASSERT_TRUE(streamed.frames == whole.frames) << slab;
      EXPECT_EQ(streamed.all_incidents(), whole.all_incidents());
    }
  }
}

struct Packed {
  const char* name;
  Bytes bytes;
};

TEST(Streams, EveryCompressionOfFilesAndPipes) {
  const Bytes plain = varied_pcapng();
  const Everything expected = read_capture(plain);
  const Bytes half(plain.begin(), plain.begin() + 5000);
  const Bytes rest(plain.begin() + 5000, plain.end());
  const auto both = [](Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const std::vector<Packed> cases = {
      {"gzip", gzip(plain)},
      {"zstd", zstd(plain)},
      {"lz4", lz4(plain)},
      {"gzip", both(gzip(half), gzip(rest))},
      {"gzip", both(gzip(plain), Bytes(512))},
      {"zstd", both(zstd(half), both(skippable({1, 2, 3}), zstd(rest)))},
      {"zstd", both(skippable(Bytes(20)), zstd(plain))},
      {"zstd", both(skippable(Bytes(5000)), zstd(plain))},
      {"lz4", both(lz4(half), both(skippable({1}), lz4(rest)))},
      {"lz4", both(skippable(Bytes(20)), lz4(plain))},
  };
  for (const Packed& one : cases) {
    const Everything file = read_capture(one.bytes);
    ASSERT_TRUE(file.errors.empty()) << one.name << file.errors[0].describe();
    EXPECT_TRUE(file.frames == expected.frames) << one.name;
    EXPECT_EQ(file.files[0].format, std::string("pcapng in ") + one.name);
    EXPECT_EQ(file.files[0].bytes, one.bytes.size());
    EXPECT_EQ(file.files[0].bytes_read, one.bytes.size());
    const Everything small_slabs = read_capture(one.bytes, {100});
    EXPECT_TRUE(small_slabs.frames == expected.frames) << one.name;
    const Everything piped = through_pipe(one.bytes);
    ASSERT_TRUE(piped.errors.empty()) << one.name << piped.errors[0].describe();
    EXPECT_TRUE(piped.frames == expected.frames) << one.name;
    EXPECT_EQ(piped.files[0].bytes, 0U);
  }
  EXPECT_TRUE(through_pipe(plain).frames == expected.frames);
}

TEST(Streams, CutCompressionGivesWhatCameOut) {
  const Bytes plain = varied_pcap();
  const Everything expected = read_capture(plain);
  for (Bytes packed : {gzip(plain), zstd(plain), lz4(plain)}) {
    packed.resize(packed.size() - 5);
    const Everything all = read_capture(packed);
    ASSERT_EQ(all.errors.size(), 1U);
    EXPECT_EQ(all.errors[0].kind, ErrorKind::cut_short);
    EXPECT_NE(all.errors[0].message.find("is cut short"), std::string::npos) << all.errors[0].message;
    // A single block of zstd or lz4 gives nothing before it is whole: then opening failed.
    EXPECT_EQ(all.count(Incident::decompression_failed), all.files.empty() ? 0U : 1U);
    EXPECT_LE(all.frames.size(), expected.frames.size());
    for (std::size_t i = 0; i < all.frames.size(); ++i) ASSERT_TRUE(all.frames[i] == expected.frames[i]);
  }
}

TEST(Streams, DamagedCompressionSaysSo) {
  const Bytes plain = varied_pcap();
  for (Bytes packed : {gzip(plain), zstd(plain), lz4(plain)}) {
    for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 40; ++i) packed[i] ^= 0xA5;
    const Everything all = read_capture(packed);
    ASSERT_GE(all.errors.size(), 1U);
    for (const Error& error : all.errors) EXPECT_FALSE(error.message.empty());
  }
  Bytes garbage = gzip(plain);
  garbage.insert(garbage.end(), {'j', 'u', 'n', 'k'});
  const Everything all = read_capture(garbage);
  EXPECT_EQ(all.frames.size(), 500U);
  ASSERT_EQ(all.errors.size(), 1U);
  EXPECT_EQ(all.errors[0].kind, ErrorKind::damaged);
  EXPECT_EQ(all.count(Incident::decompression_failed), 1U);
}

TEST(Streams, NothingInsideOrTwiceCompressed) {
  Everything all = read_capture(gzip({}));
  ASSERT_EQ(all.errors.size(), 1U);
  EXPECT_EQ(all.errors[0].kind, ErrorKind::not_a_capture);
  all = read_capture(zstd(gzip(varied_pcap())));
  ASSERT_EQ(all.errors.size(), 1U);
  EXPECT_EQ(all.errors[0].kind, ErrorKind::unsupported);
  all = read_capture({0x1F, 0x8B, 0x08});
  ASSERT_EQ(all.errors.size(), 1U);
  EXPECT_EQ(all.errors[0].kind, ErrorKind::cut_short);
}

TEST(Streams, StandardInputMayBeAFileOpenedInTheMiddle) {
  const Folder folder;
  const Bytes plain = varied_pcap();
  Bytes shifted = {'x', 'y', 'z'};
  shifted.insert(shifted.end(), plain.begin(), plain.end());
  const std::string path = folder.write("f", shifted);
  const int kept = dup(STDIN_FILENO);
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  lseek(descriptor, 3, SEEK_SET);
  dup2(descriptor, STDIN_FILENO);
  ::close(descriptor);
  const Everything all = read_files({"-"});
  dup2(kept, STDIN_FILENO);
  ::close(kept);
  EXPECT_TRUE(all.errors.empty());
  EXPECT_EQ(all.frames.size(), 500U);
}

TEST(Streams, NamedPipesAreReadBesideFiles) {
  const Folder folder;
  const std::string fifo = folder.name("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string file = folder.write("f", Builder().pcap_header().pcap_record(150, 0, {9}).bytes);
  std::thread writer([&] {
    std::ofstream out(fifo, std::ios::binary);
    const Bytes bytes = varied_pcap();
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  });
  const Everything all = read_files({fifo, file});
  writer.join();
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  ASSERT_EQ(all.frames.size(), 501U);
  EXPECT_EQ(all.frames[50].file, 1U);
}

TEST(Streams, FramesOfASlowPipeComeAsTheyAreWritten) {
  PipedInput input;
  input.write(Builder().pcap_header().pcap_record(1, 0, {1}).bytes);
  auto source = open_files({"-"});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 100).value(), 1U);
  batch.clear();
  input.write(Builder().pcap_record(2, 0, {2}).pcap_record(3, 0, {3}).u32(4).bytes);
  ASSERT_EQ((*source)->next_batch(batch, 100).value(), 2U);
  EXPECT_EQ(batch.frames[1].data[0], 3U);
  batch.clear();
  input.write(Builder().u32(0).u32(1).u32(1).u8(4).bytes);
  ASSERT_EQ((*source)->next_batch(batch, 100).value(), 1U);
  EXPECT_EQ(batch.frames[0].time_ns, 4'000'000'000);
  input.close_writer();
  batch.clear();
  EXPECT_EQ((*source)->next_batch(batch, 100).value(), 0U);
}

TEST(Streams, StopWakesABlockedRead) {
  PipedInput input;
  input.write(Builder().pcap_header().bytes);
  auto source = open_files({"-"});
  ASSERT_TRUE(source);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    (*source)->request_stop();
  });
  FrameBatch batch;
  EXPECT_EQ((*source)->next_batch(batch, 100).value(), 0U);
  stopper.join();
  EXPECT_EQ((*source)->next_batch(batch, 100).value(), 0U);
}

std::atomic<CaptureSource*> source_of_handler{nullptr};

TEST(Streams, StopFromASignalHandler) {
  PipedInput input;
  input.write(Builder().pcap_header().bytes);
  auto source = open_files({"-"});
  ASSERT_TRUE(source);
  source_of_handler = source->get();
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { source_of_handler.load()->request_stop(); };
  sigaction(SIGALRM, &action, &before);
  ualarm(50'000, 0);
  FrameBatch batch;
  EXPECT_EQ((*source)->next_batch(batch, 100).value(), 0U);
  sigaction(SIGALRM, &before, nullptr);
}

TEST(Streams, StopEndsFilesToo) {
  const Folder folder;
  auto source = open_files({folder.write("f", varied_pcap())});
  ASSERT_TRUE(source);
  (*source)->request_stop();
  FrameBatch batch;
  EXPECT_EQ((*source)->next_batch(batch, 100).value(), 0U);
}

// 64 MiB through a pipe: batches stay within a slab, and slabs come back from the pool.
TEST(Streams, MemoryStaysBounded) {
  PipedInput input;
  std::thread writer([&] {
    input.write(Builder().pcap_header().bytes);
    Builder records;
    for (int i = 0; i < 64; ++i) records.pcap_record(1, 0, Bytes(65'520));
    for (int i = 0; i < 16; ++i) input.write(records.bytes);
    input.close_writer();
  });
  auto source = open_files({"-"});
  ASSERT_TRUE(source);
  FrameBatch batch;
  std::size_t frames = 0;
  std::vector<const void*> slabs;
  while (true) {
    batch.clear();
    const auto got = (*source)->next_batch(batch, 65'536);
    ASSERT_TRUE(got);
    if (*got == 0) break;
    frames += *got;
    EXPECT_LE(*got, 80U) << "a batch spans one slab of 4 MiB, not 65536 frames";
    for (const auto& one : batch.keep_alive) {
      if (std::find(slabs.begin(), slabs.end(), one.get()) == slabs.end()) slabs.push_back(one.get());
    }
  }
  writer.join();
  EXPECT_EQ(frames, 1024U);
  EXPECT_LE(slabs.size(), 3U);
}

TEST(Streams, ARecordLargerThanASlabIsRead) {
  Builder file;
  file.section().interface().block(0x5555, Bytes(100'000)).enhanced_packet(0, 1, Bytes(200'000, 7));
  file.enhanced_packet(0, 2, {1});
  const Everything all = read_capture(gzip(file.bytes), {256});
  ASSERT_TRUE(all.errors.empty());
  ASSERT_EQ(all.frames.size(), 2U);
  EXPECT_EQ(all.frames[0].data, Bytes(200'000, 7));
}

}  // namespace
}  // namespace roce::capture::test
