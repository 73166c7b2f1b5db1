// SPDX-License-Identifier: Apache-2.0
// What a PsnSpace is made of, beside its rings. Internal to the tracker.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/connection/connection.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/transport/psn_ring.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {

/// IPv4 ID `a` was given before `b`.
constexpr bool behind(std::uint16_t a, std::uint16_t b) noexcept {
  return static_cast<std::uint16_t>(a - b) >= 0x8000U;
}

/// PSNs of a READ of so many bytes.
[[nodiscard]] constexpr std::int64_t packets_of(std::uint32_t bytes, std::uint32_t pmtu) noexcept {
  return std::max<std::int64_t>(1, (std::int64_t{bytes} + pmtu - 1) / pmtu);
}

/// What is known of the packets of one kind (requests or answers) in one space: whether IPv4 IDs tell
/// transmissions apart, and how often the capture shows everything twice. Only the relations of the counts
/// matter: before one is full all are halved.
struct StreamFacts {
  /// IDs are looked at once a single one, so none of the other counts is larger than this.
  static constexpr std::uint32_t full = 1U << 29U;
  std::uint32_t id_forward = 0;   ///< ID a little above the one before
  std::uint32_t id_other = 0;     ///< any other change
  std::uint32_t id_constant = 0;  ///< no change
  std::uint32_t doubled = 0;
  std::uint32_t single = 0;
  std::uint32_t late : 30 = 0;
  std::uint32_t known : 1 = 0;  ///< last_id is
  std::uint32_t data : 1 = 0;   ///< some are answers with data: asked for again where they are missing
  std::uint32_t path = 0;       ///< of the last transmission
  std::uint16_t last_id = 0;
  std::uint16_t last_step = 0;              ///< of the ID
  std::int64_t last_ns = capture::no_time;  ///< of last_id

  void count_single() noexcept {
    if (++single >= full) [[unlikely]]
      halve();
  }
  void count_doubled() noexcept {
    if (++doubled >= full) halve();
  }
  void count_late() noexcept {
    late = late + 1U;
    if (late >= full) halve();
  }
  void take_back_late() noexcept {
    constexpr std::uint32_t all = 2 * full - 1;  // that `late` has room for
    if (late > 0) late = (late - 1U) & all;
  }
  void learn(const PacketBrief& r) noexcept {
    path = r.path;
    count_single();
    if (!r.has(PacketRecord::has_ip_id)) return;
    const auto step = static_cast<std::uint16_t>(r.ip_id - last_id);
    if (known != 0) [[likely]] {
      ++(step == 0 ? id_constant : step < 0x8000 ? id_forward : id_other);
    } else {
      known = 1;
    }
    last_step = step;
    last_id = r.ip_id;
    last_ns = r.time_ns;
  }
  void passed(const PacketBrief& r) noexcept {
    last_step = static_cast<std::uint16_t>(r.ip_id - last_id);
    last_id = r.ip_id;
    last_ns = r.time_ns;
  }
  /// IDs differ from packet to packet, so equal IDs mean one transmission.
  [[nodiscard]] bool ids_tell(const PacketBrief& r) const noexcept;
  /// IDs rise in the order of sending.
  [[nodiscard]] bool ids_rise(const PacketBrief& r) const noexcept {
    return r.has(PacketRecord::has_ip_id) && id_forward >= 4 &&
           id_forward > 8 * (std::uint64_t{id_other} + id_constant);
  }
  [[nodiscard]] bool is_behind(const PacketBrief& r) const noexcept {
    return behind(r.ip_id, last_id) && ids_rise(r);
  }

 private:
  /// What happened at all stays above 0.
  void halve() noexcept;
};

/// A request that is answered by responses of its own (READ, ATOMIC, FLUSH ...), as often as it was
/// sent. A responder answers in the order of arrival, so a response belongs to the first of them that
/// waits for its PSN.
struct Issued {
  std::int64_t first = 0;
  std::int64_t next = 0;  ///< response that comes next
  std::int64_t end = 0;   ///< behind the last one
  std::uint64_t frame = 0;
  bool open_end = false;
  bool repeated = false;  ///< the responder has executed it before
  bool instead = false;   ///< of requests that seem lost: it may be executed for the first time after all
  Cause cause = Cause::none;
};

