// SPDX-License-Identifier: Apache-2.0
// A folder of batches that wait for their store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/store/store.hpp"
#include "capture/core/error.hpp"
#include "capture/write/output_place.hpp"

namespace roce::cli {

/// Writes batches: each appears complete under the name RUN-SEQ.batch, or not at all. Above the limit the
/// oldest batches of its own run are removed. Never waits for the disk: a power failure may cost the last
/// ones. Opens nothing but files of the folder, so a confined capture may use it. Not thread-safe.
class SpoolWriter {
 public:
  /// The folder exists.
  SpoolWriter(std::string folder, std::uint64_t bytes_at_most)
      : folder_(std::move(folder)), bytes_at_most_(bytes_at_most) {}

  [[nodiscard]] capture::Expected<void> add(const analyze::StoreBatch& batch);
  /// Removed, because the spool was full, or not written, because the disk was.
  [[nodiscard]] std::uint32_t lost() const noexcept { return lost_; }

 private:
  void make_room(std::uint64_t bytes);

  std::string folder_;
  std::uint64_t bytes_at_most_;
  std::uint32_t lost_ = 0;
  struct Written {
    std::string path;
    std::uint64_t bytes = 0;
  };
  std::vector<Written> written_;  ///< the oldest first; those that were shipped are gone
};

/// Takes batches, the oldest first. Only one at a time has a folder.
class SpoolReader {
 public:
  /// Errors: not_found; not_writable: another process ships it.
  [[nodiscard]] static capture::Expected<SpoolReader> open(const std::string& folder);

  /// Paths of all batches that wait, in the order in which they were written.
  [[nodiscard]] std::vector<std::string> waiting() const;
  [[nodiscard]] static capture::Expected<analyze::StoreBatch> read(const std::string& path);
  static void remove(const std::string& path) noexcept;
  /// Puts it into the folder `rejected` of the spool.
  void reject(const std::string& path) const noexcept;

 private:
  SpoolReader(std::string folder, capture::OwnedDescriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::string folder_;
  capture::OwnedDescriptor lock_;
};

/// What became of a round of shipping.
struct Shipped {
  std::uint64_t batches = 0;   ///< added now
  std::uint64_t known = 0;     ///< had been there
  std::uint64_t rejected = 0;  ///< unreadable: in `rejected`
};
/// Adds all batches that wait to a store. Stops at the first that the store does not take: it stays, and so
/// do those behind it. `what` counts also then. Of batches that the store cannot read only one is rejected at
/// a time: should the store be wrong, it does not empty the spool.
[[nodiscard]] capture::Expected<void> ship(const SpoolReader& spool, const analyze::StoreTarget& target,
                                           Shipped& what);
/// Seconds until the next round, `waited` before this one: 1 if all went well, else 2, 4 ... 60; 60 at once
/// where somebody has to do something (a password, tables).
[[nodiscard]] std::int64_t wait_after(const capture::Expected<void>& shipped, std::int64_t waited);

}  // namespace roce::cli
