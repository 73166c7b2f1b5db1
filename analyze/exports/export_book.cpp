// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/export_book.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "dissect/aeth.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

dissect::Part exported_bytes(const capture::Frame& frame, const dissect::Dissection& d) {
  const dissect::Layer& udp = d.layers[d.udp];
  const std::uint32_t begin = udp.offset + udp.length;
  const std::uint32_t length = dissect::read<dissect::Udp::length>(frame.data + udp.offset);
  const std::uint32_t declared = length > udp.length ? length - udp.length : 0U;
  const std::uint32_t there = frame.captured > begin ? frame.captured - begin : 0U;
  return {{frame.data + begin, std::min(there, declared)}, declared};
}

std::optional<std::uint32_t> ExportBook::agent_of(ExportProtocol protocol, const dissect::IpAddress& address,
                                                  std::uint32_t sub_agent) {
  const std::tuple key{protocol, address, sub_agent};
  if (const auto found = agents_.find(key); found != agents_.end()) return found->second;
  if (found_.agents.size() >= agents_at_most) {
    ++found_.others_dropped;
    return std::nullopt;
  }
  const auto place = static_cast<std::uint32_t>(found_.agents.size());
  agents_.emplace(key, place);
  found_.agents.push_back({address, sub_agent, protocol});
  return place;
}

std::optional<std::uint32_t> ExportBook::source_of(const SourceName& name) {
  if (const auto found = sources_.find(name); found != sources_.end()) return found->second;
  SourceName before = name;
  before.rate = 0;
  before.per = 1;
  std::optional<std::uint32_t> place;
  if (const auto found = sources_.find(before); found != sources_.end()) {
    place = found->second;
    sources_.erase(found);
  } else if (found_.sources.size() >= sources_at_most) {
    ++found_.others_dropped;
    return std::nullopt;
  } else {
    place = static_cast<std::uint32_t>(found_.sources.size());
    found_.sources.emplace_back();
  }
  sources_.emplace(name, *place);
  ExportSource& source = found_.sources[*place];
  source.agent = name.agent;
  source.source_class = name.source_class;
  source.index = name.index;
  source.rate = name.rate;
  source.per = name.per;
  return place;
}

std::optional<std::uint32_t> ExportBook::find_source(const SourceName& name) const {
  const auto found = sources_.find(name);
  return found == sources_.end() ? std::nullopt : std::optional(found->second);
}

void ExportBook::see_datagram(const ExportPlace& at) {
  ExportAgent& told = found_.agents[at.agent];
  ++told.datagrams;
  if (at.time_ns == capture::no_time) return;
  told.first_ns = told.first_ns == capture::no_time ? at.time_ns : std::min(told.first_ns, at.time_ns);
  told.last_ns = told.last_ns == capture::no_time ? at.time_ns : std::max(told.last_ns, at.time_ns);
}

void ExportBook::see_packet(const ExportPlace& at, std::uint32_t source, Way way, std::uint32_t output,
                            const SampledPacket& packet) {
  ExportSource& of = found_.sources[source];
  ++of.samples;
  of.ingress += way == Way::ingress ? 1 : 0;
  of.egress += way == Way::egress ? 1 : 0;
  if (!packet.dissected) ++of.unread;
  count_queue(at, output, packet);
  if (!packet.packet.has(PacketRecord::valid)) return;
  ++of.roce;
  count_flow(at, source, way == Way::egress, packet.packet, packet.length);
}

void ExportBook::see_drop(const ExportPlace& at, ExportDrop told, const SampledPacket& packet) {
  if (found_.drops.size() >= drops_at_most) {
    ++found_.drops_dropped;
    return;
  }
  told.agent = at.agent;
  told.packet = at.number;
  told.time_ns = at.time_ns;
  told.roce = packet.packet.has(PacketRecord::valid);
  if (told.roce) {
    told.key = packet.packet.key;
    told.psn = packet.packet.psn;
    told.opcode = packet.packet.opcode;
  }
  found_.drops.push_back(told);
}

void ExportBook::count_flow(const ExportPlace& at, std::uint32_t source, bool egress,
                            const PacketRecord& packet, std::uint32_t length) {
  const FlowPlace key{source, egress, packet.key};
  auto found = flows_.find(key);
  if (found == flows_.end()) {
    if (flows_.size() >= flows_at_most) {
      ++found_.flows_dropped;
      return;
    }
    found = flows_.emplace(key, static_cast<std::uint32_t>(found_.flows.size())).first;
    ExportFlow& made = found_.flows.emplace_back();
    made.agent = at.agent;
    made.key = packet.key;
    made.egress = egress;
    made.first_ns = at.time_ns;
    made.first_packet = at.number;
    source_of_flow_.push_back(source);
  }
  ExportFlow& flow = found_.flows[found->second];
  SampleCounts& counts = flow.counts;
  ++counts.samples;
  counts.bytes += length;
  counts.squares += static_cast<double>(length) * static_cast<double>(length);
  ++counts.ecn[packet.traffic_class & 3U];
  if (packet.opcode == dissect::opcode_cnp) ++counts.cnps;
  if (packet.has(PacketRecord::has_aeth)) {
    const dissect::AethKind kind = dissect::aeth_kind(static_cast<std::uint8_t>(packet.aeth >> 24U));
    counts.naks += kind == dissect::AethKind::nak ? 1 : 0;
    counts.rnr_naks += kind == dissect::AethKind::rnr_nak ? 1 : 0;
  }
  flow.opcodes.add(packet.opcode);
  flow.dscp.add(static_cast<std::uint8_t>(packet.traffic_class >> 2U));
  flow.last_ns = at.time_ns;
}

