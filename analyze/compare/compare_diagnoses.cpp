// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/compare_diagnoses.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roce::analyze {
namespace {

/// What was hit by what a finding tells, and what was sent again for it.
struct Harm {
  std::uint64_t hit = 0;
  std::uint64_t again = 0;
  std::uint64_t sent = 0;
};

struct Role {
  std::string_view id;                                                ///< of the finding
  std::string_view cause;                                             ///< as of the report's diagnoses
  Harm (*harm)(const CompareResult& result, const Finding& finding);  ///< null: none that shows
};

std::uint64_t sent_of(const CompareResult& result) {
  std::uint64_t sent = 0;
  for (const CompareDirection& each : result.directions) sent += each.matched + each.lost.count;
  return sent;
}

std::uint64_t again_for(const CompareResult& result, std::initializer_list<RepeatCause> causes) {
  std::uint64_t again = 0;
  for (const CompareDirection& each : result.directions) {
    for (const RepeatCause cause : causes) again += each.repeats[cause];
  }
  return again;
}

constexpr Role roles[] = {
    {"lost_between", "loss",
     [](const CompareResult& result, const Finding& finding) {
       return Harm{finding.count,
                   again_for(result, {RepeatCause::lost_between, RepeatCause::response_lost_between,
                                      RepeatCause::ack_lost_between, RepeatCause::nak_lost_between}),
                   sent_of(result)};
     }},
    {"black_hole_between", "loss",
     [](const CompareResult&, const Finding& finding) {
       return Harm{finding.count, 0, finding.count};
     }},
    {"damaged_between", "corruption",
     [](const CompareResult& result, const Finding& finding) {
       return Harm{finding.count, again_for(result, {RepeatCause::damaged_between}), sent_of(result)};
     }},
    {"reordered_between", "reordering",
     [](const CompareResult& result, const Finding&) {
       return Harm{0, again_for(result, {RepeatCause::overtaken_between}), sent_of(result)};
     }},
    {"answer_later_than_timer", "timer_too_short",
     [](const CompareResult& result, const Finding& finding) {
       return Harm{0, finding.count, sent_of(result)};
     }},
    {"lost_beyond_points", "loss",
     [](const CompareResult& result, const Finding& finding) {
       return Harm{0, finding.count, sent_of(result)};
     }},
    {"trimmed_between", "trimming",
     [](const CompareResult& result, const Finding& finding) {
       return Harm{finding.count, again_for(result, {RepeatCause::trimmed_between}), sent_of(result)};
     }},
    {"cut_between", "trimming", nullptr},
    {"duplicated_between", "duplicates", nullptr},
    {"remarked_between", "marking", nullptr},
    {"ecn_changed_between", "marking", nullptr},
    {"vlan_changed_between", "marking", nullptr},
};

/// By shares, as in the report: 1 in 10 000 lost or damaged, 1 in 1 000 sent again, from three times on.
Consequence consequence_of(const Harm& harm) {
  constexpr std::uint64_t chance = 3;
  constexpr std::uint64_t lost_one_in = 10'000, repeated_one_in = 1'000;
  const bool lost = harm.hit >= chance && lost_one_in * harm.hit >= harm.sent;
  const bool repeated = harm.again >= chance && repeated_one_in * harm.again >= harm.sent;
  return lost || repeated ? Consequence::degraded : Consequence::odd;
}

}  // namespace

std::vector<Diagnosis> compare_diagnoses(const CompareResult& result) {
  std::vector<Diagnosis> all;
  for (std::size_t i = 0; i < result.findings.size(); ++i) {
    const CompareFinding& finding = result.findings[i];
    if (finding.severity == Severity::info) continue;
    const auto* const role = std::find_if(std::begin(roles), std::end(roles),
                                          [&](const Role& each) { return each.id == finding.id; });
    Diagnosis d;
    d.cause = role == std::end(roles) ? std::string_view("capture") : role->cause;
    if (role != std::end(roles) && role->harm != nullptr)
      d.severity = consequence_of(role->harm(result, finding));
    d.seen = Whereabouts::between_points;
    d.subject = fmt::format("{}, {}", finding.title, finding.subject);
    const std::string what = opening_sentence(finding.explanation);
    const bool of_captures = role == std::end(roles);
    d.sentence = fmt::format("{}: {}", of_captures ? finding.title : finding.subject, what);
    if (of_captures) d.subject = finding.subject;
    std::string rest = finding.explanation.substr(what.size());
    rest.erase(0, rest.find_first_not_of(". "));
    if (!rest.empty()) d.facts.push_back(std::move(rest));
    d.at_least = finding.count;
    d.since_ns = finding.first_time_ns;
    d.until_ns = finding.last_time_ns;
    d.confidence = finding.confidence;
    d.advice = finding.advice;
    d.packets = finding.packets;
    d.findings.push_back(i);
    all.push_back(std::move(d));
  }
  std::stable_sort(all.begin(), all.end(), [](const Diagnosis& a, const Diagnosis& b) {
    const auto of_captures = [](const Diagnosis& each) { return each.cause == "capture"; };
    return a.severity != b.severity ? a.severity > b.severity : of_captures(a) < of_captures(b);
  });
  return all;
}

}  // namespace roce::analyze
