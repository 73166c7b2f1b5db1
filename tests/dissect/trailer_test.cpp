// SPDX-License-Identifier: Apache-2.0
// Trailers of Metamako and Exablaze: rows of their fields, and when nothing is taken for one. tshark reads
// the same layouts (oracle/tshark_fields).
#include "dissect/trailer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "dissect/dissect.hpp"
#include "dissect/header_table.hpp"
#include "dissect/headers/trailer.hpp"
#include "tests/dissect/frames.hpp"

namespace roce::dissect {
namespace trailer_test {
namespace {

using namespace test;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t captured_at = 1'700'000'000 * second + 5000;

const Packet roce = ethernet(0x0800, ipv4(17, roce_v2(0x04, filled(8))));
const Packet fcs = hex("01020304");

Packet metamako_trailer(const Packet& extensions = {}) {
  return hex("deadbeef") + extensions + hex("6553f100 000001c8") + hex(extensions.empty() ? "01" : "02") +
         hex("1234 07");
}
Packet exablaze_trailer() {
  return hex("deadbeef 03 09 6553f100 8000000000 00");
}
/// The last one, of tag 0; one behind it, of tag 1; two words in front of tag 9.
const Packet sequence = hex("00 0102 20"), fraction = hex("800001 01"),
             words = hex("0001020304050607 010203 a9");

struct Read {
  std::unique_ptr<std::uint8_t[]> block;
  Dissection d;

  explicit Read(const Packet& frame, std::size_t captured, std::int64_t time_ns = captured_at)
      : block(new std::uint8_t[captured]) {
    if (captured != 0) std::memcpy(block.get(), frame.data(), captured);
    const auto wire = static_cast<std::uint32_t>(frame.size());
    dissect({block.get(), captured}, wire, link_ethernet, d);
    dissect_trailer({block.get(), captured}, wire, time_ns, d);
    for (const Layer& layer : d.all()) {
      EXPECT_LE(std::size_t{layer.offset} + layer.length, captured);
      EXPECT_GE(std::size_t{layer.length}, header_info(layer.id).size);
    }
  }
  explicit Read(const Packet& frame) : Read(frame, frame.size()) {}
  [[nodiscard]] std::vector<HeaderId> trailers() const {
    std::vector<HeaderId> ids;
    for (const Layer& layer : d.all()) {
      if (is_trailer(layer.id)) ids.push_back(layer.id);
    }
    return ids;
  }
  template <const Field& F>
  [[nodiscard]] std::uint64_t value(HeaderId id) const {
    const Layer* const layer = d.find(id);
    return layer == nullptr ? 0 : read<F>(block.get() + layer->offset);
  }
};

TEST(Trailer, OfMetamakoHasRows) {
  for (const Packet& behind : {Packet(), fcs}) {
    const Read r(roce + metamako_trailer() + behind);
    EXPECT_EQ(r.trailers(), (std::vector{HeaderId::metamako_fcs, HeaderId::metamako}));
    EXPECT_EQ(r.value<MetamakoFcs::fcs>(HeaderId::metamako_fcs), 0xdeadbeefU);
    EXPECT_EQ(r.value<Metamako::seconds>(HeaderId::metamako), 1'700'000'000U);
    EXPECT_EQ(r.value<Metamako::nanoseconds>(HeaderId::metamako), 456U);
    EXPECT_EQ(r.value<Metamako::device>(HeaderId::metamako), 0x1234U);
    EXPECT_EQ(r.value<Metamako::port>(HeaderId::metamako), 7U);
  }
}

TEST(Trailer, ExtensionsAreReadFromTheirEnd) {
  using enum HeaderId;
  const Read r(roce + filled(2, 0) + metamako_trailer(sequence + fraction));
  EXPECT_EQ(r.trailers(),
            (std::vector{metamako_extension, metamako_extension, metamako_fcs, HeaderId::metamako}));
  std::uint64_t tags = 0;
  for (const Layer& layer : r.d.all()) {
    if (layer.id == metamako_extension)
      tags = 10 * tags + read<MetamakoExtension::tag>(r.block.get() + layer.offset);
  }
  EXPECT_EQ(tags, 10U);
  EXPECT_EQ(Read(roce + metamako_trailer(words + fraction)).trailers(),
            (std::vector{metamako_extension, metamako_long_extension, metamako_fcs, HeaderId::metamako}));
  // One that has no room for the words that it announces.
  EXPECT_TRUE(Read(roce + metamako_trailer(hex("010203 e9"))).trailers().empty());
}

TEST(Trailer, OfExablazeHasRows) {
  for (const Packet& behind : {Packet(), fcs}) {
    const Read r(roce + exablaze_trailer() + behind);
    EXPECT_EQ(r.trailers(), std::vector{HeaderId::exablaze});
    EXPECT_EQ(r.value<Exablaze::seconds>(HeaderId::exablaze), 1'700'000'000U);
    EXPECT_EQ(r.value<Exablaze::fraction>(HeaderId::exablaze), std::uint64_t{1} << 39U);
    EXPECT_EQ(r.value<Exablaze::port>(HeaderId::exablaze), 9U);
  }
}

TEST(Trailer, WithATimeFarAwayThereIsNone) {
  const Packet frame = roce + metamako_trailer();
  EXPECT_TRUE(Read(frame, frame.size(), captured_at + 31 * 86'400 * second).trailers().empty());
  EXPECT_TRUE(Read(frame, frame.size(), 0).trailers().empty());
  EXPECT_TRUE(Read(roce).trailers().empty());
  EXPECT_TRUE(Read(roce + filled(16, 0)).trailers().empty());
}

TEST(Trailer, AtEveryTruncationAndWithEveryByteChanged) {
  for (const Packet& trailer : {metamako_trailer(), metamako_trailer(sequence + fraction),
                                metamako_trailer(words + fraction), exablaze_trailer()}) {
    for (const Packet& behind : {Packet(), fcs}) {
      const Packet frame = roce + trailer + behind;
      for (std::size_t size = 0; size < frame.size(); ++size)
        EXPECT_TRUE(Read(frame, size).trailers().empty()) << size;
      for (std::size_t at = roce.size(); at < frame.size(); ++at) {
        for (unsigned value = 0; value < 256; ++value) {
          Packet changed = frame;
          changed[at] = static_cast<std::uint8_t>(value);
          const Read r(changed);
        }
      }
    }
  }
}

}  // namespace
}  // namespace trailer_test
}  // namespace roce::dissect
