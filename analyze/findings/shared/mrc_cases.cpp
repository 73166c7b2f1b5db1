// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/mrc_cases.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roce::analyze {

std::vector<MrcWay> mrc_ways(const Snapshot& snapshot) {
  std::vector<MrcWay> ways;
  if (snapshot.mrc == nullptr) return ways;
  for (const MrcStream& stream : snapshot.mrc->streams) {
    auto at = std::find_if(ways.begin(), ways.end(), [&](const MrcWay& way) {
      return way.src == stream.key.src && way.dst == stream.key.dst;
    });
    if (at == ways.end()) at = ways.insert(at, {stream.key.src, stream.key.dst, {}});
    at->streams.push_back(&stream);
  }
  return ways;
}

Proof losses_of(const Snapshot& snapshot, const MrcWay& way,
                const std::function<bool(const MrcLoss&)>& wanted) {
  Proof proof;
  const Mrc& mrc = *snapshot.mrc;
  for (const MrcLoss& loss : mrc.losses) {
    const MrcStream* stream = &mrc.streams[loss.stream];
    if (std::find(way.streams.begin(), way.streams.end(), stream) == way.streams.end() || !wanted(loss))
      continue;
    ++proof.count;
    proof.add_frame(loss.packet);
    proof.add_time(loss.time_ns);
  }
  // Of losses that the list has no room for: the stream itself.
  if (proof.frames.empty() && !way.streams.empty()) proof.add_frame(way.streams.front()->first_packet);
  return proof;
}

Finding mrc_finding(Severity severity, const MrcWay& way, const Proof& proof) {
  constexpr double not_of_hardware = 0.9;
  Finding finding =
      finding_of(severity, fmt::format("{} > {}", address_text(way.src), address_text(way.dst)), proof);
  finding.from = way.src;
  finding.to = way.dst;
  finding.confidence = not_of_hardware;
  return finding;
}

std::string way_filter(const MrcWay& way) {
  return fmt::format("roce.src == {} && roce.dst == {}", address_text(way.src), address_text(way.dst));
}

}  // namespace roce::analyze
