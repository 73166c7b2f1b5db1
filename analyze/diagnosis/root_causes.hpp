// SPDX-License-Identifier: Apache-2.0
// The graph of causes: what can be the root of a trouble, which symptoms it explains, and which findings are
// its evidence. One row each.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "analyze/results/diagnosis.hpp"

namespace roce::analyze::diagnosis {

/// The values of `cause` of a diagnosis. The earlier one stands first where two weigh the same.
enum class RootCause : std::uint8_t {
  request_refused,         ///< a NAK that ends the queue pair
  no_answer,               ///< the retries ran out
  connection_refused,      ///< the CM was told no
  connection_unanswered,   ///< or nothing
  pause,                   ///< PFC or PAUSE holds the traffic up
  outage,                  ///< nothing gets through for a while
  corruption,              ///< bits are flipped on the way
  trimming,                ///< a switch trims packets instead of dropping them: its queue is full
  loss,                    ///< packets are dropped
  loss_or_reordering,      ///< dropped or overtaken: receivers ask for both
  reordering,              ///< late packets are taken for lost ones
  answers_lost,            ///< answers were on their way back, and had no effect
  timer_too_short,         ///< answers come later than the timer
  receiver_not_ready,      ///< RNR NAKs
  request_or_answer_lost,  ///< a timer expired, for a request or an answer
  connection_slow,         ///< set up only after CM messages were sent again, or late
  path_mtu,                ///< packets of a size do not get through
  duplicates,              ///< the network delivers twice
  congestion,              ///< CE marks that slow nobody down
  marking,                 ///< DSCP, PCP, ECN, VLAN otherwise than they should be
  settings,                ///< ends of a link that do not agree
  protocol,                ///< what no RoCE end does
  unexplained,             ///< sent again, and the capture does not show why
  capture,                 ///< the capture itself
  count_
};
inline constexpr std::size_t root_cause_count = static_cast<std::size_t>(RootCause::count_);
inline constexpr EnumNames<RootCause, root_cause_count> root_cause_names(
    {{RootCause::request_refused, "request_refused"},
     {RootCause::no_answer, "no_answer"},
     {RootCause::connection_refused, "connection_refused"},
     {RootCause::connection_unanswered, "connection_unanswered"},
     {RootCause::pause, "pause"},
     {RootCause::outage, "outage"},
     {RootCause::corruption, "corruption"},
     {RootCause::trimming, "trimming"},
     {RootCause::loss, "loss"},
     {RootCause::loss_or_reordering, "loss_or_reordering"},
     {RootCause::reordering, "reordering"},
     {RootCause::answers_lost, "answers_lost"},
     {RootCause::timer_too_short, "timer_too_short"},
     {RootCause::receiver_not_ready, "receiver_not_ready"},
     {RootCause::request_or_answer_lost, "request_or_answer_lost"},
     {RootCause::connection_slow, "connection_slow"},
     {RootCause::path_mtu, "path_mtu"},
     {RootCause::duplicates, "duplicates"},
     {RootCause::congestion, "congestion"},
     {RootCause::marking, "marking"},
     {RootCause::settings, "settings"},
     {RootCause::protocol, "protocol"},
     {RootCause::unexplained, "unexplained"},
     {RootCause::capture, "capture"}});

/// A set of causes, as bits.
class Causes {
 public:
  constexpr Causes() = default;
  constexpr Causes(std::initializer_list<RootCause> all) {
    for (const RootCause cause : all) add(cause);
  }
  constexpr void add(RootCause cause) noexcept { bits_ |= std::uint32_t{1} << static_cast<unsigned>(cause); }
  constexpr void add(Causes others) noexcept { bits_ |= others.bits_; }
  [[nodiscard]] constexpr bool has(RootCause cause) const noexcept {
    return (bits_ >> static_cast<unsigned>(cause) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

// What sets causes apart; all that follows from it asks these.
/// Their counts are packets; those of others, occasions.
inline constexpr Causes counted_in_packets{RootCause::loss, RootCause::corruption, RootCause::trimming};
/// Receivers that take late packets for lost ones, and timers, make no difference between places of one way.
inline constexpr Causes of_one_place{RootCause::reordering, RootCause::timer_too_short,
                                     RootCause::loss_or_reordering};
/// One host's own, however many send to it, and only at its time.
inline constexpr Causes of_one_receiver{RootCause::pause};
/// It explains what was there at that time, and nothing else.
inline constexpr Causes of_its_time{RootCause::pause, RootCause::outage};
/// A hop on the way has it, so two pairs of hosts with one in common show the same one.
inline constexpr Causes of_one_hop{RootCause::outage, RootCause::path_mtu, RootCause::no_answer};
/// Where two hosts show it to each other, in both directions, it is one trouble.
inline constexpr Causes of_both_ways{RootCause::timer_too_short, RootCause::outage, RootCause::path_mtu};
/// It hits answers, for which the receiver's requests are sent again.
inline constexpr Causes repeated_by_receiver{RootCause::answers_lost};
/// What somebody set otherwise than it should be, and what the capture is like: no packet suffers by itself.
inline constexpr Causes of_no_traffic{RootCause::marking, RootCause::settings, RootCause::protocol,
                                      RootCause::capture};
/// Causes whose finding knows more than the sentence says: which request, which address, who is silent since
/// when. Its explanation is the first of the facts.
inline constexpr Causes told_by_findings{RootCause::request_refused, RootCause::no_answer,
                                         RootCause::receiver_not_ready};

/// A symptom is part of the trouble that explains it, if both are of the same two hosts.
struct Explains {
  enum class Towards : std::uint8_t { same, back, either };

  RootCause symptom{};
  RootCause cause{};
  Towards way = Towards::same;  ///< which direction the cause is about, seen from the symptom's
  double share = 0;  ///< only where the symptom is at most this share of the cause; 0: however large it is
  RootCause unless = RootCause::count_;  ///< nor where there is more of this than of the cause
};
/// In the order in which they are tried.
[[nodiscard]] std::span<const Explains> explanations() noexcept;

/// Places of troubles, as bits.
class Places {
 public:
  constexpr Places() = default;
  constexpr Places(std::initializer_list<Whereabouts> all) {
    for (const Whereabouts seen : all) bits_ |= 1U << static_cast<unsigned>(seen);
  }
  [[nodiscard]] constexpr bool has(Whereabouts seen) const noexcept {
    return (bits_ >> static_cast<unsigned>(seen) & 1U) != 0;
  }

 private:
  unsigned bits_ = 0;
};

/// What a finding stands for.
struct FindingRole {
  std::string_view id;  ///< of the finding
  RootCause alone{};    ///< the cause of the diagnosis that it is, if it is evidence of no other
  Consequence at_most = Consequence::degraded;  ///< severity of that diagnosis at most
  Causes proves;                                ///< causes that it is evidence of
  bool one_way = false;                         ///< only in the direction that it is about
  /// It follows from any finding of the same cause with a lower number between the same hosts.
  int follows = 0;
  Places never_of{};  ///< troubles that are there are another's: it is proof of one place
  bool told =
      false;  ///< it answers what was asked for, so its explanation is a fact of what it is evidence of
};
inline constexpr int last_to_follow = 2;
[[nodiscard]] std::span<const FindingRole> finding_roles() noexcept;
/// The role of a finding; null for one that is not in the table.
[[nodiscard]] const FindingRole* role_of(std::string_view finding) noexcept;

}  // namespace roce::analyze::diagnosis
