// SPDX-License-Identifier: Apache-2.0
// Reads the format of facts_json.cpp. Files may come from other machines and versions, or be edited by hand.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "analyze/host/facts_json.hpp"

namespace roce::analyze {
namespace {

using namespace capture;
using Json = nlohmann::json;
constexpr std::size_t most_bytes = std::size_t{64} << 20U;
constexpr std::size_t most_elements = 100'000;  // of one array
constexpr std::size_t most_nested = 64;         // arrays and objects; snapshots have eight

/// An object of the file with its path. Missing keys and null leave the target unchanged; the first value of
/// a wrong type is kept as the error.
class Reader {
 public:
  Reader(const Json& json, std::string place, std::string& error)
      : json_(json), place_(std::move(place)), error_(error) {
    if (!json_.is_object()) wrong(place_, "an object");
  }

  Reader& text(const char* key, std::string& out) {
    if (const Json* value = find(key)) {
      if (value->is_string()) {
        out = value->get<std::string>();
      } else {
        wrong(at(key), "a string");
      }
    }
    return *this;
  }
  Reader& truth(const char* key, bool& out) {
    if (const Json* value = find(key)) {
      if (value->is_boolean()) {
        out = value->get<bool>();
      } else {
        wrong(at(key), "true or false");
      }
    }
    return *this;
  }
  template <class Number>
  Reader& number(const char* key, Number& out) {
    if (const Json* value = find(key)) read_number(*value, at(key), out);
    return *this;
  }
  template <class Number>
  Reader& number(const char* key, std::optional<Number>& out) {
    if (const Json* value = find(key)) read_number(*value, at(key), out.emplace());
    return *this;
  }
  /// Calls `each` with a Reader for every object of an array.
  template <class Each>
  Reader& objects(const char* key, const Each& each) {
    elements(key, [&](const Json& value, const std::string& place) { each(Reader(value, place, error_)); });
    return *this;
  }
  template <class Each>
  Reader& object(const char* key, const Each& each) {
    if (const Json* value = find(key)) each(Reader(*value, at(key), error_));
    return *this;
  }
  template <class Number, std::size_t Size>
  Reader& row(const char* key, std::array<Number, Size>& out) {
    std::size_t i = 0;
    elements(key, [&](const Json& value, const std::string& place) {
      if (i == Size) {
        if (error_.empty()) error_ = place + ": more than " + std::to_string(Size) + " numbers";
        return;
      }
      read_number(value, place, out[i++]);
    });
    return *this;
  }
  template <class Number>
  Reader& row(const char* key, std::vector<Number>& out) {
    elements(key, [&](const Json& value, const std::string& place) {
      read_number(value, place, out.emplace_back());
    });
    return *this;
  }
  Reader& row(const char* key, std::vector<std::string>& out) {
    elements(key, [&](const Json& value, const std::string& place) {
      if (!value.is_string()) return wrong(place, "a string");
      out.push_back(value.get<std::string>());
    });
    return *this;
  }
  Reader& counters(const char* key, std::vector<HostCounter>& out) {
    const Json* value = find(key);
    if (value == nullptr) return *this;
    if (!value->is_object()) wrong(at(key), "an object");
    if (value->is_object()) {
      for (const auto& [name, number] : value->items()) {
        HostCounter& counter = out.emplace_back();
        counter.name = name;
        read_number(number, at(key) + "." + name, counter.value);
      }
    }
    return *this;
  }
  Reader& settings(const char* key, std::vector<HostSetting>& out) {
    return objects(key, [&](Reader reader) {
      HostSetting& setting = out.emplace_back();
      reader.text("name", setting.name).text("value", setting.value);
    });
  }
  void wrong(const std::string& place, std::string_view expected) {
    if (error_.empty())
      error_ = place + (place.empty() ? "" : ": ") + std::string(expected) + " was expected";
  }
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  [[nodiscard]] std::string at(const char* key) const { return place_.empty() ? key : place_ + "." + key; }
  [[nodiscard]] const Json* find(const char* key) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  template <class Number>
  void read_number(const Json& value, const std::string& place, Number& out) {
    if (value.is_number_unsigned()) {
      const auto read = value.get<std::uint64_t>();
      if (read <= static_cast<std::uint64_t>(std::numeric_limits<Number>::max())) {
        out = static_cast<Number>(read);
        return;
      }
    } else if constexpr (std::is_signed_v<Number>) {
      if (value.is_number_integer()) {
        out = value.get<Number>();
        return;
      }
    }
    wrong(place, "a whole number in range");
  }
  template <class Each>
  void elements(const char* key, const Each& each) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return wrong(at(key), "an array");
    if (value->size() > most_elements) return wrong(at(key), "a shorter array");
    for (std::size_t i = 0; i < value->size(); ++i)
      each((*value)[i], at(key) + "[" + std::to_string(i) + "]");
  }

