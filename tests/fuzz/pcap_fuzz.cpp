// SPDX-License-Identifier: Apache-2.0
#include "walk_twice.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  roce::fuzz::walk_twice(data, size, roce::capture::make_pcap_walker);
  return 0;
}
