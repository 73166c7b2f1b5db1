// SPDX-License-Identifier: Apache-2.0
// A capture of one link, frame by frame, and what is said of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "tests/analyze/findings/findings_support.hpp"
#include "tests/analyze/link/link_frames.hpp"
#include "tests/analyze/pipeline/memory_source.hpp"

namespace roce::analyze {

inline constexpr std::uint64_t gigabit = 1'000'000'000;
inline constexpr std::int64_t us = 1'000;
inline constexpr std::int64_t ms = 1'000'000;

/// A capture of one link and what is said of it.
class Link {
 public:
  explicit Link(std::uint64_t speed_bps = 100 * gigabit) { source_.interfaces_[0].speed_bps = speed_bps; }
  Link& at(std::int64_t time_ns, std::vector<std::uint8_t> frame) {
    source_.add(std::move(frame), base + time_ns);
    return *this;
  }
  /// The source can be read once.
  const Snapshot& look() {
    if (snapshot_) return *snapshot_;
    AnalysisOptions options = options_;
    options.jobs = 1;
    options.check_icrc = false;
    snapshot_ = analyze(source_, options);
    return *snapshot_;
  }
  /// The one lane that there must be of the host's port.
  const PauseLane& lane(unsigned i) {
    const Snapshot& s = look();
    static const PauseLane none;
    if (s.pauses.ports.empty() || !s.pauses.ports[0].lanes[i]) {
      ADD_FAILURE() << "no lane " << i;
      return none;
    }
    return *s.pauses.ports[0].lanes[i];
  }

  /// What the rule of that id says of it.
  std::vector<Finding> run(std::string_view id) {
    const FindingRule* rule = find_rule(id);
    std::vector<Finding> found;
    if (rule == nullptr) {
      ADD_FAILURE() << "no rule " << id;
      return found;
    }
    for (const Finding& finding : look().findings) {
      if (finding.id != id) continue;
      expect_well_said(finding, *rule);
      for (const std::uint64_t packet : finding.packets) {
        EXPECT_GE(packet, 1U);
        EXPECT_LE(packet, look().frames_read);
      }
      found.push_back(finding);
    }
    return found;
  }

  static constexpr std::int64_t base = 1'795'171'301'000'000'000;
  AnalysisOptions options_;
  MemorySource source_;

 private:
  std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace roce::analyze
