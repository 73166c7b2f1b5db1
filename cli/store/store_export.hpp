// SPDX-License-Identifier: Apache-2.0
// `export` to a store.
#pragma once

#include <string>

#include "cli/core/analyze_options.hpp"
#include "cli/store/identity_options.hpp"

namespace roce::cli {

/// The extension of a store that `export` and `store init` make.
inline constexpr std::string_view store_ending = ".store";

/// Whether a target is a store: by its extension, or because it is one.
[[nodiscard]] bool is_store_target(const std::string& target);

/// The capture as a run of the store, which is made if there is none. Returns the exit status.
[[nodiscard]] int export_to_store(const AnalyzeOptions& options, const IdentityOptions& whose,
                                  const std::string& target);

/// Seconds since the epoch.
[[nodiscard]] std::int64_t seconds_now();
/// Version of this program, as in tables.
[[nodiscard]] std::string program_version();

}  // namespace roce::cli
