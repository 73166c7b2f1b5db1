// SPDX-License-Identifier: Apache-2.0
#include "gui/models/finding_columns.hpp"

#include <cctype>

namespace roce::gui {
namespace {

using analyze::Column;
using analyze::Finding;
using F = const Finding&;

double first_packet(F f) {
  return f.packets.empty() ? 0 : -static_cast<double>(f.packets.front());
}
std::string first_packet_text(F f) {
  return f.packets.empty() ? std::string() : std::to_string(f.packets.front());
}

constexpr Column<Finding> columns[] = {
    {"severity", "severity", "how bad it is: error, warning, notice or info", false, 0,
     [](F f) { return static_cast<double>(f.severity); },
     [](F f) { return std::string(analyze::severity_name(f.severity)); }, nullptr},
    {"title", "finding", "what is wrong", false, 0, nullptr, [](F f) { return std::string(f.title); },
     nullptr},
    {"count", "count", "how often", true, 0, [](F f) { return static_cast<double>(f.count); },
     [](F f) { return std::to_string(f.count); }, nullptr},
    {"subject", "who", "whom it is about", false, 0, nullptr, [](F f) { return f.subject; }, nullptr},
    {"sentence", "what was seen", "its first sentence", false, 0, nullptr,
     [](F f) { return first_sentence(f.explanation); }, [](F f) { return f.explanation; }},
    {"first_packet", "first packet", "number of the first packet that shows it", true, 0, first_packet,
     first_packet_text, nullptr},
    {"confidence", "sure", "confidence, 0 to 100 %", true, Column<Finding>::hidden,
     [](F f) { return f.confidence; },
     [](F f) { return std::to_string(static_cast<int>(100 * f.confidence + 0.5)) + " %"; }, nullptr},
    {"id", "rule", "name of its page in docs/findings", false, Column<Finding>::hidden, nullptr,
     [](F f) { return std::string(f.id); }, nullptr},
};

}  // namespace

std::span<const Column<Finding>> finding_columns() noexcept {
  return columns;
}

std::string finding_key(const Finding& finding) {
  return std::string(finding.id) + '\x1f' + finding.subject;
}

std::string first_sentence(const std::string& text) {
  // A full stop inside of figures and addresses is followed by no blank, that of "vs. 3" by no capital.
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '.' && text[i + 1] == ' ' && std::isupper(static_cast<unsigned char>(text[i + 2])) != 0)
      return text.substr(0, i + 1);
  }
  return text;
}

}  // namespace roce::gui
