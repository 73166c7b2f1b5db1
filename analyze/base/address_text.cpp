// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/address_text.hpp"

#include <array>
#include <cstddef>

#include "dissect/bytes.hpp"

namespace roce::analyze {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

void append_colon_separated(std::string& out, const std::uint8_t* bytes, std::size_t count) {
  std::array<char, 3 * 8> text;
  char* to = text.data();
  for (std::size_t i = 0; i < count; ++i) {
    *to++ = hex_digits[bytes[i] >> 4U];
    *to++ = hex_digits[bytes[i] & 15U];
    *to++ = ':';
  }
  out.append(text.data(), static_cast<std::size_t>(to - text.data()) - 1);
}

char* put_octet(char* to, unsigned value) {
  if (value >= 100) *to++ = static_cast<char>('0' + value / 100);
  if (value >= 10) *to++ = static_cast<char>('0' + value / 10 % 10);
  *to++ = static_cast<char>('0' + value % 10);
  return to;
}

char* put_ipv4(char* to, const std::uint8_t* bytes) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (i != 0) *to++ = '.';
    to = put_octet(to, bytes[i]);
  }
  return to;
}

char* put_group(char* to, unsigned group) {
  if (group >= 0x1000) *to++ = hex_digits[group >> 12U];
  if (group >= 0x100) *to++ = hex_digits[(group >> 8U) & 15U];
  if (group >= 0x10) *to++ = hex_digits[(group >> 4U) & 15U];
  *to++ = hex_digits[group & 15U];
  return to;
}

/// The longest run of two or more zero groups, the first one of equal length.
struct ZeroRun {
  std::size_t begin = 8;
  std::size_t length = 0;
};

ZeroRun longest_zero_run(const std::array<unsigned, 8>& groups) {
  ZeroRun best;
  for (std::size_t i = 0; i < groups.size();) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i >= 2 && end - i > best.length) best = {i, end - i};
    i = end + 1;
  }
  return best;
}

}  // namespace

void append_mac(std::string& out, const std::uint8_t* six_bytes) {
  append_colon_separated(out, six_bytes, 6);
}
void append_eui64(std::string& out, const std::uint8_t* eight_bytes) {
  append_colon_separated(out, eight_bytes, 8);
}

void append_ipv4(std::string& out, const std::uint8_t* four_bytes) {
  std::array<char, 16> text;
  const char* const end = put_ipv4(text.data(), four_bytes);
  out.append(text.data(), static_cast<std::size_t>(end - text.data()));
}

void append_ipv6(std::string& out, const std::uint8_t* sixteen_bytes) {
  std::array<unsigned, 8> groups;
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = dissect::load_be16(sixteen_bytes + 2 * i);
  const ZeroRun run = longest_zero_run(groups);
  const bool dotted = run.begin == 0 && (run.length == 6 || (run.length == 5 && groups[5] == 0xffff));

  std::array<char, 48> text;
  char* to = text.data();
  for (std::size_t i = 0; i < groups.size();) {
    if (i == run.begin) {
      *to++ = ':';
      *to++ = ':';
      i += run.length;
      continue;
    }
    if (i != 0 && i != run.begin + run.length) *to++ = ':';
    if (i == 6 && dotted) {
      to = put_ipv4(to, sixteen_bytes + 12);
      break;
    }
    to = put_group(to, groups[i++]);
  }
  out.append(text.data(), static_cast<std::size_t>(to - text.data()));
}

void append_address(std::string& out, const dissect::IpAddress& address) {
  if (address.is_v4_mapped()) {
    append_ipv4(out, address.bytes.data() + 12);
  } else {
    append_ipv6(out, address.bytes.data());
  }
}

std::string address_text(const dissect::IpAddress& address) {
  std::string text;
  append_address(text, address);
  return text;
}

}  // namespace roce::analyze
