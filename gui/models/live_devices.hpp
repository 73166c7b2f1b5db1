// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <vector>

#include "capture/host/facts.hpp"
#include "capture/network/device_list.hpp"
#include "gui/models/background_call.hpp"

namespace roce::gui {

/// A device for `roceanalyze capture -i`.
struct LiveDevice {
  QString name;         ///< value for -i
  QString kind;         ///< "RDMA port", "interface"
  QString state;        ///< "ACTIVE, 100 Gb/s", "up"
  QString description;  ///< driver, addresses, network interface
  bool possible = false;
  QString how;  ///< what a capture needs, or why it is impossible and what to do instead
  [[nodiscard]] bool operator==(const LiveDevice&) const = default;
};

/// RDMA ports, then network interfaces, as `roceanalyze devices` lists them; then "any". Rights are not
/// checked: another program captures.
[[nodiscard]] std::vector<LiveDevice> live_devices(const capture::HostFacts& host,
                                                   const std::vector<capture::NetworkDevice>& networks);

/// The capture devices of this host; read on another thread. GUI thread only.
class LiveDeviceModel final : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { name_column, kind_column, state_column, description_column, how_column, column_count };

  explicit LiveDeviceModel(QObject* parent = nullptr) : QAbstractTableModel(parent), call_(*this) {}

  /// Reads the devices again; emits refreshed() when done.
  void refresh();
  void show(std::vector<LiveDevice> devices);
  /// Null for no row. Lives until the next show().
  [[nodiscard]] const LiveDevice* device(int row) const;
  /// The row of that device; -1: none.
  [[nodiscard]] int row_of(const QString& name) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

 Q_SIGNALS:
  void refreshed(const QString& problem);  ///< empty: no problem

 private:
  std::vector<LiveDevice> devices_;
  BackgroundCall call_;
};

}  // namespace roce::gui
