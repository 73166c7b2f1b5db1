// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QStringList>
#include <string>
#include <vector>

namespace roce::gui {

/// A part of an advice: text, or a command of ours that can be copied and typed as it is.
struct AdvicePart {
  bool command = false;
  QString text;
};

/// A word as a shell takes it: quoted where it must be.
[[nodiscard]] QString shell_word(const QString& word);

/// Splits what a finding advises. "FILE" in commands becomes the files, quoted; with none it stays.
[[nodiscard]] std::vector<AdvicePart> advice_parts(const std::string& advice, const QStringList& files);

}  // namespace roce::gui
