// SPDX-License-Identifier: Apache-2.0
// Byte 0 chooses the link type, bytes 1 and 2 how much longer the frame was on the wire; the rest is
// the frame. The short way to a record must agree with the general one on every frame that it takes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "dissect/bytes.hpp"
#include "tests/analyze/record/both_ways.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roce;
  constexpr std::size_t head = 3;
  if (size < head || size > 9000) return 0;
  capture::Frame frame;
  frame.data = data + head;
  frame.captured = static_cast<std::uint32_t>(size - head);
  frame.wire = frame.captured + dissect::load_be16(data + 1);
  frame.link_type = data[0] == 255 ? dissect::link_linux_sll : dissect::link_ethernet;
  frame.point = data[0] & 3U;
  frame.time_ns = data[0] == 254 ? capture::no_time : 5;
  const analyze::BothWays both = analyze::go_both_ways(frame);
  if (!both.difference.empty()) {
    std::fprintf(stderr, "%s\n", both.difference.c_str());
    std::abort();
  }
  return 0;
}
