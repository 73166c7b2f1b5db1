// SPDX-License-Identifier: Apache-2.0
// Packets that a switch trimmed: which they are, and where they belong.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/episode/thresholds.hpp"
#include "analyze/tracker/tracker_impl.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Service;

bool Trims::Cut::by_switch() const noexcept {
  constexpr std::uint32_t several = 4;
  return packets >= several && least_payload != most_payload && longer_pass;
}

bool Trims::are_trimmed(const PacketRecord& record, std::uint64_t number, const Flow* flow) {
  const std::pair place(record.point, record.wire);
  if (cuts_.size() >= rows_at_most && !cuts_.contains(place)) return false;
  Cut& cut = cuts_[place];
  if (number > counted_) {  // others come for the second time
    counted_ = number;
    cut.least_payload = cut.packets == 0 ? record.payload : std::min(cut.least_payload, record.payload);
    cut.most_payload = std::max(cut.most_payload, record.payload);
    ++cut.packets;
    ++cut.dscp[record.traffic_class >> 2U];
    // The longer ones make the mean of their flow longer.
    cut.longer_pass = cut.longer_pass || (flow != nullptr && flow->bytes > flow->packets * record.wire);
  }
  return cut.by_switch();
}

std::array<std::uint64_t, 64> Trims::by_dscp() const {
  std::array<std::uint64_t, 64> sums{};
  for (const auto& [place, cut] : cuts_) {
    for (std::size_t i = 0; cut.by_switch() && i < sums.size(); ++i) sums[i] += cut.dscp[i];
  }
  return sums;
}

const Flow* Tracker::Impl::flow_at(const PacketRecord& record) const {
  const std::uint32_t place = flows.find(record.key);
  return place == no_place ? nullptr : &flows.at(place);
}

/// What carries data, where it is sent again: it is known to have been sent, and not to have arrived. Others
/// are as good as damaged.
bool Tracker::Impl::is_followed_when_trimmed(const PacketRecord& record) noexcept {
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const bool reliable = info.service == Service::rc || info.service == Service::xrc;
  return info.defined && reliable && info.has_payload && info.operation != Operation::acknowledge;
}

namespace {

/// Requests of a side, or its responses: numbers of their own.
int stream_of(const Held& each) {
  const dissect::OpcodeInfo& info = dissect::opcode_info(each.record.opcode);
  const bool sent =
      info.defined && (info.request || info.response) && info.operation != Operation::acknowledge;
  return sent ? each.side * 2 + (info.request ? 1 : 0) : -1;
}

/// Where in its stream a trimmed packet was sent: its sender left out just that one there. It waits in a
/// shorter queue than those that were sent before it, and overtakes them, also the end of the pass before its
/// own.
class PlaceOfTrimmed {
 public:
  /// `end`: behind the last one of its stream before it.
  PlaceOfTrimmed(const std::vector<Held>& held, std::size_t trimmed, std::uint32_t end)
      : held_(held), at_(trimmed), psn_(held[trimmed].record.psn), end_(end) {}

  /// Behind which of them it belongs; itself: where it is.
  [[nodiscard]] std::size_t find() {
    const bool new_one = dissect::serial_distance(end_, psn_) >= 0;
    const int stream = stream_of(held_[at_]);
    std::size_t behind = at_;
    std::int32_t trimmed = 1;  // in a row, or nearly
    for (std::size_t k = at_ + 1; k < held_.size() && soon(held_[k].record); ++k) {
      if (stream_of(held_[k]) != stream) continue;
      const std::uint32_t next = held_[k].record.psn;
      if (held_[k].record.trimmed()) {
        ++trimmed;
        // In their queue they keep their order.
        if (behind != at_ && dissect::serial_distance(next, psn_) > 0) behind = k;
        continue;
      }
      const std::int32_t missing = dissect::serial_distance(psn_, next);
      if (dissect::serial_distance(end_, next) >= 0) {
        if (dissect::serial_distance(end_, psn_) >= 0 && missing >= 0) return behind;
      } else if (new_one) {  // who went back left it out, or had sent it before
        return left_out_from(k).value_or(behind);
      } else if (missing > 0 && missing <= trimmed) {
        return behind;
      }
      end_ = (next + 1) & dissect::serial_mask;
      behind = k;
    }
    return new_one ? behind : at_;
  }

 private:
  /// Behind which packet a pass that begins at `k` left it out. One that had been sent before is sent again.
  [[nodiscard]] std::optional<std::size_t> left_out_from(std::size_t k) const {
    const int stream = stream_of(held_[at_]);
    std::optional<std::size_t> before;  // the last one, if it is of a lower number
    std::int32_t trimmed = 1;
    for (; k < held_.size() && soon(held_[k].record); ++k) {
      if (stream_of(held_[k]) != stream) continue;
      const std::int32_t missing = dissect::serial_distance(psn_, held_[k].record.psn);
      if (missing == 0) return std::nullopt;
      if (held_[k].record.trimmed()) {
        ++trimmed;
      } else if (missing < 0) {
        before = k;
      } else if (before) {
        return missing <= trimmed ? before : std::nullopt;
      }
    }
    return std::nullopt;
  }
  /// No queue holds a packet up for longer.
  [[nodiscard]] bool soon(const PacketRecord& later) const noexcept {
    const std::int64_t then_ns = held_[at_].record.time_ns;
    return then_ns != capture::no_time && later.time_ns != capture::no_time &&
           span_ns(then_ns, later.time_ns) < episode::at_once_ns;
  }

  const std::vector<Held>& held_;
  std::size_t at_;
  std::uint32_t psn_;
  std::uint32_t end_;
};

}  // namespace

/// Back to where they were sent.
void Tracker::Impl::put_trimmed_in_place(const Track& track, std::vector<Held>& held) {
  const auto trimmed = [](const Held& each) { return each.record.trimmed(); };
  if (std::none_of(held.begin(), held.end(), trimmed)) return;
  std::array<std::optional<std::uint32_t>, 4> ends;  // behind the last one of each stream
  const auto note_end = [&](unsigned side, bool requests, std::int64_t end) {
    ends[side * 2 + (requests ? 1 : 0)] = static_cast<std::uint32_t>(end) & dissect::serial_mask;
  };
  for (unsigned requester = 0; requester < 2; ++requester) {
    const PsnSpace* const space = track.spaces[requester].get();
    if (space == nullptr) continue;
    if (space->requests_seen()) note_end(requester, true, space->sent_to());
    if (space->answered_to() >= 0) note_end(requester ^ 1U, false, space->answered_to());
  }
  std::size_t moves = held.size();  // at most
  for (std::size_t i = 0; i < held.size();) {
    const int stream = stream_of(held[i]);
    if (stream >= 0) {
      std::optional<std::uint32_t>& end = ends[static_cast<std::size_t>(stream)];
      const std::size_t behind = end && trimmed(held[i]) ? PlaceOfTrimmed(held, i, *end).find() : i;
      if (behind != i && moves-- != 0) {
        held[i].record.time_ns = held[behind].record.time_ns;
        const auto first = held.begin() + static_cast<std::ptrdiff_t>(i);
        std::rotate(first, first + 1, held.begin() + static_cast<std::ptrdiff_t>(behind) + 1);
        continue;  // with what came to this place
      }
      end = (held[i].record.psn + 1) & dissect::serial_mask;
    }
    ++i;
  }
}

}  // namespace roce::analyze
