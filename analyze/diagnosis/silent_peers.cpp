// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/silent_peers.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "analyze/connection/find_connection.hpp"
#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {
namespace {

/// One repeat may be of a lost packet, and the capture may end before its answer; two are of two.
constexpr std::uint32_t repeats_each = 2;
/// So many repeats of one request, or of several at once, are more than lost packets.
constexpr std::uint32_t repeats_together = 3;

/// A requester that waits for an answer when the capture ends.
struct Waiting {
  const Incident* incident = nullptr;
  Route way;
  std::int64_t repeated_ns = 0;  ///< first
};

using Times = std::map<dissect::IpAddress, std::int64_t>;

void keep_latest(Times& times, const dissect::IpAddress& host, std::int64_t time_ns) {
  const auto [known, first] = times.try_emplace(host, time_ns);
  if (!first) known->second = std::max(known->second, time_ns);
}

/// The last packets that hosts sent, and that were sent to them.
struct LastHeard {
  explicit LastHeard(const Snapshot& snapshot) {
    for (const Flow& flow : snapshot.flows) {
      if (!flow.any_time) continue;
      const auto [known, first] = between.try_emplace({flow.key.src, flow.key.dst}, flow.last_time_ns);
      if (!first) known->second = std::max(known->second, flow.last_time_ns);
      keep_latest(from, flow.key.src, flow.last_time_ns);
      keep_latest(to, flow.key.dst, flow.last_time_ns);
    }
  }

  std::map<Route, std::int64_t> between;
  Times from;
  Times to;
};

template <class Key>
bool silent_since(const std::map<Key, std::int64_t>& heard, const Key& who, std::int64_t time_ns) {
  const auto last = heard.find(who);
  return last == heard.end() || last->second < time_ns;
}

std::vector<Waiting> waiting_at_the_end(const Snapshot& snapshot) {
  std::vector<Waiting> waiting;
  for (const Incident& incident : snapshot.incidents) {
    if (incident.what != IncidentKind::timeout || incident.over || incident.retries < repeats_each ||
        incident.start_ns == capture::no_time || incident.learned_after_ns <= 0)
      continue;
    const Connection* const connection = find_connection(snapshot.connections, incident.connection);
    if (connection == nullptr || !snapshot.completeness.bears(needs::both_directions, *connection)) continue;
    const unsigned side = incident.side;
    waiting.push_back({&incident,
                       {connection->ends[side].address, connection->ends[1 - side].address},
                       incident.start_ns + incident.learned_after_ns});
  }
  return waiting;
}

}  // namespace

SilentPeers::SilentPeers(const Snapshot& snapshot) {
  const std::vector<Waiting> waiting = waiting_at_the_end(snapshot);
  if (waiting.empty()) return;
  const LastHeard heard(snapshot);
  // Whichever flow may hold the answers, none holds any since. Of two hosts, of all that wait for one host,
  // and of all that one host waits for.
  const auto look = [&](const auto& last, const auto& who_of) {
    std::map<decltype(who_of(waiting.front())), std::vector<const Waiting*>> groups;
    for (const Waiting& each : waiting) {
      if (silent_since(last, who_of(each), each.repeated_ns)) groups[who_of(each)].push_back(&each);
    }
    for (const auto& [who, of] : groups) {
      std::uint32_t repeats = 0;
      for (const Waiting* each : of) repeats += each->incident->retries;
      if (repeats < repeats_together) continue;
      for (const Waiting* each : of) unanswered_.insert(each->incident->id);
    }
  };
  look(heard.between, [](const Waiting& each) { return Route{each.way.second, each.way.first}; });
  look(heard.from, [](const Waiting& each) { return each.way.second; });
  look(heard.to, [](const Waiting& each) { return each.way.first; });
}

}  // namespace roce::analyze::diagnosis
