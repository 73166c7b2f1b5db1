// SPDX-License-Identifier: Apache-2.0
// What a network that marks wrongly, congests and pauses adds to simulated traffic: marks of each packet,
// CNPs, PFC frames; and the truth about them. As designed all is VLAN 100, priority 3, DSCP 26, ECT(0), TTL
// 64; CNPs are priority 6, DSCP 48, Not-ECT. Deterministic for a seed; memory grows with flows, and with
// pauses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "tests/support/fault_frames.hpp"
#include "tests/support/fault_pauses.hpp"
#include "tests/support/fault_simulator.hpp"

namespace roce::support {

class FaultMarks {
 public:
  // Writes a frame at that time.
  using Write = std::function<void(Time, std::span<const std::uint8_t>)>;
  using Tell = std::function<void(const std::string&)>;  // a line of JSON

  FaultMarks(const FaultOptions& options, Write write);

  // What was to come before that time.
  void advance(Time time);
  // Of the next frame, number `frame` of the file; chooses CE too and may cause a CNP.
  FrameMarks marks_of(const Packet& packet, const Endpoints& endpoints, Time time, std::uint64_t frame);
  // The truth: a line for each flow with wrong marks, for each with CE or CNPs, for each port and priority
  // paused. `last`: time of the last frame.
  void finish(Time last, const Tell& tell);

 private:
  struct Flow {
    std::uint32_t connection = 0;
    End sender = End::a;
    Endpoints endpoints{};
    Mismark mismark = Mismark::none;
    CnpFault cnp_fault = CnpFault::none;
    bool congested = false;
    std::uint64_t packets = 0;
    std::uint64_t wrong = 0, first_wrong = 0;
    std::uint64_t ce = 0, cnps = 0, without_ce = 0;
    std::optional<Time> first_ce;  // since the CNP before
    std::uint64_t delays = 0;
    Time least_delay = ~Time{0}, largest_delay = 0;
  };
  struct Cnp {
    Time time;
    std::uint32_t flow;
    bool operator>(const Cnp& other) const {
      return time != other.time ? time > other.time : flow > other.flow;
    }
  };
  struct Pause {
    Time from = 0;
    double until = 0;  // ns
    const char* end = "expired";
  };
  struct Port {
    explicit Port(const PausingPort& of) : timing(of) {}
    PausingPort timing;
    std::uint64_t xoff = 0, xon = 0, refreshed = 0, needless = 0;
    std::vector<Pause> pauses;
    bool paused = false;
  };

  Flow& flow_of(const Packet& packet, const Endpoints& endpoints);
  void congest(Flow& flow, std::uint32_t number, Time time, bool ce);
  void send_cnp(const Cnp& cnp);
  void send_pause(Port& port);
  std::string place(const Flow& flow, bool back) const;

  const FaultOptions options_;
  Write write_;
  Random random_;
  FaultFrames frames_;
  std::map<std::uint32_t, Flow> flows_;    // 2 * connection + sender
  std::map<std::uint64_t, Time> allowed_;  // earliest next CNP, by what limits them
  std::priority_queue<Cnp, std::vector<Cnp>, std::greater<>> cnps_;
  std::vector<Port> ports_;
};

}  // namespace roce::support
