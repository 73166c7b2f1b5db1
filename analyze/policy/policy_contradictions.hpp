// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyze/policy/policy_model.hpp"
#include "analyze/policy/policy_values.hpp"

// Internal to the reader of policies.
namespace roce::analyze {

/// Checks that need the whole policy: a class that must be lossless without a lossless priority; markings
/// that exclude each other. `root` is the document from which `model` was read without a mistake.
void check_whole(const TomlNode& root, const PolicyModel& model, Mistakes& mistakes);

}  // namespace roce::analyze
