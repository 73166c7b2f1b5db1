// SPDX-License-Identifier: Apache-2.0
// Diagnostics: everything that was skipped, corrected or could not be used. One row each in diagnostics.cpp,
// and in docs/diagnostics.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/source.hpp"

namespace roce::analyze {

enum class DiagnosticSeverity : std::uint8_t { info, data_loss, error };
[[nodiscard]] std::string_view severity_name(DiagnosticSeverity severity) noexcept;

/// Diagnostics of dissection and analysis; those of reading captures are capture::Incident.
enum class DiagnosticId : std::uint8_t {
  cut_before_bth,
  cut_by_capture,
  contradicts_itself,
  too_deep,
  unknown_link_type,
  encrypted,
  fragment,
  short_roce_datagram,
  only_source_port,
  cut_on_the_way,
  trimmed,
  udp_length_mismatch,
  zero_ip_length,
  unknown_opcode,
  transport_version,
  icrc_soft_roce_flush,
  ip_checksum,
  vcrc_mismatch,
  gid_disagrees,
  flows_evicted,
  flows_retired,
  incidents_dropped,
  clock_stepped,
  several_points,
  clocks_differ,
  order_by_clocks,
  link_ports,
  exports_dropped,
  interrupted,
  limited,
  verdicts_not_kept,
  input_failed,
  count_
};
inline constexpr std::size_t diagnostic_count = static_cast<std::size_t>(DiagnosticId::count_);

/// Counters of one thread, or merged. Sums, so the order of merging does not matter.
class DiagnosticCounts {
 public:
  void add(DiagnosticId id, std::uint64_t n = 1) noexcept { counts_[static_cast<std::size_t>(id)] += n; }
  /// So many were something else, or all that there are.
  void move(DiagnosticId from, DiagnosticId to, std::uint64_t n) noexcept {
    std::uint64_t& before = counts_[static_cast<std::size_t>(from)];
    const std::uint64_t moved = n < before ? n : before;
    before -= moved;
    add(to, moved);
  }
  void merge(const DiagnosticCounts& other) noexcept {
    for (std::size_t i = 0; i < diagnostic_count; ++i) counts_[i] += other.counts_[i];
  }
  [[nodiscard]] std::uint64_t of(DiagnosticId id) const noexcept {
    return counts_[static_cast<std::size_t>(id)];
  }

 private:
  std::array<std::uint64_t, diagnostic_count> counts_{};
};

/// Its id in outputs: "cut_before_bth".
[[nodiscard]] std::string_view diagnostic_name(DiagnosticId id) noexcept;

/// The diagnostic of a source that ended before its end.
[[nodiscard]] DiagnosticId stop_diagnostic(capture::StopReason reason) noexcept;

/// One line of the report's `diagnostics`. The views are constant strings.
struct Diagnostic {
  std::string_view id;
  DiagnosticSeverity severity{};
  std::uint64_t count = 0;
  std::string_view help;
  std::vector<std::string> details;  ///< of errors: what happened and where
};

/// All diagnostics with a count above 0: errors first, then data loss, then info; in table order within.
[[nodiscard]] std::vector<Diagnostic> list_diagnostics(const DiagnosticCounts& counts,
                                                       const capture::Statistics& capture,
                                                       const std::vector<capture::Error>& errors);

}  // namespace roce::analyze
