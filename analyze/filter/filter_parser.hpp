// SPDX-License-Identifier: Apache-2.0
// Compiles a display filter to its program. Internal to analyze.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "analyze/filter/filter_program.hpp"

namespace roce::analyze::filter {

/// As FilterError, but in bytes from 0.
struct ParseError {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string message;
};

[[nodiscard]] tl::expected<Program, ParseError> parse(std::string_view expression);

}  // namespace roce::analyze::filter
