// SPDX-License-Identifier: Apache-2.0
// Pieces of a datagram that length fields bound and of which the end may not have been captured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dissect/bytes.hpp"

namespace roce::dissect {

/// How reading something ended.
enum class End : std::uint8_t {
  complete,
  cut,          ///< the captured bytes end inside
  contradicts,  ///< a length or a count leaves no room for what must be there
};

/// Bytes of which some may not have been captured.
struct Part {
  Bytes captured;
  std::size_t declared = 0;  ///< its length by the length field around it; at least captured.size()

  [[nodiscard]] bool is_cut() const noexcept { return captured.size() < declared; }
  /// What begins after `offset` bytes.
  [[nodiscard]] Part from(std::size_t offset) const noexcept {
    return {captured.subspan(std::min(offset, captured.size())), declared - std::min(offset, declared)};
  }
  /// Its first `size` bytes, of which it has as many.
  [[nodiscard]] Part first(std::size_t size) const noexcept {
    return {captured.first(std::min(size, captured.size())), std::min(size, declared)};
  }
  /// Whether its first `size` bytes are there.
  [[nodiscard]] End holds(std::size_t size) const noexcept {
    return size > declared ? End::contradicts : size > captured.size() ? End::cut : End::complete;
  }
};

}  // namespace roce::dissect
