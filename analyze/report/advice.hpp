// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/diagnosis.hpp"

namespace roce::analyze {

/// A sentence of a finding's advice, or a command in it that can be copied.
struct AdvicePart {
  bool command = false;
  std::string text;  ///< without leading and trailing blanks
};

/// Splits advice into sentences and commands. Its commands begin with "roceanalyze " and end with the last
/// quote of their filter; " FILE " in them becomes `files` as words of a shell, unless there are none.
[[nodiscard]] std::vector<AdvicePart> advice_parts(std::string_view advice,
                                                   std::span<const std::string> files);

/// The advice of a diagnosis, and after it those of its commands that are not in it.
[[nodiscard]] std::vector<AdvicePart> advice_parts(const Diagnosis& diagnosis,
                                                   std::span<const std::string> files);

/// The word as a POSIX shell reads it unchanged: in single quotes where needed.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace roce::analyze
