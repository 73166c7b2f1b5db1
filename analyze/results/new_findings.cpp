// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/new_findings.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Words after a number that is only a count.
constexpr std::array<std::string_view, 4> counted{" connection", " host", " pair", " direction"};

bool counts(std::string_view behind) noexcept {
  return behind == " more" || std::any_of(counted.begin(), counted.end(),
                                          [&](std::string_view word) { return behind.starts_with(word); });
}

/// The rule and the subject without counts: "a > b (3 connections)" and "a > b (4 connections)" are one.
std::string identity(const Finding& finding) {
  std::string key(finding.id);
  key += ' ';
  const std::string_view subject = finding.subject;
  for (std::size_t i = 0; i < subject.size();) {
    const bool begins = is_digit(subject[i]) && (i == 0 || subject[i - 1] == ' ' || subject[i - 1] == '(');
    std::size_t end = i;
    while (begins && end < subject.size() && is_digit(subject[end])) ++end;
    if (begins && counts(subject.substr(end))) {
      key += '#';
      i = end;
    } else {
      key += subject[i++];
    }
  }
  return key;
}

}  // namespace

std::string_view why_name(FindingNews::Why why) noexcept {
  using enum FindingNews::Why;
  static constexpr EnumNames<FindingNews::Why, 3> names(
      {{fresh, "new"}, {more_severe, "more severe"}, {grown, "more often"}});
  return names[why];
}

bool NewFindings::may_tell_new(std::string_view rule, Time now) {
  Rule& known = rules_[rule];
  if (known.subjects == 0 || now - known.since >= limits_.quiet) known = {now, 0};
  if (known.subjects >= limits_.subjects_a_rule) return false;
  ++known.subjects;
  return true;
}

std::vector<FindingNews> NewFindings::look(const Snapshot& snapshot, Time now) {
  using Why = FindingNews::Why;
  std::vector<FindingNews> news;
  held_back_ = 0;
  for (const Finding& finding : snapshot.findings) {
    std::string key = identity(finding);
    const auto known = told_.find(key);
    const bool fresh = known == told_.end() || now - known->second.seen >= limits_.forgotten_after;
    if (fresh) {
      if (!may_tell_new(finding.id, now)) {
        ++held_back_;
        continue;
      }
      told_.insert_or_assign(std::move(key), Told{finding.severity, finding.count, now, now});
      news.push_back({Why::fresh, finding, {}, 0});
      continue;
    }
    Told& told = known->second;
    told.seen = now;
    const bool more_severe = finding.severity > told.severity;
    const bool grown = finding.count / limits_.growth >= told.count && finding.count > told.count &&
                       now - told.at >= limits_.quiet;
    if (!more_severe && !grown) continue;
    news.push_back({more_severe ? Why::more_severe : Why::grown, finding, told.severity, told.count});
    told.severity = std::max(told.severity, finding.severity);
    told.count = std::max(told.count, finding.count);
    told.at = now;
  }
  if (told_.size() > limits_.kept) forget(now);
  return news;
}

/// Keeps half of the bound: those seen last and, of equals, those reported last.
void NewFindings::forget(Time now) {
  std::vector<std::pair<Time, Time>> order;
  order.reserve(told_.size());
  for (const auto& [key, told] : told_) order.emplace_back(told.seen, told.at);
  const auto keep = order.end() - static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, limits_.kept / 2));
  std::nth_element(order.begin(), keep, order.end());
  const std::pair<Time, Time> from = *keep;
  std::erase_if(told_,
                [&](const auto& entry) { return std::pair(entry.second.seen, entry.second.at) < from; });
  // If more than that were seen and reported at the same time, none is older.
  if (told_.size() > limits_.kept) told_.clear();
  std::erase_if(rules_, [&](const auto& rule) { return now - rule.second.since >= limits_.quiet; });
}

}  // namespace roce::analyze
