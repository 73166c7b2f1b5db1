// SPDX-License-Identifier: Apache-2.0
// All documents that the program writes as JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyze/base/json_shape.hpp"

namespace roce::cli {

struct JsonDocument {
  std::string_view name;
  std::string_view version;  ///< major.minor of its keys, see docs/schema.md
  std::string_view command;  ///< that writes it
  analyze::JsonShape (*shape)();
};

[[nodiscard]] std::span<const JsonDocument> json_documents() noexcept;
/// The document of that name; null: there is none.
[[nodiscard]] const JsonDocument* find_json_document(std::string_view name) noexcept;
/// Its JSON Schema, with a newline.
[[nodiscard]] std::string json_schema_of(const JsonDocument& document);

}  // namespace roce::cli
