// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/completeness.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

struct Snapshot;
struct FindingRule;

enum class Severity : std::uint8_t { info, notice, warning, error };
[[nodiscard]] std::string_view severity_name(Severity severity) noexcept;

/// Something an engineer should know, with the packets that prove it. `id` and `title` are views of the rule
/// or of literals, which live as long as the program.
struct Finding {
  std::string_view id;  ///< of its rule: snake_case, stable; its page is docs/findings/ID.md
  Severity severity = Severity::info;
  std::string_view title;
  std::string subject;                     ///< a connection, a host, a pair of hosts, a port, the capture
  std::optional<dissect::IpAddress> from;  ///< the one sender of what it is about; none: several, or unknown
  std::optional<dissect::IpAddress> to;    ///< the one receiver
  std::uint64_t count = 0;                 ///< occurrences; of what, the explanation states
  std::vector<std::uint64_t> packets;      ///< numbers of the first few, ascending, from 1; never empty
  std::optional<std::int64_t> first_time_ns;  ///< ns since the epoch
  std::optional<std::int64_t> last_time_ns;
  double confidence = 1;                   ///< 0..1
  std::string explanation;                 ///< what was seen, with its figures
  std::string sentence;                    ///< its first sentence, with the place; empty: it says so itself
  std::string advice;                      ///< what to do next, with the command if there is one
  std::vector<std::uint32_t> connections;  ///< ids of the first few it is about
};

/// The first sentence of an explanation, without its full stop.
[[nodiscard]] std::string opening_sentence(const std::string& text);

/// Collects what rules find; bounded by `limit`, then counts what it drops. Not thread-safe.
class FindingSink {
 public:
  static constexpr std::size_t limit = 10'000;

  FindingSink() = default;
  /// Of that capture, which must outlive this: what it cannot bear is not found.
  explicit FindingSink(const Completeness& completeness) noexcept : completeness_(&completeness) {}

  /// Findings added from now on belong to this rule, which must outlive them.
  void begin(const FindingRule& rule) noexcept { rule_ = &rule; }
  /// Empty id and title become the rule's; packets are sorted, 0 and duplicates removed. A finding without
  /// packets is discarded.
  void add(Finding finding);
  /// Whether the capture bears what the rule says, of all connections or of one.
  [[nodiscard]] bool judges() const noexcept;
  [[nodiscard]] bool judges(const Connection& connection) const noexcept;
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::vector<Finding> take_sorted();  ///< most severe first, then by first packet, then id

 private:
  const Completeness* completeness_ = nullptr;  ///< null: it bears everything
  const FindingRule* rule_ = nullptr;
  std::vector<Finding> findings_;
  std::uint64_t dropped_ = 0;
};

/// One rule per file in findings/rules/, one row in registry.cpp.
struct FindingRule {
  std::string_view id;
  Severity severity = Severity::warning;  ///< the worst it may report
  std::string_view title;
  void (*find)(const Snapshot& snapshot, FindingSink& sink);
  Needs needs = {};  ///< of the capture; of a connection where it says something of one
};

/// All rules, in the order of the documentation.
[[nodiscard]] std::span<const FindingRule> finding_rules() noexcept;
/// The rule of that id, or nullptr.
[[nodiscard]] const FindingRule* find_rule(std::string_view id) noexcept;

/// Runs all rules over a snapshot whose other parts are complete, and fills its findings.
void find_all(Snapshot& snapshot);

}  // namespace roce::analyze
