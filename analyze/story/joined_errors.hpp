// SPDX-License-Identifier: Apache-2.0
// Errors that were logged, and the queue pairs of the capture that they are of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/errors/logged_error.hpp"
#include "analyze/results/snapshot.hpp"
#include "analyze/story/wire_evidence.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {

/// How sure it is whose error it is; the values of `fit`.
enum class Fit : std::uint8_t {
  fits,          ///< one queue pair has what the log names
  may_fit,       ///< several have, or only the addresses are known, or only the kind of the failure
  not_here,      ///< no queue pair of the capture has what the log names
  names_nobody,  ///< the log names neither a queue pair nor an address
  count_
};
inline constexpr std::size_t fit_count = static_cast<std::size_t>(Fit::count_);
inline constexpr EnumNames<Fit, fit_count> fit_names({{Fit::fits, "fits"},
                                                      {Fit::may_fit, "may_fit"},
                                                      {Fit::not_here, "not_here"},
                                                      {Fit::names_nobody, "names_nobody"}});

/// A queue pair that an error may be of.
struct ErrorMatch {
  std::uint32_t connection = 0;  ///< Connection::id
  std::uint8_t side = 0;         ///< whose application or driver logged it
  WireEvidence evidence;
};

struct JoinedError {
  std::size_t log = 0;    ///< index of the log
  std::size_t error = 0;  ///< and of its error
  Fit fit = Fit::names_nobody;
  std::vector<ErrorMatch> matches;  ///< the first of them; those that show the failure, if there are any
  std::size_t candidates = 0;       ///< all of them
  std::string text;                 ///< what the application saw and what the wire shows, in a sentence
};

/// Joins all errors of all logs, in their order.
[[nodiscard]] std::vector<JoinedError> join_errors(const Snapshot& snapshot, std::span<const ErrorLog> logs);

/// "status IBV_WC_RETRY_EXC_ERR (12, ...), vendor error 0x81 (mlx5: ...)": what the log says happened.
[[nodiscard]] std::string error_text(const LoggedError& error);

}  // namespace roce::analyze
