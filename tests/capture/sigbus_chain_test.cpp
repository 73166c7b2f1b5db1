// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>

#include "bytes_builder.hpp"

namespace roce::capture::test {
namespace {

volatile std::sig_atomic_t asked = 0;

// The handler is installed with the first mapping of the process, so this runs in one of its own.
TEST(SigbusChainDeathTest, TheEarlierHandlerIsAskedForForeignFaults) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        struct sigaction action {};
        action.sa_handler = [](int) { asked = 1; };
        sigaction(SIGBUS, &action, nullptr);
        const Folder folder;
        auto source = open_mapped({folder.write("f", Builder().pcap_header().bytes)});
        raise(SIGBUS);
        std::_Exit(source && asked == 1 ? 7 : 8);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace roce::capture::test
