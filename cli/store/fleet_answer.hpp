// SPDX-License-Identifier: Apache-2.0
// How answers of `fleet` are shown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyze/base/json_writer.hpp"
#include "analyze/store/questions.hpp"

namespace roce::cli {

/// A cell for people: "1.46 MB", "2026-11-20 10:48:07"; control characters are escaped.
[[nodiscard]] std::string answer_cell(const analyze::AnswerColumn& column, const analyze::StoreCell& cell);
/// A table of at most `width` columns.
[[nodiscard]] std::string answer_table(const analyze::Question& question, const analyze::AnswerRows& rows,
                                       std::size_t width);
/// A heading and the rows as objects, as value of a key.
void answer_json(analyze::JsonWriter& json, const analyze::Question& question,
                 const analyze::AnswerRows& rows);
[[nodiscard]] std::string answer_csv(const analyze::Question& question, const analyze::AnswerRows& rows);

/// Points side by side, one table for each flow: figures below each other; then what was lost between them.
[[nodiscard]] std::string ends_text(const analyze::Question& points, const analyze::AnswerRows& rows,
                                    const analyze::Question& loss, const analyze::AnswerRows& losses,
                                    std::size_t width);

}  // namespace roce::cli
