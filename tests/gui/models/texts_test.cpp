// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <array>
#include <cstdio>

#include "cli/report/report.hpp"
#include "gui/models/commands.hpp"
#include "gui/models/details.hpp"
#include "gui/models/health.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/tables.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace texts_test {
namespace {

/// What a shell makes of it.
QString printed(const QString& word) {
  QProcess shell;
  shell.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), QStringLiteral("printf %s ") + word});
  if (!shell.waitForFinished()) return QStringLiteral("(the shell did not end)");
  return QString::fromUtf8(shell.readAllStandardOutput());
}

TEST(Commands, WordsComeThroughAShellUnchanged) {
  for (const char* word :
       {"a.pcap", "a b.pcap", "it's.pcap", "$(reboot)", "\"x\"", "*", "", "-f", "\\", "ümlaut;ls"}) {
    const QString text = QString::fromUtf8(word);
    EXPECT_EQ(printed(shell_word(text)), text);
  }
}

TEST(Commands, NameTheFilesOfTheWindow) {
  const QStringList files{QStringLiteral("/tmp/a b.pcap"), QStringLiteral("c.pcap")};
  const auto parts = advice_parts(
      "Look there. The packets: roceanalyze packets FILE -Y 'ip.addr == \"x\"'. Then wait.", files);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].text, QStringLiteral("Look there. The packets:"));
  EXPECT_TRUE(parts[1].command);
  EXPECT_EQ(parts[1].text,
            QStringLiteral("roceanalyze packets '/tmp/a b.pcap' c.pcap -Y 'ip.addr == \"x\"'"));
  EXPECT_EQ(parts[2].text, QStringLiteral("Then wait."));
}

TEST(Commands, OfAllSamplesAreWholeAndNameTheirFile) {
  std::size_t commands = 0;
  for (const std::string& name : all_samples()) {
    const auto snapshot = analyzed(name);
    for (const analyze::Finding& finding : snapshot->findings) {
      for (const QString& command : finding_commands(finding, {QString::fromStdString(name)})) {
        SCOPED_TRACE(command.toStdString());
        ++commands;
        EXPECT_TRUE(
            command.startsWith(QStringLiteral("roceanalyze packets ") + QString::fromStdString(name)));
        EXPECT_TRUE(command.endsWith(QLatin1Char('\'')));
      }
    }
  }
  EXPECT_GT(commands, 50U);
}

TEST(Health, SaysWhatTheReportSays) {
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    const auto snapshot = analyzed(name);
    const QString report = QString::fromStdString(cli::report_text(*snapshot, {400, false, 5}));
    // The first line that judges: the worst diagnosis, or the verdict. What it does not cover stands above
    // it.
    QString said;
    for (const QString& line : report.split(QLatin1Char('\n'))) {
      const bool caveat = line.startsWith(QStringLiteral("INCOMPLETE")) ||
                          line.startsWith(QStringLiteral("LIMITED")) || line.startsWith(QLatin1Char(' '));
      if (caveat) continue;
      said = line.mid(static_cast<int>(std::string_view("Verdict     ").size()));
      break;
    }
    const Health health = health_of(*snapshot);
    const QString line = health.line.section(QStringLiteral(", but not all"), 0, 0);
    EXPECT_TRUE(said.startsWith(line, Qt::CaseInsensitive)) << said.toStdString() << "\n"
                                                            << line.toStdString();
    const analyze::Diagnosis* worst = analyze::worst_diagnosis(*snapshot);
    EXPECT_EQ(health.counts.isEmpty(), worst == nullptr);
    if (worst == nullptr) continue;
    EXPECT_TRUE(report.contains(QStringLiteral("Verdict     ")));
    EXPECT_EQ(health.line, to_qt(worst->sentence));
    EXPECT_GE(*health.sign, severity_like(worst->severity));
    EXPECT_TRUE(report.contains(health.counts)) << health.counts.toStdString();
  }
}

