// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/mrc_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/findings/shared/texts.hpp"

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

void add_evidence(Proof& proof, const MrcEvidence& evidence) {
  proof.count += evidence.count;
  for (const std::uint64_t packet : evidence.packets) proof.add_frame(packet);
  proof.add_time(evidence.first_ns);
  proof.add_time(evidence.last_ns);
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

MrcRefusals refusals_of(const MrcWay& way, bool fatal) {
  MrcRefusals all;
  std::map<std::pair<bool, std::uint8_t>, MrcRefusal> by_code;
  for (const MrcStream* stream : way.streams) {
    all.of += stream->packets;
    for (const MrcRefusal& each : stream->refusals) {
      if (each.fatal() != fatal) continue;
      add_evidence(all.proof, each.seen);
      MrcRefusal& sum = by_code[{each.of_message, each.code}];
      sum.of_message = each.of_message;
      sum.code = each.code;
      sum.seen.count += each.seen.count;
    }
  }
  for (const auto& [key, each] : by_code) {
    all.text +=
        fmt::format("{}{} ({})", all.text.empty() ? "" : ", ", each.text(), times_text(each.seen.count));
    const std::string_view field = each.of_message ? "infiniband.aeth.syndrome" : "mrc.neth.reason";
    constexpr unsigned nak = 0x60;
    all.filter += fmt::format("{}{} == {:#04x}", all.filter.empty() ? "" : " || ", field,
                              each.of_message ? nak | each.code : each.code);
  }
  if (by_code.size() > 1) all.filter = fmt::format("({})", all.filter);
  all.filter = fmt::format("roce.src == {} && roce.dst == {} && {}", address_text(way.dst),
                           address_text(way.src), all.filter);
  return all;
}

std::string way_filter(const MrcWay& way) {
  return fmt::format("roce.src == {} && roce.dst == {}", address_text(way.src), address_text(way.dst));
}

}  // namespace roce::analyze
