// SPDX-License-Identifier: Apache-2.0
// --store and what belongs to it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analyze/flow/psn_marks.hpp"
#include "analyze/store/store.hpp"
#include "capture/confine/privileges.hpp"
#include "cli/live/capture_observer.hpp"
#include "cli/store/identity_options.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

/// A process that ships the spool of a capture into its store, with the rights that the capture gives up. It
/// ends when the capture has, with everything shipped that the store takes.
class ShipBeside {
 public:
  /// Forks, so the process must have one thread only. `as`: whom it becomes.
  [[nodiscard]] static capture::Expected<std::unique_ptr<ShipBeside>> start(
      const std::string& spool, const analyze::StoreTarget& target, const std::optional<capture::User>& as);
  /// Waits for it.
  ~ShipBeside();
  ShipBeside(const ShipBeside&) = delete;
  ShipBeside& operator=(const ShipBeside&) = delete;

 private:
  ShipBeside(int end, int done) : end_(end), done_(done) {}
  int end_;   ///< closed: it ends
  int done_;  ///< readable: it has ended
};

/// As typed.
struct CaptureStoreOptions {
  analyze::StoreTarget target;  ///< a store, or (its name) the folder of a spool; empty: none
  std::string spool_folder;     ///< empty: beside the store
  std::string interval;
  std::string ship_every;
  std::string spool_limit;
  IdentityOptions whose;

  void add_to(CLI::App& command);
  /// Error message for options that do not fit; empty if they do.
  [[nodiscard]] std::string usage_error() const;
  [[nodiscard]] bool wanted() const noexcept { return !target.name.empty(); }
  /// Whether the target is the folder of a spool, which somebody else ships.
  [[nodiscard]] bool only_spool() const;
  /// Folder of the batches.
  [[nodiscard]] std::string spool() const;
  /// Makes the folder, owned by that user, and a store that does not exist.
  [[nodiscard]] capture::Expected<void> prepare(const std::optional<capture::User>& as) const;
  [[nodiscard]] std::unique_ptr<CaptureObserver> observer(analyze::PsnMarks* marks) const;
};

}  // namespace roce::cli
