// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyze/connection/incident.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// The incidents of all connections, also of those that have left. Bounded: what comes later is counted.
class IncidentLog {
 public:
  static constexpr std::size_t of_all = 100'000;
  static constexpr std::uint32_t of_connection = 4096;
  static_assert(of_all <= Verdict::incidents_at_most);

  /// The number for Verdict::incident until the end; 0: it is not kept.
  std::uint32_t add(const Incident& incident);
  [[nodiscard]] Incident& at(std::uint32_t number) noexcept { return kept_[number - 1]; }
  /// Those of a connection, by number.
  [[nodiscard]] const std::vector<std::uint32_t>& of(std::uint32_t connection) const noexcept;
  /// What belonged to one connection belongs to another, as its side b.
  void merge(std::uint32_t from, std::uint32_t to);

  /// In order of time, with their ids. `numbers` gets by number, less 1, the id that it became.
  [[nodiscard]] std::vector<Incident> take(std::vector<std::uint32_t>& numbers);
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  std::vector<Incident> kept_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> by_connection_;
  std::uint64_t dropped_ = 0;
};

}  // namespace roce::analyze
