// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "dissect/types.hpp"

namespace roce::analyze {

/// Names of addresses, as in hosts(5): an address, white space, a name, further names, which are not used.
/// "#" begins a comment. Of several names of an address the first one holds. Immutable once read.
class HostNames {
 public:
  static constexpr std::size_t most_bytes = std::size_t{16} << 20U;  ///< of a file
  static constexpr std::size_t longest_name = 253;                   ///< RFC 1035, section 2.3.4, as text

  /// An error names the line: no address, no name, or a name that is none (letters, digits, "-", "_" and "."
  /// as in DNS, so that nothing in it can be taken for something else).
  [[nodiscard]] static tl::expected<HostNames, std::string> parse(std::string_view text);
  /// The same for a file, at most most_bytes long.
  [[nodiscard]] static tl::expected<HostNames, std::string> load(const std::string& path);

  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  /// Null: it has none.
  [[nodiscard]] const std::string* of(const dissect::IpAddress& address) const;

  /// A text with each address that has a name replaced by it. An address is one only where nothing beside it
  /// says otherwise: not within a longer word, and not with a prefix length.
  [[nodiscard]] std::string named(std::string_view text) const;

 private:
  std::map<dissect::IpAddress, std::string> names_;
};

}  // namespace roce::analyze
