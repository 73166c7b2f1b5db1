// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/findings/shared/texts.hpp"

namespace roce::analyze {
namespace {

using Address = dissect::IpAddress;
using Pair = std::pair<Address, Address>;

std::uint64_t first_frame(const Case& c) noexcept {
  return c.proof.frames.empty() ? 0 : c.proof.frames.front();
}

/// What these ways have in common.
Group::Kind common_kind(const std::set<Pair>& ways) {
  if (ways.size() == 1) return Group::Kind::pair;
  const auto all_have = [&](Address Pair::*end) {
    return std::all_of(ways.begin(), ways.end(),
                       [&](const Pair& way) { return way.*end == (*ways.begin()).*end; });
  };
  if (all_have(&Pair::first)) return Group::Kind::from_host;
  return all_have(&Pair::second) ? Group::Kind::to_host : Group::Kind::several;
}

Group make_group(Group::Kind kind, std::vector<Case> cases) {
  Group group;
  group.kind = cases.size() == 1 ? Group::Kind::connection : kind;
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
    return std::tuple(first_frame(a), a.connection->id, a.side) <
           std::tuple(first_frame(b), b.connection->id, b.side);
  });
  std::set<std::uint32_t> connections;
  std::set<Pair> pairs;
  for (const Case& c : cases) {
    group.proof.add(c.proof);
    group.of += c.of;
    connections.insert(c.connection->id);
    pairs.emplace(c.from().address, c.to().address);
  }
  group.connections = connections.size();
  group.pairs = pairs.size();
  if (group.kind == Group::Kind::several) group.kind = common_kind(pairs);
  if (group.kind == Group::Kind::several) {  // both ways between two hosts are of one pair
    group.pairs = static_cast<std::size_t>(std::count_if(pairs.begin(), pairs.end(), [&](const Pair& way) {
      return way.first <= way.second || !pairs.contains(Pair{way.second, way.first});
    }));
  }
  group.cases = std::move(cases);
  return group;
}

void append(std::vector<Case>& to, std::vector<Case>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Connections of which the capture does not show what the rule needs.
void leave_out_unjudged(const FindingSink& sink, std::vector<Case>& cases) {
  std::erase_if(cases, [&](const Case& each) { return !sink.judges(*each.connection); });
}

/// Moves the pairs of the host that most pairs share into one group, as long as enough of them share one.
/// With more such hosts than `told_apart` there is no common location.
void take_hosts(std::map<Pair, std::vector<Case>>& pairs, std::vector<Group>& groups) {
  for (std::size_t round = 0; round <= told_apart; ++round) {
    std::map<Address, std::size_t> senders;
    std::map<Address, std::size_t> receivers;
    for (const auto& [pair, cases] : pairs) {
      ++senders[pair.first];
      ++receivers[pair.second];
    }
    const auto most = [](const auto& hosts) {
      return std::max_element(hosts.begin(), hosts.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
    };
    const auto sender = most(senders);
    const auto receiver = most(receivers);
    const std::size_t sent = sender == senders.end() ? 0 : sender->second;
    const std::size_t received = receiver == receivers.end() ? 0 : receiver->second;
    if (std::max(sent, received) <= told_apart) return;
    const bool by_sender = sent >= received;
    const Address host = by_sender ? sender->first : receiver->first;
    std::vector<Case> together;
    for (auto entry = pairs.begin(); entry != pairs.end();) {
      const auto& [from, to] = entry->first;
      if (by_sender ? from != host : to != host) {
        ++entry;
        continue;
      }
      append(together, entry->second);
      entry = pairs.erase(entry);
    }
    groups.push_back(
        make_group(by_sender ? Group::Kind::from_host : Group::Kind::to_host, std::move(together)));
  }
}

Finding make_finding(const Group& group, Words words) {
  Finding finding;
  finding.severity = words.severity;
  finding.title = words.title;
  finding.subject = subject_text(group);
  if (group.one_sender()) finding.from = group.first().from().address;
  if (group.one_receiver()) finding.to = group.first().to().address;
  finding.count = group.count();
  finding.packets = group.proof.frames;
  finding.packets.insert(finding.packets.end(), words.packets.begin(), words.packets.end());
  finding.first_time_ns = group.proof.first_time_ns;
  finding.last_time_ns = group.proof.last_time_ns;
  finding.confidence = 0;
  for (const Case& c : group.cases) {
    finding.confidence = std::max(finding.confidence, c.confidence);
    constexpr std::size_t named = 8;
    auto& ids = finding.connections;
    if (ids.size() < named && std::find(ids.begin(), ids.end(), c.connection->id) == ids.end())
      ids.push_back(c.connection->id);
  }
  finding.explanation = std::move(words.explanation);
  finding.advice = std::move(words.advice);
  return finding;
}

}  // namespace

const Case& Group::worst() const noexcept {
  return *std::max_element(cases.begin(), cases.end(),
                           [](const Case& a, const Case& b) { return a.proof.count < b.proof.count; });
}

std::uint64_t Group::sum(const std::function<std::uint64_t(const Case&)>& figure) const {
  std::uint64_t total = 0;
  for (const Case& c : cases) total += figure(c);
  return total;
}

std::vector<Group> group_cases(std::vector<Case> cases) {
  std::map<Pair, std::vector<Case>> pairs;
  for (Case& c : cases) pairs[{c.from().address, c.to().address}].push_back(std::move(c));
  std::vector<Group> groups;
  take_hosts(pairs, groups);
  if (groups.size() > told_apart) {  // everybody with everybody: no host stands out
    std::vector<Case> everybody;
    for (Group& group : groups) append(everybody, group.cases);
    for (auto& [pair, together] : pairs) append(everybody, together);
    pairs.clear();
    groups.clear();
    groups.push_back(make_group(Group::Kind::several, std::move(everybody)));
  }
  for (auto& [pair, together] : pairs) {
    if (together.size() > told_apart) {
      groups.push_back(make_group(Group::Kind::pair, std::move(together)));
      continue;
    }
    for (Case& c : together) {
      std::vector<Case> one;
      one.push_back(std::move(c));
      groups.push_back(make_group(Group::Kind::connection, std::move(one)));
    }
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return first_frame(a.first()) < first_frame(b.first());
  });
  return groups;
}

