// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/finding_columns.hpp"

#include <fmt/format.h>

#include <cctype>

#include "analyze/base/units.hpp"

namespace roce::analyze {
namespace {

using FindingIn = const Finding&;

double first_packet_number(FindingIn f) {
  return f.packets.empty() ? 0 : -static_cast<double>(f.packets.front());
}
std::string first_packet_text(FindingIn f) {
  return f.packets.empty() ? std::string() : std::to_string(f.packets.front());
}

template <std::optional<std::int64_t> Finding::*member>
double time_number(FindingIn f) {
  return static_cast<double>((f.*member).value_or(0));
}
template <std::optional<std::int64_t> Finding::*member>
std::string time_shown(FindingIn f) {
  return f.*member ? time_text(*(f.*member)) : std::string();
}
template <std::optional<std::int64_t> Finding::*member>
std::string time_exact(FindingIn f) {
  return f.*member ? std::to_string(*(f.*member)) : std::string();
}

constexpr FindingColumn columns_of_findings[] = {
    {"severity", "severity", "error, warning, notice or info", false, 0,
     [](FindingIn f) { return static_cast<double>(f.severity); },
     [](FindingIn f) { return std::string(severity_name(f.severity)); }, nullptr, CellType::text},
    {"title", "finding", "what is wrong", false, 0, nullptr, [](FindingIn f) { return std::string(f.title); },
     nullptr},
    {"count", "count", "number of occurrences", true, 0,
     [](FindingIn f) { return static_cast<double>(f.count); },
     [](FindingIn f) { return std::to_string(f.count); }, nullptr},
    {"subject", "subject", "the connection, host or link concerned", false, 0, nullptr,
     [](FindingIn f) { return f.subject; }, nullptr},
    {"sentence", "what was seen", "first sentence of the explanation", false, 0, nullptr,
     [](FindingIn f) { return first_sentence(f.explanation); }, nullptr},
    {"first_packet", "first packet", "number of the first packet that shows it", true, 0, first_packet_number,
     first_packet_text, nullptr},
    {"confidence", "confidence", "confidence, 0 to 100 %", true, hidden_column,
     [](FindingIn f) { return f.confidence; },
     [](FindingIn f) { return std::to_string(static_cast<int>(100 * f.confidence + 0.5)) + " %"; },
     [](FindingIn f) { return fmt::format("{:.4g}", f.confidence); }, CellType::real},
    {"id", "rule", "id of the rule, and name of its page in docs/findings", false, hidden_column, nullptr,
     [](FindingIn f) { return std::string(f.id); }, nullptr},
    {"explanation", "explanation", "what was found, with figures", false, hidden_column, nullptr,
     [](FindingIn f) { return f.explanation; }, nullptr},
    {"advice", "advice", "what to do next", false, hidden_column, nullptr,
     [](FindingIn f) { return f.advice; }, nullptr},
    {"packets", "packets", "numbers of the first few packets that show it", false, hidden_column, nullptr,
     [](FindingIn f) { return fmt::format("{}", fmt::join(f.packets, " ")); }, nullptr},
    {"connections", "connections", "ids of the first few connections concerned", false, hidden_column,
     nullptr, [](FindingIn f) { return fmt::format("{}", fmt::join(f.connections, " ")); }, nullptr},
    {"first_time", "first", "time of its first packet, ns since the epoch", true, hidden_column,
     time_number<&Finding::first_time_ns>, time_shown<&Finding::first_time_ns>,
     time_exact<&Finding::first_time_ns>},
    {"last_time", "last", "time of its last packet, ns since the epoch", true, hidden_column,
     time_number<&Finding::last_time_ns>, time_shown<&Finding::last_time_ns>,
     time_exact<&Finding::last_time_ns>},
};

}  // namespace

std::span<const FindingColumn> finding_columns() noexcept {
  return columns_of_findings;
}

std::string finding_key(const Finding& finding) {
  return std::string(finding.id) + '\x1f' + finding.subject;
}

std::string first_sentence(const std::string& text) {
  // A full stop inside figures and addresses is not followed by a blank, that of "vs. 3" not by a capital.
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '.' && text[i + 1] == ' ' && std::isupper(static_cast<unsigned char>(text[i + 2])) != 0)
      return text.substr(0, i + 1);
  }
  return text;
}

}  // namespace roce::analyze
