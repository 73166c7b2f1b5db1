// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::cli {

/// The number of a capture in a store: a hash of the content of its files, so that the same capture has the
/// same number whatever its name is. Of large files their size, their begin, their end and pieces between
/// are read. Errors: a pipe, which cannot be told from another one; what cannot be read.
[[nodiscard]] capture::Expected<std::uint64_t> run_number(const std::vector<std::string>& files);

}  // namespace roce::cli
