// SPDX-License-Identifier: Apache-2.0
// Rows of the store from results of the analysis.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyze/flow/psn_marks.hpp"
#include "analyze/results/snapshot.hpp"
#include "analyze/store/batch.hpp"

namespace roce::analyze {

/// Whose rows these are.
struct StoreIdentity {
  std::string host;
  std::string device;
  std::string fabric;
  std::string site;
  std::string rack;
  std::vector<std::pair<std::string, std::string>> labels;
  /// Of the host, as text: what tells its ends of flows from those of others. Empty: not known.
  std::set<std::string> addresses;
};

/// A capture as a run.
struct StoreRun {
  std::uint64_t number = 0;
  std::string program;            ///< version
  std::string point;              ///< live or file
  std::string options;            ///< that change what is counted
  std::uint32_t interval_ms = 0;  ///< of live captures
};

/// A whole capture as one run: a row for each flow, of its whole time, and further ones for its marks. The
/// same capture with the same options gives the same batches byte for byte. `marks`: of the same packets;
/// null: none.
[[nodiscard]] std::vector<StoreBatch> capture_batches(const Snapshot& snapshot, const PsnMarks* marks,
                                                      const StoreIdentity& identity, const StoreRun& run);

/// Bucket of a latency in the histograms of `pairs`: eight a power of two.
[[nodiscard]] std::uint16_t latency_bucket(std::uint64_t ns) noexcept;

}  // namespace roce::analyze
