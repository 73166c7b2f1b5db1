// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What the stand-in for libibverbs counted since its script was read; by way of its symbol
// fake_ibverbs_report, which is found with dlsym().
extern "C" {
struct FakeIbverbsReport {
  std::uint64_t delivered;     // frames written into a buffer and completed without an error
  std::uint64_t no_buffer;     // frames for which no receive was posted: what out_of_buffer counts
  std::uint64_t too_long;      // frames longer than their buffer
  std::uint64_t overrun;       // completions that the completion queue could not hold
  std::uint64_t failed;        // completions with an error that the script asked for
  std::uint64_t violations;    // rules of libibverbs that the caller broke; each is told on standard error
  std::uint64_t alive;         // objects that were made and not destroyed
  std::uint64_t wakeups;       // events written to a completion channel
  std::uint64_t restarts;      // of a queue pair that was in error
  std::uint32_t receives;      // work requests that the last queue pair was made for
  std::uint32_t buffer_bytes;  // of the last receive posted
};
void fake_ibverbs_report(FakeIbverbsReport* report);
}
