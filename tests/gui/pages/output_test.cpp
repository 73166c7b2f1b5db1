// SPDX-License-Identifier: Apache-2.0
#include <QClipboard>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QXmlStreamReader>

#include "analyze/report/perfetto/perfetto_report.hpp"
#include "gui/charts/chart.hpp"
#include "gui/models/report_file.hpp"
#include "tests/gui/pages/window_support.hpp"

namespace roce::gui {
namespace output_test {
namespace {

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("(not there)");
}

bool has_written(MainWindow& window) {
  return eventually([&] { return !window.output().is_writing(); });
}

/// Whether it is well-formed.
bool is_xml(const QByteArray& data) {
  QXmlStreamReader reader(data);
  while (!reader.atEnd()) reader.readNext();
  return !reader.hasError() && !data.isEmpty();
}

QAction* action(MainWindow& window, const char* name) {
  return window.findChild<QAction*>(QString::fromLatin1(name));
}

TEST(Output, WritesTheReportThatTheCommandLinePrints) {
  const QTemporaryDir folder;
  const auto window = make_window();
  open_sample(*window, lossy);
  const auto snapshot = window->session().snapshot();
  const QString html = folder.filePath(QStringLiteral("a.html")),
                json = folder.filePath(QStringLiteral("a.json")),
                trace = folder.filePath(QStringLiteral("a.perfetto"));
  for (const QString& path : {html, json, trace}) {
    window->output().export_report(path);
    ASSERT_TRUE(has_written(*window));
    EXPECT_TRUE(window->message().contains(path));
  }
  EXPECT_TRUE(is_xml(content(html)));
  for (const analyze::Finding& finding : snapshot->findings)
    EXPECT_TRUE(content(html).contains(QByteArray::fromStdString(finding.title.data())));
  EXPECT_TRUE(content(json).startsWith("{\"schema\":\"roceanalyze/1\""));
  EXPECT_TRUE(content(json).endsWith("}\n"));
  EXPECT_TRUE(content(trace).startsWith(analyze::perfetto_begin.data()));
}

TEST(Output, NeverWritesOverTheCaptureNorWithoutOne) {
  const QTemporaryDir folder;
  const QString copy = folder.filePath(QStringLiteral("capture.html"));
  ASSERT_TRUE(QFile::copy(QString::fromStdString(sample(lossy)), copy));
  const QString link = folder.filePath(QStringLiteral("link.json"));
  ASSERT_TRUE(QFile::link(copy, link));
  const QByteArray before = content(copy);
  const auto window = make_window();
  const QString other = folder.filePath(QStringLiteral("other.html"));
  window->output().export_report(other);
  EXPECT_FALSE(window->output().is_writing());
  EXPECT_FALSE(QFile::exists(other));
  window->open({copy});
  ASSERT_TRUE(has_ended(*window));
  for (const QString& path : {copy, link}) {
    window->output().export_report(path);
    EXPECT_FALSE(window->output().is_writing());
    EXPECT_TRUE(window->message().contains(QStringLiteral("the capture itself")));
    window->output().export_chart(&window->timeline(), path);
    EXPECT_TRUE(window->message().contains(QStringLiteral("the capture itself")));
  }
  EXPECT_EQ(content(copy), before);
}

TEST(Output, SaysWhyAFileWasNotWritten) {
  const QTemporaryDir folder;
  const auto window = make_window();
  open_sample(*window, lossy);
  const QString nowhere = folder.filePath(QStringLiteral("not/there/a.html"));
  const QString unknown = folder.filePath(QStringLiteral("a.txt"));
  for (const QString& path :
       {nowhere, unknown, folder.path() + QStringLiteral("/"), QStringLiteral("/dev/full/a.json")}) {
    window->output().export_report(path);
    ASSERT_TRUE(has_written(*window));
    EXPECT_TRUE(window->message().contains(QStringLiteral("was not written"))) << path.toStdString();
    EXPECT_TRUE(window->message().contains(path)) << path.toStdString();
  }
  EXPECT_TRUE(QDir(folder.path()).isEmpty());
}

TEST(Output, SavesEveryGraphAsImageAndDrawing) {
  const QTemporaryDir folder;
  const auto window = make_window();
  open_sample(*window, lossy);
  const QList<QWidget*> charts = charts_in(window.get());
  ASSERT_FALSE(charts.isEmpty());
  for (int i = 0; i < charts.size(); ++i) {
    const QString png = folder.filePath(QStringLiteral("%1.png").arg(i)),
                  svg = folder.filePath(QStringLiteral("%1.svg").arg(i));
    EXPECT_FALSE(chart_title(charts[i]).isEmpty());
    window->output().export_chart(charts[i], png);
    window->output().export_chart(charts[i], svg);
    const QImage image(png);
    EXPECT_GE(image.width(), 2 * 200);
    EXPECT_TRUE(is_xml(content(svg)));
    // One of a connection says so while none is chosen.
    const QByteArray drawing = content(svg);
    EXPECT_TRUE(drawing.contains("<path") || drawing.contains("<poly") || drawing.contains("<text"));
  }
}

TEST(Output, AsksWhereToAndCopies) {
  const QTemporaryDir folder;
  const auto window = make_window();
  open_sample(*window, lossy);
  const QString report = folder.filePath(QStringLiteral("r.json")),
                graph = folder.filePath(QStringLiteral("g.svg"));
  QStringList suggested;
  window->output().set_questions({[&](QWidget*, const QString&, const QString& name, const QString& filters) {
                                    suggested << name;
                                    return filters.contains(QStringLiteral("html")) ? report : graph;
                                  },
                                  [](QWidget*, QPrinter&) { return false; }});
  action(*window, "export_report")->trigger();
  ASSERT_TRUE(has_written(*window));
  action(*window, "export_graph")->trigger();
  EXPECT_TRUE(QFile::exists(report));
  EXPECT_TRUE(QFile::exists(graph));
  ASSERT_EQ(suggested.size(), 2);
  EXPECT_TRUE(suggested[0].endsWith(QStringLiteral("/04_write_loss1.cb-report.html")));
  EXPECT_TRUE(suggested[1].endsWith(QStringLiteral("/04_write_loss1.cb.png")));
  QApplication::clipboard()->clear();
  action(*window, "copy_graph")->trigger();
  EXPECT_FALSE(QApplication::clipboard()->image().isNull());
}

TEST(Output, PrintsTheReportAndTheGraph) {
  const QTemporaryDir folder;
  const auto window = make_window();
  open_sample(*window, lossy);
  const QString first = folder.filePath(QStringLiteral("report.pdf")),
                second = folder.filePath(QStringLiteral("graph.pdf"));
  QString path = first;
  window->output().set_questions(
      {[](QWidget*, const QString&, const QString&, const QString&) { return QString(); },
       [&](QWidget*, QPrinter& printer) {
         printer.setOutputFormat(QPrinter::PdfFormat);
         printer.setOutputFileName(path);
         return true;
       }});
  action(*window, "print")->trigger();
  path = second;
  action(*window, "print_graph")->trigger();
  for (const QString& file : {first, second}) {
    EXPECT_TRUE(content(file).startsWith("%PDF-")) << file.toStdString();
    EXPECT_GT(content(file).size(), 3000);
  }
}

TEST(Output, ClosesWhileItWrites) {
  const QTemporaryDir folder;
  for (int i = 0; i < 5; ++i) {
    const auto window = make_window();
    open_sample(*window, lossy);
    window->output().export_report(folder.filePath(QStringLiteral("%1.html").arg(i)));
    window->close();
  }
}

}  // namespace
}  // namespace output_test
}  // namespace roce::gui
