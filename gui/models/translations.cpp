// SPDX-License-Identifier: Apache-2.0
#include "gui/models/translations.hpp"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QStandardPaths>
#include <QTranslator>
#include <memory>

namespace roce::gui {

QStringList translation_folders() {
  const QString program = QCoreApplication::applicationDirPath();
  QStringList folders{program + QStringLiteral("/translations"),
                      program + QStringLiteral("/../share/roceanalyze/translations")};
  folders << QStandardPaths::locateAll(QStandardPaths::GenericDataLocation,
                                       QStringLiteral("roceanalyze/translations"),
                                       QStandardPaths::LocateDirectory);
  return folders;
}

QString install_translations(const QLocale& locale, const QStringList& folders) {
  auto* application = QCoreApplication::instance();
  const auto load = [&](const QString& name, const QString& folder) {
    auto translator = std::make_unique<QTranslator>();
    if (!translator->load(locale, name, QStringLiteral("_"), folder)) return QString();
    const QString path = translator->filePath();
    translator->setParent(application);
    QCoreApplication::installTranslator(translator.release());
    return path;
  };
  for (const QString& folder : folders) {
    const QString path = load(QStringLiteral("roceanalyze"), folder);
    if (path.isEmpty()) continue;
    load(QStringLiteral("qtbase"), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    return path;
  }
  return {};
}

}  // namespace roce::gui
