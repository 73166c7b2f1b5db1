// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLocale>
#include <QString>
#include <QStringList>

namespace roce::gui {

/// Folders searched for roceanalyze_LANGUAGE.qm, first to last: beside the program (build and installation),
/// then the data folders of the user and of the system.
[[nodiscard]] QStringList translation_folders();

/// Installs the translations of that language, including those of Qt's own dialogs. Returns the file used;
/// empty: none, and texts stay English. To be called once, before any window exists.
QString install_translations(const QLocale& locale, const QStringList& folders = translation_folders());

}  // namespace roce::gui
