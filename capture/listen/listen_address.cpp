// SPDX-License-Identifier: Apache-2.0
#include "capture/listen/listen_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace roce::capture {
namespace {

struct Scheme {
  std::string_view name;
  std::uint16_t port;
};
constexpr Scheme schemes[] = {{"sflow://", 6343}, {"ipfix://", 4739}, {"netflow://", 2055}};

const Scheme* scheme_of(std::string_view text) noexcept {
  const auto found = std::find_if(std::begin(schemes), std::end(schemes),
                                  [&](const Scheme& scheme) { return text.starts_with(scheme.name); });
  return found == std::end(schemes) ? nullptr : found;
}

/// What is before a link's name ("fe80::1%eth0").
bool is_address(const std::string& text) {
  std::array<std::uint8_t, 16> bytes{};
  const std::string plain = text.substr(0, text.find('%'));
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, plain.c_str(), bytes.data()) == 1;
}

Expected<ListenAddress> parse_one(const std::string& text) {
  const auto wrong = [&](std::string message) {
    Error error;
    error.kind = ErrorKind::unsupported;
    error.path = text;
    error.message = std::move(message);
    return tl::unexpected<Error>(std::move(error));
  };
  const Scheme* const scheme = scheme_of(text);
  if (scheme == nullptr)
    return wrong(
        "not a place to listen; one is sflow://:6343, ipfix://10.0.0.1:4739 or netflow://[fd00::1]:2055");
  ListenAddress parsed{text, {}, scheme->port, scheme->port};
  std::string_view rest = std::string_view(text).substr(scheme->name.size());
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return wrong("the bracket of the IPv6 address is not closed");
    parsed.address = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (parsed.address.find(':') == std::string::npos) return wrong("only IPv6 addresses are in brackets");
  } else {
    const std::size_t colon = rest.find(':');
    parsed.address = rest.substr(0, colon);
    rest.remove_prefix(std::min(colon, rest.size()));
    if (std::count(rest.begin(), rest.end(), ':') > 1)
      return wrong("an IPv6 address is written in brackets: [fd00::1]:6343");
  }
  if (!parsed.address.empty() && !is_address(parsed.address))
    return wrong("'" + parsed.address + "' is no IP address of this host (names are not resolved)");
  if (rest.empty()) return parsed;
  rest.remove_prefix(1);  // the colon, or what must be one
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), parsed.port);
  const bool colon = text[text.size() - rest.size() - 1] == ':';
  if (!colon || status != std::errc{} || end != rest.data() + rest.size() || parsed.port == 0)
    return wrong("the port is a number from 1 to 65535");
  return parsed;
}

}  // namespace

bool is_listen_list(std::string_view device) noexcept {
  return scheme_of(device) != nullptr;
}

Expected<std::vector<ListenAddress>> parse_listen_list(const std::string& list) {
  std::vector<ListenAddress> all;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    auto one = parse_one(list.substr(begin, end - begin));
    if (!one) return tl::unexpected<Error>(std::move(one.error()));
    all.push_back(std::move(*one));
    begin = end + 1;
  }
  return all;
}

}  // namespace roce::capture
