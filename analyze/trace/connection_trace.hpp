// SPDX-License-Identifier: Apache-2.0
// All packets of one connection with their verdicts, for graphs and sequence diagrams.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

#include "analyze/base/series.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {

/// One packet of the connection. A plain value.
struct TracePoint {
  enum class Kind : std::uint8_t {
    request,
    response,     ///< response to a READ, atomic, FLUSH or ATOMIC WRITE
    acknowledge,  ///< positive
    nak,
    rnr_nak,
    cut_answer,  ///< acknowledge, nak or rnr_nak with a truncated AETH
    cnp,         ///< in no PSN space
    other,       ///< an undefined opcode
    count_
  };
  enum Mark : std::uint8_t {
    b_to_a = 1,       ///< sent by side b
    ce = 2,           ///< CE-marked
    damaged = 4,      ///< discarded by its receiver: its ICRC or IPv4 header checksum is wrong
    lost_behind = 8,  ///< lost downstream of the capture point, as this or another packet proves
    ack_requested = 16,
    starts_message = 32,
    ends_message = 64,
    no_psn = 128,  ///< `psn` is undefined
  };

  std::int64_t time_ns = 0;  ///< capture::no_time if the packet has none
  /// Extended to 64 bits, so that it does not wrap around; the low 24 bits are those of the BTH.
  std::int64_t psn = 0;
  std::uint64_t packet = 0;   ///< frame.number
  std::uint32_t psns = 1;     ///< number of PSNs it uses: those of the responses for a READ request
  std::uint32_t bytes = 0;    ///< message bytes in this packet
  std::uint32_t wire = 0;     ///< bytes on the wire
  std::uint32_t message = 0;  ///< number of the message in its PSN space, from 1; 0 = not known
  std::uint8_t opcode = 0;
  std::uint8_t syndrome = 0;  ///< of the AETH, if there is one
  Kind kind = Kind::other;
  std::uint8_t marks = 0;
  Verdict verdict;

  [[nodiscard]] bool has(Mark mark) const noexcept { return (marks & mark) != 0; }
  void set(Mark mark) noexcept { marks = static_cast<std::uint8_t>(marks | mark); }
  [[nodiscard]] unsigned side() const noexcept { return has(b_to_a) ? 1 : 0; }  ///< that sent it
  [[nodiscard]] bool answers() const noexcept { return kind >= Kind::response && kind <= Kind::cut_answer; }
  /// The requester of its PSN space.
  [[nodiscard]] unsigned space() const noexcept { return answers() ? side() ^ 1U : side(); }
  /// A duplicate made by the capture.
  [[nodiscard]] bool is_copy() const noexcept { return verdict.has(Verdict::duplicate_capture); }
  /// It acknowledges all PSNs before this one; only if answers(). None for a cut_answer.
  [[nodiscard]] std::int64_t acknowledged() const noexcept {
    if (kind == Kind::cut_answer) return std::numeric_limits<std::int64_t>::min();
    return kind == Kind::nak || kind == Kind::rnr_nak ? psn : psn + 1;
  }
  /// Errors and other remarkable packets, which are kept when other points are left out.
  [[nodiscard]] bool remarkable() const noexcept;
};
static_assert(sizeof(TracePoint) == 96);

/// PSNs of the requests of one side without an answer, packet by packet in their order: what is outstanding
/// stays so until it is answered, whether anything is sent or not. A plain value.
class PsnsInFlight {
 public:
  /// The next packet of that PSN space.
  void see(const TracePoint& point) noexcept {
    if (point.is_copy() || point.has(TracePoint::no_psn)) return;
    if (point.answers()) {
      acknowledged_ = std::max(acknowledged_, point.acknowledged());
      psns_ = next_ > acknowledged_ ? std::min(psns_, static_cast<std::uint32_t>(next_ - acknowledged_)) : 0;
    } else if (point.verdict.has(Verdict::in_flight_known)) {
      psns_ = point.verdict.in_flight;
      next_ = std::max(next_, point.psn + std::max<std::int64_t>(1, point.psns));
      acknowledged_ = std::max(acknowledged_, next_ - psns_);
    }
    since_ns_ = point.time_ns;
  }
  [[nodiscard]] std::uint32_t psns() const noexcept { return psns_; }
  [[nodiscard]] std::int64_t since_ns() const noexcept { return since_ns_; }  ///< time of the last packet

