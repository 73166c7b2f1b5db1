// SPDX-License-Identifier: Apache-2.0
// Trailers of time-stamping switches. Nothing announces them: they are known by a time that is near the
// capture's.
#pragma once

#include <cstdint>
#include <optional>

#include "dissect/bytes.hpp"
#include "dissect/dissection.hpp"

namespace roce::dissect {

struct Trailer {
  HeaderId id{};             ///< metamako or exablaze
  std::uint32_t begin = 0;   ///< of all of it
  std::uint32_t offset = 0;  ///< of its header `id`: what is before it are extensions and the old FCS
  std::int64_t time_ns = 0;  ///< since the epoch
};

/// The trailer of a frame that was captured whole, behind its packet and before an FCS, if there is one;
/// `time_ns`: when it was captured, since the epoch.
[[nodiscard]] std::optional<Trailer> find_trailer(Bytes frame, std::uint32_t wire, std::int64_t time_ns,
                                                  const Dissection& dissection) noexcept;

/// Adds its headers to those of a RoCE packet, as the last ones.
void dissect_trailer(Bytes frame, std::uint32_t wire, std::int64_t time_ns, Dissection& dissection) noexcept;

}  // namespace roce::dissect
