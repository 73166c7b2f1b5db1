// SPDX-License-Identifier: Apache-2.0
// When hosts pause the other ends of their links (IEEE 802.1Qbb), and until when what goes there waits.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/fault_options.hpp"
#include "tests/support/fault_types.hpp"

namespace roce::support {

class PausingPort {
 public:
  PausingPort(const FaultOptions& options, std::uint32_t of_host, PauseKind of_kind, Time first);

  std::uint32_t host;
  PauseKind kind;

  // Of its next PFC frame; the largest Time: it sends no more.
  Time next() const;
  // What that frame asks for, in quanta; the one after it is due then.
  std::uint16_t take();
  // In ns.
  double length(std::uint16_t quanta) const;

  // When a packet goes on that would arrive then; times must not go back by more than the network holds up.
  // What waited goes on one after the other.
  Time release(Time arrival);

 private:
  double bit_rate_;  // per ns
  Time cycle_;
  Time end_;
  unsigned step_ = 0;
  Time paused_until_ = 0;
  Time queue_until_ = 0;
  bool queued_ = false;
};

std::vector<PausingPort> pausing_ports(const FaultOptions& options);

}  // namespace roce::support
