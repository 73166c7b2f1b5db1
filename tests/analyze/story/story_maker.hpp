// SPDX-License-Identifier: Apache-2.0
// Connections that failed, made by hand.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "analyze/story/story.hpp"
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze::test {

/// Host 1 sent a request five times and gave up.
inline Connection& connect_silent(SnapshotMaker& maker) {
  Connection& c = maker.connect(1, 2);
  c.state = Connection::State::failed;
  c.requester[0].retries_exhausted = true;
  RetryChain& chain = c.requester[0].trouble->worst_chain;
  chain.psn = 4711;
  chain.opcode = 0x0a;  // RDMA WRITE Only
  chain.resends = 4;
  chain.first_frame = 500;
  chain.last_frame = 540;
  chain.first_seen = true;
  return c;
}

/// Host 2 refused a request of host 1.
inline Connection& connect_refused(SnapshotMaker& maker, std::uint8_t code = 2) {
  static constexpr Event events[] = {Event::nak_sequence_error, Event::nak_invalid_request,
                                     Event::nak_remote_access_error, Event::nak_remote_operational_error};
  Connection& c = maker.connect(1, 2);
  c.state = Connection::State::failed;
  c.requester[0].refused_fatally = true;
  RefusedRequest refused;
  refused.syndrome = static_cast<std::uint8_t>(0x60 + code);
  refused.opcode = 0x0a;
  refused.psn = 4711;
  refused.request_frame = 600;
  refused.nak_frame = 601;
  c.requester[0].trouble->refused.push_back(refused);
  happen(c.sent[1], events[code], 1, 601);
  return c;
}

/// Host 2 had no receive posted.
inline Connection& connect_not_ready(SnapshotMaker& maker) {
  Connection& c = maker.connect(1, 2);
  c.state = Connection::State::failed;
  c.requester[0].rnr_exhausted = true;
  happen(c.sent[1], Event::rnr_nak, 4, 700);
  return c;
}

inline Incident& add_incident(SnapshotMaker& maker, const Connection& c, IncidentKind what,
                              std::uint64_t first, std::uint64_t last) {
  Incident incident;
  incident.id = static_cast<std::uint32_t>(maker.snapshot.incidents.size());
  incident.connection = c.id;
  incident.what = what;
  incident.over = true;
  incident.first_frame = first;
  incident.last_frame = last;
  incident.start_ns = static_cast<std::int64_t>(first) * 1'000'000;
  incident.end_ns = static_cast<std::int64_t>(last) * 1'000'000;
  maker.snapshot.incidents.push_back(incident);
  return maker.snapshot.incidents.back();
}

inline Story story_of(const SnapshotMaker& maker, const Connection& c) {
  QueuePair pair;
  pair.connection = c.id;
  return tell(maker.snapshot, pair);
}

/// The texts of a kind, with " | " between them.
inline std::string told(const Story& story, StoryKind kind) {
  std::string all;
  for (const StoryLine& line : story.lines) {
    if (line.kind == kind) all += (all.empty() ? "" : " | ") + line.text;
  }
  return all;
}

inline bool has(std::string_view text, std::string_view words) {
  return text.find(words) != text.npos;
}

}  // namespace roce::analyze::test