void ExportBook::count_queue(const ExportPlace& at, std::uint32_t port, const SampledPacket& packet) {
  if (!packet.depth && !packet.delay_ns) return;
  constexpr std::uint64_t no_queue = ~std::uint64_t{0};
  const std::tuple key{at.agent, port, packet.queue ? std::uint64_t{*packet.queue} : no_queue};
  auto found = queues_.find(key);
  if (found == queues_.end()) {
    if (queues_.size() >= agents_at_most) {
      ++found_.others_dropped;
      return;
    }
    found = queues_.emplace(key, static_cast<std::uint32_t>(found_.queues.size())).first;
    ExportQueue& made = found_.queues.emplace_back();
    made.agent = at.agent;
    made.port = port;
    made.queue = packet.queue;
  }
  ExportQueue& queue = found_.queues[found->second];
  ++queue.samples;
  if (packet.depth) queue.depth.add(*packet.depth);
  if (!packet.delay_ns) return;
  if (*packet.delay_ns == dissect::sflow::longest_delay) {
    ++queue.longer;
  } else {
    queue.delay_ns.add(*packet.delay_ns);
  }
}

/// One row a switch and flow. A packet that is sampled where it comes in and where it goes out is one packet:
/// of the two directions that with more packets is taken, over all ports of it.
std::vector<ExportFlow> ExportBook::flows_by_agent() const {
  struct Sum {
    std::array<ExportFlow, 2> of;  // by egress
    std::array<double, 2> packets{}, packets_variance{}, bytes{}, bytes_variance{};
  };
  constexpr double wide = 1.96;  // of 95 in 100
  std::unordered_map<FlowPlace, std::size_t, FlowPlaceHash> places;
  std::vector<Sum> sums;
  for (std::size_t i = 0; i < found_.flows.size(); ++i) {
    const ExportFlow& part = found_.flows[i];
    const auto [found, made] = places.try_emplace({part.agent, false, part.key}, sums.size());
    if (made) sums.emplace_back();
    Sum& sum = sums[found->second];
    const std::size_t way = part.egress ? 1 : 0;
    ExportFlow& whole = sum.of[way];
    if (whole.counts.samples == 0) {
      whole = part;
    } else {
      whole.counts.samples += part.counts.samples;
      whole.counts.bytes += part.counts.bytes;
      whole.counts.squares += part.counts.squares;
      for (std::size_t ecn = 0; ecn < part.counts.ecn.size(); ++ecn)
        whole.counts.ecn[ecn] += part.counts.ecn[ecn];
      whole.counts.cnps += part.counts.cnps;
      whole.counts.naks += part.counts.naks;
      whole.counts.rnr_naks += part.counts.rnr_naks;
      whole.opcodes.merge(part.opcodes);
      whole.dscp.merge(part.dscp);
      whole.first_ns = std::min(whole.first_ns, part.first_ns);
      whole.last_ns = std::max(whole.last_ns, part.last_ns);
      whole.first_packet = std::min(whole.first_packet, part.first_packet);
    }
    const double scale = found_.sources[source_of_flow_[i]].one_in();
    sum.packets[way] += static_cast<double>(part.counts.samples) * scale;
    sum.packets_variance[way] += static_cast<double>(part.counts.samples) * scale * scale;
    sum.bytes[way] += static_cast<double>(part.counts.bytes) * scale;
    sum.bytes_variance[way] += part.counts.squares * scale * scale;
  }
  std::vector<ExportFlow> flows;
  for (Sum& sum : sums) {
    const std::size_t way = sum.packets[1] > sum.packets[0] ? 1 : 0;
    ExportFlow& flow = flows.emplace_back(std::move(sum.of[way]));
    const std::uint64_t samples = flow.counts.samples;
    flow.packets = {samples, sum.packets[way], wide * std::sqrt(sum.packets_variance[way])};
    flow.bytes = {samples, sum.bytes[way], wide * std::sqrt(sum.bytes_variance[way])};
  }
  std::stable_sort(flows.begin(), flows.end(), [](const ExportFlow& a, const ExportFlow& b) {
    return a.counts.samples > b.counts.samples;
  });
  return flows;
}

Exports ExportBook::finish(std::vector<LostTransmission> losses) && {
  std::vector<ExportFlow> flows = flows_by_agent();
  Exports exports = std::move(found_);
  exports.flows = std::move(flows);
  join_drops(exports, std::move(losses), true);
  return exports;
}

}  // namespace roce::analyze