  const Json& json_;
  std::string place_;
  std::string& error_;
};

GidEntry gid_entry(Reader reader) {
  GidEntry entry;
  std::string gid;
  reader.number("index", entry.index).text("gid", gid).text("type", entry.type);
  reader.text("netdev", entry.netdev);
  if (::inet_pton(AF_INET6, gid.c_str(), entry.gid.data()) != 1)
    reader.wrong(reader.place() + ".gid", "a GID");
  return entry;
}

RdmaPort port_of(Reader reader) {
  RdmaPort port;
  reader.number("number", port.number).text("state", port.state).text("phys_state", port.phys_state);
  reader.text("link_layer", port.link_layer).text("rate", port.rate).number("rate_bps", port.rate_bps);
  reader.text("netdev", port.netdev).text("default_roce_mode", port.default_roce_mode);
  reader.number("default_roce_tos", port.default_roce_tos).number("traffic_class", port.traffic_class);
  reader.number("gid_rows", port.gid_rows);
  reader.objects("gids", [&](const Reader& gid) { port.gids.push_back(gid_entry(gid)); });
  reader.settings("settings", port.settings).counters("counters", port.counters);
  reader.counters("hw_counters", port.hw_counters);
  return port;
}

RdmaDevice device_of(Reader reader) {
  RdmaDevice device;
  reader.text("name", device.name).text("driver", device.driver).text("node_type", device.node_type);
  reader.text("firmware", device.firmware).text("board_id", device.board_id);
  reader.text("hca_type", device.hca_type).text("hw_rev", device.hw_rev);
  reader.text("node_guid", device.node_guid).text("sys_image_guid", device.sys_image_guid);
  reader.text("node_desc", device.node_desc).text("pci", device.pci).text("parent", device.parent);
  reader.text("uverbs", device.uverbs);
  reader.objects("ports", [&](const Reader& port) { device.ports.push_back(port_of(port)); });
  return device;
}

void read_pfc(Reader& reader, const char* key, std::optional<DcbPfc>& out) {
  reader.object(key, [&](Reader inner) {
    DcbPfc& pfc = out.emplace();
    std::vector<unsigned> enabled;
    inner.number("capable", pfc.capable).row("enabled", enabled).truth("bypass_macsec", pfc.bypass_macsec);
    inner.number("delay", pfc.delay).row("requests", pfc.requests).row("indications", pfc.indications);
    for (const unsigned priority : enabled)
      if (priority < 8) pfc.enabled = static_cast<std::uint8_t>(pfc.enabled | 1U << priority);
  });
}

void read_ets(Reader& reader, const char* key, std::optional<DcbEts>& out) {
  reader.object(key, [&](Reader inner) {
    DcbEts& ets = out.emplace();
    inner.truth("willing", ets.willing).number("capable", ets.capable).row("tc_bandwidth", ets.tc_bandwidth);
    inner.row("tc_algorithm", ets.tc_algorithm).row("priority_tc", ets.priority_tc);
  });
}

DcbFacts dcb_of(Reader reader) {
  DcbFacts dcb;
  reader.truth("known", dcb.known).text("reason", dcb.reason).row("trust", dcb.trust);
  reader.number("dcbx", dcb.dcbx);
  read_pfc(reader, "pfc", dcb.pfc);
  read_pfc(reader, "peer_pfc", dcb.peer_pfc);
  read_ets(reader, "ets", dcb.ets);
  read_ets(reader, "peer_ets", dcb.peer_ets);
  reader.object("buffer", [&](Reader inner) {
    DcbBuffer& buffer = dcb.buffer.emplace();
    inner.row("priority_buffer", buffer.priority_buffer).row("bytes", buffer.bytes);
    inner.number("total_bytes", buffer.total_bytes);
  });
  reader.objects("apps", [&](Reader inner) {
    DcbApp& app = dcb.apps.emplace_back();
    inner.number("selector", app.selector).number("protocol", app.protocol).number("priority", app.priority);
  });
  return dcb;
}

std::vector<PriorityPair> pairs_of(Reader& reader, const char* key) {
  std::vector<PriorityPair> pairs;
  reader.objects(key, [&](Reader inner) {
    PriorityPair& pair = pairs.emplace_back();
    inner.number("from", pair.first).number("to", pair.second);
  });
  return pairs;
}

Netdev netdev_of(Reader reader) {
  Netdev netdev;
  reader.text("name", netdev.name).number("index", netdev.index).text("kind", netdev.kind);
  reader.text("driver", netdev.driver).text("driver_version", netdev.driver_version);
  reader.text("firmware", netdev.firmware).text("bus", netdev.bus).text("mac", netdev.mac);
  reader.text("oper_state", netdev.oper_state).text("master", netdev.master).number("mtu", netdev.mtu);
  reader.number("speed_bps", netdev.speed_bps).number("port", netdev.port);
  reader.object("vlan", [&](Reader inner) {
    VlanFacts& vlan = netdev.vlan.emplace();
    inner.number("id", vlan.id).text("parent", vlan.parent);
    vlan.egress = pairs_of(inner, "egress");
    vlan.ingress = pairs_of(inner, "ingress");
  });
  reader.object("bond", [&](Reader inner) {
    BondFacts& bond = netdev.bond.emplace();
    inner.text("mode", bond.mode).text("hash_policy", bond.hash_policy);
    inner.text("active_slave", bond.active_slave).row("slaves", bond.slaves);
  });
  reader.objects("addresses", [&](Reader inner) {
    InterfaceAddress& address = netdev.addresses.emplace_back();
    inner.text("address", address.address).number("prefix", address.prefix);
  });
  reader.settings("private_flags", netdev.private_flags).settings("settings", netdev.settings);
  reader.object("dcb", [&](const Reader& inner) { netdev.dcb = dcb_of(inner); });
  reader.counters("counters", netdev.counters).counters("ethtool", netdev.ethtool);
  return netdev;
}

Error refusal(const std::string& path, std::string message, ErrorKind kind = ErrorKind::damaged) {
  return {kind, path, std::nullopt, std::move(message), 0};
}

/// "line 3, column 5" of the first bracket that nests deeper than most_nested; "" if there is none.
/// nlohmann-json does not recurse, but spends 70 bytes on each level, and whoever walks its result
/// may recurse.
std::string too_deep_in_json(std::string_view text) {
  std::size_t depth = 0, line = 1, column = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i, ++column) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      column = 0;
    } else if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80U) {
      --column;  // columns count characters of UTF-8
    } else if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (c == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) {
        ++i;
        ++column;
      }
    } else if (c == '[' || c == '{') {
      if (++depth > most_nested) return fmt::format("line {}, column {}", line, column);
    } else if ((c == ']' || c == '}') && depth != 0) {
      --depth;
    }
  }
  return {};
}

