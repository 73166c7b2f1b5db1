// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QStringList>
#include <string>
#include <vector>

#include "analyze/results/diagnosis.hpp"

namespace roce::gui {

/// A part of a finding's advice: plain text, or a roceanalyze command that can be pasted into a shell.
struct AdvicePart {
  bool command = false;
  QString text;
};

/// The word, quoted for a POSIX shell where necessary.
[[nodiscard]] QString shell_word(const QString& word);

/// Splits a finding's advice. "FILE" in commands is replaced by the files, quoted; it stays if there are
/// none.
[[nodiscard]] std::vector<AdvicePart> advice_parts(const std::string& advice, const QStringList& files);
/// The advice of a diagnosis, and its further commands.
[[nodiscard]] std::vector<AdvicePart> advice_parts(const analyze::Diagnosis& diagnosis,
                                                   const QStringList& files);

}  // namespace roce::gui
