// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/finding.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "analyze/results/snapshot.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {

std::string_view severity_name(Severity severity) noexcept {
  using enum Severity;
  static constexpr EnumNames<Severity, 4> names(
      {{info, "info"}, {notice, "notice"}, {warning, "warning"}, {error, "error"}});
  return names[severity];
}

bool FindingSink::judges() const noexcept {
  return completeness_ == nullptr || rule_ == nullptr || completeness_->bears(rule_->needs);
}

bool FindingSink::judges(const Connection& connection) const noexcept {
  return completeness_ == nullptr || rule_ == nullptr || completeness_->bears(rule_->needs, connection);
}

void FindingSink::add(Finding finding) {
  std::erase(finding.packets, 0U);
  std::sort(finding.packets.begin(), finding.packets.end());
  finding.packets.erase(std::unique(finding.packets.begin(), finding.packets.end()), finding.packets.end());
  if (finding.packets.empty()) return;
  if (findings_.size() == limit) {
    ++dropped_;
    return;
  }
  if (rule_ != nullptr && finding.id.empty()) finding.id = rule_->id;
  if (rule_ != nullptr && finding.title.empty()) finding.title = rule_->title;
  findings_.push_back(std::move(finding));
}

std::vector<Finding> FindingSink::take_sorted() {
  std::stable_sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(b.severity, a.packets.front(), a.id) < std::tuple(a.severity, b.packets.front(), b.id);
  });
  return std::exchange(findings_, {});
}

const FindingRule* find_rule(std::string_view id) noexcept {
  const auto rules = finding_rules();
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const FindingRule& rule) { return rule.id == id; });
  return found == rules.end() ? nullptr : &*found;
}

void find_all(Snapshot& snapshot) {
  FindingSink sink(snapshot.completeness);
  for (const FindingRule& rule : finding_rules()) {
    sink.begin(rule);
    if (sink.judges()) rule.find(snapshot, sink);
  }
  snapshot.findings = sink.take_sorted();
  snapshot.findings_dropped = sink.dropped();
}

std::string opening_sentence(const std::string& text) {
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1)) {
    const char next = at + 2 < text.size() ? text[at + 2] : 'A';
    if ((next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9')) return text.substr(0, at);
  }
  return !text.empty() && text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

}  // namespace roce::analyze
