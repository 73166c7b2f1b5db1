// SPDX-License-Identifier: Apache-2.0
// Packets of MRC: what was lost between the points, and what only seems so.
#include "analyze/compare/spray_book.hpp"

#include <algorithm>

#include "analyze/compare/comparison.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

bool SprayBook::miss(const LostPacket& packet, std::uint32_t flow) {
  if (missing_.size() >= most) return false;
  std::uint32_t& last = open_[key_of(flow, packet.psn)];
  missing_.push_back({packet, flow, last});
  last = static_cast<std::uint32_t>(missing_.size());
  return true;
}

void SprayBook::sent(std::uint32_t flow, std::uint32_t psn, std::uint64_t number, bool arrived) {
  const auto open = open_.find(key_of(flow, psn));
  if (open == open_.end()) return;
  missing_[open->second - 1].packet.sent_again = true;
  if (!arrived) return;
  for (std::uint32_t one = open->second; one != 0; one = missing_[one - 1].before)
    missing_[one - 1].packet.repaired_by = number;
  open_.erase(open);
}

bool Comparison::is_sprayed(const PacketSeen& seen) noexcept {
  return dissect::opcode_info(seen.opcode).service == dissect::Service::mrc;
}

/// Of MRC, seen at one point only while the other one was capturing.
void Comparison::note_sprayed(const PacketSeen& seen, unsigned direction) {
  const bool write = dissect::opcode_info(seen.opcode).operation == dissect::Operation::write;
  if (write && direction == seen.point && !seen.has(PointPacket::damaged)) {
    sprayed_.sent(seen.flow, seen.psn, seen.number, false);
    if (sprayed_.miss(lost_packet(seen, direction), seen.flow)) return;
  }
  if (PathBook::Path* path = paths_.at(book_.pair_place(seen.flow), seen.port))
    path->unproven[seen.point].add(seen.number, seen.time_ns);
}

/// Counts what was sent again as lost, unless its path does not pass the other point.
void Comparison::finish_sprayed() {
  std::vector<SprayBook::Missing>& missing = sprayed_.missing();
  const auto path_of = [&](const SprayBook::Missing& one) {
    return paths_.at(book_.pair_place(one.flow), one.packet.port);
  };
  for (const SprayBook::Missing& one : missing) {
    PathBook::Path* path = path_of(one);
    if (path != nullptr && !one.packet.sent_again)
      path->unproven[one.packet.direction].add(one.packet.packet, one.packet.time_ns);
  }
  for (const SprayBook::Missing& one : missing) {
    PathBook::Path* path = path_of(one);
    if (path == nullptr || !one.packet.sent_again) continue;
    const unsigned point = one.packet.direction;
    AddressPair& pair = book_.pair_of(one.flow);
    // Where others of the path arrived that the second point does not show, either, it goes another way.
    const bool passes = path->matched != 0 || path->unproven[point].count == 0;
    if (pair.matched == 0 || !passes) {
      path->unproven[point].add(one.packet.packet, one.packet.time_ns);
      continue;
    }
    ++pair.alone[point];
    ++path->alone[point];
    pair.alone_first[point].add(one.packet.packet, one.packet.time_ns);
    CompareDirection& counts = result_.directions[one.packet.direction];
    if (one.packet.repaired_by) ++counts.repaired;
    if (result_.lost.size() < options_.lost_limit) result_.lost.push_back(one.packet);
  }
  for (const PathBook::Path& path : paths_.paths()) {
    AddressPair& pair = book_.pairs()[path.pair];
    for (unsigned point = 0; point < 2; ++point) {
      const Counted& unproven = path.unproven[point];
      if (unproven.count == 0) continue;
      const unsigned direction = pair.direction.value_or(point);
      CompareDirection& counts = result_.directions[direction];
      if (pair.matched == 0) {
        pair.alone[point] += unproven.count;
        merge(pair.alone_first[point], unproven);
      } else if (path.matched == 0) {
        counts.elsewhere += unproven.count;
      } else if (point == direction || pair.either) {
        counts.undecided += unproven.count;
      } else {
        pair.alone[point] += unproven.count;
        merge(pair.alone_first[point], unproven);
      }
    }
  }
}

}  // namespace roce::analyze
