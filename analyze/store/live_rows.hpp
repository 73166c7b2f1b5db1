// SPDX-License-Identifier: Apache-2.0
// Rows of a capture that goes on: the difference of two snapshots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/flow/psn_marks.hpp"
#include "analyze/results/snapshot.hpp"
#include "analyze/store/batch.hpp"
#include "analyze/store/rows.hpp"

namespace roce::analyze {

/// An interval by the wall clock, ns since the epoch.
struct StoreInterval {
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
};

/// A live capture as a run: at the end of each interval what was added since the last one, at times batches
/// of it. Sums over all intervals are those of the last snapshot: what a later snapshot takes back is a
/// negative count. Latencies are only ever added. Not thread-safe.
class LiveRows {
 public:
  /// Flows with rows in an interval: those in trouble, then those with most bytes. Others are counted
  /// (`rows_folded`), and are in `pairs` all the same; their next row has what this one would have had.
  static constexpr std::size_t flows_at_most = 1000;

  LiveRows(StoreIdentity identity, StoreRun run);
  ~LiveRows();
  LiveRows(const LiveRows&) = delete;
  LiveRows& operator=(const LiveRows&) = delete;

  /// What the interval added. `marks` is locked meanwhile; null: none.
  void add(const Snapshot& snapshot, PsnMarks* marks, const StoreInterval& interval);
  /// Rows since the last take().
  [[nodiscard]] std::uint64_t rows() const noexcept;
  /// Whether an error was found since then: it should not wait.
  [[nodiscard]] bool urgent() const noexcept;
  /// Everything since the last take(), with `pairs` and a heartbeat. `clock_error_ns`: see its column.
  [[nodiscard]] std::vector<StoreBatch> take(const Snapshot& snapshot, const StoreInterval& covered,
                                             std::uint32_t batches_lost, std::int64_t clock_error_ns = 0);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace roce::analyze