/// The whole file, or an error.
Expected<std::string> contents(const std::string& path) {
  const int file = path == "-" ? ::dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto failure = [&path](int error) {
    const ErrorKind kind = error == ENOENT ? ErrorKind::not_found : ErrorKind::not_readable;
    return tl::unexpected(Error{kind, path, std::nullopt, std::strerror(error), error});
  };
  if (file < 0) return failure(errno);
  std::string text;
  std::array<char, 64 * 1024> block{};
  int error = 0;
  while (text.size() <= most_bytes) {
    const ssize_t got = ::read(file, block.data(), block.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      error = errno;
      break;
    }
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  if (error != 0) return failure(error);
  if (text.size() > most_bytes)
    return tl::unexpected(
        refusal(path, "is larger than 64 MiB: not a snapshot of a host", ErrorKind::unsupported));
  return text;
}

}  // namespace

Expected<HostFacts> parse_host_facts(std::string_view text, const std::string& path) {
  if (const std::string place = too_deep_in_json(text); !place.empty()) {
    return tl::unexpected(
        refusal(path, fmt::format("{}: arrays and objects nest deeper than {}: not a snapshot of a host",
                                  place, most_nested)));
  }
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return tl::unexpected(
        refusal(path, "is not JSON: make a snapshot with roceanalyze host --snapshot FILE"));
  std::string error, schema;
  HostFacts host;
  Reader reader(json, "", error);
  reader.text("schema", schema);
  if (error.empty() && schema != host_schema) {
    return tl::unexpected(refusal(path, "is not a snapshot of a host (schema \"" + schema.substr(0, 40) +
                                            "\", not \"" + std::string(host_schema) + "\")"));
  }
  reader.number("time", host.time_ns).text("host", host.host).text("kernel", host.kernel);
  reader.text("root", host.root).truth("root_user", host.root_user);
  reader.objects("devices", [&](const Reader& device) { host.devices.push_back(device_of(device)); });
  reader.objects("netdevs", [&](const Reader& netdev) { host.netdevs.push_back(netdev_of(netdev)); });
  reader.objects("problems", [&](Reader inner) {
    HostProblem& problem = host.problems.emplace_back();
    inner.text("path", problem.path).text("message", problem.message);
  });
  reader.number("problems_dropped", host.problems_dropped);
  if (!error.empty()) return tl::unexpected(refusal(path, std::move(error)));
  return host;
}

Expected<HostFacts> load_host_facts(const std::string& path) {
  const Expected<std::string> text = contents(path);
  if (!text) return tl::unexpected(text.error());
  return parse_host_facts(*text, path);
}

}  // namespace roce::analyze
