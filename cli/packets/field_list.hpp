// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace roce::cli {

/// Prints name, type and label of each field (`packets --list-fields`). Returns the exit status.
int list_fields();

}  // namespace roce::cli
