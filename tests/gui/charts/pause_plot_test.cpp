// SPDX-License-Identifier: Apache-2.0
// Before Qt, in which "emit" is a macro.
#include "tests/analyze/link/link_frames.hpp"
#include "tests/analyze/pipeline/memory_source.hpp"

#include "gui/charts/pause_plot.hpp"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>

#include "analyze/pipeline/analysis.hpp"
#include "gui/charts/chart.hpp"
#include "gui/models/time_format.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

using analyze::host_mac;
using analyze::pfc;
using analyze::switch_mac;

constexpr std::int64_t base = 1'795'171'301'000'000'000, ms = 1'000'000;

/// A link of 100 Gb/s, where 65535 quanta are 335 539 ns.
class Capture {
 public:
  Capture() { source_.interfaces_[0].speed_bps = 100'000'000'000; }
  Capture& at(std::int64_t time_ns, std::vector<std::uint8_t> frame) {
    source_.add(std::move(frame), base + time_ns);
    return *this;
  }
  std::shared_ptr<const analyze::Snapshot> look() {
    analyze::AnalysisOptions options;
    options.check_icrc = false;
    return analyze::analyze(source_, options);
  }

 private:
  analyze::MemorySource source_;
};

std::shared_ptr<const analyze::Snapshot> two_ports() {
  Capture capture;
  capture.at(0, analyze::plain_roce(host_mac, switch_mac, 0));
  capture.at(1 * ms, analyze::lldp(host_mac, analyze::ieee_pfc(false, 0x08)));
  for (int i = 0; i < 50; ++i) capture.at((10 + i) * ms, pfc(host_mac, {{3, 65535}}));
  capture.at(70 * ms, pfc(host_mac, {{4, 1000}}));
  capture.at(80 * ms, pfc(switch_mac, {{3, 65535}})).at(80 * ms + 100'000, pfc(switch_mac, {{3, 0}}));
  capture.at(90 * ms, analyze::lldp(host_mac, analyze::ieee_pfc(false, 0x18)));
  return capture.at(100 * ms, analyze::plain_roce(host_mac, switch_mac, 0)).look();
}

TEST(PauseStrips, ARowForEachPortAndPriority) {
  const PauseStrips strips = pause_strips(*two_ports());
  ASSERT_EQ(strips.strips.size(), 4U);
  EXPECT_EQ(strips.strips[0].name, "02:00:00:00:00:01 priority 3");
  EXPECT_EQ(strips.strips[1].name, "02:00:00:00:00:01 priority 4");
  EXPECT_EQ(strips.strips[2].name, "02:00:00:00:00:f1 priority 3");
  EXPECT_EQ(strips.from_ns, base);
  EXPECT_EQ(strips.to_ns, base + 100 * ms);
  // Paused from 10 to 60 ms, for a third of it.
  const PauseStrip& host = strips.strips[0];
  EXPECT_EQ(host.paused_ns, 50 * 335'539);
  std::int64_t paused = 0;
  for (const PauseStep& step : host.steps) {
    EXPECT_GE(step.from_ns, base + 10 * ms);
    EXPECT_LE(step.to_ns, base + 61 * ms);
    EXPECT_LE(step.share(), 1);
    paused += step.paused_ns;
  }
  EXPECT_EQ(paused, host.paused_ns);
  ASSERT_EQ(strips.strips[2].signs.size(), 1U);
  EXPECT_EQ(strips.strips[2].signs[0].time_ns, base + 80 * ms);
  EXPECT_EQ(strips.strips[2].signs[0].packet, 54U);
  EXPECT_EQ(strips.strips[2].paused_ns, 100'000);
  const PauseStrip& dcbx = strips.strips[3];
  EXPECT_EQ(dcbx.name, "02:00:00:00:00:01 DCBX");
  EXPECT_TRUE(dcbx.steps.empty());
  ASSERT_EQ(dcbx.signs.size(), 2U);
  EXPECT_EQ(dcbx.signs[0].kind, PauseSign::Kind::first_word);
  EXPECT_EQ(dcbx.signs[0].packet, 2U);
  EXPECT_EQ(dcbx.signs[1].kind, PauseSign::Kind::change);
  EXPECT_EQ(dcbx.signs[1].packet, 56U);
  EXPECT_EQ(dcbx.signs[1].time_ns, base + 90 * ms);
  EXPECT_NE(dcbx.signs[1].text.find("3, 4"), std::string::npos) << dcbx.signs[1].text;
}

TEST(PauseStrips, WhatPausesLeastLeavesFirst) {
  const PauseStrips strips = pause_strips(*two_ports(), 2);
  ASSERT_EQ(strips.strips.size(), 2U);
  EXPECT_EQ(strips.left_out, 2U) << "the least paused one, and DCBX";
  EXPECT_EQ(strips.strips[0].name, "02:00:00:00:00:01 priority 3");
  EXPECT_EQ(strips.strips[1].name, "02:00:00:00:00:f1 priority 3");
  EXPECT_TRUE(
      pause_strips(*Capture().at(0, analyze::plain_roce(host_mac, switch_mac, 0)).look()).strips.empty());
}

TEST(PauseStrips, OfSpeedsThatAreNotKnownAreAtLeast) {
  analyze::MemorySource source;
  source.add(pfc(host_mac, {{3, 65535}}), base);
  source.add(analyze::plain_roce(host_mac, switch_mac, 0), base + 100 * ms);
  const PauseStrips strips = pause_strips(*analyze::analyze(source, {}));
  ASSERT_EQ(strips.strips.size(), 1U);
  EXPECT_TRUE(strips.strips[0].at_least);
}

TEST(PauseStrips, PlacesAreFound) {
  const PauseStrips strips = pause_strips(*two_ports());
  const PauseStep& step = strips.strips[0].steps[5];
  const auto hit = pause_at(strips, step.from_ns + 10, 0.5, 100);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->strip, strips.strips.data());
  EXPECT_EQ(hit->step, &step);
  const auto sign = pause_at(strips, base + 80 * ms + 90, 2.9, 100);
  ASSERT_TRUE(sign && sign->sign != nullptr);
  EXPECT_EQ(sign->sign->packet, 54U);
  for (const double row : {-0.1, 4.0, 1e9, std::nan("")})
    EXPECT_FALSE(pause_at(strips, base + 80 * ms, row, 100)) << row;
  EXPECT_FALSE(pause_at(strips, base + 5 * ms, 0.5, 100)) << "before all pauses";
  EXPECT_FALSE(pause_at(strips, base + 95 * ms, 0.5, 100));
}

TEST(PausePlot, LeadsToPacketsAndChoosesTimes) {
  PausePlot plot;
  plot.resize(900, 300);
  plot.show();
  EXPECT_EQ(plot.said(), QString());
  plot.show_snapshot(Capture().at(0, analyze::plain_roce(host_mac, switch_mac, 0)).look());
  EXPECT_NE(plot.said(), QString()) << "nobody pauses anybody";
  const auto snapshot = two_ports();
  plot.show_snapshot(snapshot);
  EXPECT_EQ(plot.said(), QString());
  QApplication::processEvents();
  plot.replot();
  EXPECT_GT(plot.legend->itemCount(), 0);
  EXPECT_LT(plot.legend->outerRect().bottom(), plot.axisRect(0)->rect().top()) << "it covers no row";
  QSignalSpy activated(&plot, &TimePlot::packet_activated);
  const QPoint sign = plot.place_of(2, base + 80 * ms);
  QTest::mouseDClick(&plot, Qt::LeftButton, {}, sign);
  ASSERT_EQ(activated.count(), 1);
  EXPECT_EQ(activated.front().front().toULongLong(), 54U);
  QSignalSpy chosen(&plot, &TimePlot::span_chosen);
  const QPoint from = plot.place_of(0, base + 20 * ms), to = plot.place_of(0, base + 40 * ms);
  QTest::mousePress(&plot, Qt::LeftButton, {}, from);
  QTest::mouseMove(&plot, (from + to) / 2);
  QTest::mouseMove(&plot, to);
  QTest::mouseRelease(&plot, Qt::LeftButton, {}, to);
  ASSERT_GE(chosen.count(), 1);
  const auto span = chosen.front().front().value<std::optional<TimeSpan>>();
  ASSERT_TRUE(span);
  EXPECT_NEAR(static_cast<double>(span->from - base), 20.0 * ms, 0.5 * ms);
  EXPECT_NEAR(static_cast<double>(span->to - base), 40.0 * ms, 0.5 * ms);

  const QTemporaryDir folder;
  for (const char* name : {"p.png", "p.svg"})
    EXPECT_EQ(save_chart(&plot, folder.filePath(QLatin1String(name))), QString());
  EXPECT_FALSE(plot.accessibleName().isEmpty());
}

TEST(PausePlot, Screenshots) {
  const QString folder = screenshots();
  const auto snapshot = two_ports();
  for (const Theme theme : {Theme::light, Theme::dark}) {
    apply_theme(theme);
    PausePlot plot;
    plot.resize(1100, 320);
    plot.show_snapshot(snapshot);
    plot.show_span(TimeSpan{base + 30 * ms, base + 45 * ms});
    EXPECT_TRUE(chart_image(&plot, 1).save(folder + QStringLiteral("/pauses-") + theme_name(theme) +
                                           QStringLiteral(".png")));
  }
  apply_theme(Theme::light);
}

}  // namespace
}  // namespace roce::gui
