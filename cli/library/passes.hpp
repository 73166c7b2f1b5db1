// SPDX-License-Identifier: Apache-2.0
// Readings of captures: once, or twice where a result depends on packets behind it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyze/packet/verdict_store.hpp"
#include "analyze/results/snapshot.hpp"
#include "capture/core/file_identity.hpp"
#include "capture/core/source.hpp"
#include "cli/library/options.hpp"

namespace roce::library {

/// The captures that a caller named. Throws Failure, as all here.
class Captures {
 public:
  explicit Captures(std::vector<std::string> paths);

  /// Throws unless they can be read twice: pipes cannot.
  void require_twice() const;
  [[nodiscard]] std::unique_ptr<capture::CaptureSource> open() const;
  /// For the second reading, of the packets that the first one has read. Throws if the names are of other
  /// files now.
  [[nodiscard]] std::unique_ptr<capture::CaptureSource> open_again(std::uint64_t frames) const;

 private:
  std::vector<std::string> paths_;
  std::vector<capture::FileIdentity> files_;
};

/// What `roceanalyze report` is made from.
[[nodiscard]] std::shared_ptr<const analyze::Snapshot> report_of(const Captures& captures,
                                                                 const Prepared& prepared);

/// A first reading: the verdict of each packet of `source`, whatever the filter says.
[[nodiscard]] std::shared_ptr<const analyze::Snapshot> verdicts_of(capture::CaptureSource& source,
                                                                   const Prepared& prepared,
                                                                   analyze::VerdictStore& verdicts);

}  // namespace roce::library
