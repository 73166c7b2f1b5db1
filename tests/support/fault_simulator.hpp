// SPDX-License-Identifier: Apache-2.0
// Simulates RC queue pairs that talk through a faulty network past a capture point, event by event, and
// tells what was captured and what really happened. The truth comes from the senders and the network,
// never from a look at the captured frames. Deterministic for a seed; memory grows with connections and
// their windows, not with packets.
//
//   requester --- half link --- CAPTURE --- half link --- responder
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/support/fault_cm.hpp"
#include "tests/support/fault_options.hpp"
#include "tests/support/fault_pauses.hpp"
#include "tests/support/fault_requester.hpp"
#include "tests/support/fault_responder.hpp"
#include "tests/support/fault_truth.hpp"
#include "tests/support/fault_world.hpp"

namespace roce::support {

// Who the ends of a connection are.
struct Endpoints {
  std::uint32_t host[2];  // 1 ...; which makes MAC and IP addresses
  std::uint32_t qp[2];
  std::uint32_t first_psn[2];  // of their requests
  std::uint16_t port;          // UDP source
};

struct ConnectionTruth {
  std::uint32_t id = 0;
  Endpoints endpoints{};
  // Index 0: requests of end A and their answers; 1: of end B.
  std::array<std::uint64_t, 2> posted{}, completed{}, answered{};
  std::array<std::uint64_t, 2> frames{};  // captured: A to B, B to A
  std::array<EndState, 2> state{};        // of A and of B
};

struct SimulatorTotals {  // packets
  std::uint64_t sent = 0;
  std::uint64_t doubled_before = 0, lost_before = 0;
  std::uint64_t at_capture = 0;
  std::uint64_t out_of_scope = 0;  // passed the capture before it began or in the direction it misses
  std::uint64_t capture_dropped = 0, capture_copies = 0;
  std::uint64_t cm_messages = 0;  // captured; they suffer no faults and count nowhere else but in frames
  std::uint64_t frames = 0;  // at_capture - out_of_scope - capture_dropped + capture_copies + cm_messages
  std::uint64_t doubled_after = 0, lost_after = 0;
  std::uint64_t delivered = 0;
  std::uint64_t trimmed = 0;   // the same of these: what is left of them passes it
  std::uint64_t remarked = 0;  // whole, but with the DSCP of those
  std::uint64_t damaged = 0;   // of those lost before the capture: they pass it, and are not delivered
};

class SimulatorSink : public TruthSink {
 public:
  // In the order of the capture. `copy`: captured before, by a mirror. Time counts from the start.
  virtual void captured(const Packet& packet, const Endpoints& endpoints, Time time, bool copy) = 0;
  virtual void captured_cm(CmMessage message, std::uint32_t connection, const Endpoints& endpoints,
                           Time time) = 0;
  virtual void connection(const ConnectionTruth& truth) = 0;
  // What leaves or reaches that end of a connection, in no order: what a second capture there would show.
  virtual void passed_end(End, const Packet&, const Endpoints&, Time) {}
};

class Simulator final : private World {
 public:
  Simulator(const FaultOptions& options, SimulatorSink& sink);

  // Until options.packets are captured and everything under way has come to its end.
  void run();
  const SimulatorTotals& totals() const { return totals_; }

 private:
  struct Connection {
    Endpoints endpoints{};
    std::array<std::uint64_t, 2> frames{};
    Time dead_from = ~Time{0};
    std::uint8_t dead_half_link = 0;  // bit 0: sender's end, bit 1: behind the capture
    bool both_directions = false;
    bool begun = false;
  };
  struct Space {
    Requester requester;
    Responder responder;
    SpaceTruth truth;
    std::array<std::uint64_t, 2> sequence{};  // of requests, of answers
    std::array<Time, 2> trimmed_until{};      // the same: the last trimmed one passes the capture then
    Time path_delay[2][2]{};                  // of the path taken now: of these; before, behind the capture
  };
  struct Twins {
    std::uint64_t frame = 0;
    int left = 2;
  };

  void send(Packet packet) override;
  void new_run(SpaceId space, bool responses, std::uint32_t psn, bool alone) override;
  void proved_lost(SpaceId space, std::uint32_t psn) override;
  void not_needed(const Packet& packet) override;
  void handle(const Event& event);
  void at_capture(std::uint32_t number);
  void capture(Packet& packet);
  void copy_captured(std::uint32_t number);
  void at_receiver(std::uint32_t number);
  void half_link(const Packet& packet, bool behind_capture);
  bool trims(Packet& packet);
  bool is_victim(const Packet& packet) const;
  bool is_lost(const Packet& packet, bool behind_capture);
  void lose(const Packet& packet, bool behind_capture);
  Time held_until(const Packet& packet, Time arrival);
  void number_ip(Packet& packet);
  void begin(std::uint32_t connection, Time time);
  void succeed(std::uint32_t connection);
  bool is_dead(const Packet& packet, bool behind_capture) const;
  bool in_scope(End sender) const;
  Time connect(std::uint32_t connection, Time start);
  void disconnect();
  void pass_cm_message(CmMessage message, std::uint32_t connection);
  std::uint64_t twin_frame(const Packet& packet, std::uint64_t frame);
  Endpoints make_endpoints(std::uint32_t connection);
  std::uint32_t keep(const Packet& packet);
  Packet release(std::uint32_t number);

  SimulatorSink& sink_;
  std::vector<Connection> connections_;
  std::vector<Space> spaces_;
  std::vector<std::uint32_t> next_qp_;     // of each host
  std::vector<std::uint16_t> ip_id_;       // next one of each host
  std::vector<std::uint16_t> flow_ip_id_;  // of each end of each connection
  std::vector<PausingPort> pausing_;       // whose pauses hold traffic
  Time next_loss_ = 0;                     // with a loss_period: not before
  std::uint32_t loss_row_[4]{};  // still to be lost: of each sender's end, before and behind the capture
  std::uint32_t capture_row_ = 0;
  std::vector<Packet> under_way_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint32_t, Twins> twins_;
  std::uint32_t last_twin_ = 0;
  SimulatorTotals totals_;
};

}  // namespace roce::support
