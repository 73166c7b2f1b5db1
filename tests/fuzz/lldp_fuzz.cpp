// SPDX-License-Identifier: Apache-2.0
// An Ethernet frame behind its addresses: LLDP, MAC control, or what else the ethertype says. The
// first two bytes are how many more bytes the wire had.
#include "frame_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint32_t cut = roce::dissect::load_be16(data);
  std::vector<std::uint8_t> frame{0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x50, 0x54, 0, 0, 0x0a, 0x01};
  frame.insert(frame.end(), data + 2, data + size);
  roce::fuzz::check_frame(frame, cut, roce::dissect::Ulp::none);
  return 0;
}
