// SPDX-License-Identifier: Apache-2.0
// The nesting of a TOML document, measured without recursion before anything recursive reads it.
#pragma once

#include <cstddef>
#include <string_view>

#include "analyze/policy/toml_tree.hpp"

namespace roce::analyze {

/// Maximum number of tables and lists around a value. "class.data.dscp" is three; policies need five.
inline constexpr std::size_t toml_depth_max = 64;

/// Position of the first bracket, or dot in a key, that nests deeper than toml_depth_max; line 0 if there is
/// none. Tables are counted however they are written: [a.b], a.b = ..., { }. Exact up to the first syntax
/// error.
[[nodiscard]] TextPlace too_deep_in_toml(std::string_view text);

}  // namespace roce::analyze
