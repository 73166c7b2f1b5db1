// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/incident_log.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "analyze/packet/verdict_store.hpp"

namespace roce::analyze {
namespace {

Incident of(std::uint32_t connection, std::int64_t start_ns) {
  Incident incident;
  incident.connection = connection;
  incident.start_ns = start_ns;
  incident.first_frame = incident.last_frame = static_cast<std::uint64_t>(start_ns);
  return incident;
}

TEST(IncidentLog, IdsAreInOrderOfTimeAndVerdictsFollow) {
  IncidentLog log;
  VerdictStore verdicts;
  verdicts.at(30)->incident = log.add(of(0, 30)) & Verdict::incidents_at_most;
  verdicts.at(10)->incident = log.add(of(1, 10)) & Verdict::incidents_at_most;
  verdicts.at(20)->flags = 0;
  std::vector<std::uint32_t> numbers;
  const std::vector<Incident> all = log.take(numbers);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].start_ns, 10);
  EXPECT_EQ(all[0].id, 0U);
  EXPECT_EQ(all[1].id, 1U);
  verdicts.number_incidents(numbers);
  EXPECT_EQ(verdicts.find(10)->incident, 1U);
  EXPECT_EQ(verdicts.find(30)->incident, 2U);
  EXPECT_EQ(verdicts.find(30)->incident, 2U) << "asked twice";
  EXPECT_EQ(verdicts.find(20)->incident, 0U);
}

TEST(IncidentLog, AConnectionHasNoMoreThanItsShare) {
  IncidentLog log;
  for (std::uint32_t i = 0; i < IncidentLog::of_connection; ++i) EXPECT_NE(log.add(of(7, i)), 0U);
  EXPECT_EQ(log.add(of(7, 1)), 0U);
  EXPECT_NE(log.add(of(8, 1)), 0U);
  EXPECT_EQ(log.dropped(), 1U);
}

TEST(IncidentLog, AllConnectionsTogetherAreBounded) {
  IncidentLog log;
  for (std::size_t i = 0; i < IncidentLog::of_all; ++i) log.add(of(static_cast<std::uint32_t>(i), 1));
  EXPECT_EQ(log.dropped(), 0U);
  EXPECT_EQ(log.add(of(5, 1)), 0U);
  EXPECT_EQ(log.dropped(), 1U);
}

TEST(IncidentLog, WhatBecomesTheOtherDirectionGoesWithIt) {
  IncidentLog log;
  log.add(of(3, 10));
  log.merge(3, 1);
  EXPECT_TRUE(log.of(3).empty());
  ASSERT_EQ(log.of(1).size(), 1U);
  EXPECT_EQ(log.at(log.of(1)[0]).connection, 1U);
  EXPECT_EQ(log.at(log.of(1)[0]).side, 1U);
}

}  // namespace
}  // namespace roce::analyze
