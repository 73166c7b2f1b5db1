// SPDX-License-Identifier: Apache-2.0
#include "gui/models/interface_rates.hpp"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <algorithm>
#include <optional>
#include <utility>

namespace roce::gui {
namespace {

constexpr const char* rdma_prefix = "rdma ";

std::optional<std::uint64_t> number_in(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return std::nullopt;
  bool is_number = false;
  const qulonglong number = file.readLine(64).trimmed().toULongLong(&is_number);
  return is_number ? std::optional<std::uint64_t>(number) : std::nullopt;
}

QString word_in(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromLatin1(file.readLine(64).trimmed()) : QString();
}

std::optional<std::uint64_t> both(const std::optional<std::uint64_t>& a,
                                  const std::optional<std::uint64_t>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

qint64 now_ms() {
  static const QElapsedTimer since = [] {
    QElapsedTimer timer;
    timer.start();
    return timer;
  }();
  return since.elapsed() + 1;
}

}  // namespace

InterfaceRates::InterfaceRates(QString root, QObject* parent) : QObject(parent), root_(std::move(root)) {
  timer_.setInterval(1000);
  connect(&timer_, &QTimer::timeout, this, &InterfaceRates::look);
}

void InterfaceRates::watch(bool on) {
  if (on == timer_.isActive()) return;
  if (!on) {
    timer_.stop();
    reading_.cancel();
    last_ms_ = 0;
    return;
  }
  timer_.start();
  look();
}

void InterfaceRates::look() {
  reading_.run([this, root = root_]() -> std::function<void()> {
    return [this, counters = read(root), now = now_ms()] {
      const double seconds = static_cast<double>(now - std::exchange(last_ms_, now)) / 1000;
      take(counters, seconds > 0 ? seconds : 1);
    };
  });
}

InterfaceRates::Counters InterfaceRates::read(const QString& root) {
  Counters counters;
  const QDir networks(root + QStringLiteral("/class/net"));
  for (const QString& name : networks.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    const QString folder = networks.filePath(name);
    if (word_in(folder + QStringLiteral("/operstate")) == QLatin1String("down")) continue;
    const auto bytes = both(number_in(folder + QStringLiteral("/statistics/rx_bytes")),
                            number_in(folder + QStringLiteral("/statistics/tx_bytes")));
    if (bytes) counters[name] = *bytes;
  }
  const QDir devices(root + QStringLiteral("/class/infiniband"));
  for (const QString& device : devices.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    const QDir ports(devices.filePath(device) + QStringLiteral("/ports"));
    for (const QString& port : ports.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
      const QString folder = ports.filePath(port) + QStringLiteral("/counters");
      const auto words = both(number_in(folder + QStringLiteral("/port_rcv_data")),
                              number_in(folder + QStringLiteral("/port_xmit_data")));
      // PortRcvData and PortXmitData count words of four bytes (IBTA 16.1.3.5).
      if (words) counters[QLatin1String(rdma_prefix) + device + QLatin1Char(':') + port] = *words * 4;
    }
  }
  return counters;
}

void InterfaceRates::take(const Counters& counters, double seconds) {
  std::vector<Row> next;
  for (const auto& [key, bytes] : counters) {
    Row row;
    row.rdma = key.startsWith(QLatin1String(rdma_prefix));
    row.name = row.rdma ? key.mid(QLatin1String(rdma_prefix).size()) : key;
    row.counted = bytes;
    const auto before = std::find_if(rows_.begin(), rows_.end(), [&](const Row& old) {
      return old.rdma == row.rdma && old.name == row.name;
    });
    if (before != rows_.end()) {
      row.bits = before->bits;
      // A counter that was reset tells nothing of that second.
      const std::uint64_t passed = bytes >= before->counted ? bytes - before->counted : 0;
      row.bits << static_cast<double>(passed) * 8 / seconds;
      if (row.bits.size() > most_seconds) row.bits.remove(0, row.bits.size() - most_seconds);
    }
    next.push_back(std::move(row));
  }
  std::stable_sort(next.begin(), next.end(),
                   [](const Row& a, const Row& b) { return a.rdma != b.rdma ? a.rdma : a.name < b.name; });
  rows_ = std::move(next);
  Q_EMIT changed();
}

}  // namespace roce::gui
