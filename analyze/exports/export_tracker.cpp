// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/export_tracker.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyze/exports/sampled_packet.hpp"
#include "dissect/aeth.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

namespace sflow = dissect::sflow;
using dissect::Dissection;

/// What came of a number: 0 in its turn, more: so many are missing before it; nothing: it came before.
enum class Turn : std::uint8_t { next, late, twice };
struct Placing {
  Turn turn = Turn::next;
  std::uint32_t missing = 0;
};

/// Numbers of 32 bits that count up by one; those that come late are told from those that come twice as far
/// as 63 back.
template <class Numbering>
Placing count_in(Numbering& numbers, std::uint32_t number) {
  const auto ahead = static_cast<std::int32_t>(number - numbers.last);
  constexpr std::int32_t remembered = 64;
  Placing counted;
  if (!numbers.any) {
    numbers = {true, number, 1};
  } else if (ahead > 0) {
    counted.missing = static_cast<std::uint32_t>(ahead) - 1U;
    numbers.seen = ahead < remembered ? numbers.seen << static_cast<unsigned>(ahead) | 1U : 1U;
    numbers.last = number;
  } else {
    const std::uint64_t bit = ahead > -remembered ? std::uint64_t{1} << static_cast<unsigned>(-ahead) : 0;
    counted.turn = bit == 0 || (numbers.seen & bit) != 0 ? Turn::twice : Turn::late;
    numbers.seen |= bit;
  }
  return counted;
}

void add_counted(std::uint64_t& missing, const Placing& counted) {
  missing += counted.missing;
  if (counted.turn == Turn::late && missing != 0) --missing;
}

sflow::Part payload_of(const capture::Frame& frame, const Dissection& d) {
  const dissect::Layer& udp = d.layers[d.udp];
  const std::uint32_t begin = udp.offset + udp.length;
  const std::uint32_t length = dissect::read<dissect::Udp::length>(frame.data + udp.offset);
  const std::uint32_t declared = length > udp.length ? length - udp.length : 0U;
  const std::uint32_t there = frame.captured > begin ? frame.captured - begin : 0U;
  return {{frame.data + begin, std::min(there, declared)}, declared};
}

/// A difference of counters of 32 bits that may have wrapped once; absurd ones are those of a restart.
std::uint64_t added(std::uint32_t before, std::uint32_t now) {
  const std::uint32_t difference = now - before;
  return difference < 0x8000'0000U ? difference : 0U;
}
std::uint64_t added(std::uint64_t before, std::uint64_t now) {
  return now > before ? now - before : 0;
}
std::uint64_t added_if_known(std::uint32_t before, std::uint32_t now) {
  constexpr std::uint32_t unknown = sflow::PfcCounters::unknown;
  return before == unknown || now == unknown ? 0 : added(before, now);
}

}  // namespace

std::optional<std::uint32_t> ExportTracker::agent_of(const sflow::Datagram& datagram) {
  const std::tuple key{datagram.agent, datagram.sub_agent};
  if (const auto found = agents_.find(key); found != agents_.end()) return found->second;
  if (found_.agents.size() >= agents_at_most) {
    ++found_.others_dropped;
    return std::nullopt;
  }
  const auto place = static_cast<std::uint32_t>(found_.agents.size());
  agents_.emplace(key, place);
  found_.agents.push_back({datagram.agent, datagram.sub_agent});
  agent_states_.emplace_back();
  return place;
}

/// After a restart the agent counts anew.
void ExportTracker::forget_numbers(std::uint32_t agent) {
  agent_states_[agent].datagrams = {};
  const auto first = states_.lower_bound({agent, Kind::flow, 0, 0});
  states_.erase(first, states_.lower_bound({agent + 1, Kind::flow, 0, 0}));
  for (auto at = ports_.lower_bound({agent, 0}); at != ports_.end() && std::get<0>(at->first) == agent; ++at)
    at->second.any_interface = at->second.any_pfc = false;
}

