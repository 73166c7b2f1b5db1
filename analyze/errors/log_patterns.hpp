// SPDX-License-Identifier: Apache-2.0
// What lines of logs look like that report an error: one row each.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "analyze/errors/logged_error.hpp"

namespace roce::analyze {

enum class LogField : std::uint8_t {
  none,
  status,
  vendor_error,
  syndrome,
  local_qp,
  remote_qp,
  local,
  remote,
  local_and_remote,  ///< two addresses with a comma between them
  device,
  event,      ///< all that follows
  operation,  ///< one word
};

/// Where a value stands: behind this text, wherever that is on the line; an event behind the last such text.
struct LogMarker {
  std::string_view after;
  LogField field = LogField::none;
};

/// A line that has `anchor` and `also` is of this kind. Values that are missing are not known.
struct LogPattern {
  enum class Part : std::uint8_t {
    whole,  ///< says all
    opens,  ///< the next lines of this program and thread may say more
    joins,  ///< says more of an error that was opened; by itself it says what it says
    tells,  ///< no error: whose queue pair and addresses those of later errors are
  };
  LogProgram program = LogProgram::nccl;
  std::string_view anchor;
  std::string_view also = {};
  Part part = Part::whole;
  std::array<LogMarker, 7> markers{};
};

/// In the order in which they are tried.
[[nodiscard]] std::span<const LogPattern> log_patterns() noexcept;

}  // namespace roce::analyze