 private:
  std::uint32_t psns_ = 0;
  std::int64_t next_ = std::numeric_limits<std::int64_t>::min();  ///< behind the last request
  std::int64_t acknowledged_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t since_ns_ = 0;
};

/// A completed message, from its first packet to its acknowledgement or last response.
struct TracedOperation {
  std::int64_t start_ns = 0;
  std::int64_t latency_ns = 0;
  std::uint64_t request = 0;  ///< its first packet
  std::uint64_t answer = 0;   ///< the packet that completed it
  std::uint64_t bytes = 0;
  std::uint32_t message = 0;  ///< as TracePoint::message
  OperationKind kind = OperationKind::send;
  std::uint8_t side = 0;  ///< the requester
  bool retried = false;   ///< some packet was retransmitted
};

/// A pause of the port at the other end of a link.
struct TracedPause {
  static constexpr std::uint8_t all_priorities = 8;  ///< PAUSE

  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::uint64_t mac = 0;     ///< in the low 48 bits, of the port that sent the XOFF
  std::uint64_t packet = 0;  ///< the XOFF that began it
  std::uint8_t priority = 0;
  bool timed = true;  ///< false: the link speed is unknown, so the duration is a lower bound
};

/// Result of trace_connection().
struct ConnectionTrace {
  std::uint32_t connection = 0;
  std::vector<TracePoint> points;           ///< by time; by number if some packets have no time
  std::vector<TracedOperation> operations;  ///< by the packet that completed them
  std::vector<TracedPause> pauses;          ///< on priorities that the connection uses, by time
  /// By sender, of all packets of the connection, as Snapshot::series; `lost` is by the sender of the lost
  /// packets.
  std::array<Series, 2> sent;
  std::uint64_t packets = 0;  ///< of the connection, copies included
  /// One of `stride` packets was kept, and one of `remarkable_stride` remarkable ones: powers of two, 1 if
  /// all were kept.
  std::uint32_t stride = 1;
  std::uint32_t remarkable_stride = 1;
  std::uint32_t operation_stride = 1;
  std::uint64_t pauses_left_out = 0;
  std::uint64_t without_verdict = 0;  ///< packets whose verdict was not kept (VerdictStore::lost())
  bool timed = true;                  ///< every packet has a time
  std::uint64_t frames = 0;           ///< frames read, of any kind
  bool stopped = false;               ///< reading was stopped before the end

  [[nodiscard]] bool complete() const noexcept { return stride == 1 && remarkable_stride == 1; }
};

struct TraceOptions {
  static constexpr std::size_t default_limit = 2'000'000;

  std::uint32_t connection = 0;       ///< Connection::id
  std::uint32_t pmtu = 0;             ///< Connection::pmtu
  std::size_t limit = default_limit;  ///< maximum of points, and of operations
  std::size_t pause_limit = 10'000;
  PriorityMap priorities;
  std::uint64_t link_speed_bps = 0;  ///< for pauses; 0 = as recorded in the capture
  bool check_icrc = true;
  dissect::Options dissecting;
  /// Called from time to time on the calling thread.
  std::function<void(const capture::CaptureSource&, std::uint64_t frames)> progress;
};

/// Reads `source` again from its beginning and collects the packets of the connection. `verdicts` are those
/// of an analysis of the same frames. Never fails: an input that cannot be read further ends there.
[[nodiscard]] ConnectionTrace trace_connection(capture::CaptureSource& source, VerdictStore& verdicts,
                                               const TraceOptions& options, const std::stop_token& stop = {});

/// The verdict on a frame by its number (from 1); null: it has none. Valid until the next call.
using VerdictOf = std::function<const Verdict*(std::uint64_t number)>;
/// The same with verdicts that lie elsewhere; `without_verdict` of the result is 0.
[[nodiscard]] ConnectionTrace trace_connection(capture::CaptureSource& source, const VerdictOf& verdict_of,
                                               const TraceOptions& options, const std::stop_token& stop = {});

}  // namespace roce::analyze
