// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace {

Error open_error(const std::string& path) {
  auto source = open_files({path});
  if (!source) return source.error();
  Error none;
  none.message = "opened";
  return none;
}

Bytes small_pcap(std::uint32_t second = 1) {
  return Builder().pcap_header().pcap_record(second, 0, {1, 2}).bytes;
}

TEST(OpenFiles, SaysWhatIsWrongWithAPath) {
  const Folder folder;
  const Error missing = open_error(folder.name("none.pcap"));
  EXPECT_EQ(missing.kind, ErrorKind::not_found);
  EXPECT_EQ(missing.system_errno, ENOENT);
  EXPECT_EQ(missing.describe(), folder.name("none.pcap") + ": cannot be opened: No such file or directory");

  const Error directory = open_error(folder.name("."));
  EXPECT_EQ(directory.kind, ErrorKind::not_readable);
  EXPECT_EQ(directory.system_errno, EISDIR);

  const Error empty = open_error(folder.write("empty", {}));
  EXPECT_EQ(empty.kind, ErrorKind::not_a_capture);
  EXPECT_EQ(empty.offset, 0U);
  EXPECT_NE(empty.describe().find("it is empty"), std::string::npos);

  const Error pattern = open_error(folder.name("*.pcapng"));
  EXPECT_EQ(pattern.kind, ErrorKind::not_found);
  EXPECT_EQ(pattern.path, folder.name("*.pcapng"));

  if (geteuid() != 0) {
    const std::string secret = folder.write("secret", small_pcap());
    chmod(secret.c_str(), 0);
    EXPECT_EQ(open_error(secret).kind, ErrorKind::not_readable);
    EXPECT_EQ(open_error(secret).system_errno, EACCES);
  }
  EXPECT_EQ(open_files(std::vector<std::string>{}).error().kind, ErrorKind::not_found);
}

struct Foreign {
  const char* name;
  Bytes first;
  ErrorKind kind;
  const char* says;
};

TEST(OpenFiles, SaysWhatAForeignFileIs) {
  const auto text = [](std::string_view value) {
    Bytes bytes(value.begin(), value.end());
    bytes.resize(std::max<std::size_t>(bytes.size(), 40), 0);
    return bytes;
  };
  using namespace std::string_view_literals;
  const std::vector<Foreign> cases = {
      {"kuznetzov", Builder().pcap_header(0xA1B2CD34).bytes, ErrorKind::unsupported, "Kuznetzov"},
      {"kuznetzov, big-endian", Builder(true).pcap_header(0xA1B2CD34).bytes, ErrorKind::unsupported,
       "Kuznetzov"},
      {"fmesquita", Builder().pcap_header(0xA1B234CD).bytes, ErrorKind::unsupported, "variant"},
      {"navtel", Builder().pcap_header(0xA12B3C4D).bytes, ErrorKind::unsupported, "Navtel"},
      {"ixia hardware", Builder().pcap_header(0x1C0001AC).bytes, ErrorKind::unsupported, "Ixia"},
      {"ixia software", Builder(true).pcap_header(0x1C0001AB).bytes, ErrorKind::unsupported, "Ixia"},
      {"snoop", text("snoop\0\0\0\0\0\0\2"sv), ErrorKind::unsupported, "snoop"},
      {"netmon", text("GMBU\0\2"sv), ErrorKind::unsupported, "Network Monitor"},
      {"xz",
       text("\xfd"
            "7zXZ\0"sv),
       ErrorKind::unsupported, "xz"},
      {"bzip2", text("BZh91AY"sv), ErrorKind::unsupported, "bzip2"},
      {"zip", text("PK\x03\x04"sv), ErrorKind::unsupported, "zip"},
      {"text", Bytes{'h', 'e', 'l', 'l', 'o', '\n'}, ErrorKind::not_a_capture, "text"},
      {"elf",
       text("\x7f"
            "ELF"sv),
       ErrorKind::not_a_capture, "program"},
      {"zeros", Bytes(100), ErrorKind::not_a_capture, "00 00 00 00 00 00 00 00"},
      {"two bytes", {0xD4, 0xC3}, ErrorKind::not_a_capture, "d4 c3"},
      {"pcapng without order", Builder().u32(0x0A0D0D0A).u32(28).raw(Bytes(20)).bytes,
       ErrorKind::not_a_capture, "byte-order"},
  };
  const Folder folder;
  for (const Foreign& one : cases) {
    const Error error = open_error(folder.write("foreign", one.first));
    EXPECT_EQ(error.kind, one.kind) << one.name;
    EXPECT_NE(error.message.find(one.says), std::string::npos) << one.name << ": " << error.message;
    EXPECT_EQ(error.path, folder.name("foreign"));
    EXPECT_TRUE(error.offset.has_value()) << one.name;
  }
}

