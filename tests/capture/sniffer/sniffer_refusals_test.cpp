// SPDX-License-Identifier: Apache-2.0
// Devices that cannot be sniffed: each reason in words that name what is missing and what helps.
#include <sys/resource.h>

#include <cerrno>

#include "tests/capture/sniffer/sniffer_support.hpp"

namespace roce::capture::test {
namespace {

class SnifferRefusals : public SnifferTest {
 protected:
  void expect(const std::string& text, std::initializer_list<const char*> words) {
    const std::string told = refusal(text);
    for (const char* word : words) EXPECT_NE(told.find(word), std::string::npos) << word << "\n in: " << told;
  }
  void rights(const char* effective) {
    file("proc/thread-self/status", std::string("Name:\tx\nCapEff:\t") + effective + "\n");
  }
  static constexpr const char* none = "0000000000000000";
  static constexpr const char* only_net_raw = "0000000000002000";
  static constexpr const char* both = "0000000000003000";
};

std::string failing(const char* what, int error) {
  return std::string("refuse ") + what + " " + std::to_string(error) + "\n";
}

TEST_F(SnifferRefusals, WithoutTheLibrary) {
  SnifferWorld without = world();
  without.library = "libibverbs-not-here.so.1";
  const auto sniffer = Sniffer::open(options_, without);
  ASSERT_FALSE(sniffer);
  EXPECT_EQ(sniffer.error().kind, ErrorKind::unsupported);
  const std::string told = sniffer.error().describe();
  EXPECT_NE(told.find("cannot be loaded"), std::string::npos) << told;
  EXPECT_NE(told.find("apt-get install libibverbs1 ibverbs-providers"), std::string::npos) << told;
}

TEST_F(SnifferRefusals, WithAnotherLibrary) {
  SnifferWorld other = world();
  other.library = "libz.so.1";
  const auto sniffer = Sniffer::open(options_, other);
  ASSERT_FALSE(sniffer);
  EXPECT_NE(sniffer.error().describe().find("lacks ibv_get_device_list"), std::string::npos)
      << sniffer.error().describe();
}

/// All functions that are called by name are those of the library that is installed.
TEST_F(SnifferRefusals, OfAStrangerByTheRealLibrary) {
  const auto device = verbs::Device::open("there_is_no_such", ROCE_REAL_IBVERBS);
  ASSERT_FALSE(device);
  EXPECT_TRUE(device.error().step == verbs::Step::find_device ||
              device.error().step == verbs::Step::list_devices)
      << name_of(device.error().step) << ": " << device.error().detail;
}

TEST_F(SnifferRefusals, OfDevicesThatAreNotThere) {
  expect("no_devices\n", {"there is no RDMA device on this machine"});
  EXPECT_EQ(kind_, ErrorKind::not_found);
  options_.device = "mlx5_1";
  expect("", {"mlx5_1", "no RDMA device has this name; there are: mlx5_0"});
  options_.device = "mlx5_0";
  connectx();
  expect("no_devices\n", {"the kernel knows this device", "modprobe ib_uverbs", "ibverbs-providers"});
  expect(failing("list", ENOSYS), {"modprobe ib_uverbs"});
}

TEST_F(SnifferRefusals, OfNamesAndPorts) {
  for (const char* name :
       {"", ":1", "mlx5_0:0", "mlx5_0:256", "mlx5_0:x", "a/b", "..", "mlx5_0:1:2", "mlx5 0"}) {
    options_.device = name;
    EXPECT_NE(refusal("").find("not a valid name of an RDMA device"), std::string::npos) << name;
  }
  options_.device = "mlx5_0:2";
  expect("", {"mlx5_0 has port 1 only"});
  options_.device = "mlx5_0:9";
  expect("ports 2\n", {"mlx5_0 has ports 1 to 2"});
}

TEST_F(SnifferRefusals, OfFilters) {
  options_.filter = "udp port 4791";
  expect("", {"cannot be captured with a capture filter", "-Y"});
}

TEST_F(SnifferRefusals, WithoutTheDeviceNode) {
  expect(failing("open", EACCES),
         {"no permission to open /dev/infiniband/uverbs0", "sudo chmod a+rw", "--device"});
  EXPECT_EQ(kind_, ErrorKind::not_readable);
  expect(failing("open", ENOENT), {"/dev/infiniband/uverbs0 does not exist", "sudo modprobe ib_uverbs"});
  // A driver that does not say why: the node itself is looked at.
  expect(failing("open", 0), {"/dev/infiniband/uverbs0 does not exist"});
}

TEST_F(SnifferRefusals, WithoutTheRights) {
  rights(none);
  expect(failing("qp", EPERM),
         {"CAP_NET_RAW and CAP_NET_ADMIN missing", "sudo setcap cap_net_raw,cap_net_admin"});
  EXPECT_EQ(kind_, ErrorKind::not_readable);
  rights(only_net_raw);
  expect(failing("flow", EPERM), {"IBV_FLOW_ATTR_SNIFFER", ": CAP_NET_ADMIN missing", "setcap"});
  rights(both);
  expect(failing("flow", EPERM), {"user namespace", "--cap-add NET_RAW"});
}

TEST_F(SnifferRefusals, WithoutMemoryThatMayBeLocked) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &small), 0);
  rights(both);
  expect(failing("mr", ENOMEM),
         {"RLIMIT_MEMLOCK allows 1.0 MB", "ulimit -l unlimited", "CAP_IPC_LOCK", "142.6 MB"});
  expect(failing("cq", ENOMEM), {"RLIMIT_MEMLOCK allows 1.0 MB"});
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &before), 0);
  rights("000001ffffffffff");
  expect(failing("mr", ENOMEM), {"cannot be registered with the device", "shorter ring time"});
}

