// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dissect/types.hpp"

namespace roce::analyze {

/// An address or GID, or a prefix: "10.0.0.1", "10.0.0.0/24", "fe80::/10". Bits after the prefix are 0.
class AddressPrefix {
 public:
  AddressPrefix() = default;
  /// `bits`: prefix length of 128 (an IPv4 address is in the last 32); more than 128 counts as 128.
  AddressPrefix(const dissect::IpAddress& address, unsigned bits) noexcept;

  /// Absent if `text` is not an address or an address with a valid prefix length.
  [[nodiscard]] static std::optional<AddressPrefix> parse(std::string_view text);

  [[nodiscard]] bool contains(const dissect::IpAddress& address) const noexcept;
  [[nodiscard]] const dissect::IpAddress& address() const noexcept { return address_; }
  [[nodiscard]] unsigned bits() const noexcept { return bits_; }  ///< of 128
  /// In the usual notation: the length of IPv4 is of 32; a single address has none.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool operator==(const AddressPrefix&) const noexcept = default;

 private:
  dissect::IpAddress address_;
  unsigned bits_ = 128;
};

}  // namespace roce::analyze