void report_cases(FindingSink& sink, std::vector<Case> cases, const Describe& describe) {
  leave_out_unjudged(sink, cases);
  struct Told {
    Group group;
    Words words;
  };
  std::vector<Group> groups = group_cases(std::move(cases));
  std::vector<Case> rest;
  // Severities are only known with the words; a hundred thousand groups need not be described for that.
  constexpr std::size_t described = 8 * findings_a_rule;
  if (groups.size() > described) {
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.count() > b.count(); });
    for (std::size_t i = described; i < groups.size(); ++i) append(rest, groups[i].cases);
    groups.erase(groups.begin() + described, groups.end());
  }
  std::vector<Told> told;
  for (Group& group : groups) {
    Words words = describe(group);
    told.push_back({std::move(group), std::move(words)});
  }
  if (told.size() > findings_a_rule) {
    std::stable_sort(told.begin(), told.end(), [](const Told& a, const Told& b) {
      return std::tuple(a.words.severity, a.group.count()) > std::tuple(b.words.severity, b.group.count());
    });
    for (std::size_t i = findings_a_rule - 1; i < told.size(); ++i) append(rest, told[i].group.cases);
    told.erase(told.begin() + (findings_a_rule - 1), told.end());
    Group group = make_group(Group::Kind::several, std::move(rest));
    Words words = describe(group);
    told.push_back({std::move(group), std::move(words)});
  }
  for (Told& t : told) sink.add(make_finding(t.group, std::move(t.words)));
}

void report_at_once(FindingSink& sink, std::vector<Case> cases, const Describe& describe) {
  leave_out_unjudged(sink, cases);
  std::vector<Group> groups = group_cases(std::move(cases));
  if (groups.size() > told_apart) {
    std::vector<Case> all;
    for (Group& group : groups) append(all, group.cases);
    groups.clear();
    groups.push_back(make_group(Group::Kind::several, std::move(all)));
  }
  for (const Group& group : groups) sink.add(make_finding(group, describe(group)));
}

double confidence_in(const Snapshot& snapshot, const Connection& connection) {
  double confidence = 1;
  if (!connection.paired()) {
    confidence *= connection.pairing.ambiguous ? 0.5 : 0.6;
  } else {
    confidence *= 0.5 + 0.5 * std::clamp(connection.pairing.confidence, 0.0, 1.0);
  }
  if (connection.split) confidence *= 0.5;
  // Where the order of packets is uncertain, so is everything that follows from it.
  const std::uint64_t backwards =
      connection.sent[0].count(Event::time_backwards) + connection.sent[1].count(Event::time_backwards);
  const std::uint64_t packets = connection.packets[0] + connection.packets[1];
  if (backwards * 1000 > packets) confidence *= backwards * 100 > packets ? 0.3 : 0.5;
  const std::uint64_t missed =
      connection.sent[0].count(Event::lost_by_capture) + connection.sent[1].count(Event::lost_by_capture);
  if (snapshot.dropped().value_or(0) != 0 || snapshot.numbered.mirror_missing() != 0) {
    confidence *= 0.6;
  } else if (missed != 0) {
    confidence *= 0.8;
  }
  return std::round(confidence * 100) / 100;
}

}  // namespace roce::analyze
