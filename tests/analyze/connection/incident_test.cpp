// SPDX-License-Identifier: Apache-2.0
#include "analyze/connection/incident.hpp"

#include <gtest/gtest.h>

namespace roce::analyze {
namespace {

TEST(Incident, ReorderingThatTurnsOutToBeALossIsCalledOne) {
  for (const IncidentKind what : {IncidentKind::loss_or_reordering, IncidentKind::reordering}) {
    Incident incident;
    incident.what = what;
    incident.leave_open(Undecided::lost_or_late);
    incident.turn_out_lost();
    EXPECT_EQ(incident.what, IncidentKind::loss);
    EXPECT_EQ(incident.lost_after, 1U);
    EXPECT_FALSE(incident.is_undecided(Undecided::lost_or_late));
  }
}

}  // namespace
}  // namespace roce::analyze
