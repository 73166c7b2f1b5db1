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

/// A finding that is worth telling while a capture goes on.
struct FindingNews {
  enum class Why : std::uint8_t {
    fresh,        ///< not told before
    more_severe,  ///< than when it was told last
    grown,        ///< its count is Limits::growth times what was told last, or more
  };
  Why why = Why::fresh;
  Finding finding;
  Severity severity_before = Severity::info;  ///< as told last, unless fresh
  std::uint64_t count_before = 0;             ///< the same
};
/// "new", "more severe", "more often".
[[nodiscard]] std::string_view why_name(FindingNews::Why why) noexcept;

/// Compares interim snapshots: what has been found since. A finding is the same as long as its rule and its
/// subject are, whatever numbers of connections and hosts its subject counts. Bounded, and sparing with
/// words: what has been told is not told again for a while, and a rule that finds ever new subjects tells
/// the rest later, if it is still there. Not thread-safe.
class FindingWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Limits {
    /// A finding that was told is not told again within this time, but for being more severe.
    std::chrono::nanoseconds quiet = std::chrono::seconds(10);
    unsigned growth = 10;  ///< times
    /// New subjects of one rule within `quiet`.
    unsigned subjects_a_rule = 4;
    /// One that was gone for so long is new when it comes back.
    std::chrono::nanoseconds forgotten_after = std::chrono::minutes(10);
    std::size_t kept = 4096;  ///< findings; those gone longest are forgotten first
  };
  FindingWatch() : FindingWatch(Limits{}) {}
  explicit FindingWatch(const Limits& limits) : limits_(limits) {}

  /// The next snapshot, published at this time: what is to be told of it, in its order.
  [[nodiscard]] std::vector<FindingNews> look(const Snapshot& snapshot, Time now);

  /// Findings of the last snapshot that were held back by the limit of their rule.
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
  std::unordered_map<std::string_view, Rule> rules_;  ///< by id, which lives for ever
  std::size_t held_back_ = 0;
};

}  // namespace roce::analyze
