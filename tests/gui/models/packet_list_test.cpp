// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_list_model.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <algorithm>

#include <QAbstractItemModelTester>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <random>

#include "cli/packets/packets.hpp"
#include "gui/models/analysis_session.hpp"
#include "gui/models/packet_export.hpp"
#include "gui/models/table_model.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace packet_list_test {
namespace {

constexpr const char* lossy = "04_write_loss1.cb.pcap.zst";

/// What the command prints, line by line.
QStringList printed(const cli::PacketsOptions& options) {
  QTemporaryDir folder;
  const QString name = folder.filePath(QStringLiteral("out"));
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  const int file = ::open(QFile::encodeName(name).constData(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  cli::PacketsOptions here = options;
  here.no_sandbox = true;  // this process goes on
  static_cast<void>(cli::run_packets(here));
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  ::close(file);
  ::close(before);
  QFile written(name);
  static_cast<void>(written.open(QIODevice::ReadOnly));
  QStringList lines = QString::fromUtf8(written.readAll()).split(QLatin1Char('\n'));
  if (!lines.isEmpty() && lines.back().isEmpty()) lines.removeLast();
  return lines;
}

cli::PacketsOptions fields_of(const std::string& path, const QStringList& names, const QString& filter = {}) {
  cli::PacketsOptions options;
  options.files = {path};
  options.format = "fields";
  for (const QString& name : names) options.fields.push_back(name.toStdString());
  options.filter = filter.toStdString();
  return options;
}

bool opened(AnalysisSession& session, const std::string& path) {
  session.open({QString::fromStdString(path)});
  return eventually([&] { return session.state() == AnalysisSession::State::done; });
}

bool is_complete(PacketListModel& model) {
  return eventually([&] { return model.state().complete; });
}

QString row_text(const PacketListModel& model, int row) {
  QStringList cells;
  for (int column = 0; column < model.columnCount(); ++column)
    cells << model.index(row, column).data().toString();
  return cells.join(QLatin1Char('\t'));
}

void expect_rows(const PacketListModel& model, const QStringList& lines) {
  ASSERT_EQ(model.rowCount(), lines.size());
  // Not in order: rows are asked for as a user jumps.
  std::vector<int> rows(static_cast<std::size_t>(model.rowCount()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
  std::shuffle(rows.begin(), rows.end(), std::minstd_rand(3));
  for (const int row : rows) ASSERT_EQ(row_text(model, row), lines[row]) << "row " << row;
}

QStringList every_field() {
  QStringList names;
  for (const analyze::FieldRef field : analyze::all_fields())
    names << to_qt(analyze::field_facts(field).name);
  return names;
}

TEST(PacketList, ShowsOfEveryFieldWhatTheCommandPrints) {
  AnalysisSession session;
  PacketListModel model;
  const QStringList names = every_field();
  model.set_columns(names);
  ASSERT_EQ(model.column_names(), names);
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(opened(session, sample(name)));
    model.show(session.packets());
    ASSERT_TRUE(is_complete(model));
    const QStringList lines = printed(fields_of(sample(name), names));
    ASSERT_EQ(model.rowCount(), lines.size());
    // Some hundred rows of each, all of the small ones: there are many fields.
    const int step = std::max(1, model.rowCount() / 150);
    for (int row = 0; row < model.rowCount(); row += step) {
      const QStringList cells = lines[row].split(QLatin1Char('\t'));
      for (int i = 0; i < names.size(); ++i)
        ASSERT_EQ(model.index(row, i).data().toString(), cells.value(i))
            << names[i].toStdString() << " of " << row;
    }
  }
}

TEST(PacketList, FindsWhatTheCommandFinds) {
  AnalysisSession session;
  PacketListModel model;
  // No model tester here: it asks for every cell after every change, which the tests below have it do.
  const QStringList names{QStringLiteral("frame.number"), QStringLiteral("infiniband.bth.psn"),
                          QStringLiteral("roce.analysis.retransmission.cause")};
  model.set_columns(names);
  const QStringList filters{
      QStringLiteral("infiniband.bth.opcode == \"CNP\" || infiniband.bth.opcode == 17"),
      QStringLiteral("!infiniband.bth"),
      QStringLiteral("infiniband.bth.opcode != 17 and not roce.analysis.flags"),
      QStringLiteral("roce.analysis.retransmission"),
      QStringLiteral("roce.analysis.retransmission.cause in {\"nak\", \"timeout\"}"),
      QStringLiteral("roce.connection == 0"),
      QStringLiteral("roce.connection >= 1 && roce.direction == \"b_to_a\""),
      QStringLiteral("roce.analysis.lost == \"before_capture\" || roce.analysis.lost == \"after_capture\""),
      QStringLiteral("roce.analysis.lost.direction == \"a_to_b\""),
      QStringLiteral("roce.analysis.duplicate_capture or roce.analysis.ack_unseen"),
      QStringLiteral("infiniband.bth.psn > 1000 && frame.len > 100"),
      QStringLiteral("roce.flow == 1"),
      QStringLiteral("roce.icrc.status == \"match\" && frame.time_delta < 0.0001"),
      QStringLiteral("nvme or iser or rpcordma"),
      QStringLiteral("roce.analysis.gap"),
      QStringLiteral("frame.number > 100000000")};
  // Every filter meets every fourth sample, every sample a fourth of the filters: all pairs took two minutes.
  constexpr qsizetype apart = 4;
  qsizetype place = 0;
  for (const std::string& name : all_samples()) {
    ASSERT_TRUE(opened(session, sample(name)));
    model.show(session.packets());
    ++place;
    for (qsizetype i = place % apart; i < filters.size(); i += apart) {
      const QString& filter = filters[i];
      SCOPED_TRACE(name + ": " + filter.toStdString());
      if (!analyze::Filter::compile(filter.toStdString())) continue;  // no such protocol here
      ASSERT_FALSE(model.set_filter(filter, std::nullopt));
      ASSERT_TRUE(is_complete(model));
      expect_rows(model, printed(fields_of(sample(name), names, filter)));
      for (int row = 0; row < model.rowCount(); row += 7) {
        const std::uint64_t number = model.number_of(row);
        EXPECT_EQ(model.row_of(number), row);
        EXPECT_EQ(model.row_at_or_after(number), row);
      }
    }
    ASSERT_FALSE(model.set_filter({}, std::nullopt));
    EXPECT_EQ(static_cast<std::uint64_t>(model.rowCount()), session.snapshot()->frames_read);
  }
}

TEST(PacketList, GrowsWhileACaptureIsReadAndFiltersAreChanged) {
  AnalysisSession session;
  const auto gate = std::make_shared<GatedSource::Gate>();
  session.open({QStringLiteral("gated")},
               [gate]() -> capture::Expected<std::unique_ptr<capture::CaptureSource>> {
                 auto source = capture::open_files({sample(lossy)});
                 if (!source) return source;
                 return std::make_unique<GatedSource>(std::move(*source), gate);
               });
  PacketListModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.show(session.packets());
  ASSERT_TRUE(eventually([&] { return model.rowCount() == 100; }));
  EXPECT_FALSE(model.state().complete);
  EXPECT_FALSE(model.index(99, 0).data().toString().isEmpty());
  // What is known at once is found at once; what the analysis says comes with it.
  ASSERT_FALSE(model.set_filter(QStringLiteral("infiniband.bth"), std::nullopt));
  cli::PacketsOptions first =
      fields_of(sample(lossy), {QStringLiteral("frame.number")}, QStringLiteral("infiniband.bth"));
  first.reading.packets = 100;
  const auto expected = printed(first).size();
  ASSERT_TRUE(eventually([&] { return model.rowCount() == expected; }));
  ASSERT_FALSE(model.set_filter(QStringLiteral("roce.analysis.retransmission"), std::nullopt));
  EXPECT_TRUE(model.state().waits_for_analysis);
  EXPECT_EQ(model.rowCount(), 0);
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  gate->let_go();
  ASSERT_TRUE(is_complete(model));
  EXPECT_TRUE(resets.isEmpty()) << "rows come, nothing is forgotten";
  EXPECT_FALSE(model.state().waits_for_analysis);
  EXPECT_EQ(model.rowCount(), printed(fields_of(sample(lossy), {QStringLiteral("frame.number")},
                                                QStringLiteral("roce.analysis.retransmission")))
                                  .size());
  EXPECT_GT(model.rowCount(), 0);
}

TEST(PacketList, AHundredQuickFiltersLeaveTheLastOne) {
  AnalysisSession session;
  ASSERT_TRUE(opened(session, sample(lossy)));
  PacketListModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.show(session.packets());
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(model.set_filter(QStringLiteral("infiniband.bth.psn >= %1").arg(i), std::nullopt));
    if (i % 3 == 0) QCoreApplication::processEvents();
    if (i % 10 == 0) model.stop_filter();
    if (i % 20 == 0) model.show(nullptr);
    model.show(session.packets());
  }
  const QString last = QStringLiteral("infiniband.bth.opcode == \"RC Acknowledge\"");
  ASSERT_FALSE(model.set_filter(last, std::nullopt));
  ASSERT_TRUE(is_complete(model));
  EXPECT_EQ(model.rowCount(),
            printed(fields_of(sample(lossy), {QStringLiteral("frame.number")}, last)).size());
  const auto wrong = model.set_filter(QStringLiteral("infiniband.bth.psm == 1"), std::nullopt);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->column, 1U);
  EXPECT_EQ(model.filter(), last) << "what is not understood changes nothing";
}

TEST(PacketList, KnowsTimesMarksAndRelatedPackets) {
  AnalysisSession session;
  ASSERT_TRUE(opened(session, sample(lossy)));
  PacketListModel model;
  model.show(session.packets());
  ASSERT_TRUE(is_complete(model));
  const QStringList names{QStringLiteral("frame.number"), QStringLiteral("roce.analysis.request"),
                          QStringLiteral("roce.analysis.response"),
                          QStringLiteral("roce.analysis.retransmission.original")};
  int retransmissions = 0;
  for (const QString& line : printed(fields_of(sample(lossy), names))) {
    const QStringList cells = line.split(QLatin1Char('\t'));
    const RelatedPackets related = model.related(cells[0].toULongLong());
    EXPECT_EQ(related.request, cells[1].toULongLong());
    EXPECT_EQ(related.response, cells[2].toULongLong());
    if (!cells[3].isEmpty()) {
      EXPECT_EQ(related.original, cells[3].toULongLong());
      ++retransmissions;
    }
  }
  EXPECT_GT(retransmissions, 0);
  // From one to the next and back.
  constexpr auto wanted = 1U << static_cast<unsigned>(PacketMeaning::retransmission);
  std::vector<int> forward, backward;
  for (int row = model.next_row_meaning(-1, 1, wanted); row >= 0;
       row = model.next_row_meaning(row, 1, wanted))
    forward.push_back(row);
  for (int row = model.next_row_meaning(-1, -1, wanted); row >= 0;
       row = model.next_row_meaning(row, -1, wanted))
    backward.push_back(row);
  std::reverse(backward.begin(), backward.end());
  EXPECT_EQ(forward, backward);
  EXPECT_FALSE(forward.empty());
  for (const int row : forward) EXPECT_TRUE(model.marks_of(row).has(PacketMarks::retransmission));
  EXPECT_NE(model.meanings_of(0, model.rowCount() - 1) & wanted, 0U);

  // A time range: exactly the packets of it.
  const analyze::PacketView* middle = model.packet(500);
  ASSERT_NE(middle, nullptr);
  const TimeSpan span{middle->frame->time_ns, middle->frame->time_ns + 1'000'000};
  int expected = 0;
  for (std::uint64_t number = 1; number <= session.packets()->size(); ++number) {
    const std::int64_t time = model.packet(number)->frame->time_ns;
    expected += time >= span.from && time <= span.to ? 1 : 0;
  }
  ASSERT_FALSE(model.set_filter({}, span));
  ASSERT_TRUE(is_complete(model));
  EXPECT_EQ(model.rowCount(), expected);
  EXPECT_EQ(model.number_of(0), 500U);
}

TEST(PacketList, TellsOfPacketsThatCannotBeReadAnyMore) {
  QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("capture.pcap"));
  const std::string plain = sample("05_rnr_exhaust.pcap");
  ASSERT_TRUE(QFile::copy(QString::fromStdString(plain), path));
  QFile file(path);
  ASSERT_TRUE(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner));
  AnalysisSession session;
  ASSERT_TRUE(opened(session, path.toStdString()));
  PacketListModel model;
  model.show(session.packets());
  ASSERT_TRUE(is_complete(model));
  ASSERT_GT(model.rowCount(), 10);
  ASSERT_TRUE(file.resize(200));
  const int last = model.rowCount() - 1;
  EXPECT_TRUE(model.index(last, 0).data(PacketListModel::failed_role).toBool());
  EXPECT_EQ(model.index(last, 0).data().toString(), QString::number(last + 1));
  EXPECT_TRUE(
      model.index(last, model.columnCount() - 1).data().toString().contains(QStringLiteral("shorter")));
  EXPECT_EQ(model.packet(static_cast<std::uint64_t>(last) + 1), nullptr);
  EXPECT_TRUE(model.error().contains(path));
  ASSERT_FALSE(model.set_filter(QStringLiteral("infiniband.bth.psn >= 0"), std::nullopt));
  ASSERT_TRUE(is_complete(model));
  EXPECT_GT(model.state().unreadable, 0U);
}

