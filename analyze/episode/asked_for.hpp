// SPDX-License-Identifier: Apache-2.0
// Which requests NAKs ask for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

class AskedFor {
 public:
  /// `except`: by note, NAKs that do not count.
  explicit AskedFor(std::span<const Note> notes, const List<bool>& except = {});
  /// Whether a NAK or RNR NAK, early or late, asks for it, for what comes behind it in its message, or for
  /// one shortly before it: that may have been lost again.
  [[nodiscard]] bool has(const Note& request) const noexcept;

 private:
  Set<std::int64_t> starts_;  ///< first PSNs of messages
  Set<std::int64_t> asked_;   ///< PSNs of NAKs
};

}  // namespace roce::analyze::episode
