// SPDX-License-Identifier: Apache-2.0
// The text report of `devices`.
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/host/capturable.hpp"
#include "analyze/host/difference.hpp"
#include "analyze/host/facts_json.hpp"
#include "cli/core/text_table.hpp"
#include "cli/host/host_report.hpp"

namespace roce::cli {
namespace {

using namespace capture;

/// "4096 of 9000": active IB MTU and interface MTU.
std::string mtu_text(const HostFacts& facts, const RdmaDevice& device, const RdmaPort& port) {
  const Netdev* netdev = facts.netdev(port.netdev);
  const auto active = active_mtu(facts, device, port);
  std::string text = active ? std::to_string(*active) : std::string();
  if (netdev != nullptr && netdev->mtu) text += fmt::format("{}{}", text.empty() ? "" : " of ", *netdev->mtu);
  return text;
}

std::string lag_of(const HostFacts& facts, const RdmaPort& port) {
  const Netdev* netdev = facts.netdev(port.netdev);
  if (netdev == nullptr) return {};
  return netdev->bond ? netdev->name : netdev->master;
}

std::string ports_table(const HostFacts& facts, std::size_t width) {
  TextTable table({{"port"},
                   {"driver"},
                   {"state"},
                   {"link"},
                   {"rate", true},
                   {"interface"},
                   {"IB MTU of MTU", true},
                   {"LAG", false, 2},
                   {"rdma_cm mode", false, 3},
                   {"ToS", true, 3},
                   {"TC", true, 3},
                   {"firmware", false, 4},
                   {"board", false, 5},
                   {"PCI", false, 4}});
  for (const RdmaDevice& device : facts.devices) {
    for (const RdmaPort& port : device.ports) {
      table.add_row(
          {printable(analyze::place_of(device, port)), printable(device.driver), printable(port.state),
           printable(port.link_layer),
           port.rate_bps != 0 ? analyze::rate_text(static_cast<double>(port.rate_bps)) : printable(port.rate),
           printable(port.netdev), mtu_text(facts, device, port), printable(lag_of(facts, port)),
           printable(port.default_roce_mode),
           port.default_roce_tos ? std::to_string(*port.default_roce_tos) : "",
           port.traffic_class ? std::to_string(*port.traffic_class) : "", printable(device.firmware),
           printable(device.board_id), printable(device.pci)});
    }
  }
  return table.render(width, 0);
}

std::string gids_table(const HostFacts& facts, std::size_t width) {
  TextTable table({{"port"}, {"index", true}, {"type"}, {"IPv4"}, {"GID"}, {"interface"}});
  for (const RdmaDevice& device : facts.devices) {
    for (const RdmaPort& port : device.ports) {
      for (const GidEntry& gid : port.gids) {
        const auto ipv4 = ipv4_of(gid.gid);
        table.add_row({printable(analyze::place_of(device, port)), std::to_string(gid.index),
                       printable(gid.type), ipv4 ? fmt::format("{}", fmt::join(*ipv4, ".")) : "",
                       analyze::gid_text(gid.gid), printable(gid.netdev)});
      }
    }
  }
  return table.render(width, 0);
}

std::string netdevs_table(const HostFacts& facts, std::size_t width) {
  TextTable table({{"interface"},
                   {"state"},
                   {"speed", true},
                   {"MTU", true},
                   {"IB MTU", true},
                   {"driver", false, 2},
                   {"trust"},
                   {"PFC"},
                   {"address", false, 1},
                   {"MAC", false, 4}});
  for (const Netdev& netdev : facts.netdevs) {
    std::string address = netdev.addresses.empty() ? ""
                                                   : netdev.addresses.front().address + "/" +
                                                         std::to_string(netdev.addresses.front().prefix);
    if (netdev.addresses.size() > 1) address += fmt::format(" +{}", netdev.addresses.size() - 1);
    table.add_row({printable(netdev.name), printable(netdev.oper_state),
                   netdev.speed_bps ? analyze::rate_text(static_cast<double>(*netdev.speed_bps)) : "",
                   netdev.mtu ? std::to_string(*netdev.mtu) : "",
                   netdev.mtu ? std::to_string(largest_ib_mtu(*netdev.mtu)) : "",
                   printable(netdev.driver.empty() ? netdev.kind : netdev.driver), trust_text(netdev.dcb),
                   pfc_text(netdev.dcb), printable(address), printable(netdev.mac)});
  }
  return table.render(width, 0);
}

void write_capturable(Page& page, const HostFacts& facts) {
  page.gap();
  page.section("Capture");
  for (const RdmaDevice& device : facts.devices) {
    for (const RdmaPort& port : device.ports) {
      const analyze::Capturable what = analyze::capturable_port(facts, device, port);
      page.line(printable(analyze::place_of(device, port) + ": " +
                          (what.possible ? "roceanalyze capture -i " + what.device + " (" + what.how + ")"
                                         : "not possible here: " + what.how)));
    }
  }
}

}  // namespace

std::string devices_text(const HostReport& report, const ReportStyle& style) {
  const HostFacts& facts = report.facts;
  Page page(style);
  write_host_line(page, report);
  page.section("RDMA");
  if (facts.devices.empty()) {
    page.line(
        "no RDMA device: no RDMA NIC, or its driver is not loaded (modprobe mlx5_ib, bnxt_re, irdma; "
        "Soft-RoCE: rdma link add rxe0 type rxe netdev eth0)");
  } else {
    std::size_t ports = 0, gids = 0;
    for (const RdmaDevice& device : facts.devices) {
      ports += device.ports.size();
      for (const RdmaPort& port : device.ports) gids += port.gids.size();
    }
    page.line(fmt::format("{}, {}, {}", plural(facts.devices.size(), "device", "devices"),
                          plural(ports, "port", "ports"), plural(gids, "GID", "GIDs")));
    page.gap();
    page.block(ports_table(facts, style.width));
    if (gids != 0) {
      page.gap();
      page.block(gids_table(facts, style.width));
    }
    write_capturable(page, facts);
  }
  if (!facts.netdevs.empty()) {
    page.gap();
    page.block(netdevs_table(facts, style.width));
    write_stacks(page, facts);
  }
  write_host_findings(page, report);
  write_host_problems(page, facts);
  return page.take();
}

}  // namespace roce::cli
