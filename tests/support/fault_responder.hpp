// SPDX-License-Identifier: Apache-2.0
// The answering half of an RC queue pair: expects a PSN, NAKs a hole once, acknowledges duplicates again,
// replays READs and atomics, answers in order (IBTA 9.7.4 and 9.7.5; rxe_resp.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/fault_world.hpp"

namespace roce::support {

class Responder {
 public:
  // `faulty`: it refuses, stalls and has no receives posted at the rates chosen.
  void start(SpaceId space, std::uint32_t first_psn, bool faulty);
  // The responder looks at what arrives before that time only then.
  Time busy_until() const { return busy_until_; }
  void receive(World& world, const Packet& request);
  void take_turn(World& world);

 private:
  struct Answer {
    Kind kind = Kind::ack;
    std::uint8_t syndrome = 0;
    std::uint32_t psn = 0;
    std::uint32_t packets = 1;  // of a READ response
    std::uint32_t sent = 0;
    std::uint32_t bytes = 0;
    std::uint32_t msn = 0;
    std::uint32_t msn_of_request = 0;
    bool again = false;  // the request was executed before
    Repeat request{};    // what the request was
    bool request_captured = false;
  };

  bool accept(World& world, const Packet& request);
  bool refuse(World& world, const Packet& request);
  void execute(World& world, const Packet& request, bool again);
  void ahead(World& world, const Packet& request);
  void drop_queued(std::uint32_t psn);
  void answer(World& world, Answer answer);
  Repeat repeat_of(const Answer& answer, std::uint32_t psn) const;
  void note_filled(World& world, const Packet& request);
  void settle_filled(World& world, Kind next);

  SpaceId space_ = 0;
  bool faulty_ = false;
  std::uint32_t expected_ = 0;
  std::uint32_t msn_ = 0;
  std::uint32_t answered_end_ = 0;  // behind the last PSN that an answer was sent for
  std::uint32_t run_ = 0;
  std::uint32_t rnr_drawn_ = 0;  // PSN whose receive is settled
  bool rnr_drawn_valid_ = false;
  bool nak_sent_ = false;
  // What a NAK asked for has come: whether the answers tell that it was no duplicate is not known yet.
  struct Filled {
    std::uint32_t psn = 0;
    Time at = 0;
    bool waiting = false;  // answers have been all the time since
  };
  std::optional<Filled> filled_;
  bool turn_scheduled_ = false;
  Time rnr_until_ = 0;
  Time busy_until_ = 0;
  struct ExecutedRead {
    std::uint32_t psn = 0;
    std::uint32_t packets = 0;
    std::uint32_t msn = 0;
  };
  std::uint32_t msn_of_read(std::uint32_t psn) const;

  std::vector<ExecutedRead> reads_;  // the last ones, a ring
  std::size_t next_read_ = 0;
  std::vector<Packet> held_;     // any order: arrived beyond a hole
  std::vector<Answer> answers_;  // to send
  std::size_t first_answer_ = 0;
};

}  // namespace roce::support
