// SPDX-License-Identifier: Apache-2.0
// What a capture can bear, judged before anything else: a capture of which a mirror sampled, a filter left
// out or a disk did not keep must not be read as if the network had lost it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/core/frame.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

struct Connection;
struct Snapshot;

/// What a verdict needs of the capture; bits, so that a rule can need several.
enum class Need : std::uint8_t {
  packets = 1,     ///< every packet: neither sampled nor filtered by opcode
  directions = 2,  ///< both directions of a connection
  place = 4,       ///< one place where the packets were captured, or two that both show them
  headers = 8,     ///< the headers whole: an ACK and a NAK differ in the AETH, behind the BTH
};

/// A set of `Need`.
struct Needs {
  std::uint8_t bits = 0;
  constexpr Needs() noexcept = default;
  constexpr Needs(Need need) noexcept { bits = static_cast<std::uint8_t>(need); }  // NOLINT: one is a set
  [[nodiscard]] constexpr bool has(Need need) const noexcept {
    return (bits & static_cast<std::uint8_t>(need)) != 0;
  }
  [[nodiscard]] constexpr Needs without(Need need) const noexcept {
    Needs rest = *this;
    rest.bits &= static_cast<std::uint8_t>(~static_cast<unsigned>(need));
    return rest;
  }
  friend constexpr Needs operator|(Needs a, Needs b) noexcept {
    a.bits |= b.bits;
    return a;
  }
};
constexpr Needs operator|(Need a, Need b) noexcept {
  return Needs(a) | Needs(b);
}

/// What is said in one packet needs nothing. What is missing, or comes again, can be told where all packets
/// are there; whether it was answered, where both directions are.
namespace needs {
inline constexpr Needs every_packet = Need::packets;
inline constexpr Needs both_directions = Need::packets | Need::directions | Need::headers;
inline constexpr Needs losses_at_a_place = both_directions | Need::place;
}  // namespace needs

/// What is missing in a capture, and what is too much.
struct Completeness {
  /// A mirror or a collector that passes one packet of many.
  struct Sampled {
    double one_in = 1;
    std::optional<bool> regular;  ///< by counting; false: at random; absent: cannot be told
  };
  /// The capture stopped, or a piece of it is missing: all that was under way jumps at once.
  struct Hole {
    std::uint64_t after = 0;   ///< number of the last frame before it
    std::uint64_t before = 0;  ///< and of the first one that shows it
    std::int64_t from_ns = capture::no_time;
    std::int64_t to_ns = capture::no_time;
    std::uint64_t packets = 0;  ///< missing, at least
    bool delivered = true;      ///< some of them; else they may as well be lost, all at once
  };

  std::optional<Sampled> sampled;
  std::vector<std::string> opcode_filtered;  ///< what the capture does not have, though it was sent
  std::vector<Hole> holes;
  std::uint64_t missing_elsewhere =
      0;  ///< packets that were delivered and not captured, outside of the holes
  /// Packets that are missing and were sent again, though nothing asked for them: lost or not captured.
  std::uint64_t undecided = 0;
  std::uint64_t delivered = 0;               ///< PSNs of which it would be known
  std::uint64_t connections = 0;             ///< those with acknowledgements
  std::vector<std::uint32_t> one_direction;  ///< ids of connections whose other direction passed elsewhere
  /// Connections of which a few packets of one direction were captured, and nothing that tells more.
  std::uint64_t too_little = 0;
  /// From whom to whom nothing was captured, though it shows that it was sent.
  std::set<std::pair<dissect::IpAddress, dissect::IpAddress>> unheard;
  double doubled = 0;           ///< share of packets that are copies of others
  bool several_points = false;  ///< the copies come from another place of the path: TTL, MAC, VLAN, tunnel
  std::uint32_t cut_at = 0;     ///< bytes that are left of a packet; 0: whole, or not known
  bool headers_cut = false;     ///< ACK and NAK look alike
  std::uint64_t clock_steps = 0;
  double equal_stamps = 0;  ///< share of frames with the timestamp of the one before
  /// It holds samples that switches exported, and no traffic itself.
  bool samples_only = false;
  /// Connections that nobody acknowledges (UC) and queue pairs of UD: what does not arrive is not told.
  std::uint64_t unacknowledged = 0;
  std::uint64_t datagrams = 0;          ///< UD packets that were sent, as their PSNs count them
  std::uint64_t datagrams_missing = 0;  ///< of these: lost on the way here, or not captured

  /// Whether verdicts that need this can be given at all.
  [[nodiscard]] bool bears(Needs needs) const noexcept;
  /// The same of one connection. Where two points show nearly all of it, a packet that both show, or neither,
  /// was lost behind them, or before.
  [[nodiscard]] bool bears(Needs needs, const Connection& connection) const noexcept;
  [[nodiscard]] bool may_judge_losses() const noexcept { return bears(Need::packets); }
  [[nodiscard]] bool only_too_little() const noexcept {
    return connections != 0 && too_little == connections;
  }
  /// Packets that were delivered are not in the capture, so others may be missing as well; or all that came
  /// for a while.
  [[nodiscard]] bool misses_packets() const noexcept { return !holes.empty() || missing_elsewhere != 0; }
  /// Of the packets that were delivered so many are not in the capture, here and there, that nothing is sure.
  [[nodiscard]] bool lacks_many() const noexcept;
  /// Something that was captured is not judged in full, for what is missing.
  [[nodiscard]] bool limited() const noexcept;
  /// Whether what that packet shows to be missing lies in a hole, which is said already.
  [[nodiscard]] bool explains_missing(std::uint64_t shown_by) const noexcept;
};

/// Whether one direction of a connection goes on although no answer was captured: the answers passed
/// elsewhere. A sender that repeats the same over and over shows the opposite: nothing answered it.
[[nodiscard]] bool goes_on_unanswered(const Connection& connection);

/// Of a snapshot whose other parts are complete, findings excepted.
[[nodiscard]] Completeness completeness_of(const Snapshot& snapshot);

/// What the capture cannot bear, in one or a few sentences without the last full stop: "this capture is
/// sampled, about 1 packet in 16 at random: losses and retransmissions cannot be judged". Empty if nothing.
[[nodiscard]] std::string capture_limits_text(const Snapshot& snapshot);

}  // namespace roce::analyze
