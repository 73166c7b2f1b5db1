// SPDX-License-Identifier: Apache-2.0
// Snapshots with incidents, and what is said of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "analyze/results/diagnosis.hpp"
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {

struct What {
  IncidentKind what = IncidentKind::loss;
  IncidentPlace place = IncidentPlace::before_capture;
  LearnedBy learned = LearnedBy::sequence_nak;
  std::int64_t start_ns = test_second;
  std::uint32_t lost_before = 0;
  std::uint32_t lost_after = 0;
  std::uint32_t lost_row = 0;
  std::int64_t learned_after_ns = 5'000;
  std::int64_t confirmed_ago_ns = Incident::unknown_ns;
  bool of_responses = false;
  bool over = true;
};

class DiagnosisMaker : public SnapshotMaker {
 public:
  Incident& happened(const Connection& connection, const What& w, unsigned side = 0) {
    Incident incident;
    incident.id = static_cast<std::uint32_t>(snapshot.incidents.size());
    incident.connection = connection.id;
    incident.side = static_cast<std::uint8_t>(side);
    incident.what = w.what;
    incident.place = w.place;
    incident.learned = w.learned;
    incident.start_ns = w.start_ns;
    incident.end_ns = w.start_ns + 1'000'000;
    incident.stalled_ns = 20'000;
    incident.recovery_ns = 500'000;
    incident.lost_before = w.lost_before;
    incident.lost_after = w.lost_after;
    incident.lost_at_most = incident.lost_at_least();
    incident.lost_row = w.lost_row;
    incident.learned_after_ns = w.learned_after_ns;
    incident.confirmed_ago_ns = w.confirmed_ago_ns;
    incident.of_responses = w.of_responses;
    incident.over = w.over;
    incident.first_frame = 100 + 10 * incident.id;
    incident.last_frame = incident.first_frame + 5;
    incident.repeated_packets = 40;
    snapshot.incidents.push_back(incident);
    return snapshot.incidents.back();
  }

  /// `times` losses of what side 0 sends, each with its incident.
  void lose(Connection& connection, std::uint64_t times, bool upstream = true) {
    happen(connection.sent[0], upstream ? Event::lost_before_capture : Event::lost_after_capture, times);
    happen(connection.sent[0], Event::retransmitted_nak, 40 * times);
    for (std::uint64_t i = 0; i < times; ++i) {
      What what;
      what.place = upstream ? IncidentPlace::before_capture : IncidentPlace::after_capture;
      (upstream ? what.lost_before : what.lost_after) = 1;
      what.lost_row = upstream ? 1 : 0;
      // At random, as far as a fixed row of numbers can be: no period, no bursts.
      what.start_ns = test_second / 100 * static_cast<std::int64_t>(i * i * 7 % 500 + i);
      happened(connection, what);
    }
  }

  const std::vector<Diagnosis>& say() {
    find_all(snapshot);
    diagnose(snapshot);
    for (const Diagnosis& d : snapshot.diagnoses) {
      EXPECT_FALSE(d.sentence.empty());
      EXPECT_EQ(d.sentence.find("  "), std::string::npos) << d.sentence;
      for (const std::string& command : d.commands) expect_filters(command);
    }
    return snapshot.diagnoses;
  }
};

}  // namespace roce::analyze
