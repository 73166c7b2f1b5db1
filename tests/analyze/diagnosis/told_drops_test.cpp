// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/told_drops.hpp"

#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

using diagnosis::told_drops;
using diagnosis::Trouble;

/// A switch told of `matched` drops that were missed, at `output`, of packets from host 1 to host 2.
void tell(Snapshot& snapshot, std::uint64_t matched, std::uint32_t output,
          std::optional<std::uint32_t> queue = {}) {
  Exports& e = snapshot.exports;
  if (e.agents.empty()) e.agents.push_back({host(7)});
  for (std::uint64_t i = 0; i < matched; ++i) {
    ExportDrop& drop = e.drops.emplace_back();
    drop.output = output;
    drop.queue = queue;
    drop.reason = {DropReason::List::sflow, dissect::sflow::reason_no_buffer};
    drop.roce = true;
    drop.key.src = host(1);
    drop.key.dst = host(2);
    drop.loss_shown_by = 10 + i;
    drop.proved = true;
  }
}

Trouble losses(std::uint64_t at_least) {
  Trouble trouble;
  trouble.cause = diagnosis::RootCause::loss;
  trouble.ways = {{host(1), host(2)}};
  trouble.at_least = at_least;
  return trouble;
}

TEST(ToldDrops, NearlyAllAtOnePlaceIsThePlace) {
  SnapshotMaker made;
  tell(made.snapshot, 18, 12, 3);
  const auto told = told_drops(made.snapshot, losses(20));
  EXPECT_EQ(told.place, ", at switch 10.0.0.7 port 12, queue 3: no buffer (tail drop)");
  EXPECT_NE(told.remedy.find("The buffer was full"), std::string::npos);
  EXPECT_EQ(
      told.fact,
      "Drops that switches told of, packet by packet: 18 at switch 10.0.0.7 port 12, queue 3: no buffer "
      "(tail drop).");
}

TEST(ToldDrops, SeveralPlacesOrFewAreFactsOnly) {
  SnapshotMaker made;
  tell(made.snapshot, 6, 12);
  tell(made.snapshot, 9, 14);
  const auto told = told_drops(made.snapshot, losses(20));
  EXPECT_EQ(told.place, "");
  EXPECT_EQ(told.remedy, "");
  EXPECT_EQ(
      told.fact,
      "Drops that switches told of, packet by packet: 9 at switch 10.0.0.7 port 14: no buffer (tail drop); "
      "6 at switch 10.0.0.7 port 12: no buffer (tail drop).");
}

TEST(ToldDrops, NotOfOtherWaysOrCauses) {
  SnapshotMaker made;
  tell(made.snapshot, 20, 12);
  Trouble other = losses(20);
  other.ways = {{host(2), host(1)}};
  EXPECT_EQ(told_drops(made.snapshot, other).fact, "");
  Trouble late = losses(20);
  late.cause = diagnosis::RootCause::reordering;
  EXPECT_EQ(told_drops(made.snapshot, late).fact, "");
  for (ExportDrop& drop : made.snapshot.exports.drops)
    drop.proved = false;  // missing in a pass, and needed no more
  EXPECT_EQ(told_drops(made.snapshot, losses(20)).fact, "");
}

}  // namespace
}  // namespace roce::analyze
