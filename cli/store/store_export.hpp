// SPDX-License-Identifier: Apache-2.0
// `export` to a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/store/store.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/store/identity_options.hpp"

namespace roce::cli {

/// The extension of a store that `export` and `store init` make.
inline constexpr std::string_view store_ending = ".store";

/// Whether a target is a store: by its extension, because it is one, or the address of one.
[[nodiscard]] bool is_store_target(const std::string& target);

/// The capture as a run of the store, which is made if there is none. Returns the exit status.
[[nodiscard]] int export_to_store(const AnalyzeOptions& options, const IdentityOptions& whose,
                                  const analyze::StoreTarget& target);

/// "90m", "72h", "30d": seconds; none if it is not that.
[[nodiscard]] std::optional<std::int64_t> parse_span(std::string_view text);
/// Error message for what is no span; empty if it is one.
[[nodiscard]] std::string span_error(const std::string& text);

/// Seconds since the epoch.
[[nodiscard]] std::int64_t seconds_now();
/// Version of this program, as in tables.
[[nodiscard]] std::string program_version();

}  // namespace roce::cli
