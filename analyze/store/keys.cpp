// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/keys.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <string>
#include <utility>

namespace roce::analyze {
namespace {

struct SipState {
  std::uint64_t a = 0x736f6d6570736575U;
  std::uint64_t b = 0x646f72616e646f6dU;
  std::uint64_t c = 0x6c7967656e657261U;
  std::uint64_t d = 0x7465646279746573U;

  void rounds(unsigned times) noexcept {
    for (unsigned i = 0; i < times; ++i) {
      a += b;
      b = std::rotl(b, 13) ^ a;
      a = std::rotl(a, 32);
      c += d;
      d = std::rotl(d, 16) ^ c;
      a += d;
      d = std::rotl(d, 21) ^ a;
      c += b;
      b = std::rotl(b, 17) ^ c;
      c = std::rotl(c, 32);
    }
  }
  void take(std::uint64_t word) noexcept {
    d ^= word;
    rounds(2);
    a ^= word;
  }
};

/// Up to eight bytes, the first in the lowest bits.
std::uint64_t word_of(std::string_view bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return word;
}

}  // namespace

std::uint64_t sip_hash(std::string_view text) noexcept {
  SipState state;
  const std::uint64_t length = text.size();
  for (; text.size() >= 8; text.remove_prefix(8)) state.take(word_of(text.substr(0, 8)));
  state.take(word_of(text) | length << 56U);
  state.c ^= 0xff;
  state.rounds(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

std::uint64_t store_key(std::string_view text) noexcept {
  return sip_hash(text) & ~(std::uint64_t{1} << 63U);
}

std::uint64_t hash_of_pair(std::string_view fabric, std::string_view a, std::string_view b) {
  if (b < a) std::swap(a, b);
  return store_key(fmt::format("{}|{}|{}", fabric, a, b));
}

std::uint64_t hash_of_flow(std::string_view fabric, std::string_view src, std::string_view dst,
                           std::uint32_t dst_qp) {
  return store_key(fmt::format("{}|{}|{}|{}", fabric, src, dst, dst_qp));
}

std::uint64_t hash_of_connection(std::string_view fabric, std::string_view a, std::uint32_t a_qp,
                                 std::string_view b, std::uint32_t b_qp) {
  if (b < a || (b == a && b_qp < a_qp)) {
    std::swap(a, b);
    std::swap(a_qp, b_qp);
  }
  return store_key(fmt::format("{}|{}|{}|{}|{}", fabric, a, a_qp, b, b_qp));
}

}  // namespace roce::analyze
