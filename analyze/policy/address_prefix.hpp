// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dissect/types.hpp"

namespace roce::analyze {

/// An address or GID, or all that begin with the same bits: "10.0.0.1", "10.0.0.0/24", "fe80::/10". Bits
/// behind the prefix are 0.
class AddressPrefix {
 public:
  AddressPrefix() = default;
  /// `bits` of the 128 (IPv4 stands in the last 32); more than 128 are 128.
  AddressPrefix(const dissect::IpAddress& address, unsigned bits) noexcept;

  /// Nothing if it is neither an address nor one with a length that it can have.
  [[nodiscard]] static std::optional<AddressPrefix> parse(std::string_view text);

  [[nodiscard]] bool contains(const dissect::IpAddress& address) const noexcept;
  [[nodiscard]] const dissect::IpAddress& address() const noexcept { return address_; }
  [[nodiscard]] unsigned bits() const noexcept { return bits_; }  ///< of 128
  /// As it is written: the length of IPv4 is of 32, and that of a single address left out.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool operator==(const AddressPrefix&) const noexcept = default;

 private:
  dissect::IpAddress address_;
  unsigned bits_ = 128;
};

}  // namespace roce::analyze