TEST(OpenFiles, NamesDoNotMatter) {
  const Folder folder;
  const Everything all = read_files({folder.write("wrong.gz", small_pcap())});
  EXPECT_EQ(all.frames.size(), 1U);
}

TEST(OpenFiles, GlobsWhereNoSuchFileExists) {
  const Folder folder;
  folder.write("ring_2.pcap", small_pcap(2));
  folder.write("ring_1.pcap", small_pcap(1));
  Everything all = read_files({folder.name("ring_?.pcap")});
  ASSERT_EQ(all.files.size(), 2U);
  EXPECT_EQ(all.files[0].path, folder.name("ring_1.pcap"));
  EXPECT_EQ(all.frames.size(), 2U);
  folder.write("ring_?.pcap", small_pcap(3));
  all = read_files({folder.name("ring_?.pcap")});
  EXPECT_EQ(all.files.size(), 1U) << "a file of that very name goes first";
}

TEST(OpenFiles, OneBadInputDoesNotSpoilTheOthers) {
  const Folder folder;
  const std::string good = folder.write("good", small_pcap());
  const std::string bad = folder.write("bad", Bytes(40));
  const Everything all = read_files({folder.name("missing"), good, bad, folder.name("*.none"), good});
  EXPECT_EQ(all.frames.size(), 2U);
  ASSERT_EQ(all.errors.size(), 3U);
  EXPECT_EQ(all.files.size(), 4U);
  EXPECT_EQ(all.files[1].packets, 1U);
  EXPECT_EQ(all.files[3].packets, 1U) << "the same file twice is two inputs";

  auto nothing = open_files({folder.name("missing"), bad});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().path, folder.name("missing"));
}

TEST(OpenFiles, ErrorsBesideGoodInputsComeAfterTheirWholeFrames) {
  const Folder folder;
  Bytes cut = Builder().pcap_header().pcap_record(1, 0, {1}).pcap_record(2, 0, {2}).bytes;
  cut.pop_back();
  const Everything all = read_files({folder.write("a", cut), folder.write("b", small_pcap(9))});
  EXPECT_EQ(all.frames.size(), 2U);
  ASSERT_EQ(all.errors.size(), 1U);
  EXPECT_EQ(all.errors[0].path, folder.name("a"));
  EXPECT_EQ(all.errors[0].offset, 41U);
  EXPECT_EQ(all.count(Incident::cut_short), 1U);
}

TEST(OpenFiles, LimitsAreKept) {
  Builder file;
  file.pcap_header();
  for (std::uint32_t i = 0; i < 1000; ++i) file.pcap_record(i, 0, Bytes(i % 7, 1));
  const Folder folder;
  const std::string path = folder.write("f", file.bytes);
  const Everything whole = read_files({path});
  for (const std::size_t limit : {std::size_t{1}, std::size_t{7}, std::size_t{999}, std::size_t{1000}}) {
    const Everything parts = read_files({path}, {}, limit);
    EXPECT_EQ(parts.largest_batch, limit);
    EXPECT_TRUE(parts.frames == whole.frames);
  }
}

}  // namespace
}  // namespace roce::capture::test
