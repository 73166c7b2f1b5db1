// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

const Diagnosis* worst_diagnosis(const Snapshot& s) noexcept {
  return s.diagnoses.empty() ? nullptr : &s.diagnoses.front();
}

std::string_view subject_text(const Diagnosis& d) noexcept {
  if (d.subject == "the capture") return {};
  return d.sentence.starts_with(d.subject) ? std::string_view{} : std::string_view(d.subject);
}

std::string facts_text(const Diagnosis& d) {
  return fmt::format("{}", fmt::join(d.facts, " "));
}

std::string not_excluded_text(const Diagnosis& d) {
  return d.alternatives.empty() ? std::string()
                                : fmt::format("Not ruled out: {}.", fmt::join(d.alternatives, "; "));
}

std::string would_decide_text(const Diagnosis& d) {
  return d.would_decide.empty() ? std::string() : fmt::format("To confirm: {}.", d.would_decide);
}

double doubt(const Diagnosis& d) noexcept {
  constexpr double sure = 0.95;
  return d.confidence < sure ? d.confidence : 1;
}

std::optional<dissect::IpAddress> blamed_host(const Diagnosis& d) noexcept {
  if (d.level == Level::host) return d.host;
  if (d.seen == Whereabouts::between_points) return std::nullopt;
  return d.seen == Whereabouts::upstream ? d.from : d.to;
}

std::vector<EvidenceOfRule> evidence_by_rule(const Snapshot& s, const Diagnosis& d) {
  std::vector<EvidenceOfRule> rules;
  for (const std::size_t index : d.findings) {
    const Finding& finding = s.findings[index];
    const auto same = std::find_if(rules.begin(), rules.end(),
                                   [&](const EvidenceOfRule& each) { return each.id == finding.id; });
    if (same == rules.end()) {
      rules.push_back({finding.id, finding.count});
    } else {
      same->count += finding.count;
    }
  }
  return rules;
}

std::string evidence_text(const Snapshot& s, const Diagnosis& d) {
  std::string text;
  // Findings count what they are about, not what the sentence counts.
  for (const auto& [id, count] : evidence_by_rule(s, d))
    text += fmt::format("{}{}", text.empty() ? "Evidence: " : ", ", id);
  return text;
}

std::vector<const Diagnosis*> diagnoses_of_findings(const Snapshot& s) {
  std::vector<const Diagnosis*> of(s.findings.size());
  for (const Diagnosis& d : s.diagnoses) {
    for (const std::size_t index : d.findings) {
      if (of[index] == nullptr) of[index] = &d;
    }
  }
  return of;
}

}  // namespace roce::analyze
