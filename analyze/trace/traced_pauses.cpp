// SPDX-License-Identifier: Apache-2.0
#include "analyze/trace/traced_pauses.hpp"

#include <algorithm>
#include <optional>

#include "analyze/link/link_view.hpp"
#include "analyze/link/pauses.hpp"
#include "analyze/record/packet_record.hpp"
#include "dissect/bytes.hpp"
#include "dissect/dissect.hpp"
#include "dissect/headers/mac_control.hpp"

namespace roce::analyze {

using dissect::HeaderId;

bool TracedPauses::may_be_one(const capture::Frame& frame) noexcept {
  constexpr std::uint32_t type = 12, tag = 4;
  constexpr std::uint16_t mac_control = 0x8808;
  if (frame.link_type != dissect::link_ethernet || frame.captured < type + tag + 2) return false;
  return dissect::load_be16(frame.data + type) == mac_control ||
         dissect::load_be16(frame.data + type + tag) == mac_control;
}

void TracedPauses::see(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& d,
                       std::uint64_t speed_bps) {
  if (d.layer_count == 0 || frame.time_ns < 0 || frame.time_ns > PacketRecord::latest_ns) return;
  const dissect::Layer& last = d.layers[d.layer_count - 1U];
  const std::uint8_t* header = frame.data + last.offset;
  const std::optional<LinkView> link = link_view(frame.data, d);
  const std::uint64_t port = (link ? link->src : 0) | std::uint64_t{frame.point} << 48U;
  if (last.id == HeaderId::mac_pause) {
    pause(port, TracedPause::all_priorities, dissect::read<dissect::MacPause::pause_time>(header), number,
          frame.time_ns, speed_bps);
  } else if (last.id == HeaderId::mac_pfc) {
    for (std::uint8_t priority = 0; priority < 8; ++priority) {
      if ((dissect::MacPfc::priorities(header) >> priority & 1U) != 0) {
        pause(port, priority, dissect::MacPfc::quanta(header, priority), number, frame.time_ns, speed_bps);
      }
    }
  }
}

void TracedPauses::pause(std::uint64_t port, std::uint8_t priority, std::uint16_t quanta,
                         std::uint64_t number, std::int64_t time_ns, std::uint64_t speed_bps) {
  const auto found = open_.find({port, priority});
  if (found != open_.end() && (quanta == 0 || found->second.to_ns < time_ns)) {
    TracedPause ended = found->second;
    ended.to_ns = std::max(std::min(ended.to_ns, time_ns), ended.from_ns);
    close(ended);
    open_.erase(found);
  }
  if (quanta == 0) return;
  const std::int64_t until = time_ns + quanta_to_ns(quanta, speed_bps != 0 ? speed_bps : fastest_link_bps);
  constexpr std::size_t lane_limit = 4096;
  if (const auto again = open_.find({port, priority}); again != open_.end()) {
    again->second.to_ns = until;  // a refresh replaces the remaining time
  } else if (open_.size() < lane_limit) {
    constexpr std::uint64_t address = 0xffff'ffff'ffff;
    open_[{port, priority}] = {time_ns, until, port & address, number, priority, speed_bps != 0};
  } else {
    ++left_out_;
  }
}

void TracedPauses::close(const TracedPause& pause) {
  if (closed_.size() < limit_) {
    closed_.push_back(pause);
  } else {
    ++left_out_;
  }
}

std::vector<TracedPause> TracedPauses::finish(std::uint32_t priorities, std::int64_t last_ns) {
  for (auto& [lane, pause] : open_) {
    pause.to_ns = std::max(pause.from_ns, std::min(pause.to_ns, last_ns));
    close(pause);
  }
  open_.clear();
  std::erase_if(closed_, [&](const TracedPause& p) { return (priorities >> p.priority & 1U) == 0; });
  std::sort(closed_.begin(), closed_.end(), [](const TracedPause& a, const TracedPause& b) {
    return std::pair(a.from_ns, a.packet) < std::pair(b.from_ns, b.packet);
  });
  return std::move(closed_);
}

}  // namespace roce::analyze
