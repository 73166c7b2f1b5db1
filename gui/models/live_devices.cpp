// SPDX-License-Identifier: Apache-2.0
#include "gui/models/live_devices.hpp"

#include <QStringList>
#include <algorithm>
#include <iterator>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/host/capturable.hpp"
#include "capture/host/kernel.hpp"
#include "capture/host/read_host.hpp"
#include "gui/models/commands.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

using capture::HostFacts;
using capture::Netdev;
using capture::NetworkDevice;
using capture::RdmaDevice;
using capture::RdmaPort;

void add(QStringList& parts, const std::string& text) {
  if (!text.empty()) parts << to_qt(text);
}

void add_rate(QStringList& parts, std::uint64_t bps) {
  if (bps != 0) parts << to_qt(analyze::rate_text(static_cast<double>(bps)));
}

LiveDevice rdma_port(const HostFacts& host, const RdmaDevice& device, const RdmaPort& port) {
  const analyze::Capturable way = analyze::capturable_port(host, device, port);
  LiveDevice row;
  row.name = to_qt(device.name) + QLatin1Char(':') + QString::number(port.number);
  row.kind = LiveDeviceModel::tr("RDMA port");
  QStringList state, description;
  add(state, port.state);
  add_rate(state, port.rate_bps);
  add(description, device.driver);
  add(description, port.link_layer);
  add(description, port.netdev);
  row.state = state.join(QStringLiteral(", "));
  row.description = description.join(QStringLiteral(", "));
  row.possible = way.possible;
  row.how = to_qt(way.how);
  return row;
}

LiveDevice network(const HostFacts& host, const NetworkDevice& device) {
  LiveDevice row;
  row.name = to_qt(device.name);
  row.kind = LiveDeviceModel::tr("interface");
  const Netdev* netdev = host.netdev(device.name);
  QStringList state, description;
  state << (!device.up       ? LiveDeviceModel::tr("down")
            : device.running ? LiveDeviceModel::tr("up")
                             : LiveDeviceModel::tr("up, no carrier"));
  add(description, device.description);
  if (netdev != nullptr) {
    add_rate(state, netdev->speed_bps.value_or(0));
    add(description, netdev->driver);
    if (!netdev->master.empty())
      description << LiveDeviceModel::tr("member of %1").arg(to_qt(netdev->master));
    for (const capture::InterfaceAddress& address : netdev->addresses)
      description << to_qt(address.address) + QLatin1Char('/') + QString::number(address.prefix);
  }
  row.state = state.join(QStringLiteral(", "));
  row.description = description.join(QStringLiteral(", "));
  // "any" has no netdev and is never down.
  row.possible = device.up || netdev == nullptr;
  if (!row.possible) {
    row.how = LiveDeviceModel::tr("it is down: sudo ip link set dev %1 up").arg(shell_word(row.name));
  } else if (device.sniffer_switch) {
    row.how = to_qt(capture::explain_sniffer_switch(device.name, *device.sniffer_switch));
  }
  return row;
}

}  // namespace

std::vector<LiveDevice> live_devices(const HostFacts& host, const std::vector<NetworkDevice>& networks) {
  std::vector<LiveDevice> rows;
  for (const RdmaDevice& device : host.devices) {
    std::transform(device.ports.begin(), device.ports.end(), std::back_inserter(rows),
                   [&](const RdmaPort& port) { return rdma_port(host, device, port); });
  }
  std::transform(networks.begin(), networks.end(), std::back_inserter(rows),
                 [&](const NetworkDevice& device) { return network(host, device); });
  return rows;
}

void LiveDeviceModel::refresh() {
  call_.run([this]() -> std::function<void()> {
    QString problem;
    std::vector<LiveDevice> rows;
    try {
      const std::unique_ptr<capture::KernelQueries> kernel = capture::running_kernel();
      capture::HostOptions options;
      options.kernel = kernel.get();
      const HostFacts host = capture::read_host(options);
      auto networks = capture::list_network_devices();
      if (!networks) problem = QString::fromStdString(error_text(networks.error()));
      rows = live_devices(host, networks ? *networks : std::vector<NetworkDevice>());
    } catch (const std::exception& error) {
      problem = QString::fromLocal8Bit(error.what());
    }
    return [this, problem, rows = std::move(rows)] {
      show(rows);
      Q_EMIT refreshed(problem);
    };
  });
}

void LiveDeviceModel::show(std::vector<LiveDevice> devices) {
  if (devices == devices_) return;
  beginResetModel();
  devices_ = std::move(devices);
  endResetModel();
}

const LiveDevice* LiveDeviceModel::device(int row) const {
  return row < 0 || row >= rowCount() ? nullptr : &devices_[static_cast<std::size_t>(row)];
}

int LiveDeviceModel::row_of(const QString& name) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const LiveDevice& device) { return device.name == name; });
  return found == devices_.end() ? -1 : static_cast<int>(found - devices_.begin());
}

int LiveDeviceModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(devices_.size());
}

int LiveDeviceModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

QVariant LiveDeviceModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const LiveDevice& device = devices_[static_cast<std::size_t>(index.row())];
  if (role == Qt::ToolTipRole) return shown_name(device.how.isEmpty() ? device.description : device.how);
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case name_column:
      return shown_name(device.name);
    case kind_column:
      return device.kind;
    case state_column:
      return device.state;
    case description_column:
      return shown_name(device.description);
    default:
      return shown_name(device.possible ? device.how : tr("no: %1").arg(device.how));
  }
}

QVariant LiveDeviceModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  const QString names[column_count] = {tr("Device"), tr("Kind"), tr("State"), tr("Description"),
                                       tr("Capture")};
  return section >= 0 && section < column_count ? names[section] : QVariant();
}

Qt::ItemFlags LiveDeviceModel::flags(const QModelIndex& index) const {
  const LiveDevice* device = index.isValid() ? this->device(index.row()) : nullptr;
  if (device == nullptr) return Qt::NoItemFlags;
  // Devices that cannot be captured can be selected too: the page shows the reason.
  return Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemNeverHasChildren;
}

}  // namespace roce::gui