void ExportTracker::see(std::uint64_t number, const capture::Frame& frame, const Dissection& d) {
  sflow::Datagram datagram;
  ++found_.datagrams;
  if (sflow::read_datagram(payload_of(frame, d), datagram) != sflow::End::complete) {
    ++found_.unreadable;
    return;
  }
  const std::optional<std::uint32_t> agent = agent_of(datagram);
  if (!agent) return;
  AgentState& state = agent_states_[*agent];
  // A datagram that was overtaken is somewhat older.
  constexpr std::uint32_t late_ms = 10'000;
  if (state.datagrams.any && datagram.uptime_ms < state.uptime_ms &&
      state.uptime_ms - datagram.uptime_ms > late_ms) {
    ++found_.agents[*agent].restarts;
    forget_numbers(*agent);
    state.uptime_ms = 0;
  }
  state.uptime_ms = std::max(state.uptime_ms, datagram.uptime_ms);
  ExportAgent& told = found_.agents[*agent];
  const Placing counted = count_in(state.datagrams, datagram.sequence);
  if (counted.turn == Turn::twice) {
    ++told.duplicates;
    return;
  }
  ++told.datagrams;
  add_counted(told.missing, counted);
  if (frame.time_ns != capture::no_time) {
    told.first_ns =
        told.first_ns == capture::no_time ? frame.time_ns : std::min(told.first_ns, frame.time_ns);
    told.last_ns = told.last_ns == capture::no_time ? frame.time_ns : std::max(told.last_ns, frame.time_ns);
  }
  const Context at{*agent, number, frame.time_ns};
  sflow::Items samples = datagram.samples();
  sflow::Item item;
  while (samples.next(item)) {
    sflow::Sample sample;
    if (sflow::read_sample(item, sample) != sflow::End::complete) {
      ++found_.unreadable;
    } else {
      see_sample(at, sample);
    }
  }
  if (samples.end() != sflow::End::complete) ++found_.unreadable;
}

void ExportTracker::see_sample(const Context& at, const sflow::Sample& sample) {
  if (sample.is_flow()) {
    see_packet(at, sample);
  } else if (sample.is_counters()) {
    see_counters(at, sample);
  } else if (sample.kind == sflow::SampleKind::discarded) {
    see_drop(at, sample);
  } else {
    ++found_.other_formats;
  }
}

std::optional<std::uint32_t> ExportTracker::source_of(const Context& at, const sflow::Sample& sample) {
  const std::tuple key{at.agent, sample.source_class, sample.source_index, sample.rate};
  if (const auto found = sources_.find(key); found != sources_.end()) return found->second;
  if (found_.sources.size() >= sources_at_most) {
    ++found_.others_dropped;
    return std::nullopt;
  }
  const auto place = static_cast<std::uint32_t>(found_.sources.size());
  sources_.emplace(key, place);
  ExportSource& source = found_.sources.emplace_back();
  source.agent = at.agent;
  source.source_class = sample.source_class;
  source.index = sample.source_index;
  source.rate = sample.rate;
  return place;
}

void ExportTracker::see_packet(const Context& at, const sflow::Sample& sample) {
  const std::optional<std::uint32_t> place = source_of(at, sample);
  if (!place) return;
  ExportSource& source = found_.sources[*place];
  SourceState* const known = state_of(at, Kind::flow, sample);
  if (known == nullptr) return;
  SourceState& state = *known;
  const bool first = !state.samples.any;
  const Placing counted = count_in(state.samples, sample.sequence);
  if (counted.turn == Turn::twice) return;
  ++source.samples;
  add_counted(source.missing, counted);
  if (counted.turn == Turn::next) {
    if (!first) {
      // What passed since the sample before this one, of which some may not have arrived.
      const std::uint64_t passed = added(state.pool, sample.pool);
      source.pool += passed;
      source.pooled += passed != 0 ? 1 : 0;
      source.dropped += added(state.drops, sample.drops);
    }
    state.pool = sample.pool;
    state.drops = sample.drops;
  }
  const auto is_source = [&](const sflow::Port& port) {
    return sample.source_class == 0 && port.is_index() && port.value == sample.source_index;
  };
  const bool ingress = is_source(sample.input);
  const bool egress = !ingress && is_source(sample.output);
  source.ingress += ingress ? 1 : 0;
  source.egress += egress ? 1 : 0;
  const RecordsOfSample records = read_records(sample);
  if (!records.dissected) ++source.unread;
  count_queue(at, sample, records);
  if (!records.packet.has(PacketRecord::valid)) return;
  ++source.roce;
  count_flow(at, *place, egress, records.packet, records.length);
}

void ExportTracker::count_flow(const Context& at, std::uint32_t source, bool egress,
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

void ExportTracker::count_queue(const Context& at, const sflow::Sample& sample,
                                const RecordsOfSample& records) {
  if (!records.depth && !records.delay_ns) return;
  constexpr std::uint64_t no_queue = ~std::uint64_t{0};
  const std::uint32_t port = sample.output.is_index() ? sample.output.value : 0;
  const std::tuple key{at.agent, port, records.queue ? std::uint64_t{*records.queue} : no_queue};
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
    made.queue = records.queue;
  }
  ExportQueue& queue = found_.queues[found->second];
  ++queue.samples;
  if (records.depth) queue.depth.add(*records.depth);
  if (!records.delay_ns) return;
  if (*records.delay_ns == sflow::longest_delay) {
    ++queue.longer;
  } else {
    queue.delay_ns.add(*records.delay_ns);
  }
}