TEST_F(SnifferRefusals, OfDevicesThatHaveNoRawQueue) {
  expect(failing("qp", EOPNOTSUPP),
         {"does not support raw packet queue pairs", "mirror the port on its switch"});
  EXPECT_EQ(kind_, ErrorKind::unsupported);
  expect("layer infiniband\n" + failing("qp", EINVAL), {"InfiniBand port", "ibdump"});
}

TEST_F(SnifferRefusals, OfDevicesThatHaveNoSniffer) {
  const struct {
    const char *driver, *words;
  } rows[] = {{"mlx5_core", "firmware"},
              {"mlx4_core", "log_num_mgm_entry_size=-1"},
              {"bnxt_en", "RoCE mirroring"},
              {"irdma", "the driver (irdma) does not implement the sniffer"}};
  for (const auto& row : rows) {
    const std::string device = "sys/class/infiniband/mlx5_0/";
    file(device + "node_type", "1: CA\n");
    link(device + "device/driver", std::string("../") + row.driver);
    expect(failing("flow", EOPNOTSUPP), {row.words, "mirror the port on its switch"});
    EXPECT_EQ(kind_, ErrorKind::unsupported);
    std::filesystem::remove_all(root_ + "/sys");
  }
  expect(failing("flow", EBUSY), {"another program is sniffing this port"});
}

TEST_F(SnifferRefusals, OfDevicesInSoftware) {
  options_.device = "rxe0";
  file("sys/class/infiniband/rxe0/node_type", "1: CA\n");
  file("sys/class/infiniband/rxe0/parent", "eth7\n");
  expect("", {"rxe0 is Soft-RoCE (rxe)", "capture there, with -i eth7"});
  EXPECT_EQ(kind_, ErrorKind::unsupported);
  options_.device = "siw0:1";
  file("sys/class/infiniband/siw0/node_type", "4: RNIC\n");
  gid(0, "eth8", "siw0");
  expect("", {"siw0 is a software iWARP device (siw)", "-i eth8"});
  options_.device = "soft";
  file("sys/class/infiniband/soft/node_type", "1: CA\n");
  expect("", {"-i INTERFACE, the network interface it was created on"});
}

TEST_F(SnifferRefusals, OfIwarp) {
  options_.device = "cxgb4_0";
  file("sys/class/infiniband/cxgb4_0/node_type", "4: RNIC\n");
  link("sys/class/infiniband/cxgb4_0/device/driver", "../cxgb4");
  expect("", {"cxgb4_0 is an iWARP device (cxgb4)", "over TCP"});
  options_.device = "mlx5_0";
  expect("transport iwarp\n", {"iWARP"});
}

/// Wherever it fails, an error says so, and nothing is left behind (TearDown).
TEST_F(SnifferRefusals, AtEveryStep) {
  for (const char* what : {"list", "open", "query_device", "query", "pd", "channel", "cq", "qp", "init",
                           "rtr", "mr", "flow", "post"}) {
    for (const int error : {EPERM, EACCES, ENOMEM, EIO, EINVAL, ENODEV, EBUSY, EAGAIN, 524, 0}) {
      if (error == 0 && (std::string(what).starts_with("query") || std::string(what) == "init" ||
                         std::string(what) == "rtr" || std::string(what) == "post")) {
        continue;  // 0 is success there
      }
      const std::string told = refusal(failing(what, error));
      EXPECT_NE(told, "") << what << " " << error;
      EXPECT_EQ(told.find("mlx5_0"), 0U) << told;
      EXPECT_EQ(report().alive, 0U) << what;
    }
  }
}

TEST_F(SnifferRefusals, TellsRdmaDevicesFromOthers) {
  script("device mlx5_7\n");
  EXPECT_TRUE(is_rdma_device("mlx5_7:1", world()));
  EXPECT_FALSE(is_rdma_device("eth0", world()));
  connectx();
  EXPECT_TRUE(is_rdma_device("mlx5_0", world()));
}

}  // namespace
}  // namespace roce::capture::test
