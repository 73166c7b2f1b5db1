// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped words.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace roce::capture {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word closest to a mistyped one, ignoring case; empty if none is close enough. Borrowed from `words`.
[[nodiscard]] std::string_view nearest_word(std::string_view typed, std::span<const std::string_view> words);

}  // namespace roce::capture
