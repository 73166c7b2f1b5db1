// SPDX-License-Identifier: Apache-2.0
// Internal: netlink requests and answers as bytes. Lengths in answers are never trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace roce::capture {

using Bytes = std::span<const std::byte>;

/// A request: netlink header, header of the family, attributes.
class NetlinkRequest {
 public:
  NetlinkRequest(std::uint16_t type, std::uint16_t flags);

  template <class Pod>
  NetlinkRequest& header(const Pod& pod) {
    static_assert(std::is_trivially_copyable_v<Pod>);
    return raw(&pod, sizeof pod);
  }
  NetlinkRequest& attribute(std::uint16_t type, std::string_view text);  ///< with its final 0
  /// Valid until the next change.
  [[nodiscard]] Bytes bytes();

 private:
  NetlinkRequest& raw(const void* data, std::size_t size);
  std::vector<std::byte> bytes_;
};

/// Calls `each` with type and payload of every complete message.
void for_each_message(Bytes answer, const std::function<void(std::uint16_t type, Bytes payload)>& each);
/// Calls `each` with type (without flags) and payload of every complete attribute.
void for_each_attribute(Bytes attributes, const std::function<void(std::uint16_t type, Bytes payload)>& each);

/// The first bytes as a value; none if there are too few.
template <class Pod>
[[nodiscard]] std::optional<Pod> value_of(Bytes bytes) noexcept {
  static_assert(std::is_trivially_copyable_v<Pod>);
  if (bytes.size() < sizeof(Pod)) return std::nullopt;
  Pod pod{};
  std::memcpy(&pod, bytes.data(), sizeof pod);
  return pod;
}
/// The bytes after the first `size`; empty if there are fewer.
[[nodiscard]] inline Bytes behind(Bytes bytes, std::size_t size) noexcept {
  return bytes.size() < size ? Bytes() : bytes.subspan(size);
}
/// Text up to its terminating 0; unprintable bytes become '?'.
[[nodiscard]] std::string text_of(Bytes bytes);

}  // namespace roce::capture
