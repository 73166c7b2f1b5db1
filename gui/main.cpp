// SPDX-License-Identifier: Apache-2.0
// roceanalyze-gui [FILE...]: see gui/README.md.
#include <QApplication>
#include <QCommandLineParser>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "gui/charts/theme.hpp"
#include "gui/models/translations.hpp"
#include "gui/models/version.hpp"
#include "gui/models/worker_threads.hpp"
#include "gui/pages/main_window.hpp"

namespace {

using namespace roce::gui;

// As those of the command line.
constexpr int exit_usage = 2;
constexpr int exit_input = 3;

void print(std::FILE* to, const QString& text) {
  std::fputs(text.toLocal8Bit().constData(), to);
}

constexpr const char* no_display =
    "roceanalyze-gui: there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set).\n"
    "From another machine: ssh -X, or QT_QPA_PLATFORM=vnc and a VNC viewer on port 5900. Without a display: "
    "xvfb-run -a roceanalyze-gui.\nThe same results as text: roceanalyze FILE\n";

/// Whether Qt has been given a display or platform.
bool has_display(const QStringList& arguments) {
  constexpr std::array variables{"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"};
  return std::any_of(variables.begin(), variables.end(),
                     [](const char* name) { return !qEnvironmentVariableIsEmpty(name); }) ||
         arguments.contains(QStringLiteral("-platform")) || arguments.contains(QStringLiteral("--platform"));
}

/// An unusable display is reported in one line instead of by Qt's abort().
void on_message(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type == QtDebugMsg || type == QtInfoMsg) return;
  print(stderr, QStringLiteral("roceanalyze-gui: %1\n").arg(text.trimmed()));
  if (type != QtFatalMsg) return;
  print(stderr, QStringLiteral("The same results as text, without a display: roceanalyze FILE\n"));
  std::_Exit(exit_input);
}

void describe(QCommandLineParser& parser) {
  parser.setApplicationDescription(
      QStringLiteral("Opens a capture of RDMA over Converged Ethernet and shows what is wrong in it."));
  parser.addPositionalArgument(QStringLiteral("FILE"),
                               QStringLiteral("captures: pcap or pcapng, plain, .gz, .zst or .lz4"),
                               QStringLiteral("[FILE...]"));
  parser.addOption({{QStringLiteral("h"), QStringLiteral("help")}, QStringLiteral("show this help")});
  parser.addOption({{QStringLiteral("v"), QStringLiteral("version")},
                    QStringLiteral("show version, compiler, libraries and features")});
  parser.addOption({QStringLiteral("policy"),
                    QStringLiteral("validate markings against a policy: a file or a profile"),
                    QStringLiteral("FILE|PROFILE")});
  parser.addOption(
      {QStringLiteral("theme"), QStringLiteral("light, dark or system"), QStringLiteral("NAME")});
}

/// Options that need no window; nullopt: open one.
std::optional<int> answer(const QCommandLineParser& parser) {
  if (parser.isSet(QStringLiteral("version"))) {
    print(stdout, QStringLiteral("roceanalyze-gui %1\n%2\n").arg(version(), build_text()));
    return EXIT_SUCCESS;
  }
  if (parser.isSet(QStringLiteral("help"))) {
    print(stdout, parser.helpText());
    return EXIT_SUCCESS;
  }
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  QStringList arguments;
  for (int i = 0; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
  {
    // Before QApplication exists, as that needs a display. Qt's own options are not known here.
    QCommandLineParser early;
    describe(early);
    early.parse(arguments);
    if (const auto status = answer(early)) return *status;
  }
  if (!has_display(arguments)) {
    print(stderr, QString::fromLatin1(no_display));
    return exit_input;
  }
  qInstallMessageHandler(on_message);
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("roceanalyze-gui"));
  QApplication::setApplicationVersion(version());
  QApplication::setWindowIcon(QIcon::fromTheme(QStringLiteral("roceanalyze")));
  install_translations(QLocale());
  QApplication::setDesktopFileName(QStringLiteral("roceanalyze-gui"));
  QCommandLineParser parser;
  describe(parser);
  if (!parser.parse(QApplication::arguments())) {
    print(stderr, QStringLiteral("roceanalyze-gui: %1 (see --help)\n").arg(parser.errorText()));
    return exit_usage;
  }
  apply_theme(theme_named(parser.isSet(QStringLiteral("theme"))
                              ? parser.value(QStringLiteral("theme"))
                              : settings().value(QStringLiteral("theme")).toString()));
  int status = EXIT_SUCCESS;
  {
    MainWindow window;
    if (const QString policy = parser.value(QStringLiteral("policy"));
        !policy.isEmpty() && !window.choose_policy(policy)) {
      print(stderr, QStringLiteral("roceanalyze-gui: %1\n").arg(window.message()));
      return exit_usage;
    }
    window.open(parser.positionalArguments());
    window.show();
    status = QApplication::exec();
  }
  // A thread that blocks on a pipe without a writer cannot be woken: then skip destructors of static objects.
  if (!wait_for_background(std::chrono::seconds(2))) std::_Exit(status);
  return status;
}
