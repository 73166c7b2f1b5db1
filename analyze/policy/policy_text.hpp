// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "analyze/policy/marking_policy.hpp"
#include "analyze/policy/policy_error.hpp"

namespace roce::analyze {

/// The result of load_policy() for a file `name` with this content; at most 4 MiB. Files that the text refers
/// to are read.
[[nodiscard]] tl::expected<std::shared_ptr<const MarkingPolicy>, PolicyErrors> policy_of_text(
    std::string_view text, const std::string& name);

/// The text of a policy file or of the profile of that name, or an error message.
[[nodiscard]] tl::expected<std::string, std::string> policy_text(const std::string& file_or_profile);

}  // namespace roce::analyze
