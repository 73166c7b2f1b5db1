// SPDX-License-Identifier: Apache-2.0
#include "gui/models/interface_rates.hpp"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

void write(const QString& path, const QByteArray& text) {
  ASSERT_TRUE(QDir().mkpath(QFileInfo(path).path()));
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(text);
}

TEST(InterfaceRates, ReadsCountersOfTheKernelAndOfRdmaPorts) {
  const QTemporaryDir sys;
  const QString net = sys.filePath(QStringLiteral("class/net/"));
  write(net + QStringLiteral("eth0/operstate"), "up\n");
  write(net + QStringLiteral("eth0/statistics/rx_bytes"), "1000\n");
  write(net + QStringLiteral("eth0/statistics/tx_bytes"), "234\n");
  write(net + QStringLiteral("eth1/operstate"), "down\n");
  write(net + QStringLiteral("eth1/statistics/rx_bytes"), "5\n");
  write(net + QStringLiteral("eth1/statistics/tx_bytes"), "5\n");
  write(net + QStringLiteral("odd/statistics/rx_bytes"), "none\n");
  const QString port = sys.filePath(QStringLiteral("class/infiniband/mlx5_0/ports/1/counters/"));
  write(port + QStringLiteral("port_rcv_data"), "10\n");
  write(port + QStringLiteral("port_xmit_data"), "20\n");
  EXPECT_EQ(
      InterfaceRates::read(sys.path()),
      (InterfaceRates::Counters{{QStringLiteral("eth0"), 1234}, {QStringLiteral("rdma mlx5_0:1"), 120}}));
  EXPECT_TRUE(InterfaceRates::read(QStringLiteral("/nowhere")).empty());
}

TEST(InterfaceRates, KeepsAMinuteOfThoseThatAreThere) {
  InterfaceRates rates(QStringLiteral("/nowhere"));
  const auto pass = [&](std::uint64_t bytes) { rates.take({{QStringLiteral("eth0"), bytes}}, 1); };
  pass(0);
  EXPECT_TRUE(rates.rows()[0].bits.isEmpty());
  for (std::uint64_t i = 1; i <= 100; ++i) pass(i * 1000);
  EXPECT_EQ(rates.rows()[0].bits.size(), InterfaceRates::most_seconds);
  EXPECT_EQ(rates.rows()[0].bits.back(), 8000);
  pass(0);  // its counter was reset
  EXPECT_EQ(rates.rows()[0].bits.back(), 0);
  rates.take({}, 1);
  EXPECT_TRUE(rates.rows().empty());
  rates.watch(true);
  ASSERT_TRUE(eventually([&] { return rates.rows().empty(); }));
  rates.watch(false);
}

}  // namespace
}  // namespace roce::gui
