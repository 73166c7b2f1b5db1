// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/psn_marks.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "dissect/headers/infiniband.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint32_t psn_mask = 0xffffff;
/// No window is as large: a PSN as far away is of a queue pair that was made anew.
constexpr std::uint32_t jump = 1U << 20U;
constexpr std::uint32_t half = 1U << 23U;
constexpr unsigned all_zeros = 24;

unsigned zeros_of(std::uint32_t psn) noexcept {
  return psn == 0 ? all_zeros : static_cast<unsigned>(std::countr_zero(psn));
}

/// The roundest PSN from `first` on, `count` of them, with wrapping.
std::uint32_t roundest(std::uint32_t first, std::uint32_t count) noexcept {
  const std::uint64_t last = std::uint64_t{first} + count - 1;
  for (unsigned zeros = all_zeros; zeros > 0; --zeros) {
    const std::uint64_t step = std::uint64_t{1} << zeros;
    const std::uint64_t found = last / step * step;
    if (found >= first) return static_cast<std::uint32_t>(found) & psn_mask;
  }
  return static_cast<std::uint32_t>(last) & psn_mask;
}

bool has_psn_space(dissect::Service service) noexcept {
  return service == dissect::Service::rc || service == dissect::Service::uc ||
         service == dissect::Service::xrc;
}

}  // namespace

bool PsnMarks::is_counted(const PacketBrief& packet) noexcept {
  const dissect::OpcodeInfo& opcode = dissect::opcode_info(packet.opcode);
  return has_psn_space(opcode.service) &&
         (opcode.request || opcode.operation == dissect::Operation::read_response) && !packet.damaged() &&
         !packet.trimmed() && packet.time_ns != capture::no_time;
}

PsnMarks::State* PsnMarks::see_record(const PacketRecord& record, std::int64_t begin_ns) {
  if (!is_counted(record) || record.key.dst_qp <= dissect::gsi_qpn) return nullptr;
  auto at = flows_.find(record.key);
  if (at == flows_.end()) {
    if (flows_.size() >= flow_limit) {
      ++left_out_;
      return nullptr;
    }
    at = flows_.emplace(record.key, State{}).first;
  }
  count(at->second, record, begin_ns);
  return &at->second;
}

void PsnMarks::count(State& state, const PacketBrief& packet, std::int64_t begin_ns) const {
  const bool settled = packet.time_ns - begin_ns >= settle_ns;
  if (dissect::opcode_info(packet.opcode).operation == dissect::Operation::read_response) {
    pass(state.spaces.responses, state.responses, packet, settled);
  } else {
    pass(state.spaces.requests, state.requests, packet, settled);
  }
}

void PsnMarks::pass(PsnSpaceMarks& space, Keeping& keeping, const PacketBrief& packet, bool settled) const {
  const std::uint32_t ahead = (packet.psn - space.psn_next) & psn_mask;
  const std::uint32_t behind = (space.psn_next - 1 - packet.psn) & psn_mask;
  const bool forward = ahead < half;
  const bool begins = space.packets == 0;
  confirm(space, keeping, packet.time_ns);
  if (begins || (forward ? ahead : behind) > jump) {
    const std::uint32_t epoch = begins ? space.epoch : space.epoch + 1;
    space = {};
    space.epoch = epoch;
    space.start_ns = packet.time_ns;
    space.psn_next = (packet.psn + 1) & psn_mask;
    space.psns = 1;
    keeping = {};
    if (settled) space.marks.push_back({packet.psn, packet.time_ns, 0});
  } else if (forward) {
    if (settled) keep(space, keeping, {roundest(space.psn_next, ahead + 1), packet.time_ns, space.packets});
    space.psns += ahead + 1;
    space.psn_next = (packet.psn + 1) & psn_mask;
  } else {
    space.marks.resize(keeping.confirmed);
  }
  keeping.latest.reset();
  if (settled && forward && space.psns > 1) keeping.latest = {packet.psn, packet.time_ns, space.packets};
  ++space.packets;
  space.last_ns = packet.time_ns;
}

