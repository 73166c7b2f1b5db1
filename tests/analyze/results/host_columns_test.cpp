// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/host_columns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/analyze/results/hand_made.hpp"

namespace roce::analyze {
namespace {

std::vector<std::string> addresses(const Snapshot& snapshot) {
  std::vector<std::string> all;
  for (const HostRow& host : host_rows(snapshot)) all.push_back(host.address);
  return all;
}

// 10.0.0.1 sends again, and gets NAKs, whoever is to blame.
TEST(HostRows, WhoIsBlamedComesBeforeWhoSuffers) {
  Snapshot s = hand_made();
  EXPECT_EQ(addresses(s).front(), "10.0.0.1");
  Diagnosis d = made_diagnosis();
  d.seen = Whereabouts::responder;
  d.cause = "receiver_not_ready";
  s.diagnoses = {d};
  const std::vector<HostRow> hosts = host_rows(s);
  EXPECT_EQ(hosts[0].address, "10.0.0.2");
  EXPECT_EQ(hosts[0].cause, "receiver_not_ready");
  EXPECT_EQ(hosts[0].diagnosis, 0U);
  EXPECT_EQ(hosts[1].address, "10.0.0.1");
  EXPECT_FALSE(hosts[1].diagnosis);

  s.diagnoses[0].seen = Whereabouts::upstream;
  EXPECT_EQ(addresses(s).front(), "10.0.0.1");
  s.diagnoses[0].seen = Whereabouts::downstream;
  EXPECT_EQ(addresses(s).front(), "10.0.0.2");
  s.diagnoses[0].seen = Whereabouts::between_points;  // the network: nobody's side
  EXPECT_EQ(addresses(s).front(), "10.0.0.1");
  s.diagnoses[0].level = Level::host;
  s.diagnoses[0].host = ipv4(4);
  EXPECT_EQ(addresses(s).front(), "10.0.0.4");
}

TEST(HostRows, TheWorstDiagnosisDecides) {
  Snapshot s = hand_made();
  Diagnosis worst = made_diagnosis();
  worst.from = ipv4(3);
  worst.to = ipv4(4);
  s.diagnoses = {worst, made_diagnosis(), worst};
  EXPECT_EQ(addresses(s), (std::vector<std::string>{"10.0.0.3", "10.0.0.1", "10.0.0.2", "10.0.0.4"}));
  EXPECT_EQ(host_rows(s)[0].diagnosis, 0U);
}

}  // namespace
}  // namespace roce::analyze
