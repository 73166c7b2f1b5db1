// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "analyze/record/packet_record.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// Where a flow did not go on after a silence: with that request, or that answer. Times in nanoseconds.
struct UseTurn {
  std::int64_t silent_from_ns = 0;
  std::int64_t time_ns = 0;
  std::uint64_t number = 0;  ///< frame of the first packet since the silence
  std::uint32_t psn = 0;
  std::uint32_t msn = 0;  ///< of an answer
  bool request = false;
  bool sure = false;  ///< nothing but another use of the queue pair number does that

  /// Whether a responder that began to count with those requests gives that answer, and both had been silent
  /// at a time.
  [[nodiscard]] bool answered_by(const UseTurn& answer) const noexcept;
};

/// What one half of a connection shows by itself of another use of its queue pair number, while nobody knows
/// the other half. A responder begins anew to count messages (MSN, IBTA 9.7.7.1). One that is known to count
/// never counts fewer otherwise, but for an answer that was overtaken, whose PSN is lower as well, and by as
/// much, and for what it reads again. A requester goes on behind what it sent, or goes back to what it sent;
/// which UDP source port it takes says nothing, for hosts change it after a timeout. Only RC and XRC; packets
/// of one capture point, in order of capture, all of them: once a flow's requests take the short way, nothing
/// that is said here of them counts.
class HalfUse {
 public:
  /// The next packet. What it shows, if the flow does not go on with it.
  [[nodiscard]] std::optional<UseTurn> take(const PacketRecord& record, const dissect::OpcodeInfo& info,
                                            std::uint64_t number);
  /// Whether it has seen requests.
  [[nodiscard]] bool has_requests() const noexcept { return requests_; }
  /// Whether the last packet was a request with which the requester went back to what it had sent.
  [[nodiscard]] bool went_back() const noexcept { return went_back_; }
  /// The last one of requests, or of answers.
  [[nodiscard]] const std::optional<UseTurn>& turn(bool request) const noexcept {
    return turns_[request ? 1 : 0];
  }
  /// Another use ended before its first packet: nothing was requested before.
  void begin_here() noexcept { begins_here_ = true; }
  /// Its first packet was that turn, of which the other half is not known.
  void began_with(const UseTurn& turn) noexcept { turns_[turn.request ? 1 : 0] = turn; }
  /// The other half turned as well, and both were dealt with.
  void forget_turns() noexcept { turns_ = {}; }

 private:
  [[nodiscard]] std::optional<UseTurn> take_request(const PacketRecord& record,
                                                    const dissect::OpcodeInfo& info);
  [[nodiscard]] std::optional<UseTurn> take_answer(const PacketRecord& record,
                                                   const dissect::OpcodeInfo& info);
  [[nodiscard]] UseTurn turn_at(const PacketRecord& record, bool request) const noexcept;

  std::int64_t last_ns_ = capture::no_time;
  std::int64_t silent_from_ns_ = capture::no_time;  ///< the last silence; none so far: capture::no_time
  std::uint64_t number_ = 0;                        ///< of the first packet since then
  bool request_since_ = false, answer_since_ = false;
  // Requests:
  bool requests_ = false;
  bool went_back_ = false;
  bool begins_here_ = false;            ///< nothing was sent before first_
  std::uint32_t first_ = 0, next_ = 0;  ///< PSNs; `next_` is behind the highest
  std::uint32_t last_ = 0;              ///< the one before the packet
  std::uint32_t read_ = 0;              ///< where the highest begins, a READ, if so:
  bool open_read_ = false;              ///< it is not known how many PSNs it takes, `next_` is a bound
  std::optional<UseTurn> far_;          ///< a request far off: a stray, if the next one does not follow it
  // Answers:
  bool answers_ = false;
  std::uint32_t msn_ = 0;      ///< the most messages that were counted
  std::uint32_t done_ = 0;     ///< PSN behind what was done by then
  std::uint32_t fallen_ = 0;   ///< answers in a row that count fewer, and among themselves go on
  std::uint32_t low_msn_ = 0;  ///< of the last one of them
  std::uint32_t counted_ = 0;  ///< answers since one counted fewer than another before
  std::array<std::optional<UseTurn>, 2> turns_;  ///< of answers, of requests
};

}  // namespace roce::analyze
