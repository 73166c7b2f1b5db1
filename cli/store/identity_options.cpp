// SPDX-License-Identifier: Apache-2.0
#include "cli/store/identity_options.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <optional>

#include "analyze/base/address_text.hpp"
#include "cli/core/command.hpp"
#include "dissect/types.hpp"

namespace roce::cli {
std::optional<std::string> plain_address(const std::string& text) {
  unsigned char bytes[16];
  if (::inet_pton(AF_INET, text.c_str(), bytes) == 1)
    return analyze::address_text(dissect::IpAddress::v4(bytes));
  if (::inet_pton(AF_INET6, text.c_str(), bytes) == 1)
    return analyze::address_text(dissect::IpAddress::v6(bytes));
  return std::nullopt;
}

namespace {

std::string label_error(const std::string& text) {
  const std::size_t equals = text.find('=');
  return equals == std::string::npos || equals == 0 ? fmt::format("not NAME=VALUE: '{}'", text)
                                                    : std::string();
}

std::string address_error(const std::string& text) {
  return plain_address(text) ? std::string() : fmt::format("not an IP address: '{}'", text);
}

}  // namespace

void IdentityOptions::add_to(CLI::App& command) {
  const auto text = [&](const char* name, std::string& value, const char* help) {
    command.add_option(name, value, help)->check(empty_error)->type_name("NAME")->group("Options of a store");
  };
  text("--host", host,
       "host where it was captured (default: name of the file; of a live capture that of this host)");
  text("--device", device, "interface or RDMA device that was captured (default: as in the file)");
  text("--fabric", fabric, "fabric, where addresses of several overlap");
  text("--site", site, "site of the host");
  text("--rack", rack, "rack of the host");
  command
      .add_option("--address", addresses,
                  "address of the host: tells what it sent from what it received; may be repeated")
      ->check(address_error)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("ADDRESS")
      ->group("Options of a store");
  command.add_option("--label", labels, "further label of the host; may be repeated")
      ->check(label_error)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE")
      ->group("Options of a store");
}

bool IdentityOptions::any() const noexcept {
  return !host.empty() || !device.empty() || !fabric.empty() || !site.empty() || !rack.empty() ||
         !labels.empty() || !addresses.empty();
}

analyze::StoreIdentity IdentityOptions::identity(const std::string& host_otherwise) const {
  analyze::StoreIdentity all;
  all.host = host.empty() ? host_otherwise : host;
  all.device = device;
  all.fabric = fabric;
  all.site = site;
  all.rack = rack;
  for (const std::string& label : labels) {
    const std::size_t equals = label.find('=');
    all.labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
  }
  for (const std::string& address : addresses) {
    if (const auto plain = plain_address(address)) all.addresses.insert(*plain);
  }
  return all;
}

}  // namespace roce::cli
