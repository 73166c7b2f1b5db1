// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace roce::capture {

/// A name beside `name` that nobody can guess and thus take before: "NAME.0123456789abcdef.tmp", not too long
/// for a folder. Empty if there is no randomness.
[[nodiscard]] std::string random_name(const std::string& name);

}  // namespace roce::capture
