// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace roce::analyze::diagnosis {
namespace {

/// Losses at even intervals: so many of them, which differ from their mean by at most this share.
constexpr std::size_t enough_for_period = 6;
constexpr double even = 0.1;
/// So many in a row are no chance where single packets are lost at random.
constexpr std::uint32_t a_row = 3;
/// Incidents from which on something is said at all.
constexpr std::size_t enough = 3;

std::int64_t period_of(const std::vector<std::int64_t>& starts) {
  if (starts.size() < enough_for_period) return 0;
  const double mean =
      static_cast<double>(starts.back() - starts.front()) / static_cast<double>(starts.size() - 1);
  if (mean <= 0) return 0;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    if (std::abs(static_cast<double>(starts[i] - starts[i - 1]) - mean) > even * mean) return 0;
  }
  return static_cast<std::int64_t>(mean);
}

}  // namespace

LossPattern pattern_of(const Trouble& trouble) {
  LossPattern found;
  if (trouble.cause != RootCause::loss && trouble.cause != RootCause::corruption) return found;
  std::vector<std::int64_t> starts;
  std::size_t rows = 0;
  std::size_t counted = 0;
  for (const Incident* each : trouble.incidents) {
    if (each->start_ns != capture::no_time) starts.push_back(each->start_ns);
    if (each->lost_row == 0) continue;
    ++counted;
    rows += each->lost_row >= a_row ? 1 : 0;
    found.most_at_once = std::max<std::uint64_t>(found.most_at_once, each->lost_row);
  }
  std::sort(starts.begin(), starts.end());
  found.period_ns = period_of(starts);
  if (found.period_ns != 0) {
    found.pattern = Pattern::periodic;
  } else if (2 * rows >= counted && rows != 0) {
    // Downstream of the capture point a NAK names one packet: rows cannot be told there.
    found.pattern = Pattern::bursts;
  } else if (counted >= enough) {
    found.pattern = Pattern::single;
  }
  return found;
}

}  // namespace roce::analyze::diagnosis