void PsnMarks::confirm(const PsnSpaceMarks& space, Keeping& keeping, std::int64_t now_ns) {
  while (keeping.confirmed < space.marks.size()) {
    const PsnMark& mark = space.marks[keeping.confirmed];
    if (now_ns - mark.time_ns < calm_ns && space.packets - mark.packets < calm_packets) return;
    ++keeping.confirmed;
  }
}

/// The first mark stays whatever it is.
void PsnMarks::keep(PsnSpaceMarks& space, Keeping& keeping, const PsnMark& mark) const {
  std::vector<PsnMark>& marks = space.marks;
  if (marks.empty() || zeros_of(mark.psn) >= keeping.level) marks.push_back(mark);
  while (keeping.confirmed > at_most_ + 1 && keeping.level <= all_zeros) {
    ++keeping.level;
    std::size_t kept = 1;
    std::size_t confirmed = 1;
    for (std::size_t i = 1; i < marks.size(); ++i) {
      if (zeros_of(marks[i].psn) < keeping.level) continue;
      marks[kept++] = marks[i];
      if (i < keeping.confirmed) ++confirmed;
    }
    marks.resize(kept);
    keeping.confirmed = confirmed;
  }
}

std::unordered_map<FlowKey, PsnMarks::Taken, HashOfFlowKey> PsnMarks::take(std::int64_t now_ns,
                                                                           std::int64_t idle_before_ns) {
  std::unordered_map<FlowKey, Taken, HashOfFlowKey> all;
  const auto roundest_of = [now_ns](PsnSpaceMarks& space, Keeping& keeping) {
    confirm(space, keeping, now_ns);
    std::optional<PsnMark> best;
    for (std::size_t i = 0; i < keeping.confirmed; ++i) {
      if (!best || zeros_of(space.marks[i].psn) >= zeros_of(best->psn)) best = space.marks[i];
    }
    space.marks.erase(space.marks.begin(),
                      space.marks.begin() + static_cast<std::ptrdiff_t>(keeping.confirmed));
    keeping.confirmed = 0;
    keeping.level = 0;
    return best;
  };
  for (auto at = flows_.begin(); at != flows_.end();) {
    Spaces& spaces = at->second.spaces;
    Taken taken;
    taken.request = roundest_of(spaces.requests, at->second.requests);
    taken.response = roundest_of(spaces.responses, at->second.responses);
    taken.request_epoch = spaces.requests.epoch;
    taken.response_epoch = spaces.responses.epoch;
    taken.psns = spaces.requests.psns;
    if (taken.request || taken.response) all.emplace(at->first, taken);
    const bool idle = std::max(spaces.requests.last_ns, spaces.responses.last_ns) < idle_before_ns;
    if (idle) std::fill(cached_.begin(), cached_.end(), Cached{});
    at = idle ? flows_.erase(at) : std::next(at);
  }
  return all;
}

std::optional<PsnMarks::Spaces> PsnMarks::find(const FlowKey& key, std::int64_t end_ns) const {
  const auto at = flows_.find(key);
  if (at == flows_.end()) return std::nullopt;
  Spaces spaces = at->second.spaces;
  const auto conclude = [&](PsnSpaceMarks& space, Keeping keeping) {
    confirm(space, keeping, end_ns);
    space.marks.resize(keeping.confirmed);
    const bool is_new =
        keeping.latest && (space.marks.empty() || space.marks.back().psn != keeping.latest->psn);
    if (is_new && end_ns - keeping.latest->time_ns >= calm_ns) space.marks.push_back(*keeping.latest);
  };
  conclude(spaces.requests, at->second.requests);
  conclude(spaces.responses, at->second.responses);
  return spaces;
}

}  // namespace roce::analyze
