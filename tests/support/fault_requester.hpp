// SPDX-License-Identifier: Apache-2.0
// The requesting half of an RC queue pair: posts messages, keeps a window of PSNs, goes back when it is
// told to, when answers are missing or when its timer expires (IBTA 9.7.5 and 9.7.6; rxe_comp.c).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/fault_world.hpp"

namespace roce::support {

class Requester {
 public:
  void start(World& world, SpaceId space, std::uint32_t first_psn);
  void post_burst(World& world);
  void take_turn(World& world);
  void ack_timer(World& world);
  void rnr_timer(World& world);
  void receive(World& world, const Packet& response);

  std::uint64_t posted() const { return posted_; }
  std::uint64_t completed() const { return completed_; }
  bool idle() const { return messages_.empty() && burst_left_ == 0; }
  // Whether it takes a response with that PSN whenever it comes, and the capture tells so: nothing before it
  // is missing, or came just now, or it takes responses in any order.
  bool is_sure_to_take(const World& world, std::uint32_t psn) const;

 private:
  struct Message {
    Kind kind = Kind::write;
    bool ack_request = false;
    std::uint32_t first_psn = 0;
    std::uint32_t psns = 1;
    std::uint32_t bytes = 0;
    std::uint64_t address = 0;
  };
  // Why the present run resends. A NAK may come while an older READ lacks responses: then the READ
  // and what lies before the NAKed PSN repeat for the one reason, the rest for the other.
  struct Trigger {
    Cause cause = Cause::none;  // nak, rnr, timeout; read_retry: implied NAK
    bool captured = true;
    bool with_nak = false;  // a NAK for nak_psn in addition
    Cause nak_cause = Cause::nak;
    bool nak_captured = true;
    std::uint32_t nak_psn = 0;
  };

  struct Single {  // to send again alone
    std::uint32_t psn = 0;
    bool nak_captured = true;
    bool by_timer = false;
  };

  bool can_post(World& world);
  bool wants_turn(World& world);
  void want_turn(World& world, Time delay);
  void send_packet(World& world, std::uint32_t psn, const Repeat& repeat);
  Repeat repeat_of(std::uint32_t psn, const Message& message) const;
  Repeat repeat_of(const Single& single);
  Message& message_at(std::uint32_t psn);
  std::optional<std::uint32_t> first_unanswered(std::uint32_t end) const;
  std::uint32_t reads_outstanding() const;
  void advance(World& world, std::uint32_t psn);
  void advance_in_any_order(World& world);
  void go_back(World& world, std::uint32_t psn, const Trigger& trigger);
  void receive_in_order(World& world, const Packet& response);
  void receive_in_any_order(World& world, const Packet& response);
  void receive_nak(World& world, const Packet& response, std::optional<std::uint32_t> unanswered);
  bool takes_nak(const World& world, std::uint32_t psn);
  void arm_timer(World& world);
  void give_up(World& world, EndState state);

  SpaceId space_ = 0;
  std::vector<Message> messages_;  // posted and not completed, in PSN order
  std::optional<Message> pending_;
  std::vector<Single> singles_;
  std::vector<std::uint32_t> answered_;  // any order: responses beyond a missing one
  std::uint32_t una_ = 0;                // oldest unacknowledged PSN
  std::uint32_t next_ = 0;               // to send
  std::uint32_t high_ = 0;               // behind the last PSN that was ever sent
  std::uint32_t end_ = 0;                // behind the last PSN posted
  std::uint32_t acked_ = 0;              // any order: acknowledged up to here, save missing responses
  std::uint32_t went_back_to_ = 0;
  Time advanced_ = 0;  // when una_ moved
  std::uint32_t run_ = 0;
  std::uint32_t burst_left_ = 0;
  std::uint32_t since_ack_ = 0;
  std::uint32_t retries_ = 0;
  std::uint32_t rnr_retries_ = 0;
  std::optional<std::uint32_t> implied_;  // this missing response was asked for again already
  Time went_back_ = 0;
  std::optional<std::uint32_t> nak_taken_;  // the last sequence NAK that was followed
  Time nak_taken_at_ = 0;
  std::optional<Trigger> rnr_wait_;
  Trigger trigger_;
  Time deadline_ = 0;  // 0: the timer is off
  Time timer_at_ = 0;  // when the pending timer event comes; 0: none
  bool turn_scheduled_ = false;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
};

}  // namespace roce::support
