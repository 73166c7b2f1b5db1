// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "analyze/base/address_text.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/diagnosis/draft.hpp"

namespace roce::analyze::diagnosis {
namespace {

/// How well a finding fits as evidence: 0 not at all, 2 if it is about the same direction.
int fitness(const Draft& draft, const Finding& finding, const FindingRole& role) {
  // What was found to be part of it is shown by the findings of that.
  if (!role.proves.has(draft.cause) && !draft.symptoms.has(role.alone)) return 0;
  if (finding.connections.empty()) return role.alone == draft.cause ? 1 : 0;
  const bool shares = std::any_of(finding.connections.begin(), finding.connections.end(),
                                  [&](std::uint32_t id) { return draft.connections.contains(id); });
  if (!shares) return 0;
  if (!finding.from || !finding.to) return 1;
  // What answers do is told by the requests that are sent again for them.
  const bool back = repeated_by_receiver.has(draft.cause) && !role.one_way;
  const Route way = back ? Route{*finding.to, *finding.from} : Route{*finding.from, *finding.to};
  if (draft.ways.contains(way)) return 2;
  if (draft.shown_on.contains(way)) return 1;
  return role.one_way ? 0 : 1;
}

/// The command at the end of a finding's advice.
std::string command_of(const Finding& finding) {
  const std::size_t at = finding.advice.rfind("roceanalyze ");
  return at == std::string::npos ? std::string() : finding.advice.substr(at);
}

/// Whether two findings have a host in common, as far as they name hosts.
bool share_hosts(const Diagnosis& d, const Finding& finding) {
  const auto has = [&](const std::optional<dissect::IpAddress>& host) {
    return host && (d.from == host || d.to == host);
  };
  return (!d.from && !d.to) || (!finding.from && !finding.to) || has(finding.from) || has(finding.to);
}

void place_alone(Diagnosis& d) {
  d.level = d.from && d.to   ? (d.connections.size() == 1 ? Level::connection : Level::direction)
            : d.from || d.to ? Level::host
                             : Level::capture;
  d.host.reset();
  if (d.level == Level::host) d.host = d.from ? d.from : d.to;
}

/// A finding that no trouble explains is a trouble of its own.
Draft draft_of(const Finding& finding, std::size_t index, const FindingRole& role) {
  Draft draft;
  draft.cause = role.alone;
  draft.follows = role.follows;
  Diagnosis& d = draft.diagnosis;
  d.cause = root_cause_names[role.alone];
  const Consequence meant = finding.severity == Severity::error     ? Consequence::fatal
                            : finding.severity == Severity::warning ? Consequence::degraded
                                                                    : Consequence::odd;
  d.severity = std::min(meant, role.at_most);
  d.subject = finding.subject;
  const std::string what = opening_sentence(finding.explanation);
  const bool names_host = finding.from && what.find(address_text(*finding.from)) != std::string::npos;
  const bool names_place = names_host || what.find(finding.subject) != std::string::npos ||
                           finding.subject == "the capture" || !finding.connections.empty();
  d.sentence = names_place ? what : fmt::format("{}: {}", finding.subject, what);
  if (!finding.sentence.empty()) d.sentence = finding.sentence;
  draft.first = d.sentence;
  draft.most = finding.count;
  if (finding.explanation.size() > what.size() + 2)
    d.facts.push_back(finding.explanation.substr(what.size() + 2));
  d.from = finding.from;
  d.to = finding.to;
  d.at_least = finding.count;
  d.since_ns = finding.first_time_ns;
  d.until_ns = finding.last_time_ns;
  d.confidence = finding.confidence;
  d.connections = finding.connections;
  d.connection_count = finding.connections.size();
  place_alone(d);
  d.packets = finding.packets;
  d.findings.push_back(index);
  d.advice = finding.advice;
  if (std::string command = command_of(finding); !command.empty()) d.commands.push_back(std::move(command));
  return draft;
}

/// The same command for all that a diagnosis is about, where that of a finding is about one of many
/// connections or directions: with addresses instead of their numbers.
std::string widened(const Snapshot& snapshot, const Draft& draft, std::string command) {
  constexpr std::string_view scope = "roce.connection == ", towards = "roce.direction == ", both = " && ";
  const Diagnosis& d = draft.diagnosis;
  const std::size_t at = command.find(scope);
  std::size_t behind = command.find(both, at);
  if (at == std::string::npos || behind == std::string::npos) return command;
  const auto id = std::strtoull(command.c_str() + at + scope.size(), nullptr, 10);
  const Connection* const connection = find_connection(snapshot.connections, id);
  if (connection == nullptr) return command;
  behind += both.size();
  std::string hosts = d.connection_count < 2 ? command.substr(at, behind - at) : std::string();
  const auto add = [&](std::string_view field, const dissect::IpAddress& host) {
    if (d.connection_count >= 2 && (d.from == host || d.to == host))
      hosts += fmt::format("{} == {} && ", field, address_text(host));
  };
  const bool one_way = command.compare(behind, towards.size(), towards) == 0;
  const unsigned sender = one_way && command.compare(behind + towards.size(), 6, "b_to_a") == 0 ? 1 : 0;
  const dissect::IpAddress &from = connection->ends[sender].address,
                           &to = connection->ends[1 - sender].address;
  const bool mutual = draft.ways.contains({from, to}) && draft.ways.contains({to, from});
  if (one_way && d.connection_count < 2 && !mutual) return command;
  if (one_way) behind = std::min(command.find(both, behind), command.size() - both.size()) + both.size();
  // One request is not all that many connections repeat.
  if (command.find("infiniband.bth.psn == ", behind) != std::string::npos && d.connection_count >= 2) {
    if (d.from) hosts += fmt::format("roce.src == {} && ", address_text(*d.from));
    if (d.to) hosts += fmt::format("roce.dst == {} && ", address_text(*d.to));
    return command.replace(at, std::string::npos, hosts + "roce.analysis.retransmission'");
  }
  // What else names a direction holds for this connection only.
  if (command.find("direction", behind) != std::string::npos) return command;
  add(one_way && !mutual ? "roce.src" : "roce.addr", from);
  add(one_way && !mutual ? "roce.dst" : "roce.addr", to);
  return command.replace(at, behind - at, hosts);
}

/// A summary's command shows all that two hosts send.
bool is_summary(const Finding& finding) {
  return finding.id == "sick_host" || finding.id == "sick_link";
}

/// Whether what a finding explains is what the cause leaves to findings. Who waits for an answer that never
/// comes is told by its timers, too.
bool tells(RootCause cause, const FindingRole& role) noexcept {
  return told_by_findings.has(cause) &&
         (role.alone == cause ||
          (cause == RootCause::no_answer && role.alone == RootCause::request_or_answer_lost));
}

void take_evidence(const Snapshot& snapshot, Draft& draft, const FindingRole& role, std::size_t index) {
  Diagnosis& d = draft.diagnosis;
  const Finding& finding = snapshot.findings[index];
  if (!draft.is_told && tells(draft.cause, role)) {
    d.facts.insert(d.facts.begin(), finding.explanation);
    draft.is_told = true;
  }
  if (role.told) d.facts.push_back(finding.explanation);
  const std::string command = widened(snapshot, draft, command_of(finding));
  // What is said already is against what a switch told.
  const bool knows = d.advice.empty() && (draft.advice.empty() || role.alone == draft.cause);
  if (d.findings.empty() && knows) {
    d.advice = finding.advice.substr(0, finding.advice.size() - command_of(finding).size());
    if (command != command_of(finding)) {
      // "The request (8): " is of one connection.
      const std::size_t end = d.advice.rfind(". ");
      d.advice.erase(end == std::string::npos ? 0 : end + 2);
      d.advice += "The packets: ";
    }
    d.advice += command;
    draft.shows_packets = true;
  } else if (!draft.shows_packets && !command.empty() && !is_summary(finding)) {
    d.advice = fmt::format("{} The packets: {}", d.advice.empty() ? draft.advice : d.advice, command);
    draft.shows_packets = true;
  }
  d.findings.push_back(index);
}

/// The trouble that a finding fits best, or null. `own`: only those that it is the first evidence of.
Draft* best_fit(std::vector<Draft>& drafts, std::size_t troubles, const Finding& finding,
                const FindingRole& role, bool own) {
  Draft* best = nullptr;
  int most = 0;
  for (std::size_t k = 0; k < troubles; ++k) {
    if (own != (role.alone == drafts[k].cause) ||
        (drafts[k].cause != RootCause::outage && role.never_of.has(drafts[k].diagnosis.seen)))
      continue;
    const int fit = fitness(drafts[k], finding, role);
    if (fit > most) {
      best = &drafts[k];
      most = fit;
    }
  }
  return best;
}

/// What the capture is known to have dropped, or its mirror, is what it lacks.
bool explains_missing(const Diagnosis& diagnosis, const Finding& finding) {
  return finding.id == "loss_by_capture" && !diagnosis.from && !diagnosis.to;
}

/// Adds a finding that is evidence of no trouble: as a diagnosis of its own, or to one that says the same of
/// others.
void add_alone(const Snapshot& snapshot, std::size_t index, const FindingRole& role,
               std::vector<Draft>& drafts, std::size_t troubles) {
  const Finding& finding = snapshot.findings[index];
  const auto alike = std::find_if(
      drafts.begin() + static_cast<std::ptrdiff_t>(troubles), drafts.end(), [&](const Draft& each) {
        const bool same = snapshot.findings[each.diagnosis.findings.front()].id == finding.id;
        return same || (each.follows < role.follows && each.cause == role.alone &&
                        (share_hosts(each.diagnosis, finding) || explains_missing(each.diagnosis, finding)));
      });
  if (alike == drafts.end()) {
    drafts.push_back(draft_of(finding, index, role));
    return;
  }
  Diagnosis& d = alike->diagnosis;
  d.findings.push_back(index);
  d.facts.push_back((finding.sentence.empty() ? opening_sentence(finding.explanation) : finding.sentence) +
                    ".");
  if (snapshot.findings[d.findings.front()].id != finding.id) return;
  if (d.from != finding.from) d.from.reset();
  if (d.to != finding.to) d.to.reset();
  d.at_least += finding.count;
  if (finding.count > alike->most) {
    const Draft most = draft_of(finding, index, role);
    if (most.diagnosis.severity == d.severity) {
      d.facts.back() = alike->first + ".";
      alike->first = most.first;
      alike->most = finding.count;
      d.subject = most.diagnosis.subject;
      d.advice = most.diagnosis.advice;
      d.commands = most.diagnosis.commands;
    }
  }
  const std::size_t others = d.findings.size() - 1;
  d.sentence =
      fmt::format("{}; likewise in {}", alike->first,
                  others == 1 ? std::string("one more place") : fmt::format("{} more places", others));
  place_alone(d);
}

/// What the capture cannot bear stands before all diagnoses: it is none besides.
bool is_told_as_limit(const Snapshot& snapshot, const Finding& finding) {
  const std::vector<std::uint32_t>& told = snapshot.completeness.one_direction;
  return finding.id == "asymmetric_capture" && !finding.connections.empty() &&
         std::all_of(finding.connections.begin(), finding.connections.end(),
                     [&](std::uint32_t id) { return std::find(told.begin(), told.end(), id) != told.end(); });
}

}  // namespace

void share_out_findings(const Snapshot& snapshot, std::vector<Draft>& drafts) {
  const std::size_t troubles = drafts.size();
  std::vector<bool> taken(snapshot.findings.size());
  const auto each_left = [&](auto&& look) {
    for (std::size_t i = 0; i < snapshot.findings.size(); ++i) {
      const FindingRole* const role = role_of(snapshot.findings[i].id);
      if (!taken[i] && role != nullptr) look(i, *role);
    }
  };
  // The cause's own evidence stands before its symptoms, so that its advice is the one to follow.
  for (const bool own : {true, false}) {
    each_left([&](std::size_t i, const FindingRole& role) {
      Draft* const draft = best_fit(drafts, troubles, snapshot.findings[i], role, own);
      if (draft == nullptr) return;
      take_evidence(snapshot, *draft, role, i);
      taken[i] = true;
    });
  }
  // One that is about several places is evidence of each.
  for (std::size_t k = 0; k < troubles; ++k) {
    Draft& draft = drafts[k];
    for (std::size_t i = 0; i < snapshot.findings.size() && draft.diagnosis.findings.empty(); ++i) {
      const FindingRole* const role = role_of(snapshot.findings[i].id);
      if (role == nullptr || role->alone != draft.cause || role->never_of.has(draft.diagnosis.seen)) continue;
      if (fitness(draft, snapshot.findings[i], *role) != 0) take_evidence(snapshot, draft, *role, i);
    }
    if (draft.diagnosis.advice.empty()) draft.diagnosis.advice = draft.advice;
  }
  for (int follows = 0; follows <= last_to_follow; ++follows) {
    each_left([&](std::size_t i, const FindingRole& role) {
      // What is only worth knowing is no trouble.
      const Finding& finding = snapshot.findings[i];
      if (role.follows != follows || finding.severity == Severity::info) return;
      if (is_told_as_limit(snapshot, finding)) return;
      add_alone(snapshot, i, role, drafts, troubles);
    });
  }
}

}  // namespace roce::analyze::diagnosis
