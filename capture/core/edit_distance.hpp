// SPDX-License-Identifier: Apache-2.0
// How far a mistyped word is from one that exists.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace roce::capture {

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word closest to a mistyped one, whatever the case of its letters; empty if none is close enough to be
/// meant.
[[nodiscard]] std::string_view nearest_word(std::string_view typed, std::span<const std::string_view> words);

}  // namespace roce::capture
