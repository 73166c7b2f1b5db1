// SPDX-License-Identifier: Apache-2.0
#include "analyze/packet/packet_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/record/packet_record.hpp"
#include "dissect/aeth.hpp"
#include "dissect/dissect.hpp"
#include "dissect/icrc.hpp"

namespace roce::analyze {
namespace {

/// By the whole dissection of one packet, which the analysis avoids for nearly all.
PacketSummary glance_of(const capture::Frame& frame) {
  dissect::Dissection d;
  const dissect::Bytes bytes{frame.data, frame.captured};
  dissect::dissect(bytes, frame.wire, frame.link_type, d);
  PacketRecord r;
  make_record(frame, d, r);
  if (!r.has(PacketRecord::valid)) return {};
  unsigned bits = PacketSummary::transport;
  if ((traffic_class_of(frame.data, d) & 3U) == 3U) bits |= PacketSummary::ce;
  if (dissect::check_icrc(bytes, d).status == dissect::CrcStatus::mismatch) bits |= PacketSummary::icrc_wrong;
  if (r.key.dst_qp < 2) bits |= PacketSummary::management;
  const auto syndrome = static_cast<std::uint8_t>(r.aeth >> 24U);
  const bool answer = r.has(PacketRecord::has_aeth);
  if (answer && dissect::aeth_kind(syndrome) == dissect::AethKind::nak) bits |= PacketSummary::nak;
  if (answer && dissect::aeth_kind(syndrome) == dissect::AethKind::rnr_nak) bits |= PacketSummary::rnr_nak;
  return {r.opcode, static_cast<std::uint8_t>(bits)};
}

TEST(PacketSummary, IsWhatTheWholeDissectionSays) {
  std::size_t files = 0;
  unsigned seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string path = entry.path();
    if (path.find(".pcap") == std::string::npos) continue;
    SCOPED_TRACE(path);
    for (const unsigned jobs : {1U, 3U}) {
      auto source = capture::open_files({path});
      ASSERT_TRUE(source);
      std::vector<PacketSummary> summaries;
      AnalysisOptions options;
      options.jobs = jobs;
      options.epoch_frames = jobs == 1 ? 4096 : 100;
      options.summaries = [&](std::uint64_t first, std::span<const PacketSummary> some) {
        EXPECT_EQ(first, summaries.size() + 1);
        summaries.insert(summaries.end(), some.begin(), some.end());
      };
      const auto snapshot = analyze(**source, options);
      ASSERT_EQ(summaries.size(), snapshot->frames_read);
      auto again = capture::open_files({path});
      ASSERT_TRUE(again);
      capture::FrameBatch batch;
      std::size_t i = 0;
      while (true) {
        batch.clear();
        const auto got = (*again)->next_batch(batch, 1000);
        if (!got || *got == 0) break;
        for (const capture::Frame& frame : batch.frames) {
          const PacketSummary expected = glance_of(frame);
          const PacketSummary& found = summaries[i++];
          seen |= found.bits;
          constexpr unsigned others = PacketSummary::link_control | PacketSummary::exported;
          ASSERT_EQ(found.bits & ~others, expected.bits) << i;
          ASSERT_EQ(found.opcode, expected.opcode) << i;
        }
      }
      EXPECT_EQ(i, summaries.size());
    }
    ++files;
  }
  EXPECT_GT(files, 10U);
  EXPECT_EQ(seen & (PacketSummary::transport | PacketSummary::nak | PacketSummary::management),
            unsigned{PacketSummary::transport | PacketSummary::nak | PacketSummary::management});
}

TEST(PacketSummary, FiltersNameTheFieldsTheyAskFor) {
  const auto filter = Filter::compile("ip.src == ip.dst || (infiniband.bth.psn > 3 and not vlan)");
  ASSERT_TRUE(filter);
  std::vector<std::string_view> names;
  for (const FieldRef field : filter->fields()) names.push_back(field_facts(field).name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string_view>{"infiniband.bth.psn", "ip.dst", "ip.src", "vlan"}));
}

TEST(PacketSummary, VerdictsBehindALimitAreNotKept) {
  VerdictStore store(100);
  EXPECT_NE(store.at(100), nullptr);
  EXPECT_EQ(store.at(101), nullptr);
  EXPECT_EQ(store.lost(), 1U);
}

}  // namespace
}  // namespace roce::analyze