/// A READ, or another operation with answers of its own, of which all answers were captured: complete, unless
/// its requester asks for some again, for they were lost behind the capture.
struct AnsweredOperation {
  /// Of one side, before what they say is counted: what was in flight together may be asked for again, and
  /// more than that not (128 is max_rd_atomic of Soft-RoCE).
  static constexpr std::size_t kept = 16;
  static constexpr std::size_t kept_of_many = 128;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t start_ns = capture::no_time;
  std::int64_t end_ns = capture::no_time;  ///< no_time: not measured
  std::uint64_t frame = 0;
  OperationKind kind = OperationKind::read;
  std::uint8_t opcode = 0;
  bool retried = false;
  bool counts = false;
};

/// Requests taken for copies that the capture made, for they come in turn, though a sender that goes back to
/// its very first one sends them so too: until an answer, or the order, tells.
struct DoubtedCopies {
  static constexpr std::size_t most = 256;
  struct Packet {
    PacketRecord record;
    std::uint64_t number = 0;
  };
  std::vector<Packet> packets;
  std::int64_t next = 0;  ///< behind the highest request when the first came
};

/// The last of them that takes this PSN; nullptr if none does.
[[nodiscard]] inline const AnsweredOperation* find_answered(const std::vector<AnsweredOperation>& kept,
                                                            std::int64_t psn) noexcept {
  const auto found = std::find_if(kept.rbegin(), kept.rend(), [psn](const AnsweredOperation& op) {
    return op.first <= psn && psn <= op.last;
  });
  return found == kept.rend() ? nullptr : &*found;
}

/// READ requests that were issued again: the last ones.
struct ReissuedReads {
  struct Request {
    std::int64_t first = 0;
    std::int64_t end = 0;  ///< one behind its last PSN
    std::uint64_t frame = 0;
    std::int64_t time_ns = capture::no_time;
  };
  std::array<Request, 64> last{};
  std::size_t next = 0;

  void keep(const Request& request) noexcept {
    last[next] = request;
    next = (next + 1) % last.size();
  }
  /// The last that asks for `psn`; nullptr if none does.
  [[nodiscard]] const Request* find(std::int64_t psn) const noexcept {
    const Request* found = nullptr;
    for (const Request& each : last) {
      const bool covers = each.first <= psn && psn < each.end;
      if (covers && (found == nullptr || each.frame > found->frame)) found = &each;
    }
    return found;
  }
};

/// READ responses that were given again since: the last ones.
struct ReplacedResponses {
  std::array<Seen, 64> last{};
  std::size_t next = 0;
  std::int64_t to = -1;  ///< behind the highest PSN of them all

  void keep(const Seen& seen) noexcept {
    last[next] = seen;
    next = (next + 1) % last.size();
    to = std::max(to, seen.psn + 1);
  }
};

/// Packets that NAKs named although they had been captured: what became of them.
struct NamedByNaks {
  struct Claim {
    std::uint64_t frame = 0;
    bool counted = false;
  };
  std::uint32_t late = 0;      ///< came after all
  std::uint32_t lost = 0;      ///< as far as one can see
  std::vector<Claim> claimed;  ///< NAKs that were taken for the proof of a loss; the last ones
  [[nodiscard]] bool unreliable() const noexcept { return late >= 4 && late > 2 * lost; }
};

/// A repeat that was missing in its run, and that another run brought: it may have been late, not lost.
struct Refilled {
  std::int64_t psn = -1;
  std::uint64_t frame = 0;  ///< where its loss was counted
  std::uint64_t by = 0;     ///< the packet of the other run
  std::uint16_t ip_id = 0;  ///< of the packet that showed it missing
  bool counted = false;     ///< that packet counts
};

/// A run in which another seems to begin, where no IDs tell.
struct Interrupted {
  std::int64_t start = 0;
  std::int64_t next = 0;
  std::int64_t nak = -1;
  std::uint64_t frame = 0;
  std::uint64_t by = 0;  ///< frame
  Cause cause = Cause::none;
};

}  // namespace roce::analyze
