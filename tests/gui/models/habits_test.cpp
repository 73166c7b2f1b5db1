// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "gui/models/path_check.hpp"
#include "gui/models/preferences.hpp"
#include "gui/models/recent_files.hpp"
#include "gui/models/ring_set.hpp"
#include "gui/models/time_format.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// Settings of nobody else.
struct Kept {
  QTemporaryDir folder;
  QSettings settings{folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat};
};

void touch(const QString& path) {
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
}

TEST(TimeFormat, ShowsTimesInThreeWays) {
  const std::int64_t first = 1'795'172'933 * second + 886'729'269, later = first + 1'203'896'512;
  EXPECT_EQ(format_time(TimeDisplay::relative, first, later), QStringLiteral("+1.203896 s"));
  EXPECT_EQ(format_time(TimeDisplay::relative, first, first), QStringLiteral("+0.000000 s"));
  EXPECT_EQ(format_time(TimeDisplay::utc, first, first), QStringLiteral("2026-11-20 11:08:53.886729 UTC"));
  // As Qt says what the local time is.
  const QDateTime local = QDateTime::fromSecsSinceEpoch(first / second);
  EXPECT_EQ(format_time(TimeDisplay::local, first, first),
            local.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")) + QStringLiteral(".886729 ") +
                local.timeZoneAbbreviation());
}

TEST(TimeFormat, HoldsForEveryTimeThereIs) {
  EXPECT_EQ(format_time(TimeDisplay::utc, 0, -1), QStringLiteral("1969-12-31 23:59:59.999999 UTC"));
  EXPECT_EQ(format_time(TimeDisplay::utc, 0, -second), QStringLiteral("1969-12-31 23:59:59.000000 UTC"));
  EXPECT_TRUE(format_time(TimeDisplay::utc, 0, INT64_MIN).startsWith(QStringLiteral("1677-")));
  EXPECT_TRUE(format_time(TimeDisplay::utc, 0, INT64_MAX).startsWith(QStringLiteral("2262-")));
  EXPECT_EQ(format_time(TimeDisplay::relative, INT64_MIN, INT64_MAX), QStringLiteral("+9223372036.854775 s"));
}

TEST(Preferences, ComeBackAsTheyWereSaved) {
  Kept kept;
  EXPECT_EQ(Preferences::load(kept.settings), Preferences());
  Preferences p;
  p.theme = QStringLiteral("dark");
  p.time = TimeDisplay::local;
  p.check_icrc = false;
  p.jobs = 7;
  p.link_speed_bps = 400'000'000'000;
  p.dissecting = {"11,21", std::uint16_t{0}, "falcon=7777,ifa=253"};
  p.policy = QStringLiteral("/a b/c=d;e.toml");
  p.save(kept.settings);
  kept.settings.sync();
  const QSettings again(kept.settings.fileName(), QSettings::IniFormat);
  EXPECT_EQ(Preferences::load(again), p);
}

