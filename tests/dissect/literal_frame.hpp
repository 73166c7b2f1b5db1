// SPDX-License-Identifier: Apache-2.0
// Frames written as hexadecimal in a test, dissected, and their fields by name.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/dissect.hpp"
#include "dissect/header_table.hpp"
#include "tests/dissect/hex.hpp"

namespace roce::dissect {

inline std::string zeros(std::size_t bytes) {
  return std::string(bytes * 2, '0');
}

/// A frame in memory of exactly its size, so that a sanitizer sees a read behind it.
struct LiteralFrame {
  std::vector<std::uint8_t> bytes;
  Dissection d;

  explicit LiteralFrame(std::vector<std::uint8_t> frame, std::size_t wire_length = 0)
      : bytes(std::move(frame)) {
    bytes.shrink_to_fit();
    dissect(bytes, static_cast<std::uint32_t>(wire_length == 0 ? bytes.size() : wire_length), link_ethernet,
            d);
  }
  explicit LiteralFrame(std::string_view text) : LiteralFrame(hex(text)) {}

  [[nodiscard]] std::vector<HeaderId> ids(HeaderId from) const {
    std::vector<HeaderId> result;
    for (const Layer& layer : d.all()) {
      if (layer.id >= from) result.push_back(layer.id);
    }
    return result;
  }

  /// Numbers of all occurrences of a field that are present.
  [[nodiscard]] std::vector<std::uint64_t> all(std::string_view name) const {
    std::vector<std::uint64_t> values;
    each(name, [&](const Field& field, const std::uint8_t* p, const Layer&) {
      if (field.is_number()) values.push_back(read_bits(field, p) * field.scale);
    });
    return values;
  }
  /// The only occurrence; a test failure otherwise.
  [[nodiscard]] std::uint64_t number(std::string_view name) const {
    const std::vector<std::uint64_t> values = all(name);
    EXPECT_EQ(values.size(), 1U) << name;
    return values.size() == 1 ? values.front() : ~std::uint64_t{0};
  }
  /// The bytes of a field in hexadecimal, of all its occurrences.
  [[nodiscard]] std::string bytes_of(std::string_view name) const {
    std::string text;
    each(name, [&](const Field& field, const std::uint8_t* p, const Layer& layer) {
      const std::size_t end = field.bits == 0 ? layer.length : field.end_byte();
      constexpr char digits[] = "0123456789abcdef";
      for (std::size_t i = field.first_byte(); i < end; ++i) {
        text.push_back(digits[p[i] >> 4U]);
        text.push_back(digits[p[i] & 15U]);
      }
    });
    return text;
  }
  [[nodiscard]] std::string text_of(std::string_view name) const {
    std::string text;
    for (const std::uint8_t byte : hex(bytes_of(name))) text.push_back(static_cast<char>(byte));
    return text;
  }

 private:
  template <class Use>
  void each(std::string_view name, Use use) const {
    for (const Layer& layer : d.all()) {
      for (const Field& field : header_info(layer.id).fields) {
        const std::uint8_t* p = bytes.data() + layer.offset;
        if (field.name == name && (field.present == nullptr || field.present(p))) use(field, p, layer);
      }
    }
  }
};

/// Every shorter capture of the frame, wire length kept: no layer passes its end, none is shorter
/// than its header, and a cut is never called a contradiction.
inline void check_truncations(const std::vector<std::uint8_t>& frame) {
  const Stop whole = LiteralFrame(frame).d.stop;
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const LiteralFrame cut(
        std::vector<std::uint8_t>(frame.begin(), frame.begin() + static_cast<long>(length)), frame.size());
    for (const Layer& layer : cut.d.all()) {
      ASSERT_LE(layer.offset + layer.length, length);
      ASSERT_GE(layer.length, header_info(layer.id).size) << header_info(layer.id).title;
    }
    if (whole == Stop::complete) {
      ASSERT_TRUE(cut.d.stop == Stop::complete || cut.d.stop == Stop::cut_by_capture)
          << "captured " << length << ": " << stop_name(cut.d.stop);
    }
  }
}

}  // namespace roce::dissect
