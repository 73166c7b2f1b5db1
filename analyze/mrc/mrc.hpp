// SPDX-License-Identifier: Apache-2.0
// What a capture shows of MRC (Multipath Reliable Connection), as plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/base/histogram.hpp"
#include "analyze/record/lost_transmission.hpp"
#include "analyze/record/packet_record.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {

/// A path of a stream: what its packets are hashed by. Packets with one entropy value go one way, in order.
struct MrcPath {
  std::uint16_t udp_source = 0;
  std::uint16_t flow_label = 0;    ///< its low 16 bits, of IPv6
  std::uint64_t packets = 0;       ///< with data, repeats included
  std::uint64_t bytes = 0;         ///< on the wire
  std::uint64_t repeats = 0;       ///< sent this way
  std::uint64_t lost = 0;          ///< sent this way, seen here, and lost behind: trimmed ones included
  std::uint64_t trimmed = 0;       ///< of all sent this way, here or behind
  std::uint64_t ce = 0;            ///< seen marked CE
  std::uint64_t trimmed_here = 0;  ///< of the trimmed ones: before the capture point
  std::uint64_t marked = 0;        ///< reported as marked by the receiver (M = 1)
  std::uint64_t retired = 0;       ///< the receiver asks not to use it any more (M = 2)
  std::uint64_t answers = 0;       ///< to a packet of this path, by name: their times
  std::uint64_t rtt_sum_ns = 0;
  std::int64_t rtt_min_ns = 0, rtt_max_ns = 0;

  [[nodiscard]] std::int64_t rtt_mean_ns() const noexcept {
    return answers == 0 ? 0 : static_cast<std::int64_t>(rtt_sum_ns / answers);
  }
};

/// Where a packet was lost, as far as that is known.
enum class MrcPlace : std::uint8_t {
  before_capture,   ///< it never came here, its repeat did
  after_capture,    ///< it passed here
  trimmed_before,   ///< it came trimmed
  trimmed_after,    ///< it passed here whole, and the receiver got it trimmed
  trimmed_last_hop  ///< likewise, by the last switch before the receiver
};
inline constexpr std::size_t mrc_place_count = 5;
[[nodiscard]] std::string_view mrc_place_name(MrcPlace place) noexcept;

struct MrcLoss {
  std::uint32_t stream = 0;  ///< index in Mrc::streams
  std::uint32_t psn = 0;
  MrcPlace place{};
  std::optional<std::uint32_t> path;  ///< index in its paths; of a packet that never came here: not known
  std::uint64_t packet = 0;  ///< number of the lost packet; of one that never came here, of its repeat
  std::int64_t time_ns = capture::no_time;
};

/// Reasons of NACKs that have a number of their own here; the last one is all others.
inline constexpr std::array<std::uint8_t, 7> mrc_reasons{0x01, 0x02, 0x06, 0x07, 0x0a, 0x0b, 0x19};

/// How often something was seen, and the packets that show it first.
struct MrcEvidence {
  static constexpr std::size_t kept = 8;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> packets;
  std::int64_t first_ns = capture::no_time, last_ns = capture::no_time;

  void add(std::uint64_t packet, std::int64_t time_ns);
};

/// What the receiver did not take, for another reason than that it was trimmed.
struct MrcRefusal {
  bool of_message = false;  ///< by a NAK (AETH); else of a packet, by a NACK
  std::uint8_t code = 0;    ///< of the NAK, or the reason of the NACK
  MrcEvidence seen;

  /// It is not sent again: the queue pair ends.
  [[nodiscard]] bool fatal() const noexcept;
  /// "NAK remote access error", "NACK no packet buffer", "NACK reason 0x33".
  [[nodiscard]] std::string text() const;
};

/// The data of one direction of a connection, and what its receiver answered.
struct MrcStream {
  std::uint64_t id = 0;
  FlowKey key;
  std::optional<std::uint32_t> answer_qp;  ///< of the sender, where SACKs go; none: they were not found
  std::uint64_t first_packet = 0;          ///< number
  std::int64_t first_ns = capture::no_time, last_ns = capture::no_time;

