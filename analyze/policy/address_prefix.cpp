// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/address_prefix.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "analyze/base/address_text.hpp"

namespace roce::analyze {
namespace {

constexpr unsigned all_bits = 128, v4_offset = 96;

/// Mask of the bits of byte `i` that belong to a prefix of `bits` bits.
std::uint8_t mask_of(unsigned bits, std::size_t i) noexcept {
  const unsigned before = static_cast<unsigned>(i) * 8;
  if (bits >= before + 8) return 0xff;
  if (bits <= before) return 0;
  return static_cast<std::uint8_t>(0xff00U >> (bits - before));
}

}  // namespace

AddressPrefix::AddressPrefix(const dissect::IpAddress& address, unsigned bits) noexcept
    : address_(address), bits_(std::min(bits, all_bits)) {
  for (std::size_t i = 0; i < address_.bytes.size(); ++i)
    address_.bytes[i] = static_cast<std::uint8_t>(address_.bytes[i] & mask_of(bits_, i));
}

std::optional<AddressPrefix> AddressPrefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string name(text.substr(0, slash));
  if (name.find('\0') != std::string::npos) return std::nullopt;
  std::uint8_t bytes[16];
  dissect::IpAddress address;
  unsigned longest = all_bits, offset = 0;
  if (::inet_pton(AF_INET, name.c_str(), bytes) == 1) {
    address = dissect::IpAddress::v4(bytes);
    longest = 32;
    offset = v4_offset;
  } else if (::inet_pton(AF_INET6, name.c_str(), bytes) == 1) {
    address = dissect::IpAddress::v6(bytes);
  } else {
    return std::nullopt;
  }
  unsigned bits = longest;
  if (slash != std::string_view::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data() + slash + 1, end, bits);
    if (failure != std::errc() || stop != end || bits > longest) return std::nullopt;
  }
  return AddressPrefix(address, bits + offset);
}

bool AddressPrefix::contains(const dissect::IpAddress& address) const noexcept {
  const std::size_t whole = bits_ / 8;
  if (std::memcmp(address_.bytes.data(), address.bytes.data(), whole) != 0) return false;
  return bits_ % 8 == 0 || (address.bytes[whole] & mask_of(bits_, whole)) == address_.bytes[whole];
}

std::string AddressPrefix::text() const {
  std::string out;
  const bool v4 = address_.is_v4_mapped() && bits_ >= v4_offset;
  v4 ? append_ipv4(out, address_.bytes.data() + 12) : append_ipv6(out, address_.bytes.data());
  if (bits_ != all_bits) out += '/' + std::to_string(v4 ? bits_ - v4_offset : bits_);
  return out;
}

}  // namespace roce::analyze
