// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/extcap.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "capture/host/read_host.hpp"
#include "capture/network/device_list.hpp"
#include "cli/capture/extcap_toolbar.hpp"
#include "cli/core/command_tree.hpp"
#include "cli/core/version.hpp"

namespace roce::cli {
namespace {

/// In front of a device's name: Wireshark lists network interfaces itself, too.
constexpr std::string_view prefix = "roce-";
constexpr std::string_view ring_call = "--ring-file";
constexpr std::string_view trigger_call = "--trigger";
constexpr std::string_view trigger_ids_call = "--trigger-ids";
constexpr std::string_view no_trigger = "none";

/// Devices that an option is for.
enum class Offer : std::uint8_t { all, network, rdma };

/// Options of `capture` that Wireshark's dialog offers; their help comes from the command.
struct OfferedOption {
  std::string_view call;  ///< in lower case: Wireshark makes a preference of it
  std::string_view name;
  std::string_view type;  ///< of an argument of extcap
  std::string_view title;
  Offer offer = Offer::all;
  std::string_view group;       ///< a tab of the dialog; empty: the first one
  std::string_view limit = {};  ///< in front of the value: "filesize:"
  std::string_view help = {};   ///< empty: that of the command's option
};
constexpr OfferedOption offered_options[] = {
    {"--snap-length", "-s", "unsigned", "Snap length in bytes", Offer::all, ""},
    {"--kernel-buffer", "-B", "unsigned", "Kernel buffer in MiB", Offer::network, ""},
    {"--no-promiscuous", "-p", "boolflag", "No promiscuous mode", Offer::network, ""},
    {"--ring-time", "--ring-time", "string", "Length of the device's ring", Offer::rdma, ""},
    {ring_call, "-w", "fileselect", "Files of the ring", Offer::all, "Ring", "",
     "all packets also to the files of a ring with this name, beside what Wireshark shows"},
    {"--ring-filesize", "-b", "unsigned", "Next file after KB", Offer::all, "Ring", "filesize:"},
    {"--ring-duration", "-b", "unsigned", "Next file after seconds", Offer::all, "Ring", "duration:"},
    {"--ring-files", "-b", "unsigned", "Files that are kept", Offer::all, "Ring", "files:"},
    {trigger_call, "--trigger", "selector", "Show only packets around", Offer::all, "Trigger"},
    {trigger_ids_call, "--trigger", "string", "... and around findings", Offer::all, "Trigger", "",
     "their ids, separated by commas"},
    {"--before", "--before", "string", "Time before a trigger", Offer::all, "Trigger"},
    {"--after", "--after", "string", "Time after a trigger", Offer::all, "Trigger"},
    {"--trigger-memory", "--trigger-memory", "unsigned", "MiB for the time before", Offer::all, "Trigger"}};

/// What the dialog proposes for --trigger. Wireshark 4.0 keeps the choice of a selector, not of an
/// editselector.
struct OfferedTrigger {
  std::string_view word;
  std::string_view title;
};
constexpr OfferedTrigger offered_triggers[] = {{no_trigger, "no event: show all packets"},
                                               {"error", "findings: errors"},
                                               {"warning", "findings: warnings and errors"},
                                               {"notice", "findings: notices and above"},
                                               {"info", "all findings"},
                                               {"loss", "lost packets"},
                                               {"retransmission", "retransmissions"},
                                               {"ce", "CE marks"}};

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
  return text + extcap_controls();
}

bool offered(const OfferedOption& option, bool rdma) {
  return option.offer == Offer::all || (option.offer == Offer::rdma) == rdma;
}

std::string config_text(bool rdma) {
  const CommandTree tree = command_tree("capture");
  const CLI::App& capture = *tree.app->get_subcommand("capture");
  std::string text;
  std::string values;
  int number = 0;
  for (const OfferedOption& option : offered_options) {
    if (!offered(option, rdma)) continue;
    std::string help(option.help);
    if (help.empty()) help = capture.get_option(std::string(option.name))->get_description();
    text += fmt::format("arg {{number={}}}{{call={}}}{{display={}}}{{tooltip={}}}{{type={}}}", number,
                        option.call, option.title, value_text(help), option.type);
    if (!option.group.empty()) text += fmt::format("{{group={}}}", option.group);
    if (option.type == "fileselect") text += "{mustexist=false}";
    text += "\n";
    for (const OfferedTrigger& each : offered_triggers) {
      if (option.call == trigger_call)
        values += fmt::format("value {{arg={}}}{{value={}}}{{display={}}}{{default={}}}\n", number, each.word,
                              each.title, each.word == no_trigger);
    }
    ++number;
  }
  return text + values;
}

/// The command for a call that starts a capture; `given` has a pipe.
std::vector<std::string> capture_words(const ExtcapDevice& device,
                                       const std::map<std::string, std::string>& given, std::string& error) {
  const auto value = [&](std::string_view name) {
    const auto found = given.find(std::string(name));
    return found == given.end() ? std::string() : found->second;
  };
  const bool ring = !value(ring_call).empty();
  const bool event = !value(trigger_call).empty() && value(trigger_call) != no_trigger;
  const bool trigger = event || !value(trigger_ids_call).empty();
  if (ring && trigger) {
    error = "a ring has all packets, a trigger shows some of them: choose one";
    return {};
  }
  std::vector<std::string> words = {"capture", "-i", device.name, ring ? "--tee" : "-w", value("--fifo")};
  // A trigger needs the analysis.
  if (!trigger) words.emplace_back("--capture-only");
  constexpr std::string_view passed_on[][2] = {{"--extcap-capture-filter", "-f"},
                                               {"--extcap-control-in", "--toolbar-in"},
                                               {"--extcap-control-out", "--toolbar-out"}};
  for (const auto& [call, name] : passed_on) {
    if (const std::string text = value(call); !text.empty())
      words.insert(words.end(), {std::string(name), text});
  }
  bool limited = false;
  for (const OfferedOption& option : offered_options) {
    const std::string text = value(option.call);
    const bool flag = option.type == "boolflag";
    const bool there = given.count(std::string(option.call)) != 0;
    if (!offered(option, device.rdma) || !there || (flag ? text == "false" : text.empty())) continue;
    // Wireshark keeps what was set in the tab of a ring or trigger that is not used now.
    if ((option.group == "Ring" && !ring) || (option.group == "Trigger" && !trigger)) continue;
    if ((!option.limit.empty() && text == "0") || (option.call == trigger_call && !event)) continue;
    limited = limited || option.limit == "filesize:" || option.limit == "duration:";
    words.emplace_back(option.name);
    if (!flag) words.push_back(std::string(option.limit) + text);
  }
  if (ring && !limited) words.insert(words.end(), {"-b", "filesize:100000"});
  return words;
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
    call.capture = capture_words(*device, given, call.error);
  }
  return call;
}

}  // namespace roce::cli
