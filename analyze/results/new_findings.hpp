// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// A finding worth reporting while a capture is running.
struct FindingNews {
  enum class Why : std::uint8_t {
    fresh,        ///< not reported before
    more_severe,  ///< than when last reported
    grown,        ///< its count is at least Limits::growth times the one last reported
  };
  Why why = Why::fresh;
  Finding finding;
  Severity severity_before = Severity::info;  ///< as last reported, unless fresh
  std::uint64_t count_before = 0;             ///< the same
};
/// "new", "more severe", "more often".
[[nodiscard]] std::string_view why_name(FindingNews::Why why) noexcept;

/// Compares interim snapshots and selects what to report. A finding is the same if its rule and subject are,
/// whatever numbers of connections and hosts the subject counts. Bounded and rate-limited: what was reported
/// is not reported again for a while, and a rule with ever new subjects reports the rest later, if they still
/// exist. Not thread-safe.
class NewFindings {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Limits {
    /// A reported finding is not reported again within this time, unless it is more severe.
    std::chrono::nanoseconds quiet = std::chrono::seconds(10);
    unsigned growth = 10;  ///< factor of the count
    /// New subjects of one rule within `quiet`.
    unsigned subjects_a_rule = 4;
    /// A finding that was absent for so long counts as new when it comes back.
    std::chrono::nanoseconds forgotten_after = std::chrono::minutes(10);
    std::size_t kept = 4096;  ///< findings; those absent longest are forgotten first
  };
  NewFindings() : NewFindings(Limits{}) {}
  explicit NewFindings(const Limits& limits) : limits_(limits) {}

  /// Takes the next snapshot, published at `now`, and returns what to report of it, in the snapshot's order.
  [[nodiscard]] std::vector<FindingNews> look(const Snapshot& snapshot, Time now);

  /// Findings of the last snapshot that the limit per rule held back.
  [[nodiscard]] std::size_t held_back() const noexcept { return held_back_; }
  [[nodiscard]] std::size_t kept() const noexcept { return told_.size(); }

 private:
  struct Told {
    Severity severity = Severity::info;
    std::uint64_t count = 0;
    Time at;
    Time seen;
  };
  struct Rule {
    Time since;
    unsigned subjects = 0;
  };
  [[nodiscard]] bool may_tell_new(std::string_view rule, Time now);
  void forget(Time now);

  Limits limits_;
  std::unordered_map<std::string, Told> told_;        ///< by rule and subject
  std::unordered_map<std::string_view, Rule> rules_;  ///< by id, which lives as long as the program
  std::size_t held_back_ = 0;
};

}  // namespace roce::analyze
