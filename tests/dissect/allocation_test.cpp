// SPDX-License-Identifier: Apache-2.0
// dissect/ promises not to allocate: the global operator new of this test binary counts.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "dissect/dissect.hpp"
#include "dissect/header_table.hpp"
#include "dissect/icrc.hpp"
#include "dissect/opcode.hpp"
#include "tests/dissect/frames.hpp"

namespace {
std::atomic<unsigned long> allocations{0};
}

#if defined(__GNUC__) && !defined(__clang__)
// g++ sees these free() behind a new elsewhere and takes the two for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

// The other forms call this one.
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace roce::dissect {
namespace {

using test::operator+;

TEST(Allocation, the_counter_counts) {
  const unsigned long before = allocations;
  ::operator delete(::operator new(3));  // a new expression may be optimised away
  EXPECT_EQ(allocations - before, 1U);
}

TEST(Allocation, dissecting_and_checking_allocate_nothing) {
  const test::Packet packets[] = {
      test::ethernet(0x0800, test::ipv4(17, test::roce_v2(0x0a, test::filled(24)))),
      test::ethernet(0x0800, test::ipv4(17, test::roce_v2(0x1c, test::filled(20)))),
      test::ethernet(0x86dd, test::ipv6(17, test::roce_v2(0x04, test::filled(4000)))),
      test::ethernet(
          0x0800, test::ipv4(17, test::udp(4791, test::bth(0x64, test::filled(8) + test::filled(256), 1)))),
      test::ethernet(
          0x88cc, test::hex("0207 04 525400000a01 0404 05 657468 0602 0078 fe08 0080c2 0b 08 08 0000 0000")),
      test::ethernet(0x8808, test::hex("0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000")),
      test::filled(200),
  };
  Dissection d;
  unsigned long sum = 0;
  const unsigned long before = allocations;
  for (const test::Packet& packet : packets) {
    const Bytes frame{packet.data(), packet.size()};
    for (std::size_t size = 0; size <= packet.size(); ++size) {
      dissect(frame.first(size), static_cast<std::uint32_t>(packet.size()), link_ethernet, d);
      const IcrcResult icrc = check_icrc(frame.first(size), d);
      sum += icrc.found + check_vcrc(frame.first(size), d).found + stop_name(d.stop).size() + d.layer_count +
             opcode_name(static_cast<std::uint8_t>(size)).size();
      for (const Layer& layer : d.all()) sum += header_info(layer.id).size;
    }
  }
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_GT(sum, 0U);
}

}  // namespace
}  // namespace roce::dissect
