// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/diagnosis/root_causes.hpp"
#include "analyze/diagnosis/troubles.hpp"
#include "analyze/diagnosis/words.hpp"

namespace roce::analyze {
namespace diagnosis {
namespace {

constexpr std::size_t named = 8;

Cost cost_of(const Trouble& trouble) {
  Cost cost;
  cost.failed = trouble.failed;
  std::vector<std::int64_t> recoveries;
  for (const Incident* each : trouble.incidents) {
    cost.repeated_packets += each->repeated_packets;
    cost.repeated_bytes += each->repeated_bytes;
    cost.discarded_packets += each->discarded_packets;
    cost.stalled_ns += each->stalled_ns;
    if (each->recovery_ns != Incident::unknown_ns) recoveries.push_back(each->recovery_ns);
  }
  if (recoveries.empty()) return cost;
  const auto middle = recoveries.begin() + static_cast<std::ptrdiff_t>((recoveries.size() - 1) / 2);
  std::nth_element(recoveries.begin(), middle, recoveries.end());
  cost.recovery_median_ns = *middle;
  cost.recovery_longest_ns = *std::max_element(recoveries.begin(), recoveries.end());
  return cost;
}

/// What it did to the traffic. Some three times are chance; from then on shares count, not numbers.
Consequence consequence_of(const Trouble& trouble, const Share& share) {
  if (trouble.failed != 0) return Consequence::fatal;
  // No traffic at all is degraded, however few packets say so.
  if (trouble.cause == RootCause::pause || trouble.cause == RootCause::no_answer) return Consequence::degraded;
  constexpr std::uint64_t chance = 3;
  constexpr std::uint64_t a_row = 10;
  if (trouble.weight() < chance || (trouble.incidents.size() < chance && trouble.at_least < a_row))
    return Consequence::odd;
  constexpr double lost = 1e-4;
  constexpr double repeated = 1e-3;
  constexpr double stalled = 0.01;
  if (counts_packets(trouble.cause) &&
      static_cast<double>(trouble.at_least) >= lost * static_cast<double>(share.sent))
    return Consequence::degraded;
  if (share.of_repeats() >= repeated) return Consequence::degraded;
  const bool waits = static_cast<double>(share.stalled_ns) >= stalled * static_cast<double>(share.time_ns);
  return waits && share.stalled_ns != 0 ? Consequence::degraded : Consequence::odd;
}

void place(const Trouble& trouble, Diagnosis& d) {
  const auto one = [&](dissect::IpAddress Way::*end) -> std::optional<dissect::IpAddress> {
    const dissect::IpAddress& host = (*trouble.ways.begin()).*end;
    for (const Way& way : trouble.ways) {
      if (way.*end != host) return std::nullopt;
    }
    return host;
  };
  d.from = one(&Way::first);
  d.to = one(&Way::second);
  d.seen = trouble.seen;
  if (trouble.cause == RootCause::pause) {
    d.level = Level::host;
    d.host = d.to;
  } else if (d.from && d.to) {
    d.level = trouble.sides.size() == 1 ? Level::connection : Level::direction;
  } else if (d.from || d.to) {
    d.level = Level::host;
    d.host = d.from ? d.from : d.to;
  }
}

/// "roceanalyze incidents FILE -Y '...'": the incidents of the hosts that it is about.
std::string incidents_command(const Diagnosis& d) {
  std::string test;
  if (d.level == Level::connection && d.connections.size() == 1)
    return fmt::format("roceanalyze incidents FILE -Y 'roce.connection == {}'", d.connections.front());
  for (const auto& host : {d.from, d.to}) {
    if (host) test += fmt::format("{}roce.addr == {}", test.empty() ? "" : " && ", address_text(*host));
  }
  return test.empty() ? "roceanalyze incidents FILE"
                      : fmt::format("roceanalyze incidents FILE -Y '{}'", test);
}

Diagnosis diagnosis_of(const Snapshot& snapshot, const Trouble& trouble) {
  Diagnosis d;
  d.cause = root_cause_names[trouble.cause];
  place(trouble, d);
  const Share share = share_of(snapshot, trouble);
  d.severity = consequence_of(trouble, share);
  d.cost = cost_of(trouble);
  d.at_least = trouble.at_least;
  if (trouble.at_most != 0) d.at_most = trouble.at_least + trouble.at_most;
  d.of = share.sent;
  d.since_ns = trouble.first_ns;
  d.until_ns = trouble.last_ns;
  double confidence = 0;
  for (const Incident* each : trouble.incidents) {
    confidence += static_cast<double>(each->confidence);
    if (d.incidents.size() < named) d.incidents.push_back(each->id);
  }
  d.incident_count = trouble.incidents.size();
  if (d.incident_count != 0) d.confidence = confidence / static_cast<double>(d.incident_count);
  for (const auto& [id, side] : trouble.sides) {
    if (!d.connections.empty() && d.connections.back() == id) continue;
    ++d.connection_count;
    if (d.connections.size() < named) d.connections.push_back(id);
  }
  for (const std::uint64_t packet : trouble.packets) {
    if (d.packets.size() < named) d.packets.push_back(packet);
  }
  put_in_words(snapshot, trouble, share, d);
  if (d.incident_count != 0) d.commands.push_back(incidents_command(d));
  return d;
}

/// A diagnosis that is being made, and all connections that it is about.
struct Draft {
  Diagnosis diagnosis;
  RootCause cause{};
  std::set<std::uint32_t> connections;
  std::set<Way> ways;
  Consequence of_findings = Consequence::odd;
};

/// How well a finding fits as evidence: 0 not at all, 2 if it is about the same direction.
int fitness(const Draft& draft, const Finding& finding, const FindingRole& role) {
  if (!role.proves.has(draft.cause)) return 0;
  if (finding.connections.empty()) return role.alone == draft.cause ? 1 : 0;
  const bool shares = std::any_of(finding.connections.begin(), finding.connections.end(),
                                  [&](std::uint32_t id) { return draft.connections.contains(id); });
  if (!shares) return 0;
  if (!finding.from || !finding.to) return 1;
  // What answers do is told by the requests that are sent again for them.
  const bool back = draft.cause == RootCause::answers_lost && !role.one_way;
  const Way way = back ? Way{*finding.to, *finding.from} : Way{*finding.from, *finding.to};
  if (draft.ways.contains(way)) return 2;
  return role.one_way ? 0 : 1;
}

/// Where a finding that is proof of one place only would stand for another.
bool is_elsewhere(const Draft& draft, std::string_view finding) {
  const Whereabouts seen = draft.diagnosis.seen;
  if (finding == "loss_before_capture") return seen != Whereabouts::upstream;
  if (finding == "loss_after_capture")
    return seen == Whereabouts::upstream || seen == Whereabouts::between_points;
  if (finding == "loss_between_points") return seen == Whereabouts::upstream;
  return false;
}

std::string first_sentence(const std::string& text) {
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1)) {
    const char next = at + 2 < text.size() ? text[at + 2] : 'A';
    if (next >= 'A' && next <= 'Z') return text.substr(0, at);
  }
  return !text.empty() && text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

/// The command at the end of a finding's advice.
std::string command_of(const Finding& finding) {
  const std::size_t at = finding.advice.rfind("roceanalyze ");
  return at == std::string::npos ? std::string() : finding.advice.substr(at);
}

/// A finding that no trouble explains is a trouble of its own.
Draft draft_of(const Finding& finding, std::size_t index, const FindingRole& role) {
  Draft draft;
  draft.cause = role.alone;
  Diagnosis& d = draft.diagnosis;
  d.cause = root_cause_names[role.alone];
  const Consequence meant = finding.severity == Severity::error     ? Consequence::fatal
                            : finding.severity == Severity::warning ? Consequence::degraded
                                                                    : Consequence::odd;
  d.severity = std::min(meant, role.at_most);
  d.subject = finding.subject;
  const std::string what = first_sentence(finding.explanation);
  d.sentence = what.find(finding.subject) == std::string::npos && finding.connections.empty()
                   ? fmt::format("{}: {}", finding.subject, what)
                   : what;
  if (finding.explanation.size() > what.size() + 2)
    d.facts.push_back(finding.explanation.substr(what.size() + 2));
  d.from = finding.from;
  d.to = finding.to;
  d.level = d.from && d.to   ? (finding.connections.size() == 1 ? Level::connection : Level::direction)
            : d.from || d.to ? Level::host
                             : Level::capture;
  if (d.level == Level::host) d.host = d.from ? d.from : d.to;
  d.at_least = finding.count;
  d.since_ns = finding.first_time_ns;
  d.until_ns = finding.last_time_ns;
  d.confidence = finding.confidence;
  d.connections = finding.connections;
  d.connection_count = finding.connections.size();
  d.packets = finding.packets;
  d.findings.push_back(index);
  d.advice = finding.advice;
  if (std::string command = command_of(finding); !command.empty()) d.commands.push_back(std::move(command));
  return draft;
}

/// Causes whose finding knows more than the sentence says: which request, which address, who is silent since
/// when.
constexpr Causes told_by_findings{RootCause::request_refused, RootCause::no_answer,
                                  RootCause::receiver_not_ready};

void take_evidence(Draft& draft, const Finding& finding, std::size_t index) {
  Diagnosis& d = draft.diagnosis;
  if (d.findings.empty() && told_by_findings.has(draft.cause))
    d.facts.insert(d.facts.begin(), finding.explanation);
  d.findings.push_back(index);
  if (d.advice.empty()) d.advice = finding.advice;
}

bool worse(const Draft& a, const Draft& b) {
  const auto rank = [](const Draft& each) {
    const Diagnosis& d = each.diagnosis;
    return std::tuple(d.severity, d.cost.failed,
                      d.cost.stalled_ns + static_cast<std::int64_t>(d.cost.repeated_packets), d.at_least);
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return a.cause < b.cause;
}

}  // namespace
}  // namespace diagnosis

void diagnose(Snapshot& snapshot) {
  using namespace diagnosis;
  std::vector<Draft> drafts;
  for (const Trouble& trouble : find_troubles(snapshot)) {
    Draft draft;
    draft.diagnosis = diagnosis_of(snapshot, trouble);
    draft.cause = trouble.cause;
    draft.ways = trouble.ways;
    for (const auto& [id, side] : trouble.sides) draft.connections.insert(id);
    drafts.push_back(std::move(draft));
  }
  std::stable_sort(drafts.begin(), drafts.end(), worse);
  const std::size_t troubles = drafts.size();
  std::vector<bool> taken(snapshot.findings.size());
  // The cause's own evidence stands before its symptoms, so that its advice is the one to follow.
  for (const bool own : {true, false}) {
    for (std::size_t i = 0; i < snapshot.findings.size(); ++i) {
      const Finding& finding = snapshot.findings[i];
      const FindingRole* role = role_of(finding.id);
      if (taken[i] || role == nullptr) continue;
      Draft* best = nullptr;
      int best_fit = 0;
      for (std::size_t k = 0; k < troubles; ++k) {
        if (own != (role->alone == drafts[k].cause) || is_elsewhere(drafts[k], finding.id)) continue;
        const int fit = fitness(drafts[k], finding, *role);
        if (fit > best_fit) {
          best = &drafts[k];
          best_fit = fit;
        }
      }
      if (best == nullptr) continue;
      take_evidence(*best, finding, i);
      taken[i] = true;
    }
  }
  for (std::size_t i = 0; i < snapshot.findings.size(); ++i) {
    const Finding& finding = snapshot.findings[i];
    const FindingRole* role = role_of(finding.id);
    // What is only worth knowing is no trouble.
    if (taken[i] || role == nullptr || finding.severity == Severity::info) continue;
    const auto alike = std::find_if(
        drafts.begin() + static_cast<std::ptrdiff_t>(troubles), drafts.end(), [&](const Draft& each) {
          return snapshot.findings[each.diagnosis.findings.front()].id == finding.id;
        });
    if (alike == drafts.end()) {
      drafts.push_back(draft_of(finding, i, *role));
    } else {
      alike->diagnosis.findings.push_back(i);
      alike->diagnosis.facts.push_back(first_sentence(finding.explanation) + ".");
    }
  }
  std::stable_sort(drafts.begin(), drafts.end(), worse);
  snapshot.diagnoses.clear();
  for (Draft& draft : drafts) snapshot.diagnoses.push_back(std::move(draft.diagnosis));
}

}  // namespace roce::analyze
