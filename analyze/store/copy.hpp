// SPDX-License-Identifier: Apache-2.0
// Batches of one store into another.
#pragma once

#include <cstdint>

#include "analyze/store/store.hpp"
#include "capture/core/error.hpp"

namespace roce::analyze {

struct StoreCopied {
  std::uint64_t batches = 0;  ///< added now
  std::uint64_t known = 0;    ///< had been there
  std::uint64_t rows = 0;     ///< in those that were added
  std::uint64_t nodes = 0;    ///< addresses of which `from` knows what is newer
};

/// Adds all whole batches of a store to another one: run again, or after it was killed, it adds what is
/// missing. Both have the tables of this version. Batches that are under way in `from` may be left out. Holds
/// some 100 000 rows in memory. Errors: those of both.
[[nodiscard]] capture::Expected<StoreCopied> copy_store(Store& from, Store& to);

}  // namespace roce::analyze
