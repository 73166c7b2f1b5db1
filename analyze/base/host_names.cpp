// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/host_names.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>

namespace roce::analyze {
namespace {

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
/// What addresses consist of.
bool is_of_address(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}
bool is_of_name(char c) noexcept {
  return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
}

std::optional<dissect::IpAddress> address_of(std::string_view word) {
  std::array<char, INET6_ADDRSTRLEN> zero_ended{};
  if (word.empty() || word.size() >= zero_ended.size()) return std::nullopt;
  std::copy(word.begin(), word.end(), zero_ended.begin());
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET, zero_ended.data(), bytes.data()) == 1) return dissect::IpAddress::v4(bytes.data());
  if (inet_pton(AF_INET6, zero_ended.data(), bytes.data()) == 1) return dissect::IpAddress::v6(bytes.data());
  return std::nullopt;
}

/// The next word of a line, which loses it; empty: none.
std::string_view take_word(std::string_view& line) {
  constexpr std::string_view space = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(space), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(space));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

tl::expected<HostNames, std::string> HostNames::parse(std::string_view text) {
  HostNames names;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    const std::string_view word = take_word(line);
    if (word.empty()) continue;
    // hosts(5) of some systems has link-local addresses with their interface.
    const auto address = address_of(word.substr(0, word.find('%')));
    if (!address) return tl::unexpected(fmt::format("line {}: does not begin with an address", number));
    const std::string_view name = take_word(line);
    if (name.empty()) return tl::unexpected(fmt::format("line {}: the address has no name", number));
    if (name.size() > longest_name || !std::all_of(name.begin(), name.end(), is_of_name)) {
      return tl::unexpected(fmt::format(
          "line {}: a name has letters, digits, \"-\", \"_\" and \".\", at most {}", number, longest_name));
    }
    names.names_.emplace(*address, name);
  }
  return names;
}

tl::expected<HostNames, std::string> HostNames::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    text.resize(most_bytes + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (!file && !file.eof()) return tl::unexpected(std::string("cannot be read"));
  if (text.size() > most_bytes) return tl::unexpected(fmt::format("is longer than {} bytes", most_bytes));
  return parse(text);
}

const std::string* HostNames::of(const dissect::IpAddress& address) const {
  const auto found = names_.find(address);
  return found == names_.end() ? nullptr : &found->second;
}

std::string HostNames::named(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    if (!is_of_address(text[i])) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_of_address(text[end])) ++end;
    std::string_view word = text.substr(i, end - i);
    const bool alone = (i == 0 || !(is_of_name(text[i - 1]) || text[i - 1] == '/')) &&
                       (end == text.size() || !(is_letter_or_digit(text[end]) || text[end] == '_' ||
                                                text[end] == '-' || text[end] == '/'));
    // The end of a sentence, or of what a colon introduces.
    std::string_view behind;
    auto address = alone ? address_of(word) : std::nullopt;
    if (alone && !address && (word.ends_with('.') || word.ends_with(':'))) {
      behind = word.substr(word.size() - 1);
      word.remove_suffix(1);
      address = address_of(word);
    }
    const std::string* name = address ? of(*address) : nullptr;
    out += name != nullptr ? std::string_view(*name) : word;
    out += behind;
    i = end;
  }
  return out;
}

}  // namespace roce::analyze
