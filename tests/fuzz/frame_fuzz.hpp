// SPDX-License-Identifier: Apache-2.0
// What must hold of the dissection of any bytes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "dissect/cm.hpp"
#include "dissect/dissect.hpp"
#include "dissect/gid.hpp"
#include "dissect/header_table.hpp"
#include "dissect/ulp.hpp"

namespace roce::fuzz {

/// Aborts where a promise of Layer or Dissection is broken. `frame` is copied to memory of its size.
inline void check_frame(const std::vector<std::uint8_t>& bytes, std::uint32_t cut, dissect::Ulp hint) {
  using namespace dissect;
  const std::vector<std::uint8_t> frame(bytes.begin(), bytes.end());
  Dissection d;
  dissect::dissect(frame, static_cast<std::uint32_t>(frame.size()) + cut, link_ethernet, d);
  (void)dissect_ulp(frame, d, hint);
  (void)gid_disagrees(frame, d);
  if (const auto message = decode_cm(frame, d); message && message->whole) {
    if (std::size_t{message->private_offset} + message->private_length > frame.size()) std::abort();
  }
  std::uint64_t sum = 0;
  for (const Layer& layer : d.all()) {
    const HeaderInfo& info = header_info(layer.id);
    if (std::size_t{layer.offset} + layer.length > frame.size() || layer.length < info.size) std::abort();
    const std::uint8_t* p = frame.data() + layer.offset;
    for (const Field& field : info.fields) {
      if (field.present != nullptr && !field.present(p)) continue;
      if (field.is_number()) {
        sum += read_bits(field, p);
        continue;
      }
      const std::size_t end = field.bits == 0 ? layer.length : field.end_byte();
      const std::size_t length = end < field.first_byte() ? 0 : end - field.first_byte();
      if ((field.display == Display::mac && length != 6) || (field.display == Display::ipv4 && length != 4) ||
          (field.display == Display::ipv6 && length != 16))
        std::abort();
      for (std::size_t i = field.first_byte(); i < end; ++i) sum += p[i];
    }
  }
  volatile std::uint64_t used = sum;
  (void)used;
}

}  // namespace roce::fuzz
