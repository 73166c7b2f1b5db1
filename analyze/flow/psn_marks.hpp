// SPDX-License-Identifier: Apache-2.0
// Marks by which two capture points that do not know each other count the same packets: how many packets of a
// PSN space passed before a PSN. What one point counted between two marks less what another one counted
// between the same two was lost between them, whatever their clocks show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/record/packet_record.hpp"

namespace roce::analyze {

struct PsnMark {
  std::uint32_t psn = 0;      ///< 24 bits
  std::int64_t time_ns = 0;   ///< when the highest PSN first reached or passed it
  std::uint64_t packets = 0;  ///< of the space, repeats included, before that
};

struct HashOfFlowKey {
  std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
};

/// One PSN space of a flow: its requests, or the READ responses that its source sent.
struct PsnSpaceMarks {
  std::uint32_t epoch = 0;  ///< of this key: counts begin anew where PSNs jump, as a queue pair was made anew
  std::int64_t start_ns = 0;  ///< its first packet
  std::int64_t last_ns = 0;
  std::uint64_t packets = 0;
  std::uint64_t psns = 0;      ///< that were passed
  std::uint32_t psn_next = 0;  ///< after the highest one
  std::vector<PsnMark> marks;  ///< in the order of time; those of the end may not have stood the test of time

  /// As if all of it had been counted up to the PSN after the highest: only where nothing more of it came.
  [[nodiscard]] PsnMark end() const noexcept { return {psn_next, last_ns, packets}; }
};

/// Marks of all flows of a capture. Not thread-safe: who takes marks while packets are seen holds mutex().
///
/// Of several PSNs points choose the same without talking: the roundest, those with most zeros at the end. No
/// mark is of the first second of the capture: another point may have passed its PSN before this one was
/// there, and this one sees the repeats only. Nor is one where a packet of a lower PSN follows soon: it may
/// have been sent before those that overtook it, and be counted on the other side of the mark at another
/// point. What the receiver discards (wrong ICRC, trimmed) was not passed and is not counted.
class PsnMarks {
 public:
  static constexpr std::int64_t settle_ns = 1'000'000'000;
  static constexpr std::size_t flow_limit = 64 * 1024;
  /// A mark stays once as much time has passed, or as many packets, with ascending PSNs only: packets are not
  /// overtaken by more.
  static constexpr std::int64_t calm_ns = 10'000'000;
  static constexpr std::uint64_t calm_packets = 1024;

  /// Keeps about so many marks of a PSN space, the roundest, besides its first and its last one.
  explicit PsnMarks(std::size_t marks_at_most) noexcept : at_most_(marks_at_most) {}

  /// The next packet; `begin_ns`: first time of the capture.
  void see(const PacketRecord& record, std::int64_t begin_ns) { (void)see_record(record, begin_ns); }
  /// The same of a packet with a number of cached headers (PacketBrief::image), of which record_of() makes
  /// the record: called only where the number was not seen lately, for it stands for one flow always.
  template <class RecordOf>
  void see_alike(const PacketBrief& packet, std::int64_t begin_ns, RecordOf&& record_of) {
    if (!is_counted(packet)) return;
    Cached& cached = cached_[packet.image % cached_.size()];
    if (cached.image != packet.image) {
      cached = {packet.image, see_record(record_of(), begin_ns)};
    } else if (cached.state != nullptr) {
      count(*cached.state, packet, begin_ns);
    }
  }

  struct Spaces {
    PsnSpaceMarks requests;
    PsnSpaceMarks responses;
  };
  /// The last epoch of that flow, when the capture has ended at `end_ns`: with those marks that are
  /// confirmed. None: there is none, or there were too many flows.
  [[nodiscard]] std::optional<Spaces> find(const FlowKey& key, std::int64_t end_ns) const;
  /// A mark of a flow; see take().
  struct Taken {
    std::optional<PsnMark> request, response;
    std::uint32_t request_epoch = 0, response_epoch = 0;
    std::uint64_t psns = 0;  ///< of requests, passed so far in this epoch
  };
  /// Of each flow the roundest confirmed mark of each PSN space, the last of several; all confirmed ones are
  /// forgotten then, as are flows without a packet since `idle_before_ns`. For a live capture, at times.
  [[nodiscard]] std::unordered_map<FlowKey, Taken, HashOfFlowKey> take(std::int64_t now_ns,
                                                                       std::int64_t idle_before_ns);
  /// For those who see and take on several threads.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
  /// Flows whose packets were not counted, because there were too many.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  struct Keeping {
    unsigned level = 0;             ///< marks have at least so many zeros at their end
    std::size_t confirmed = 0;      ///< of the marks, from the first on
    std::optional<PsnMark> latest;  ///< of the last packet, if it passed a PSN
  };
  struct State {
    Spaces spaces;
    Keeping requests;
    Keeping responses;
  };

  struct Cached {
    std::uint32_t image = 0;  ///< 0: none
    State* state = nullptr;   ///< null: of no flow that is counted
  };

  /// Whether it is of a PSN space, by all that does not depend on its flow.
  [[nodiscard]] static bool is_counted(const PacketBrief& packet) noexcept;
  /// Its flow; null if it was not counted.
  State* see_record(const PacketRecord& record, std::int64_t begin_ns);
  void count(State& state, const PacketBrief& packet, std::int64_t begin_ns) const;
  void pass(PsnSpaceMarks& space, Keeping& keeping, const PacketBrief& packet, bool settled) const;
  void keep(PsnSpaceMarks& space, Keeping& keeping, const PsnMark& mark) const;
  static void confirm(const PsnSpaceMarks& space, Keeping& keeping, std::int64_t now_ns);

  std::size_t at_most_;
  std::uint64_t left_out_ = 0;
  std::unordered_map<FlowKey, State, HashOfFlowKey> flows_;
  std::vector<Cached> cached_ = std::vector<Cached>(8192);
  std::mutex mutex_;
};

}  // namespace roce::analyze
