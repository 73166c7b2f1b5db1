// SPDX-License-Identifier: Apache-2.0
#include "capture/write/pcap_writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "capture/compression/compressor.hpp"
#include "capture/compression/decompressor.hpp"
#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace {

Frame pcap_frame(const Bytes& data, std::int64_t time, std::uint16_t link_type = 1) {
  Frame frame;
  frame.data = data.data();
  frame.captured = static_cast<std::uint32_t>(data.size());
  frame.wire = frame.captured + 100;
  frame.time_ns = time;
  frame.link_type = link_type;
  return frame;
}

std::unique_ptr<CaptureWriter> pcap_at(const std::string& path, CaptureFormat format) {
  auto file = OutputFile::create(path, {}, Readers::owner_only);
  EXPECT_TRUE(file) << file.error().describe();
  if (!file) return nullptr;
  auto writer = create_capture_writer(std::move(*file), {.format = format,
                                                         .compression = Compression::none,
                                                         .application = "x",
                                                         .comments = {"about all"}});
  EXPECT_TRUE(writer) << writer.error().describe();
  return writer ? std::move(*writer) : nullptr;
}

TEST(PcapWriter, ReadsBackWithTheTimesOfItsFormat) {
  const Folder folder;
  const Bytes data = {1, 2, 3};
  constexpr std::int64_t time = 4'294'967'295'123'456'789;  // the last second
  InterfaceInfo info;
  info.fcs_bytes = 4;
  for (const auto& [format, expected] :
       {std::pair{CaptureFormat::nsecpcap, time}, std::pair{CaptureFormat::pcap, time - 789}}) {
    const std::string path = folder.name(format == CaptureFormat::pcap ? "us" : "ns");
    auto writer = pcap_at(path, format);
    ASSERT_TRUE(writer->write(pcap_frame(data, time), info, {}));
    EXPECT_EQ(access(path.c_str(), F_OK), -1) << "not there before it is whole";
    ASSERT_TRUE(writer->finish({}));
    const Everything all = read_files({path});
    ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
    ASSERT_EQ(all.frames.size(), 1U);
    EXPECT_TRUE(all.frames[0] == (Copy{expected, 3, 103, 0, 1, 0, data}));
    EXPECT_EQ(all.interfaces.at(0).fcs_bytes, 4);
    EXPECT_EQ(writer->omissions().size(), format == CaptureFormat::pcap ? 2U : 1U);  // the comment; the time
  }
}

TEST(PcapWriter, RefusesWhatTheFormatCannotHold) {
  const Folder folder;
  const Bytes data = {1, 2, 3};
  constexpr std::int64_t second = 1'000'000'000;
  for (const std::int64_t time : {std::int64_t{-1}, 4'294'967'296 * second}) {
    auto writer = pcap_at(folder.name("times"), CaptureFormat::nsecpcap);
    const auto written = writer->write(pcap_frame(data, time), {}, {});
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find("1970 to 2106"), std::string::npos);
  }
  auto writer = pcap_at(folder.name("links"), CaptureFormat::pcap);
  ASSERT_TRUE(writer->write(pcap_frame(data, 1), {}, {}));
  InterfaceInfo with_fcs;
  with_fcs.fcs_bytes = 4;
  const auto other = writer->write(pcap_frame(data, 1), with_fcs, {});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("1 (Ethernet) came one with 1 (Ethernet, FCS of 4 bytes)"),
            std::string::npos)
      << other.error().message;
  writer.reset();
  EXPECT_EQ(access(folder.name("links").c_str(), F_OK), -1);
}

TEST(Compressor, FramesInPartsAndOneAfterAnother) {
  Bytes data(3'000'000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * i >> (i % 19));
  for (const Compression compression : {Compression::gzip, Compression::zstd, Compression::lz4}) {
    const auto compressor = make_compressor(compression);
    std::vector<std::uint8_t> packed = {7};  // what is there stays
    for (std::size_t at = 0, part = 1; at < data.size(); at += part, part = part * 3 % 700'001) {
      part = std::min(part, data.size() - at);
      ASSERT_TRUE(compressor->add(data.data() + at, part, at % 2 == 1, packed)) << compressor->message();
    }
    ASSERT_TRUE(compressor->add(nullptr, 0, true, packed)) << compressor->message();
    EXPECT_EQ(packed.front(), 7);
    packed.erase(packed.begin());
    EXPECT_EQ(detect_compression(packed.data(), packed.size()), compression);
    const auto decompressor = make_decompressor(compression);
    Bytes again(data.size() + 1);
    std::size_t in = 0, out = 0;
    for (;;) {
      const auto step =
          decompressor->step(packed.data() + in, packed.size() - in, again.data() + out, again.size() - out);
      ASSERT_FALSE(step.failed) << decompressor->message();
      if (step.consumed == 0 && step.produced == 0) break;
      in += step.consumed;
      out += step.produced;
    }
    EXPECT_TRUE(decompressor->between_frames());
    EXPECT_EQ(in, packed.size());
    again.resize(out);
    EXPECT_TRUE(again == data) << compression_name(compression);
  }
}

}  // namespace
}  // namespace roce::capture::test
