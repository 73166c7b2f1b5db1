// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "analyze/flow/psn_marks.hpp"
#include "analyze/store/live_rows.hpp"
#include "cli/live/capture_observer.hpp"
#include "cli/store/spool.hpp"

namespace roce::cli {

struct StoreObserverOptions {
  std::string spool;  ///< folder
  std::uint64_t spool_bytes = std::uint64_t{1} << 30U;
  std::chrono::nanoseconds interval{std::chrono::seconds(10)};    ///< of rows
  std::chrono::nanoseconds ship_every{std::chrono::seconds(60)};  ///< of batches
  analyze::StoreIdentity identity;
  analyze::StoreRun run;
};

/// --store: what each interval added goes into a spool, from which `ship` takes it. Writes files of one
/// folder, waits for nobody, and opens no socket.
class StoreObserver final : public CaptureObserver {
 public:
  /// `marks` of the same capture; outlives this. `now`: nanoseconds since the epoch.
  StoreObserver(StoreObserverOptions options, analyze::PsnMarks* marks, std::function<std::int64_t()> now);

  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;
  void on_snapshot(const std::shared_ptr<const analyze::Snapshot>& snapshot) override { latest_ = snapshot; }
  void on_tick() override;
  void on_end(const analyze::Snapshot& snapshot) override;

 private:
  void add(const analyze::Snapshot& snapshot, std::int64_t now);
  void flush(const analyze::Snapshot& snapshot, std::int64_t now);
  [[nodiscard]] std::int64_t begin_of(std::int64_t time) const noexcept;

  StoreObserverOptions options_;
  analyze::PsnMarks* marks_;
  std::function<std::int64_t()> now_;
  SpoolWriter spool_;
  std::optional<analyze::LiveRows> rows_;  ///< from on_start() on
  std::shared_ptr<const analyze::Snapshot> latest_ = std::make_shared<analyze::Snapshot>();
  std::int64_t interval_from_ns_ = 0;
  std::int64_t batch_from_ns_ = 0;
  int told_ = 0;  ///< errno of the last failure that was told
};

}  // namespace roce::cli
