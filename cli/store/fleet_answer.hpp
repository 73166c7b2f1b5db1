// SPDX-License-Identifier: Apache-2.0
// How answers of `fleet` are shown.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/json_object.hpp"
#include "analyze/store/questions.hpp"

namespace roce::cli {

/// A cell for people: "1.46 MB", "2026-11-20 10:48:07"; control characters are escaped.
[[nodiscard]] std::string answer_cell(const analyze::AnswerColumn& column, const analyze::StoreCell& cell);
/// A table of at most `width` columns.
[[nodiscard]] std::string answer_table(const analyze::Question& question, const analyze::AnswerRows& rows,
                                       std::size_t width);
/// A further part of the answer to some questions, and the question that answers it.
struct AnswerPart {
  analyze::Asked asked;  ///< of questions that ask for this
  std::string_view name;
  std::string_view question;
  std::string_view help;
};
[[nodiscard]] std::span<const AnswerPart> answer_parts() noexcept;

/// The document of `fleet --json` that answers this question: its own rows and those of its parts, in their
/// order.
struct FleetAnswer {
  const analyze::AnswerRows& rows;
  std::vector<const analyze::AnswerRows*> parts;
};
/// The table that it is written from. Lives as long as the program. Not thread-safe.
[[nodiscard]] const analyze::JsonObject<FleetAnswer>& fleet_answer_object(const analyze::Question& question);
[[nodiscard]] std::string answer_csv(const analyze::Question& question, const analyze::AnswerRows& rows);

/// Points side by side, one table for each flow: figures below each other; then what was lost between them.
[[nodiscard]] std::string ends_text(const analyze::Question& points, const analyze::AnswerRows& rows,
                                    const analyze::Question& loss, const analyze::AnswerRows& losses,
                                    std::size_t width);

}  // namespace roce::cli
