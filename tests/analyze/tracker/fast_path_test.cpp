// SPDX-License-Identifier: Apache-2.0
// The tracker's short way for common packets against the long way: on every real capture the same report
// and the same verdict of each packet.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "analyze/packet/verdict_store.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/report/json/json_report.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {
namespace {

struct Analysed {
  std::string report;
  std::uint64_t frames = 0;
};

Analysed analyse(const std::string& path, bool short_way, bool check_icrc, VerdictStore& verdicts) {
  Analysed result;
  auto source = capture::open_files({path});
  if (!source) return result;
  AnalysisOptions options;
  options.short_way = short_way;
  options.check_icrc = check_icrc;
  options.verdicts = &verdicts;
  const auto snapshot = analyze(**source, options);
  std::string piece;
  const auto take = [&] {
    result.report += piece;
    piece.clear();
  };
  report_json(*snapshot, true, {piece, take});
  take();
  result.frames = snapshot->frames_read;
  return result;
}

TEST(ShortWay, SaysWhatTheLongWaySays) {
  std::uint64_t packets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string path = entry.path().string();
    if (path.find(".pcap") == std::string::npos) continue;
    {
      // Without ICRCs there is less that keeps a wrong packet off the short way.
      VerdictStore unused;
      EXPECT_EQ(analyse(path, true, false, unused).report, analyse(path, false, false, unused).report)
          << path;
    }
    VerdictStore of_short, of_long;
    const Analysed short_way = analyse(path, true, true, of_short);
    const Analysed long_way = analyse(path, false, true, of_long);
    EXPECT_EQ(short_way.report, long_way.report) << path;
    packets += long_way.frames;
    for (std::uint64_t number = 1; number <= long_way.frames; ++number) {
      const Verdict* const a = of_short.find(number);
      const Verdict* const b = of_long.find(number);
      ASSERT_EQ(a == nullptr, b == nullptr) << path << " packet " << number;
      const bool same = a == nullptr || std::memcmp(a, b, sizeof *a) == 0;
      ASSERT_TRUE(same) << path << " packet " << number;
    }
  }
  EXPECT_GT(packets, 100'000U);
}

}  // namespace
}  // namespace roce::analyze
