// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/dissect_choice.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "dissect/headers/ethernet.hpp"

namespace roce::analyze {

std::optional<std::uint64_t> parse_dscps(const std::string& text) {
  constexpr unsigned most = 63;
  std::uint64_t bits = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    unsigned dscp = 0;
    const auto [stop, failure] = std::from_chars(at, end, dscp);
    if (failure != std::errc() || dscp == 0 || dscp > most) return std::nullopt;
    bits |= std::uint64_t{1} << dscp;
    if (stop == end) return bits;
    if (*stop != ',') return std::nullopt;
    at = stop + 1;
  }
}

std::optional<dissect::NamedNumbers> parse_named_numbers(const std::string& text) {
  dissect::NamedNumbers named;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = rest.substr(0, equals);
    unsigned number = 0;
    const char* digits = at + equals + 1;
    const bool hexadecimal =
        std::string_view(digits, static_cast<std::size_t>(end - digits)).starts_with("0x");
    if (hexadecimal) digits += 2;
    const auto [stop, failure] = std::from_chars(digits, end, number, hexadecimal ? 16 : 10);
    const unsigned most = name == "ifa" ? 0xff : 0xffff;
    if (failure != std::errc() || number == 0 || number > most || (stop != end && *stop != ','))
      return std::nullopt;
    if (name == "falcon") {
      named.falcon_port = static_cast<std::uint16_t>(number);
    } else if (name == "veroce") {
      named.veroce_port = static_cast<std::uint16_t>(number);
    } else if (name == "ifa") {
      named.ifa_protocol = static_cast<std::uint8_t>(number);
    } else if (name == "csig" && number >= dissect::min_ethertype) {
      named.csig_type = static_cast<std::uint16_t>(number);
    } else {
      return std::nullopt;
    }
    if (stop == end) return named;
    at = stop + 1;
  }
  return std::nullopt;
}

std::string dscps_error(const std::string& text) {
  if (parse_dscps(text)) return {};
  return fmt::format("not a list of DSCPs: '{}' (numbers from 1 to 63: 11 or 11,21)", text);
}

std::string named_numbers_error(const std::string& text) {
  if (parse_named_numbers(text)) return {};
  return fmt::format(
      "not NAME=NUMBER[,...]: '{}' (names are falcon, veroce, ifa and csig: falcon=7777,csig=0x9900)", text);
}

std::string DissectChoice::words() const {
  std::string text;
  if (!trimmed_dscp.empty()) text += " --trimmed-dscp " + trimmed_dscp;
  if (mrc_port) text += fmt::format(" --mrc-port {}", *mrc_port);
  if (!decode_as.empty()) text += " --decode-as " + decode_as;
  if (roce_ip_protocol != 0) text += fmt::format(" --roce-ip-protocol {}", roce_ip_protocol);
  return text;
}

dissect::Options DissectChoice::with(const MarkingPolicy* policy) const {
  dissect::Options options;
  options.roce_ip_protocol = static_cast<std::uint8_t>(roce_ip_protocol);
  options.trimmed_dscps = parse_dscps(trimmed_dscp).value_or(0);
  options.named = parse_named_numbers(decode_as).value_or(dissect::NamedNumbers());
  if (policy != nullptr) {
    options.trimmed_dscps |= policy->trimmed_dscps();
    options.mrc_port = policy->mrc_port().value_or(options.mrc_port);
  }
  options.mrc_port = mrc_port.value_or(options.mrc_port);
  return options;
}

}  // namespace roce::analyze
