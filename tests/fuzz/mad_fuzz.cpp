// SPDX-License-Identifier: Apache-2.0
// What follows UDP to port 4791: management datagrams and messages of upper layers. The first two
// bytes are how many more bytes the wire had, the third is the protocol that the connection was for.
#include "frame_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3 || size > 8192) return 0;
  const std::uint32_t cut = roce::dissect::load_be16(data);
  const auto hint =
      static_cast<roce::dissect::Ulp>(data[2] % static_cast<unsigned>(roce::dissect::Ulp::count_));
  const std::size_t payload = size - 3;
  const auto put16 = [](std::vector<std::uint8_t>& to, std::size_t value) {
    const std::uint8_t bytes[] = {static_cast<std::uint8_t>(value >> 8U), static_cast<std::uint8_t>(value)};
    to.insert(to.end(), std::begin(bytes), std::end(bytes));
  };
  std::vector<std::uint8_t> frame{0x50, 0x54, 0,    0,    0x0b, 0x01, 0x50, 0x54,
                                  0,    0,    0x0a, 0x01, 0x08, 0,    0x45, 0};
  put16(frame, 20 + 8 + payload + cut);
  const std::uint8_t rest_of_ip[] = {0, 0, 0x40, 0,  0x40, 17, 0,    0, 10,   77,
                                     0, 1, 10,   77, 0,    2,  0xc0, 0, 0x12, 0xb7};
  frame.insert(frame.end(), std::begin(rest_of_ip), std::end(rest_of_ip));
  put16(frame, 8 + payload + cut);
  put16(frame, 0);
  frame.insert(frame.end(), data + 3, data + size);
  roce::fuzz::check_frame(frame, cut, hint);
  return 0;
}