/// What the report says of a diagnosis is in its text, and each link leads somewhere.
TEST(Details, OfADiagnosisHaveAllPartsOfTheReport) {
  std::size_t diagnoses = 0;
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    const auto snapshot = analyzed(name);
    for (const analyze::Diagnosis& d : snapshot->diagnoses) {
      ++diagnoses;
      const QString html = diagnosis_html(*snapshot, d, {QString::fromStdString(name)});
      for (const std::string& part :
           {d.sentence, d.subject, facts_text(d), not_excluded_text(d), would_decide_text(d)})
        EXPECT_TRUE(html.contains(to_qt(part).toHtmlEscaped())) << part;
      for (const std::uint64_t packet : d.packets)
        EXPECT_TRUE(html.contains(QStringLiteral("\"packet:%1\"").arg(packet)));
      for (const std::size_t index : d.findings) {
        const auto key = QUrl::toPercentEncoding(to_qt(finding_key(snapshot->findings[index])));
        if (d.findings.size() <= 8) {
          EXPECT_TRUE(html.contains(QStringLiteral("\"finding:") + QString::fromLatin1(key)));
        }
      }
      for (const QString& command : diagnosis_commands(d, {QString::fromStdString(name)})) {
        EXPECT_TRUE(command.startsWith(QStringLiteral("roceanalyze "))) << command.toStdString();
        EXPECT_FALSE(command.contains(QStringLiteral(" FILE"))) << command.toStdString();
        EXPECT_TRUE(html.contains(command.toHtmlEscaped())) << command.toStdString();
      }
    }
  }
  EXPECT_GT(diagnoses, 20U);
}

TEST(Health, OfADamagedCaptureIsNotGood) {
  // Nothing wrong in it, cut at every place that a full disk may leave.
  QFile whole(QString::fromStdString(sample("06_flush.pcap")));
  ASSERT_TRUE(whole.open(QFile::ReadOnly));
  const QByteArray bytes = whole.readAll();
  const QTemporaryDir folder;
  const std::string path = folder.filePath(QStringLiteral("cut.pcap")).toStdString();
  for (const qsizetype cut : {bytes.size() - 1, bytes.size() / 2 + 1, bytes.size() / 3}) {
    QFile part(QString::fromStdString(path));
    ASSERT_TRUE(part.open(QFile::WriteOnly | QFile::Truncate));
    part.write(bytes.first(cut));
    part.close();
    auto source = capture::open_files({path});
    ASSERT_TRUE(source);
    const auto snapshot = analyze::analyze(**source, {});
    const Health health = health_of(*snapshot);
    EXPECT_TRUE(health.shown);
    EXPECT_EQ(health.sign, analyze::Severity::notice);
    // What little is left may have something odd in it; but nothing reassures.
    const bool told = analyze::worst_diagnosis(*snapshot) != nullptr;
    EXPECT_EQ(health.line.endsWith(QStringLiteral(", but not all of the capture could be judged")), !told);
    const QStringList lost = what_was_lost(*snapshot);
    ASSERT_FALSE(lost.isEmpty());  // and what the rest cannot bear
    EXPECT_TRUE(lost.front().contains(QStringLiteral("inside a record"))) << lost.front().toStdString();
    const std::string report = cli::report_text(*snapshot, {400, false, 5});
    EXPECT_TRUE(report.starts_with("INCOMPLETE  part of ")) << report;
  }
  EXPECT_EQ(health_of(*analyzed("06_flush.pcap")).sign, std::nullopt);
  EXPECT_TRUE(what_was_lost(*analyzed("06_flush.pcap")).isEmpty());
}

TEST(ShownText, EscapesWhatADisplayWouldObey) {
  EXPECT_EQ(shown_name(QStringLiteral("a\nb\x1b[2J \u00fc")).toStdString(), "a\\nb\\x1b[2J \u00fc");
  capture::Error error;
  error.path = "x\ny.pcap";
  error.message = "no such file";
  EXPECT_EQ(error_text(error), "x\\ny.pcap: no such file");
  error.below = "tcp\tport\x1b\n    ^";
  EXPECT_EQ(error_text(error), "x\\ny.pcap: no such file\ntcp?port?\n    ^");
}

TEST(Details, EscapeWhatTheyQuote) {
  EXPECT_FALSE(facts_html({{QStringLiteral("File"), QStringLiteral("<b>&x</b>.pcap")}})
                   .contains(QStringLiteral("<b>")));
}

TEST(Details, TellOfEveryConnectionAndFinding) {
  for (const std::string& name : all_samples()) {
    const auto snapshot = analyzed(name);
    for (const analyze::Connection& connection : snapshot->connections)
      EXPECT_TRUE(connection_html(*snapshot, connection.id)
                      .contains(QStringLiteral("Connection %1").arg(connection.id)));
    for (const analyze::Finding& finding : snapshot->findings) {
      const QString html = finding_html(*snapshot, finding, {QString::fromStdString(name)});
      EXPECT_TRUE(html.contains(QStringLiteral("packet:%1").arg(finding.packets.front())));
      const std::string sentence = first_sentence(finding.explanation);
      EXPECT_TRUE(finding.explanation.starts_with(sentence));
      EXPECT_FALSE(sentence.empty());
    }
  }
  EXPECT_EQ(connection_html(*analyzed("03_rping.pcap"), 4'000'000'000U), QString());
}

}  // namespace
}  // namespace texts_test
}  // namespace roce::gui
