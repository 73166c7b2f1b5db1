// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace {

constexpr std::size_t record = 16 + 4080;  // so that record i begins at 24 + 4096 * i

std::string large_pcap(const Folder& folder, std::uint32_t records) {
  Builder file;
  file.pcap_header();
  for (std::uint32_t i = 0; i < records; ++i) file.pcap_record(i, 0, Bytes(record - 16, 0x55));
  return folder.write("shrinking", file.bytes);
}

TEST(Shrink, WhatWasReadStays) {
  const Folder folder;
  for (const std::size_t left : {24 + 20 * record + 7, 24 + 20 * record}) {
    const std::string path = large_pcap(folder, 1000);
    auto source = open_files({path});
    ASSERT_TRUE(source);
    FrameBatch batch;
    ASSERT_EQ((*source)->next_batch(batch, 10).value(), 10U);
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(left)), 0);
    for (const Frame& frame : batch.frames) EXPECT_EQ(frame.data[frame.captured - 1], 0x55);
    const Everything rest = read_all(**source);
    ASSERT_EQ(rest.errors.size(), 1U);
    EXPECT_EQ(rest.errors[0].kind, ErrorKind::shrunk);
    EXPECT_EQ(rest.errors[0].path, path);
    EXPECT_LT(rest.frames.size(), 990U);
    EXPECT_EQ(rest.statistics.incidents[static_cast<std::size_t>(Incident::shrunk_while_read)], 1U);
    EXPECT_EQ(rest.statistics.incidents[static_cast<std::size_t>(Incident::cut_short)], 0U);
  }
}

TEST(Shrink, WhatIsAppendedMeanwhileIsLeftForLater) {
  const Folder folder;
  const std::string path = large_pcap(folder, 1000);
  auto source = open_files({path});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 10).value(), 10U);
  std::ofstream(path, std::ios::binary | std::ios::app) << "more";
  const Everything rest = read_all(**source);
  EXPECT_TRUE(rest.errors.empty());
  EXPECT_EQ(rest.frames.size(), 990U);
  EXPECT_EQ(rest.statistics.incidents[static_cast<std::size_t>(Incident::cut_short)], 0U);
}

}  // namespace
}  // namespace roce::capture::test
