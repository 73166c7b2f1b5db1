// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/question_answers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/base/median.hpp"

namespace roce::analyze {
namespace {

std::int64_t whole(const StoreCell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return *number;
  const auto* fraction = std::get_if<double>(&cell);
  return fraction != nullptr ? static_cast<std::int64_t>(*fraction) : 0;
}

std::string words(const StoreCell& cell) {
  const auto* found = std::get_if<std::string>(&cell);
  return found != nullptr ? *found : std::string();
}

/// "[1,2]"
std::vector<std::uint64_t> numbers(const StoreCell& cell) {
  const std::string list = words(cell);
  std::vector<std::uint64_t> all;
  for (const char* at = list.data(); at < list.data() + list.size();) {
    std::uint64_t number = 0;
    const auto [stop, failure] = std::from_chars(at, list.data() + list.size(), number);
    if (failure == std::errc()) all.push_back(number);
    at = failure == std::errc() ? stop : at + 1;
  }
  return all;
}

/// The middle of a bucket of `pairs`.
std::int64_t middle_of(std::uint64_t bucket) {
  if (bucket < 16) return static_cast<std::int64_t>(bucket);
  return static_cast<std::int64_t>(
      std::ldexp(static_cast<double>(bucket % 8) + 8.5, static_cast<int>(bucket / 8) - 1));
}

}  // namespace

AnswerRows conclude_latency(AnswerRows rows) {
  struct Sum {
    std::map<std::uint64_t, std::uint64_t> buckets;
    std::uint64_t count = 0;
    std::int64_t longest = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const AnswerRow& row : rows) {
    Sum& sum = sums[{words(row[0]), words(row[1])}];
    const std::vector<std::uint64_t> buckets = numbers(row[2]), counts = numbers(row[3]);
    for (std::size_t i = 0; i < std::min(buckets.size(), counts.size()); ++i) {
      sum.buckets[buckets[i]] += counts[i];
      sum.count += counts[i];
    }
    sum.longest = std::max(sum.longest, whole(row[4]));
  }
  AnswerRows answer;
  for (const auto& [ends, sum] : sums) {
    const auto percentile = [&sum = sum](std::uint64_t hundredths) {
      std::uint64_t passed = 0;
      for (const auto& [bucket, n] : sum.buckets) {
        passed += n;
        if (passed * 100 >= hundredths * sum.count) return std::min(middle_of(bucket), sum.longest);
      }
      return std::int64_t{0};
    };
    answer.push_back({ends.first, ends.second, static_cast<std::int64_t>(sum.count), percentile(50),
                      percentile(99), sum.longest});
  }
  std::stable_sort(answer.begin(), answer.end(), [](const AnswerRow& a, const AnswerRow& b) {
    return std::tuple(whole(a[4]), whole(a[2])) > std::tuple(whole(b[4]), whole(b[2]));
  });
  return answer;
}

AnswerRows conclude_clocks(AnswerRows rows) {
  // How much later the second host by name saw marks, by packets to it and from it.
  struct Way {
    std::vector<std::int64_t> later;
    std::int64_t marks = 0;
  };
  std::map<std::pair<std::string, std::string>, std::array<Way, 2>> pairs;
  for (const AnswerRow& row : rows) {
    const std::string from = words(row[0]), to = words(row[1]);
    const bool there = from < to;
    Way& way = pairs[there ? std::pair(from, to) : std::pair(to, from)][there ? 0 : 1];
    const bool is_median = row.size() > 3;  // with the number of marks; else it is one of them
    way.later.push_back(there || is_median ? whole(row[2]) : -whole(row[2]));
    way.marks += is_median ? whole(row[3]) : 1;
  }
  AnswerRows answer;
  for (auto& [hosts, ways] : pairs) {
    const bool both = ways[0].marks != 0 && ways[1].marks != 0;
    double offset = 0;
    for (Way& way : ways) offset += static_cast<double>(median_of(std::move(way.later)).value_or(0));
    if (both) offset /= 2;
    answer.push_back({hosts.first, hosts.second, std::round(offset), ways[0].marks + ways[1].marks,
                      std::string(both ? "yes" : "no")});
  }
  return answer;
}

}  // namespace roce::analyze
