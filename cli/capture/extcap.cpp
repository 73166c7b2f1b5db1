// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/extcap.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

#include "capture/host/read_host.hpp"
#include "capture/network/device_list.hpp"
#include "cli/core/command_tree.hpp"
#include "cli/core/version.hpp"

namespace roce::cli {
namespace {

/// In front of a device's name: Wireshark lists network interfaces itself, too.
constexpr std::string_view prefix = "roce-";

/// Options of `capture` that Wireshark's dialog offers; their help comes from the command.
struct OfferedOption {
  std::string_view call;  ///< in lower case: Wireshark makes a preference of it
  std::string_view name;
  std::string_view type;  ///< of an argument of extcap
  std::string_view title;
  bool rdma;  ///< for RDMA devices, else for network interfaces
};
constexpr OfferedOption offered_options[] = {
    {"--snap-length", "-s", "unsigned", "Snap length in bytes", false},
    {"--snap-length", "-s", "unsigned", "Snap length in bytes", true},
    {"--kernel-buffer", "-B", "unsigned", "Kernel buffer in MiB", false},
    {"--no-promiscuous", "-p", "boolflag", "No promiscuous mode", false},
    {"--ring-time", "--ring-time", "string", "Length of the ring", true}};

struct ExtcapDevice {
  std::string name;
  std::string title;
  bool rdma = false;
};

std::vector<ExtcapDevice> extcap_devices() {
  std::vector<ExtcapDevice> all;
  for (const capture::RdmaDevice& device : capture::read_host(capture::HostOptions()).devices)
    all.push_back({device.name, fmt::format("RoCE on {} (RDMA device)", device.name), true});
  if (const auto networks = capture::list_network_devices()) {
    for (const capture::NetworkDevice& device : *networks)
      all.push_back({device.name, fmt::format("RoCE on {}", device.name), false});
  }
  return all;
}

/// Braces end a value of the protocol.
std::string value_text(std::string text) {
  std::replace(text.begin(), text.end(), '{', '(');
  std::replace(text.begin(), text.end(), '}', ')');
  return text.substr(0, text.find('\n'));
}

std::string interfaces_text() {
  const std::string version = version_text();
  const std::string program = version.substr(0, version.find('\n'));
  std::string text =
      fmt::format("extcap {{version={}}}{{display=roceanalyze}}\n", program.substr(program.find(' ') + 1));
  for (const ExtcapDevice& device : extcap_devices())
    text += fmt::format("interface {{value={}{}}}{{display={}}}\n", prefix, device.name,
                        value_text(device.title));
  return text;
}

std::string config_text(bool rdma) {
  const CommandTree tree = command_tree("capture");
  const CLI::App& capture = *tree.app->get_subcommand("capture");
  std::string text;
  int number = 0;
  for (const OfferedOption& option : offered_options) {
    if (option.rdma != rdma) continue;
    const std::string help = capture.get_option(std::string(option.name))->get_description();
    text += fmt::format("arg {{number={}}}{{call={}}}{{display={}}}{{tooltip={}}}{{type={}}}\n", number++,
                        option.call, option.title, value_text(help), option.type);
  }
  return text;
}

bool takes_no_value(std::string_view word) {
  constexpr std::string_view flags[] = {"--extcap-interfaces", "--extcap-dlts", "--extcap-config",
                                        "--capture", "--no-promiscuous"};
  return std::find(std::begin(flags), std::end(flags), word) != std::end(flags);
}

}  // namespace

bool is_extcap(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("--extcap-interface");  // and --extcap-interfaces
  });
}

ExtcapCall extcap(const std::vector<std::string>& words) {
  ExtcapCall call;
  std::map<std::string, std::string> given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string name = words[i].substr(0, equals);
    if (equals != std::string::npos) {
      given[name] = words[i].substr(equals + 1);
    } else if (takes_no_value(name) || i + 1 == words.size()) {
      given[name] = "";
    } else {
      given[name] = words[++i];
    }
  }
  if (given.count("--extcap-interfaces") != 0) {
    call.answer = interfaces_text();
    return call;
  }
  const std::string& value = given["--extcap-interface"];
  const std::vector<ExtcapDevice> devices = extcap_devices();
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const ExtcapDevice& each) {
    return value == std::string(prefix) + each.name;
  });
  if (device == devices.end()) {
    call.error = fmt::format("there is no interface '{}': --extcap-interfaces lists them", value);
  } else if (given.count("--extcap-dlts") != 0) {
    // Of what comes, each interface of the pcapng says its own.
    call.answer = "dlt {number=1}{name=EN10MB}{display=Ethernet}\n";
  } else if (given.count("--extcap-config") != 0) {
    call.answer = config_text(device->rdma);
  } else if (given.count("--capture") != 0) {
    if (given["--fifo"].empty()) {
      call.error = "--capture needs --fifo FILE";
      return call;
    }
    call.capture = {"capture", "-i", device->name, "--capture-only", "-w", given["--fifo"]};
    if (const std::string& filter = given["--extcap-capture-filter"]; !filter.empty())
      call.capture.insert(call.capture.end(), {"-f", filter});
    for (const OfferedOption& option : offered_options) {
      const auto found = given.find(std::string(option.call));
      const bool flag = option.type == "boolflag";
      if (option.rdma != device->rdma || found == given.end()) continue;
      if (flag ? found->second == "false" : found->second.empty()) continue;
      call.capture.emplace_back(option.name);
      if (!flag) call.capture.push_back(found->second);
    }
  }
  return call;
}

}  // namespace roce::cli
