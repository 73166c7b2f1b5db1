// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/clickhouse_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "analyze/store/store.hpp"

namespace roce::analyze {
namespace {

struct Scheme {
  std::string_view name;
  std::string_view http;
  std::uint16_t port;
};
constexpr std::array<Scheme, 4> schemes{{{"clickhouse://", "http://", 8123},
                                         {"clickhouses://", "https://", 8443},
                                         {"http://", "http://", 8123},
                                         {"https://", "https://", 8443}}};

const Scheme* scheme_of(std::string_view text) noexcept {
  const auto at =
      std::find_if(schemes.begin(), schemes.end(), [&](const Scheme& s) { return text.starts_with(s.name); });
  return at == schemes.end() ? nullptr : &*at;
}

/// What may stand in statements without being quoted.
bool is_name(std::string_view text) noexcept {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

tl::unexpected<capture::Error> wrong(std::string message) {
  capture::Error error;
  error.kind = capture::ErrorKind::unsupported;
  error.message = std::move(message);
  return tl::unexpected(error);
}

}  // namespace

bool is_store_address(std::string_view name) noexcept {
  return scheme_of(name) != nullptr;
}

capture::Expected<ClickHouseAddress> parse_clickhouse_address(const std::string& text) {
  constexpr std::string_view form = "clickhouse[s]://[user@]host[:port]/database[?cluster=NAME]";
  const Scheme* const scheme = scheme_of(text);
  if (scheme == nullptr) return wrong(fmt::format("no address of a ClickHouse: {}", form));
  std::string_view rest = std::string_view(text).substr(scheme->name.size());
  ClickHouseAddress address;
  address.user = "default";
  address.place.cluster.clear();
  if (const std::size_t query = rest.find('?'); query != std::string_view::npos) {
    constexpr std::string_view cluster = "cluster=";
    const std::string_view option = rest.substr(query + 1);
    if (!option.starts_with(cluster) || !is_name(option.substr(cluster.size())))
      return wrong(fmt::format("after ? only cluster=NAME is known: {}", form));
    address.place.cluster = option.substr(cluster.size());
    rest = rest.substr(0, query);
  }
  const std::size_t slash = rest.find('/');
  const std::string_view database =
      slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  if (!database.empty()) {
    if (!is_name(database)) return wrong("a database has a name of letters, digits and _");
    address.place.database = database;
  }
  std::string_view host = rest.substr(0, slash);
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = host.substr(0, at);
    if (user.find(':') != std::string_view::npos)
      return wrong(
          "a password does not belong into an address, which others see: ROCEANALYZE_PASSWORD in the "
          "environment or --password-file has it");
    if (!user.empty()) address.user = user;
    host.remove_prefix(at + 1);
  }
  std::string port = std::to_string(scheme->port);
  const std::size_t end = host.starts_with('[') ? host.find(']') : 0;
  if (end == std::string_view::npos) return wrong(fmt::format("an IPv6 address ends with ]: {}", form));
  if (const std::size_t colon = host.find(':', end); colon != std::string_view::npos) {
    std::uint16_t number = 0;
    const std::string_view digits = host.substr(colon + 1);
    const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (failure != std::errc() || stop != digits.data() + digits.size() || number == 0)
      return wrong(fmt::format("a port is a number: {}", form));
    port = digits;
    host = host.substr(0, colon);
  }
  const bool plain = std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '[' || c == ']' || c == '%';
  });
  if (host.empty() || !plain) return wrong(fmt::format("a host is missing: {}", form));
  address.url = fmt::format("{}{}:{}/", scheme->http, host, port);
  return address;
}

}  // namespace roce::analyze
