// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/incident_columns.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace roce::analyze {
namespace {

Incident loss() {
  Incident incident;
  incident.id = 12;
  incident.what = IncidentKind::loss;
  incident.place = IncidentPlace::before_capture;
  incident.learned = LearnedBy::sequence_nak;
  incident.learned_after_ns = 61'000;
  incident.start_ns = 2'203'896'000;
  incident.end_ns = incident.start_ns + 4'200'000;
  incident.lost_before = incident.lost_at_most = 2;
  incident.repeated_packets = 79;
  incident.repeated_bytes = 84'100;
  incident.discarded_packets = 77;
  incident.over = true;
  return incident;
}

std::string cell(const Incident& incident, std::string_view name) {
  const IncidentColumn* const column = find_column(incident_columns(), name);
  return column == nullptr ? "?" : column->text({&incident, nullptr, 1'000'000'000, {}});
}

TEST(IncidentColumns, ReadLikeATicket) {
  const Incident incident = loss();
  EXPECT_EQ(cell(incident, "id"), "#12");
  EXPECT_EQ(cell(incident, "start"), "+1.203896 s");
  EXPECT_EQ(cell(incident, "duration_ns"), "4.20 ms");
  EXPECT_EQ(cell(incident, "connection"), "0 a>b");
  EXPECT_EQ(cell(incident, "what"), "loss upstream");
  EXPECT_EQ(cell(incident, "learned_by"), "sequence NAK after 61.0 µs");
  EXPECT_EQ(cell(incident, "repeated_packets"), "2 lost, 79 repeated (84.1 kB), 77 discarded");
}

TEST(IncidentColumns, BoundsAreSaidAsSuch) {
  Incident incident = loss();
  incident.lost_at_most = 79;
  EXPECT_EQ(incident_lost_text(incident), "2 to 79");
  incident.lost_before = 0;
  EXPECT_EQ(incident_lost_text(incident), "up to 79");
  incident.lost_at_most = 0;
  EXPECT_EQ(incident_lost_text(incident), "");
  incident.over = false;
  EXPECT_EQ(incident_cost_text(incident), "79 repeated (84.1 kB), 77 discarded, not over");
}

TEST(IncidentColumns, RowsOfOneConnection) {
  Snapshot snapshot;
  snapshot.incidents = {loss(), loss(), loss()};
  snapshot.incidents[1].connection = 7;
  EXPECT_EQ(incident_rows(snapshot).size(), 3U);
  EXPECT_EQ(incident_rows(snapshot, 7).size(), 1U);
  EXPECT_TRUE(incident_rows(snapshot, 8).empty());
}

TEST(IncidentColumns, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const IncidentColumn& column : incident_columns()) EXPECT_TRUE(names.insert(column.name).second);
}

}  // namespace
}  // namespace roce::analyze