void ExportTracker::see_drop(const Context& at, const sflow::Sample& sample) {
  SourceState* const known = state_of(at, Kind::dropped, sample);
  if (known == nullptr) return;
  SourceState& state = *known;
  const bool first = !state.samples.any;
  const Placing counted = count_in(state.samples, sample.sequence);
  if (counted.turn == Turn::twice) return;
  if (counted.turn == Turn::next) {
    if (!first) found_.drops_suppressed += added(state.drops, sample.drops);
    state.drops = sample.drops;
  }
  if (found_.drops.size() >= drops_at_most) {
    ++found_.drops_dropped;
    return;
  }
  const RecordsOfSample records = read_records(sample);
  ExportDrop& drop = found_.drops.emplace_back();
  drop.agent = at.agent;
  drop.source = sample.source_index;
  drop.input = sample.input.value;
  drop.output = sample.output.value;
  drop.reason = sample.reason;
  drop.queue = records.queue;
  drop.packet = at.number;
  drop.time_ns = at.time_ns;
  drop.roce = records.packet.has(PacketRecord::valid);
  if (!drop.roce) return;
  drop.key = records.packet.key;
  drop.psn = records.packet.psn;
  drop.opcode = records.packet.opcode;
}

ExportTracker::SourceState* ExportTracker::state_of(const Context& at, Kind kind,
                                                    const sflow::Sample& sample) {
  const std::tuple key{at.agent, kind, sample.source_class, sample.source_index};
  if (const auto found = states_.find(key); found != states_.end()) return &found->second;
  if (states_.size() >= states_at_most) {
    ++found_.others_dropped;
    return nullptr;
  }
  return &states_[key];
}

ExportTracker::PortState* ExportTracker::port_of(const Context& at, std::uint32_t index) {
  const std::tuple key{at.agent, index};
  if (const auto found = ports_.find(key); found != ports_.end()) return &found->second;
  if (found_.ports.size() >= sources_at_most) {
    ++found_.others_dropped;
    return nullptr;
  }
  PortState& state = ports_[key];
  state.place = static_cast<std::uint32_t>(found_.ports.size());
  ExportPort& port = found_.ports.emplace_back();
  port.agent = at.agent;
  port.index = index;
  return &state;
}

void ExportTracker::see_counters(const Context& at, const sflow::Sample& sample) {
  SourceState* const numbers = state_of(at, Kind::counters, sample);
  if (numbers == nullptr || count_in(numbers->samples, sample.sequence).turn != Turn::next) return;
  PortState* const state = port_of(at, sample.source_index);
  if (state == nullptr) return;
  ExportPort& port = found_.ports[state->place];
  ++port.samples;
  sflow::Items records = sample.records();
  sflow::Item record;
  while (records.next(record)) {
    sflow::InterfaceCounters now;
    sflow::PfcCounters pfc;
    if (record.standard() == sflow::counter_record::interface &&
        sflow::read_interface_counters(record, now)) {
      const sflow::InterfaceCounters& before = state->interface;
      port.speed_bps = now.speed_bps;
      if (state->any_interface) {
        port.in_octets += added(before.in_octets, now.in_octets);
        port.out_octets += added(before.out_octets, now.out_octets);
        port.in_discards += added(before.in_discards, now.in_discards);
        port.out_discards += added(before.out_discards, now.out_discards);
        port.in_errors += added(before.in_errors, now.in_errors);
        port.out_errors += added(before.out_errors, now.out_errors);
      }
      state->interface = now;
      state->any_interface = true;
    } else if (record.standard() == sflow::counter_record::pfc && sflow::read_pfc_counters(record, pfc)) {
      const sflow::PfcCounters& before = state->pfc;
      port.pfc = true;
      if (state->any_pfc) {
        port.pfc_requests += added_if_known(before.requests, pfc.requests);
        port.pfc_indications += added_if_known(before.indications, pfc.indications);
        port.pause_us += added_if_known(before.pause_us, pfc.pause_us);
        port.storms += added_if_known(before.storms_detected, pfc.storms_detected);
      }
      state->pfc = pfc;
      state->any_pfc = true;
    }
  }
}

/// One row a switch and flow. A packet that is sampled where it comes in and where it goes out is one packet:
/// of the two directions that with more packets is taken, over all ports of it.
std::vector<ExportFlow> ExportTracker::flows_by_agent() const {
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

Exports ExportTracker::finish(std::vector<LostTransmission> losses) && {
  std::vector<ExportFlow> flows = flows_by_agent();
  Exports exports = std::move(found_);
  exports.flows = std::move(flows);
  join_drops(exports, std::move(losses));
  return exports;
}

}  // namespace roce::analyze
