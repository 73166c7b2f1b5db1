// SPDX-License-Identifier: Apache-2.0
// Which kind of device a name is. The captures themselves: tests/live and sniffer_*_test.cpp.
#include "capture/devices/open_live.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "capture/core/rights.hpp"
#include "capture/network/device_list.hpp"
#include "capture/sniffer/sniffer.hpp"

namespace roce::capture::test {
namespace {

/// A machine with one Soft-RoCE device on an interface.
class SoftMachine {
 public:
  explicit SoftMachine(const std::string& interface) {
    char name[] = "/tmp/roce-live-XXXXXX";
    world_.root = mkdtemp(name);
    world_.library = "libibverbs-there-is-none.so.1";
    write("parent", interface);
    write("ports/1/link_layer", "Ethernet");
    write("ports/1/gid_attrs/ndevs/0", interface);
  }
  ~SoftMachine() {
    std::error_code ignored;
    std::filesystem::remove_all(world_.root, ignored);
  }
  SoftMachine(const SoftMachine&) = delete;
  SoftMachine& operator=(const SoftMachine&) = delete;
  [[nodiscard]] const SnifferWorld& world() const { return world_; }

 private:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = world_.root + "/sys/class/infiniband/rxe0/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << "\n";
  }
  SnifferWorld world_;
};

LiveOptions named(const std::string& device) {
  LiveOptions options;
  options.device = device;
  options.kernel_buffer_bytes = std::size_t{1} << 20U;
  return options;
}

TEST(OpenLive, SoftRoceIsCapturedOnItsInterface) {
  if (!has_right(Right::net_raw)) GTEST_SKIP() << "CAP_NET_RAW is missing";
  const SoftMachine machine("lo");
  for (const char* const device : {"rxe0", "rxe0:1"}) {
    const auto source = open_live_in(named(device), machine.world());
    if (!source) GTEST_SKIP() << source.error().describe();
    ASSERT_EQ((*source)->notices().size(), 1U);
    EXPECT_EQ((*source)->notices()[0],
              "rxe0 is Soft-RoCE (rxe): its frames pass lo, which is captured instead");
    EXPECT_EQ((*source)->interfaces().at(0).name, "lo");
    EXPECT_EQ((*source)->files().at(0).path, "lo");
  }
}

TEST(OpenLive, SoftRoceOnAnInterfaceThatIsGoneIsRefused) {
  const SoftMachine machine("roce-gone0");
  const auto source = open_live_in(named("rxe0"), machine.world());
  ASSERT_FALSE(source.has_value());
  EXPECT_NE(source.error().describe().find("Soft-RoCE"), std::string::npos) << source.error().describe();
  EXPECT_NE(source.error().describe().find("roce-gone0"), std::string::npos) << source.error().describe();
}

TEST(OpenLive, NamesOfNothing) {
  const SoftMachine machine("lo");
  for (const char* const device : {"rxe1", "", "any:1", "/dev/null", "rxe0/../rxe0"}) {
    const auto source = open_live_in(named(device), machine.world());
    ASSERT_FALSE(source.has_value()) << device;
    EXPECT_EQ(source.error().kind, ErrorKind::not_found) << source.error().describe();
  }
  for (const char* const device : {"rxe1", "rex0:1"}) {
    const auto source = open_live_in(named(device), machine.world());
    ASSERT_FALSE(source.has_value()) << device;
    EXPECT_NE(source.error().describe().find("did you mean rxe0?"), std::string::npos)
        << source.error().describe();
  }
}

}  // namespace
}  // namespace roce::capture::test
