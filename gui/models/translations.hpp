// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLocale>
#include <QString>
#include <QStringList>

namespace roce::gui {

/// Folders that are searched for roceanalyze_LANGUAGE.qm, first to last: beside the program, as it is built
/// and as it is installed, then the data folders of the user and of the system.
[[nodiscard]] QStringList translation_folders();

/// Gives the application the texts of that language, those of Qt's own dialogs too. Returns the file that was
/// taken; empty: there is none, and texts stay English. Once, before any window.
QString install_translations(const QLocale& locale, const QStringList& folders = translation_folders());

}  // namespace roce::gui
