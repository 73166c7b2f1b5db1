// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

/// Where to listen for exports: "sflow://:6343", "ipfix://10.0.0.1", "netflow://[fd00::1]:9995".
struct ListenAddress {
  std::string text;                ///< as given
  std::string address;             ///< empty: all of this host, IPv4 and IPv6
  std::uint16_t port = 0;          ///< by default that of the protocol
  std::uint16_t written_port = 0;  ///< that of the protocol: by it readers of the capture know what it is
};

/// Whether a device's name is rather a list of these, with commas between them.
[[nodiscard]] bool is_listen_list(std::string_view device) noexcept;
[[nodiscard]] Expected<std::vector<ListenAddress>> parse_listen_list(const std::string& list);

}  // namespace roce::capture
