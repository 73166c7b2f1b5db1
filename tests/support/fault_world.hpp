// SPDX-License-Identifier: Apache-2.0
// What the simulated queue pairs share: time, chance, the event queue, the way to the network.
#pragma once

#include <cstdint>
#include <queue>
#include <random>
#include <vector>

#include "tests/support/fault_options.hpp"
#include "tests/support/fault_types.hpp"

namespace roce::support {

// The same numbers on every platform for the same seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t number() { return engine_(); }
  // 0 .. limit - 1; limit > 0.
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  // 1 .. 2 * mean - 1.
  std::uint64_t around(std::uint64_t mean) { return mean < 2 ? 1 : 1 + below(2 * mean - 1); }
  bool chance(double probability) {
    return probability > 0 && static_cast<double>(engine_() >> 11) < probability * 0x1p53;
  }

 private:
  std::mt19937_64 engine_;
};

enum class Happening : std::uint8_t {
  start,         // of a PSN space; target: SpaceId
  burst,         // the requester's application posts messages
  request_turn,  // the requester may send
  ack_timer,
  rnr_timer,
  response_turn,  // the responder may send
  at_capture,     // target: number of a packet under way
  copy_captured,
  at_receiver,
  cm_message,  // passes the capture; target: 8 * connection + CmMessage
};

struct Event {
  Time time;
  std::uint64_t order;  // first scheduled, first handled
  std::uint32_t target;
  Happening happening;
};

enum class EndState : std::uint8_t { working, retries_exceeded, rnr_exceeded, access_error };

class World {
 public:
  explicit World(const FaultOptions& chosen)
      : options(chosen),
        random(chosen.seed),
        ends_(2 * chosen.connections),
        closes_(chosen.connections, ~Time{0}) {}
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const FaultOptions options;
  Random random;
  Time now = 0;
  bool posting = true;  // applications still post messages

  void schedule(Time time, Happening happening, std::uint32_t target) {
    events_.push({time, ++order_, target, happening});
  }
  bool next(Event& event) {
    if (events_.empty()) {
      return false;
    }
    event = events_.top();
    events_.pop();
    return true;
  }

  // The application of this requester still posts messages.
  bool may_post(SpaceId space) const { return posting && now < closes_[space / 2]; }
  void close_at(std::uint32_t connection, Time time) { closes_[connection] = time; }

  EndState& state_of(SpaceId space, End end) { return ends_[(space & ~1U) + static_cast<unsigned>(end)]; }

  // The sender's packet enters the network.
  virtual void send(Packet packet) = 0;
  // The sender of requests (or of responses) goes back to `psn`: what it sends next is a new run of its
  // stream; or it sends that packet `alone` again, within the run.
  virtual void new_run(SpaceId space, bool responses, std::uint32_t psn, bool alone) = 0;
  // What the responder answers tells that `psn`, which it had asked for and has now, was no duplicate.
  virtual void proved_lost(SpaceId space, std::uint32_t psn) = 0;
  // The receiver had it already.
  virtual void not_needed(const Packet& packet) = 0;

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };

  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t order_ = 0;
  std::vector<EndState> ends_;  // 2 * connection + end
  std::vector<Time> closes_;    // of each connection
};

}  // namespace roce::support
