// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>

#include "gui/models/analysis_session.hpp"
#include "gui/models/incident_tables.hpp"
#include "gui/models/incident_trace.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

TEST(IncidentTable, ListsThoseOfTheSnapshot) {
  IncidentModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  for (const char* name : {"04_write_loss1.cb.pcap.zst", "05_rnr_exhaust.pcap", "02_write_bw_64k.pcap.zst"}) {
    const auto snapshot = analyzed(name);
    model.show(snapshot);
    ASSERT_TRUE(eventually([&] { return model.is_settled(); }));
    EXPECT_EQ(static_cast<std::size_t>(model.rowCount()), snapshot->incidents.size()) << name;
  }
  EXPECT_EQ(severity_of(*IncidentTable(*analyzed("05_rnr_exhaust.pcap")).row(0)), analyze::Severity::error);
}

TEST(IncidentTrace, HasThePacketsThatTheAnalysisCountsAmongIt) {
  for (const char* name :
       {"04_write_loss1.cb.pcap.zst", "04_read_loss1.ca.pcap.zst", "05_rnr_late.pcap.zst"}) {
    AnalysisSession session;
    session.open({QString::fromStdString(sample(name))});
    ASSERT_TRUE(eventually([&] { return session.state() == AnalysisSession::State::done; }));
    const auto& snapshot = *session.snapshot();
    ASSERT_FALSE(snapshot.incidents.empty()) << name;
    for (const analyze::Incident& incident : snapshot.incidents) {
      const auto trace = incident_trace(session.packets(), snapshot, incident, {});
      ASSERT_TRUE(trace) << name;
      EXPECT_FALSE(trace->stopped);
      std::vector<std::uint64_t> of_it, wanted;
      bool any_rule = false;
      for (const analyze::TracePoint& point : trace->points) {
        if (point.verdict.incident == incident.id + 1) of_it.push_back(point.packet);
        any_rule = any_rule || !rule_text(point.verdict).isEmpty();
      }
      for (std::uint64_t number = incident.first_frame; number <= incident.last_frame; ++number) {
        const auto verdict = session.packets()->verdict(number);
        if (verdict && verdict->incident == incident.id + 1) wanted.push_back(number);
      }
      EXPECT_EQ(of_it, wanted) << name << " #" << incident.id;
      EXPECT_TRUE(any_rule || incident.repeated_packets == 0) << name << " #" << incident.id;
      EXPECT_FALSE(incident_sentences(snapshot, incident).isEmpty());
    }
    // Of a long one its beginning, and it says so.
    EXPECT_TRUE(incident_trace(session.packets(), snapshot, snapshot.incidents[0], {}, 2)->stopped);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(incident_trace(session.packets(), snapshot, snapshot.incidents[0], stop.get_token()));
  }
}

}  // namespace
}  // namespace roce::gui
