// SPDX-License-Identifier: Apache-2.0
// JSON Schema (draft 2020-12) of documents that JsonObject writes.
#pragma once

#include <string>
#include <string_view>

#include "analyze/base/json_shape.hpp"

namespace roce::analyze {

/// The schema of a document, indented, with a newline. Objects allow no other keys. Units are annotations,
/// "x-unit"; `version` is "x-version": major.minor, see docs/schema.md.
[[nodiscard]] std::string json_schema(std::string_view title, std::string_view description,
                                      std::string_view version, const JsonShape& document);

}  // namespace roce::analyze
