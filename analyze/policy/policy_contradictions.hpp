// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyze/policy/policy_model.hpp"
#include "analyze/policy/policy_values.hpp"

// Internal to the reader of policies.
namespace roce::analyze {

/// What only the whole can tell: a class that must be lossless, and no priority is; marks that exclude each
/// other. `root` is what `model` was read of without a mistake.
void check_whole(const TomlNode& root, const PolicyModel& model, Mistakes& mistakes);

}  // namespace roce::analyze
