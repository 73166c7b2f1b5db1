// SPDX-License-Identifier: Apache-2.0
// What a store can be asked: one row a question, with its statement and the columns of its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/ddl.hpp"
#include "analyze/store/store_cell.hpp"

namespace roce::analyze {

/// How a cell of an answer is shown to people; programs get the value.
enum class AnswerKind : std::uint8_t {
  text,
  count,
  key,  ///< a hash: digits
  qp,   ///< 0: not known
  bytes,
  seconds,   ///< a time, seconds since the epoch; 0: not known
  time_ns,   ///< a time; 0: not known
  duration,  ///< nanoseconds
  ratio,     ///< a number with a fraction
};

struct AnswerColumn {
  std::string_view name;  ///< stable: in JSON and CSV
  std::string_view heading;
  AnswerKind kind = AnswerKind::text;
  std::string_view help;
  std::uint8_t priority = 0;  ///< on a narrow terminal columns with higher numbers are left out first
};

using AnswerRow = std::vector<StoreCell>;
using AnswerRows = StoreAnswer;

/// What a question needs besides a time range.
enum class Asked : std::uint8_t { nothing, pair, flow, connection, incident };

struct QuestionSql;

struct Question {
  std::string_view name;
  std::string_view help;
  Asked asked = Asked::nothing;
  std::span<const AnswerColumn> columns;
  const QuestionSql* sql = nullptr;  ///< see statement()
  /// Makes the answer from the rows of the statement; null: they are the answer.
  AnswerRows (*conclude)(AnswerRows rows) = nullptr;
};

/// Numbers only: nothing that somebody typed becomes part of a statement.
struct QuestionValues {
  std::int64_t since = 0;    ///< seconds since the epoch
  std::int64_t until = 0;    ///< rows before it only, seconds since the epoch; 0: to the newest
  std::int64_t span = 3600;  ///< of `changes`, seconds
  std::int64_t against = 0;  ///< of `changes`: how much earlier the other span is, at least `span`; 0: that
  std::uint64_t key = 0;     ///< of the pair, flow, connection or incident
  std::uint64_t pair = 0;    ///< of a flow or connection: of its addresses; 0: not known
  std::uint64_t top = 20;    ///< rows at most
};

[[nodiscard]] std::span<const Question> questions() noexcept;
/// The question of that name, or nullptr.
[[nodiscard]] const Question* find_question(std::string_view name) noexcept;
/// Its statement, to be used as it is.
[[nodiscard]] std::string statement(const Question& question, const QuestionValues& values,
                                    StoreEngine engine = StoreEngine::sqlite);

}  // namespace roce::analyze
