// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/filter/filter.hpp"
#include "analyze/policy/dissect_choice.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "cli/library/roceanalyze.h"

struct roce_stop {
  std::atomic<bool> requested{false};
};
static_assert(std::atomic<bool>::is_always_lock_free);  // for signal handlers

/// As set by the caller. Null stands for a default one.
struct roce_options {
  std::string filter;
  std::string policy;
  unsigned jobs = 0;              ///< 0: one per core
  std::uint64_t max_packets = 0;  ///< 0: all
  bool no_icrc = false;
  const roce_stop* stop = nullptr;  ///< the caller's; null: nothing ends an analysis
  roce::analyze::DissectChoice dissecting;
};

namespace roce::library {

/// What the options ask for, made ready. Throws Failure.
struct Prepared {
  explicit Prepared(const roce_options* chosen);

  roce_options options;
  std::optional<analyze::Filter> filter;
  std::shared_ptr<const analyze::MarkingPolicy> policy;
  dissect::Options dissecting;
};

/// The caller's texts. Throws Failure for none, or one that is null.
[[nodiscard]] std::vector<std::string> texts_of(const char* const* texts, std::size_t count,
                                                const char* name);

}  // namespace roce::library
