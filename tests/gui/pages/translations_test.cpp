// SPDX-License-Identifier: Apache-2.0
#include "gui/models/translations.hpp"

#include <QAbstractButton>
#include <QAction>
#include <QDir>
#include <QFile>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTranslator>

#include "gui/pages/preferences_dialog.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace {

/// A language in which every text is the English one in brackets.
class Brackets final : public QTranslator {
 public:
  [[nodiscard]] QString translate(const char* context, const char* text, const char*, int) const override {
    // What Qt itself says is for Qt to translate.
    if (QByteArray(context).startsWith('Q')) return {};
    return QStringLiteral("[[") + QString::fromUtf8(text) + QStringLiteral("]]");
  }
  [[nodiscard]] bool isEmpty() const override { return false; }
};

bool has_words(const QString& text) {
  return std::count_if(text.begin(), text.end(), [](QChar c) { return c.isLetter(); }) > 2;
}

void expect_translated(const QObject* object, const QString& text) {
  if (!has_words(text) || text.contains(QStringLiteral("[["))) return;
  // Buttons that Qt puts on docks and tabs speak Qt's language.
  if (object->objectName().startsWith(QLatin1String("qt_")) || object->parent()->inherits("QTabBar")) return;
  ADD_FAILURE() << object->metaObject()->className() << " " << object->objectName().toStdString() << ": "
                << text.toStdString();
}

TEST(Translations, EveryTextOfTheWindowIsTranslated) {
  Brackets brackets;
  QCoreApplication::installTranslator(&brackets);
  {
    const auto window = make_window();
    const PreferencesDialog dialog{Preferences()};
    for (const QWidget* top :
         {static_cast<const QWidget*>(window.get()), static_cast<const QWidget*>(&dialog)}) {
      for (const QAction* action : top->findChildren<QAction*>()) {
        // Policies, profiles and files bear names.
        if (!action->data().isValid() && !action->isSeparator()) expect_translated(action, action->text());
        if (!action->data().isValid()) expect_translated(action, action->statusTip());
      }
      for (const QLabel* label : top->findChildren<QLabel*>()) expect_translated(label, label->text());
      for (const QAbstractButton* button : top->findChildren<QAbstractButton*>()) {
        if (!button->parent()->inherits("QDialogButtonBox")) expect_translated(button, button->text());
      }
      for (const QGroupBox* box : top->findChildren<QGroupBox*>()) expect_translated(box, box->title());
      for (const QLineEdit* field : top->findChildren<QLineEdit*>())
        expect_translated(field, field->placeholderText());
      for (const QWidget* widget : top->findChildren<QWidget*>()) {
        expect_translated(widget, widget->accessibleName());
        expect_translated(widget, widget->accessibleDescription());
        if (qobject_cast<const QDockWidget*>(widget) != nullptr)
          expect_translated(widget, widget->windowTitle());
      }
    }
  }
  QCoreApplication::removeTranslator(&brackets);
}

TEST(Translations, AreLoadedFromTheirFolder) {
  const QString release = QStandardPaths::findExecutable(
      QStringLiteral("lrelease"),
      {QStringLiteral("/usr/lib/qt6/bin"), QStringLiteral("/usr/lib/qt6/libexec")});
  if (release.isEmpty()) GTEST_SKIP() << "no lrelease here (Debian: qt6-l10n-tools)";
  const QTemporaryDir folder;
  QFile source(folder.filePath(QStringLiteral("roceanalyze_de.ts")));
  ASSERT_TRUE(source.open(QIODevice::WriteOnly));
  source.write(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?><!DOCTYPE TS><TS version=\"2.1\" "
      "language=\"de_DE\"><context>"
      "<name>roce::gui::MainWindow</name><message><source>Overview</source><translation>Übersicht</"
      "translation>"
      "</message></context></TS>");
  source.close();
  ASSERT_EQ(QProcess::execute(release, {QStringLiteral("-silent"), source.fileName()}), 0);
  EXPECT_EQ(install_translations(QLocale(QStringLiteral("fr_FR")), {folder.path()}), QString());
  EXPECT_EQ(
      install_translations(QLocale(QStringLiteral("de_AT")), {QStringLiteral("/nowhere"), folder.path()}),
      folder.filePath(QStringLiteral("roceanalyze_de.qm")));
  EXPECT_EQ(MainWindow::tr("Overview"), QStringLiteral("Übersicht"));
  for (auto* translator : QCoreApplication::instance()->findChildren<QTranslator*>()) delete translator;
  EXPECT_EQ(MainWindow::tr("Overview"), QStringLiteral("Overview"));
}

}  // namespace
}  // namespace roce::gui