TEST(Preferences, ThatMakeNoSenseAreTheDefault) {
  Kept kept;
  kept.settings.setValue(QStringLiteral("theme"), QStringLiteral("pink"));
  kept.settings.setValue(QStringLiteral("preferences/time"), 17);
  kept.settings.setValue(QStringLiteral("preferences/jobs"), QStringLiteral("many"));
  kept.settings.setValue(QStringLiteral("preferences/link_speed_bps"), QStringLiteral("-5"));
  kept.settings.setValue(QStringLiteral("preferences/trimmed_dscp"), QStringLiteral("64"));
  kept.settings.setValue(QStringLiteral("preferences/mrc_port"), 70'000);
  kept.settings.setValue(QStringLiteral("preferences/decode_as"), QStringLiteral("uet=1"));
  EXPECT_EQ(Preferences::load(kept.settings), Preferences());
  kept.settings.setValue(QStringLiteral("preferences/jobs"), 4'000'000'000U);
  EXPECT_EQ(Preferences::load(kept.settings).jobs, 256U);
}

TEST(Profiles, KeepPreferencesLayoutAndColumns) {
  Kept kept;
  QSettings& s = kept.settings;
  EXPECT_TRUE(profiles(s).isEmpty());
  s.setValue(QStringLiteral("theme"), QStringLiteral("dark"));
  s.setValue(QStringLiteral("window/layout"), QByteArray("one"));
  s.setValue(QStringLiteral("tables/Connections"), QByteArray("columns"));
  s.setValue(QStringLiteral("recent"), QStringList{QStringLiteral("/a.pcap")});
  const QString odd = QStringLiteral("loss/RNR & “50 %” [x]");
  ASSERT_TRUE(save_profile(s, odd));
  s.setValue(QStringLiteral("theme"), QStringLiteral("light"));
  s.setValue(QStringLiteral("window/layout"), QByteArray("two"));
  s.setValue(QStringLiteral("window/later"), 1);
  s.remove(QStringLiteral("tables/Connections"));
  s.setValue(QStringLiteral("recent"), QStringList{QStringLiteral("/b.pcap")});
  ASSERT_TRUE(save_profile(s, QStringLiteral("b")));
  EXPECT_EQ(profiles(s), (QStringList{QStringLiteral("b"), odd}));

  ASSERT_TRUE(choose_profile(s, odd));
  EXPECT_EQ(s.value(QStringLiteral("theme")), QStringLiteral("dark"));
  EXPECT_EQ(s.value(QStringLiteral("window/layout")), QByteArray("one"));
  EXPECT_FALSE(s.contains(QStringLiteral("window/later")));
  EXPECT_EQ(s.value(QStringLiteral("tables/Connections")), QByteArray("columns"));
  // Files opened lately belong to the user, not to a profile.
  EXPECT_EQ(s.value(QStringLiteral("recent")).toStringList(), QStringList{QStringLiteral("/b.pcap")});
  EXPECT_EQ(profiles(s).size(), 2);

  ASSERT_TRUE(choose_profile(s, QStringLiteral("b")));
  EXPECT_EQ(s.value(QStringLiteral("window/layout")), QByteArray("two"));
  EXPECT_FALSE(s.contains(QStringLiteral("tables/Connections")));
  remove_profile(s, odd);
  EXPECT_EQ(profiles(s), QStringList{QStringLiteral("b")});
  EXPECT_FALSE(choose_profile(s, odd));
  EXPECT_EQ(s.value(QStringLiteral("window/layout")), QByteArray("two"));
  EXPECT_FALSE(save_profile(s, QStringLiteral("  ")));
}

TEST(Profiles, SavedAgainForgetWhatWasThere) {
  Kept kept;
  QSettings& s = kept.settings;
  s.setValue(QStringLiteral("tables/A"), 1);
  ASSERT_TRUE(save_profile(s, QStringLiteral("p")));
  s.remove(QStringLiteral("tables/A"));
  ASSERT_TRUE(save_profile(s, QStringLiteral("p")));
  s.setValue(QStringLiteral("tables/A"), 2);
  ASSERT_TRUE(choose_profile(s, QStringLiteral("p")));
  EXPECT_FALSE(s.contains(QStringLiteral("tables/A")));
}

TEST(RingSet, FindsTheFilesOfOneRing) {
  const QTemporaryDir folder;
  const auto path = [&](const char* name) { return folder.filePath(QString::fromLatin1(name)); };
  for (const char* name :
       {"r_00009_20261120110853.pcapng", "r_00010_20261120110900.pcapng", "r_00011_20261120110901.pcapng",
        "r_00011_20261120110901.pcapng.zst", "s_00010_20261120110900.pcapng", "r_1_20261120110900.pcapng",
        "x r_00010_20261120110900.pcapng", "notes.txt"})
    touch(path(name));
  const QStringList ring{path("r_00009_20261120110853.pcapng"), path("r_00010_20261120110900.pcapng"),
                         path("r_00011_20261120110901.pcapng")};
  for (const QString& file : ring) EXPECT_EQ(ring_of(file), ring);
  EXPECT_TRUE(ring_of(path("s_00010_20261120110900.pcapng")).isEmpty());
  EXPECT_TRUE(ring_of(path("notes.txt")).isEmpty());
  EXPECT_TRUE(ring_of(QStringLiteral("/nowhere/r_00001_20261120110853.pcapng")).isEmpty());
}

TEST(RingSet, PutsASecondRunBehindTheFirst) {
  const QTemporaryDir folder;
  const auto path = [&](const char* name) { return folder.filePath(QString::fromLatin1(name)); };
  const QStringList wanted{path("r_00001_20261120110853.pcap"), path("r_00002_20261120110853.pcap"),
                           path("r_00001_20261121000000.pcap")};
  for (const QString& file : wanted) touch(file);
  EXPECT_EQ(ring_of(wanted[2]), wanted);
}

TEST(PathCheck, TellsWhichPathsLeadNowhere) {
  PathCheck check;
  QSignalSpy spy(&check, &PathCheck::checked);
  check.check({QStringLiteral("/nowhere/old")});
  check.check({QString::fromStdString(sample("03_rping.pcap")), QStringLiteral("/nowhere/a"),
               QStringLiteral("/nowhere/b")});
  ASSERT_TRUE(eventually([&] { return !spy.isEmpty(); }));
  EXPECT_EQ(spy.front().front().toStringList(),
            (QStringList{QStringLiteral("/nowhere/a"), QStringLiteral("/nowhere/b")}));
  EXPECT_EQ(spy.size(), 1);
}

TEST(RecentFiles, MarksEntriesOfWhichAnyFileIsGone) {
  Kept own;
  QSettings& kept = own.settings;
  const QString there = QString::fromStdString(sample("03_rping.pcap"));
  RecentFiles recent;
  QSignalSpy changes(&recent, &RecentFiles::changed);
  recent.add(kept, {there});
  recent.add(kept, {there, QStringLiteral("/nowhere/b.pcap")});
  recent.add(kept, {QStringLiteral("/nowhere/c\n.pcap")});
  ASSERT_TRUE(eventually([&] { return recent.entries().front().missing; }));
  ASSERT_EQ(recent.entries().size(), 3);
  EXPECT_EQ(recent.entries()[0].name().toStdString(), "/nowhere/c\\n.pcap (missing)");
  EXPECT_EQ(recent.entries()[1].name(), there + QStringLiteral(" and 1 more (missing)"));
  EXPECT_EQ(recent.entries()[2].name(), there);
  // Opened again it is first, once, and still known to be gone; nothing changes where nothing is new.
  recent.add(kept, {there, QStringLiteral("/nowhere/b.pcap")});
  ASSERT_EQ(recent.entries().size(), 3);
  EXPECT_TRUE(recent.entries().front().missing);
  changes.clear();
  recent.load(kept);
  EXPECT_TRUE(changes.isEmpty());
  recent.clear(kept);
  EXPECT_TRUE(recent.entries().isEmpty());
  EXPECT_EQ(changes.size(), 1);
}

}  // namespace
}  // namespace roce::gui
