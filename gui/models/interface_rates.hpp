// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <QVector>
#include <cstdint>
#include <map>
#include <vector>

#include "gui/models/background_call.hpp"

namespace roce::gui {

/// How much passes the interfaces of this host, from the counters of the kernel and of RDMA ports, without
/// any rights. Read once a second on another thread while it is watched. GUI thread only.
class InterfaceRates : public QObject {
  Q_OBJECT

 public:
  static constexpr qsizetype most_seconds = 60;

  struct Row {
    QString name;               ///< value for `capture -i`: "eth0", "mlx5_0:1"
    bool rdma = false;          ///< a port of an RDMA device
    QVector<double> bits;       ///< of the last seconds, both directions, bit/s; the newest last
    std::uint64_t counted = 0;  ///< bytes, when it was read last
  };

  /// `root` is "/sys", or for tests another folder with the same files.
  explicit InterfaceRates(QString root = QStringLiteral("/sys"), QObject* parent = nullptr);

  void watch(bool on);
  /// RDMA ports first, then by name. Interfaces that are down are left out.
  [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }

  /// Bytes that have passed each interface, by name; those of RDMA ports begin with "rdma ". Any thread.
  using Counters = std::map<QString, std::uint64_t>;
  [[nodiscard]] static Counters read(const QString& root);
  /// Adds what was read `seconds` (> 0) after what was read before.
  void take(const Counters& counters, double seconds);

 Q_SIGNALS:
  void changed();

 private:
  void look();

  QString root_;
  QTimer timer_;
  qint64 last_ms_ = 0;  ///< monotonic time of the last reading; 0: none
  std::vector<Row> rows_;
  BackgroundCall reading_{*this};
};

}  // namespace roce::gui
