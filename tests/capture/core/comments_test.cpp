// SPDX-License-Identifier: Apache-2.0
#include "capture/core/comments.hpp"

#include <gtest/gtest.h>

#include "capture/write/pcapng_writer.hpp"
#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace {

using Texts = std::vector<std::string>;

TEST(SectionComments, ComeOnceAsTheyBecomeKnown) {
  SectionComments comments;
  std::vector<FileInfo> files(2);
  EXPECT_EQ(comments.news(files), Texts());
  files[1].comment = "a";
  EXPECT_EQ(comments.news(files), Texts{"a"});
  EXPECT_EQ(comments.news(files), Texts());
  files[0].comment = "b";
  files[1].comment = "a\nc";
  EXPECT_EQ(comments.news(files), (Texts{"b", "c"}));
  EXPECT_EQ(comments.news(files), Texts());
}

TEST(SectionComments, AreWrittenAndReadWhereverTheyStand) {
  const Folder folder;
  InterfaceInfo interface;
  interface.name = "ens1";
  interface.link_type = 1;
  interface.received = 7;
  const Bytes bytes = {1, 2, 3};
  Frame frame;
  frame.data = bytes.data();
  frame.captured = frame.wire = 3;
  frame.link_type = 1;
  frame.time_ns = 5;
  const std::string path = folder.name("commented.pcapng");
  auto writer = PcapngWriter::create(path, "x", {"taken in rack 12", "by night"});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->write(frame, interface));
  ASSERT_TRUE(writer->begin_section({interface}, {"after the reboot"}));
  ASSERT_TRUE(writer->write(frame, interface));
  ASSERT_TRUE(writer->finish({interface}));

  auto source = open_files({path});
  ASSERT_TRUE(source);
  SectionComments comments;
  Texts all = comments.news((*source)->files());
  EXPECT_EQ(all, Texts{"taken in rack 12\nby night"}) << "known before the first packet";
  FrameBatch batch;
  while (*(*source)->next_batch(batch, 10) > 0) {
  }
  EXPECT_EQ(batch.frames.size(), 2U);
  EXPECT_EQ(comments.news((*source)->files()), Texts{"after the reboot"});
  EXPECT_EQ((*source)->interfaces().front().received, 7U);
}

}  // namespace
}  // namespace roce::capture::test
