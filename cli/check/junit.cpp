// SPDX-License-Identifier: Apache-2.0
#include "cli/check/junit.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "analyze/results/capture_health.hpp"
#include "analyze/results/diagnosis.hpp"
#include "analyze/results/finding.hpp"
#include "analyze/results/not_judged.hpp"
#include "analyze/results/severity_counts.hpp"

namespace roce::cli {
namespace {

using analyze::Finding;
using analyze::FindingRule;

constexpr std::string_view suite_begin = "<testsuite name=\"roceanalyze check\" ";

/// Length in bytes of the first character if it is valid UTF-8 and allowed in XML 1.0; else 0.
std::size_t xml_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 || lead == '\n' || lead == '\t' ? 1 : 0;
  const std::size_t size = lead >= 0xc2 && lead < 0xe0   ? 2
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xf0 && lead < 0xf5 ? 4
                                                         : 0;
  if (size == 0 || size > text.size()) return 0;
  unsigned code = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr unsigned shortest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool good = code >= shortest[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) &&
                    code != 0xfffe && code != 0xffff;
  return good ? size : 0;
}

/// Escapes text for an attribute or element; bytes that XML does not allow become "?".
std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = xml_character(text);
    switch (text.front()) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        size == 0 ? out.push_back('?') : (void)out.append(text.substr(0, size));
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::string finding_text(const Finding& finding, const analyze::Diagnosis* of) {
  std::string packets;
  for (const std::uint64_t packet : finding.packets)
    packets += fmt::format("{}{}", packets.empty() ? "" : ", ", packet);
  return fmt::format("{} ({}, {} times)\n{}\n{}\npackets {}\n{}\n", finding.title,
                     analyze::consequence_text(shown_severity(finding, of)), finding.count, finding.subject,
                     finding.explanation, packets, finding.advice);
}

/// The findings of one rule.
struct Case {
  std::uint64_t failed = 0, noted = 0;
  std::string failure, output, message;
};

/// `told`: by finding, the diagnosis that it is evidence of.
Case case_of(const analyze::Snapshot& snapshot, const std::vector<const analyze::Diagnosis*>& told,
             const FindingRule& rule, const FailOn& least) {
  Case out;
  for (std::size_t i = 0; i < snapshot.findings.size(); ++i) {
    const Finding& finding = snapshot.findings[i];
    if (finding.id != rule.id) continue;
    const bool fails = least.reached_by(finding, told[i]);
    if (fails && out.failed == 0) {
      if (told[i] != nullptr) out.message = told[i]->sentence + ". ";
      out.message += fmt::format("{}: {}", finding.title, finding.subject);
    }
    ++(fails ? out.failed : out.noted);
    (fails ? out.failure : out.output) += finding_text(finding, told[i]);
  }
  if (out.failed > 1) out.message += fmt::format(" and {} more", out.failed - 1);
  return out;
}

/// Of those that a rule is about: of one that asks for both directions, connections of which both were
/// captured.
struct Judged {
  std::size_t connections = 0;
  std::size_t of = 0;
  bool any = true;
};

Judged judged_by(const analyze::Snapshot& snapshot, analyze::Needs needs) {
  Judged judged;
  judged.any = snapshot.completeness.bears(needs);
  if (!judged.any || !needs.has(analyze::Need::directions)) return judged;
  judged.of = snapshot.connections.size();
  for (const analyze::Connection& each : snapshot.connections)
    judged.connections += snapshot.completeness.bears(needs, each) ? 1U : 0U;
  judged.any = judged.connections != 0 || judged.of == 0;
  return judged;
}

}  // namespace

std::string junit_xml(const analyze::Snapshot& snapshot, const FailOn& least, std::string_view policy) {
  std::string cases;
  std::size_t tests = 0, failures = 0, skipped = 0;
  const std::string limits = analyze::capture_limits_text(snapshot);
  // Without RoCE packets nothing was checked: no rule has passed.
  const bool looked = snapshot.totals.roce_packets != 0;
  const std::vector<const analyze::Diagnosis*> told = analyze::diagnoses_of_findings(snapshot);
  for (const FindingRule& rule : looked ? analyze::finding_rules() : std::span<const FindingRule>()) {
    Case found = case_of(snapshot, told, rule, least);
    ++tests;
    failures += found.failed != 0 ? 1 : 0;
    cases += fmt::format("    <testcase classname=\"roceanalyze\" name=\"{}\"", escaped(rule.id));
    const Judged judged = judged_by(snapshot, rule.needs);
    if (judged.any && judged.connections != judged.of) {
      found.output +=
          fmt::format("judged in {} of {} connections: {}\n", judged.connections, judged.of, limits);
    }
    if (found.failed == 0 && found.output.empty() && judged.any) {
      cases += "/>\n";
      continue;
    }
    cases += ">\n";
    if (!judged.any) {
      ++skipped;
      cases += fmt::format("      <skipped message=\"{}\"/>\n", escaped(limits));
    }
    if (found.failed != 0) {
      cases += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", escaped(rule.id),
                           escaped(found.message), escaped(found.failure));
    }
    if (!found.output.empty())
      cases += fmt::format("      <system-out>{}</system-out>\n", escaped(found.output));
    cases += "    </testcase>\n";
  }
  // No finding may be as bad as what they say together.
  const analyze::Diagnosis* const worst = analyze::worst_diagnosis(snapshot);
  if (failures == 0 && looked && least.reached_by_diagnoses(snapshot)) {
    ++tests;
    ++failures;
    cases += fmt::format(
        "    <testcase classname=\"roceanalyze\" name=\"diagnosis\">\n      <failure type=\"{}\" "
        "message=\"{}\">{}</failure>\n    </testcase>\n",
        analyze::consequence_names[worst->severity], escaped(worst->sentence),
        escaped(facts_text(*worst) + '\n' + worst->advice));
  }
  std::string errors;
  std::size_t error_count = 0;
  const auto add_error = [&](std::string_view name, const std::string& message) {
    ++tests;
    ++error_count;
    errors += fmt::format(
        "    <testcase classname=\"roceanalyze\" name=\"{0}\">\n      <error type=\"{0}\" "
        "message=\"{1}\">{1}</error>\n    </testcase>\n",
        escaped(name), escaped(message));
  };
  for (const capture::Error& error : snapshot.errors) add_error("input", error.describe());
  if (const std::string missing = analyze::incomplete_text(snapshot); !missing.empty())
    add_error("complete", missing);
  std::string notes = limits.empty() ? limits : limits + ".\n";
  for (const std::string& each : not_judged(snapshot)) notes += fmt::format("not judged: {}\n", each);
  if (!notes.empty()) notes = fmt::format("    <system-out>{}</system-out>\n", escaped(notes));
  const std::string diagnosis =
      worst == nullptr ? std::string()
                       : fmt::format("      <property name=\"diagnosis\" value=\"{}: {}\"/>\n",
                                     analyze::consequence_names[worst->severity], escaped(worst->sentence));
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests,
                                         failures, error_count, skipped);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  {6}{0}>\n    <properties>\n{7}      "
      "<property name=\"policy\" value=\"{1}\"/>\n"
      "      <property name=\"packets\" value=\"{2}\"/>\n"
      "    </properties>\n{3}{4}{5}  </testsuite>\n</testsuites>\n",
      counts, escaped(policy), snapshot.frames_read, cases, errors, notes, suite_begin, diagnosis);
}

bool is_junit(const capture::ExistingFile& file) {
  return file.head.starts_with("<?xml") && file.head.find(suite_begin) != std::string_view::npos;
}

}  // namespace roce::cli
