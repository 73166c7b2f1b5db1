// SPDX-License-Identifier: Apache-2.0
#include "dissect/crc32.hpp"

#include <isa-l/crc.h>

namespace roce::dissect {

// crc32_gzip_refl is the reflected one; crc32_ieee is another value.
std::uint32_t crc32(std::uint32_t before, const std::uint8_t* data, std::size_t size) noexcept {
  return crc32_gzip_refl(before, data, size);
}

}  // namespace roce::dissect
