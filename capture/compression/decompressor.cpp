// SPDX-License-Identifier: Apache-2.0
#include "capture/compression/decompressor.hpp"

#include <array>

namespace roce::capture {

std::unique_ptr<Decompressor> make_decompressor(Compression compression) {
  using Maker = std::unique_ptr<Decompressor> (*)();
  constexpr std::array<Maker, 4> makers = {nullptr, make_gzip_decompressor, make_zstd_decompressor,
                                           make_lz4_decompressor};
  const Maker maker = makers[static_cast<std::size_t>(compression)];
  return maker != nullptr ? maker() : nullptr;
}

}  // namespace roce::capture
