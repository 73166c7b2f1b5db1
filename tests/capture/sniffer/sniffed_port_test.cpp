// SPDX-License-Identifier: Apache-2.0
#include "capture/sniffer/sniffed_port.hpp"

#include <cstring>

#include "capture/sniffer/own_frames.hpp"
#include "capture/sniffer/ring_memory.hpp"
#include "capture/sniffer/ring_plan.hpp"
#include "tests/capture/sniffer/sniffer_support.hpp"

namespace roce::capture::test {
namespace {

using SniffedPortTest = SnifferTest;

TEST_F(SniffedPortTest, ReadsWhatSysfsHas) {
  connectx("9000");
  gid(2, "eth2.100");
  file("sys/class/net/eth2.100/address", "02:00:00:00:00:09\n");
  file("sys/class/net/eth2.100/mtu", "1500\n");
  const SniffedPort port = read_sniffed_port(root_, {"mlx5_0", 1});
  EXPECT_TRUE(port.exists);
  EXPECT_EQ(port.driver, "mlx5");
  EXPECT_FALSE(port.software);
  EXPECT_EQ(port.speed_bps, 100'000'000'000U);
  EXPECT_EQ(port.largest_mtu(), 9000U);
  ASSERT_EQ(port.netdevs.size(), 2U);
  EXPECT_EQ(port.netdevs[1].name, "eth2.100");
  EXPECT_EQ(port.netdevs[1].address, (MacAddress{2, 0, 0, 0, 0, 9}));
}

TEST_F(SniffedPortTest, ToleratesWhatIsMissingOrLies) {
  EXPECT_FALSE(read_sniffed_port(root_, {"mlx5_0", 1}).exists);
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
  file(port + "rate", std::string(100'000, '9'));
  gid(0, "../../../../etc");
  gid(1, std::string("a\0b", 3));
  gid(2, "eth0");
  gid(3, "..");
  file("sys/class/net/eth0/address", "02:00:00:00:00\n");
  file("sys/class/net/eth0/mtu", "-1\n");
  const SniffedPort read = read_sniffed_port(root_, {"mlx5_0", 1});
  EXPECT_TRUE(read.exists);
  EXPECT_EQ(read.speed_bps, 0U);
  ASSERT_EQ(read.netdevs.size(), 1U);
  EXPECT_FALSE(read.netdevs[0].address);
  EXPECT_EQ(read.largest_mtu(), 0U);
  for (const char* rate : {"", "Gb/sec", "x Gb/sec", "10", "10 Mb/sec", "1e9 Gb/sec"}) {
    file(port + "rate", rate);
    EXPECT_EQ(read_sniffed_port(root_, {"mlx5_0", 1}).speed_bps, 0U) << rate;
  }
  file(port + "rate", "2.5 Gb/sec (1X SDR)\n");
  EXPECT_EQ(read_sniffed_port(root_, {"mlx5_0", 1}).speed_bps, 2'500'000'000U);
}

TEST_F(SniffedPortTest, AddsUpCountersSinceTheFirstReading) {
  connectx();
  file(counter, "100\n");
  file("sys/class/infiniband/mlx5_0/hw_counters/rq_num_udsdprd", "7\n");
  RoomCounters room(root_, {"mlx5_0", 1});
  EXPECT_EQ(room.names().size(), 2U);
  EXPECT_EQ(room.read(), 0U);
  file(counter, "150\n");
  EXPECT_EQ(room.read(), 50U);
  file("sys/class/infiniband/mlx5_0/hw_counters/rq_num_udsdprd", "9\n");
  EXPECT_EQ(room.read(), 52U);
  file(counter, "3\n");  // it was reset
  EXPECT_EQ(room.read(), 55U);
  std::filesystem::remove_all(root_ + "/sys");  // the device is gone
  EXPECT_EQ(room.read(), 55U);
}

TEST(OwnAddressesTest, KnowsASourceByEveryKindOfAddress) {
  OwnAddresses own;
  own.add_gid({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1});
  own.add_gid({0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  std::vector<std::uint8_t> frame(90, 0);
  const auto put = [&](std::size_t at, std::initializer_list<std::uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
  };
  const auto sent = [&] { return own.sent_ethernet(frame.data(), frame.size()); };
  put(12, {0x08, 0x00});
  EXPECT_FALSE(sent());
  put(26, {10, 0, 0, 1});
  EXPECT_TRUE(sent());
  for (std::size_t size = 0; size < 30; ++size) EXPECT_FALSE(own.sent_ethernet(frame.data(), size)) << size;
  std::fill(frame.begin(), frame.end(), std::uint8_t{0});
  put(12, {0x81, 0x00, 0, 5, 0x08, 0x00});
  put(30, {10, 0, 0, 1});
  EXPECT_TRUE(sent());
  std::fill(frame.begin(), frame.end(), std::uint8_t{0});
  put(12, {0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 6, 0x86, 0xdd});
  put(30, {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_TRUE(sent());
  std::fill(frame.begin(), frame.end(), std::uint8_t{0});
  put(12, {0x89, 0x15});  // RoCE v1: a GRH
  put(22, {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_TRUE(sent());
  put(22, {0x20, 2});
  EXPECT_FALSE(sent());
  own.add_mac({2, 0, 0, 0, 0, 7});
  put(6, {2, 0, 0, 0, 0, 7});
  EXPECT_TRUE(sent());
}

TEST(OwnAddressesTest, KnowsASourceByItsLid) {
  OwnAddresses own;
  own.set_lid(0x14, 2);  // 0x14 … 0x17
  std::vector<std::uint8_t> frame(40, 0);
  const auto from = [&](std::uint8_t low) {
    frame[7] = low;
    return own.sent_infiniband(frame.data(), frame.size());
  };
  EXPECT_FALSE(from(0x13));
  EXPECT_TRUE(from(0x14));
  EXPECT_TRUE(from(0x17));
  EXPECT_FALSE(from(0x18));
  EXPECT_FALSE(own.sent_infiniband(frame.data(), 7));
}

TEST(RingPlanTest, KeepsWithinItsBounds) {
  RingNeeds needs;
  needs.speed_bps = 100'000'000'000;
  RingPlan plan = plan_ring(needs);
  EXPECT_EQ(plan.buffer_bytes, 4352U);
  EXPECT_EQ(plan.limit, RingPlan::Limit::none);
  EXPECT_EQ(plan.holds.count(), 50'000);
  needs.max_receives = 32'768;
  plan = plan_ring(needs);
  EXPECT_EQ(plan.buffers, 32'768U);
  EXPECT_EQ(plan.limit, RingPlan::Limit::device);
  EXPECT_EQ(plan.holds.count(), 10'994);
  needs = {};
  needs.speed_bps = 800'000'000'000;
  plan = plan_ring(needs);
  EXPECT_EQ(plan.limit, RingPlan::Limit::memory);
  EXPECT_LE(plan.bytes(), most_ring_bytes);
  needs.speed_bps = 2'500'000'000;
  needs.time = std::chrono::milliseconds(1);
  plan = plan_ring(needs);
  EXPECT_EQ(plan.buffers, fewest_buffers);
  needs.netdev_mtu = 9000;
  EXPECT_EQ(plan_ring(needs).buffer_bytes, 9216U);
  // What a hostile sysfs or option says.
  needs.netdev_mtu = needs.rdma_mtu = UINT32_MAX;
  needs.time = std::chrono::milliseconds::max();
  needs.speed_bps = UINT64_MAX;
  plan = plan_ring(needs);
  EXPECT_LE(plan.bytes(), most_ring_bytes);
  EXPECT_GT(plan.buffers, 0U);
  EXPECT_NE(describe(plan, needs), "");
}

TEST(RingMemoryTest, IsWritableAndMoves) {
  RingMemory memory(5'000'000);
  ASSERT_NE(memory.data(), nullptr);
  ASSERT_GE(memory.size(), 5'000'000U);
  std::memset(memory.data(), 1, memory.size());
  std::uint8_t* const data = memory.data();
  RingMemory other = std::move(memory);
  EXPECT_EQ(other.data(), data);
  EXPECT_EQ(RingMemory(0).data(), nullptr);
  EXPECT_EQ(RingMemory(SIZE_MAX).data(), nullptr);
  EXPECT_EQ(RingMemory(SIZE_MAX / 4).data(), nullptr);
}

}  // namespace
}  // namespace roce::capture::test