TEST(PacketList, WritesWhatWasChosen) {
  AnalysisSession session;
  ASSERT_TRUE(opened(session, sample(lossy)));
  PacketListModel model;
  model.show(session.packets());
  const QString filter = QStringLiteral("roce.analysis.retransmission");
  ASSERT_FALSE(model.set_filter(filter, std::nullopt));
  ASSERT_TRUE(is_complete(model));
  PacketChoice choice{model.store(), model.search(), {{0, model.rowCount() - 1}}};
  const auto rows = static_cast<std::uint64_t>(model.rowCount());
  EXPECT_EQ(choice.count(), rows);
  QTemporaryDir folder;
  const auto write = [&](PacketFormat format, const QString& path) {
    const auto made =
        PacketExport::start(choice, {format, model.columns(), model.time_format()}, path.toStdString());
    EXPECT_TRUE(eventually([&] { return made->state().ended; }));
    return made->state();
  };
  const QString capture = folder.filePath(QStringLiteral("out.pcapng"));
  const PacketExport::State state = write(PacketFormat::pcapng, capture);
  EXPECT_EQ(state.error, "");
  EXPECT_EQ(state.written, rows);
  const QStringList bytes{QStringLiteral("frame.time_epoch"), QStringLiteral("frame.len"),
                          QStringLiteral("infiniband.bth.psn"), QStringLiteral("infiniband.invariant.crc")};
  QStringList known;
  for (const QString& name : bytes) {
    if (analyze::find_field(name.toStdString())) known << name;
  }
  EXPECT_EQ(printed(fields_of(capture.toStdString(), known)),
            printed(fields_of(sample(lossy), known, filter)));

  cli::PacketsOptions options;
  options.files = {sample(lossy)};
  options.filter = filter.toStdString();
  const QString text = folder.filePath(QStringLiteral("out.txt"));
  EXPECT_EQ(write(PacketFormat::text, text).error, "");
  QFile lines(text);
  ASSERT_TRUE(lines.open(QIODevice::ReadOnly));
  EXPECT_EQ(QString::fromUtf8(lines.readAll()), printed(options).join(QLatin1Char('\n')) + QLatin1Char('\n'));
  const std::string csv = packets_as_text(choice, {PacketFormat::csv, model.columns(), {}}, 2);
  EXPECT_EQ(csv.substr(0, csv.find('\n')), model.column_names().join(QLatin1Char(',')).toStdString());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_NE(write(PacketFormat::csv, folder.filePath(QStringLiteral("no/such/folder.csv"))).error, "");
  EXPECT_NE(write(PacketFormat::pcapng, folder.filePath(QStringLiteral("no/such/folder.pcapng"))).error, "");
}

TEST(PacketList, MakesFiltersOfValues) {
  AnalysisSession session;
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(opened(session, sample(name)));
    PacketReader reader(session.packets());
    const std::uint64_t step = std::max<std::uint64_t>(1, session.packets()->size() / 40);
    for (std::uint64_t number = 1; number <= session.packets()->size(); number += step) {
      for (const analyze::FieldRef field : analyze::all_fields()) {
        const analyze::PacketView* packet = reader.read(number, PacketNeeds::everything());
        ASSERT_NE(packet, nullptr);
        const QString made = filter_for(*packet, field);
        ASSERT_FALSE(made.isEmpty()) << analyze::field_facts(field).name;
        const auto filter = analyze::Filter::compile(made.toStdString());
        ASSERT_TRUE(filter) << made.toStdString();
        EXPECT_TRUE(filter->matches(*packet)) << number << ": " << made.toStdString();
      }
    }
  }
  EXPECT_EQ(filter_and({}, QStringLiteral("ip")), QStringLiteral("ip"));
  EXPECT_EQ(filter_and(QStringLiteral("ip"), QStringLiteral("udp")), QStringLiteral("(ip) && (udp)"));
}

}  // namespace
}  // namespace packet_list_test
}  // namespace roce::gui