  std::uint64_t packets = 0;  ///< with data, repeats included
  std::uint64_t bytes = 0;    ///< on the wire
  std::uint64_t payload = 0;  ///< of packets sent for the first time
  std::uint64_t messages = 0;
  std::uint64_t repeats = 0;   ///< RTX set
  std::uint64_t needed = 0;    ///< of these: all sent before were lost
  std::uint64_t needless = 0;  ///< one sent before had arrived
  std::array<std::uint64_t, mrc_place_count> lost{};
  std::uint64_t undecided = 0;     ///< repeats of which the capture does not show whether they were needed
  std::uint64_t not_captured = 0;  ///< packets that the receiver has, and that never came here
  // How much of the stream the capture has:
  std::uint64_t span = 0;         ///< PSNs from the lowest to the highest one,
  std::uint64_t psns = 0;         ///< and those that came here
  std::uint64_t unseen_here = 0;  ///< SACKs that name one that never came, on a path of others that did
  std::uint64_t refused = 0;      ///< that arrived, and that the receiver refused (NACK for another reason)
  std::uint64_t damaged = 0;      ///< with a wrong ICRC, though others of the stream are right
  std::uint64_t copies = 0;       ///< that the capture shows once more: in no other count
  std::uint64_t early = 0;        ///< repeats that are older than what can be followed
  std::uint64_t restarts = 0;     ///< PSNs far from those before: another use of the queue pair
  std::uint64_t reordered = 0;    ///< behind a higher PSN; normal where packets are sprayed
  std::uint64_t sacks = 0;
  std::uint64_t probes = 0, probes_answered = 0;
  std::array<std::uint64_t, mrc_reasons.size() + 1> nacks{};  ///< by mrc_reasons
  std::uint64_t acks = 0;                                     ///< of messages
  std::uint64_t naks = 0;                                     ///< refusals of messages
  std::vector<MrcRefusal> refusals;                           ///< by code, as they came
  MrcEvidence needless_shown;                                 ///< repeats
  MrcEvidence unanswered;  ///< PSNs that were sent again and again after the last answer of the receiver
  std::uint64_t ce = 0, marked = 0, retired = 0;        ///< see MrcPath
  std::optional<std::uint32_t> window_min, window_max;  ///< granted, in packets
  std::uint32_t out_of_order_max = 0;                   ///< as the receiver counts them
  Histogram rtt_ns;  ///< from here to the receiver and back: SACKs that name their packet and path
  std::vector<MrcPath> paths;
  std::uint64_t paths_dropped = 0;  ///< packets of paths beyond the limit

  [[nodiscard]] std::uint64_t losses() const noexcept;
  [[nodiscard]] std::uint64_t trimmed() const noexcept;
  [[nodiscard]] std::uint64_t nacked() const noexcept;
};

struct Mrc {
  std::uint64_t packets = 0;            ///< of MRC, all of them
  std::uint64_t unknown = 0;            ///< with an opcode of its service that nothing is known of
  std::uint64_t endpoint_requests = 0;  ///< to queue pair 2
  std::uint64_t endpoint_responses = 0;
  std::uint64_t unmatched = 0;  ///< SACKs, NACKs and others whose data were not found
  std::uint64_t dropped = 0;    ///< packets of streams beyond the limit
  std::uint64_t losses_dropped = 0;
  std::vector<MrcStream> streams;  ///< by their first packet
  std::vector<MrcLoss> losses;     ///< as they were found; bounded

  [[nodiscard]] bool any() const noexcept { return packets != 0; }
};

/// A path that loses more than the others of its stream: by chance that would happen once in a million.
struct MrcBadPath {
  std::uint32_t stream = 0, path = 0;
  std::uint64_t others_lost = 0, others_sent = 0;  ///< on the other paths
};
[[nodiscard]] std::vector<MrcBadPath> bad_paths(const Mrc& mrc);

/// If a mirror or collector passes but some of the packets, one in so many. Where it shows but some of the
/// paths it has all of these.
[[nodiscard]] std::optional<double> sampled_one_in(const Mrc& mrc);

/// Adds those of MRC to the losses that a switch may have told of.
void add_losses(const Mrc& mrc, std::vector<LostTransmission>& losses);

/// "port 50001", with IPv6 "port 50001, label 0x1234".
[[nodiscard]] std::string mrc_path_text(const MrcStream& stream, const MrcPath& path);
/// "trimmed 12, no resource 1": NACKs by reason; empty without any.
[[nodiscard]] std::string mrc_nacks_text(const MrcStream& stream);

}  // namespace roce::analyze
