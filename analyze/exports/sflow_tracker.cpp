// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/sflow_tracker.hpp"

#include <algorithm>
#include <utility>

namespace roce::analyze {
namespace {

namespace sflow = dissect::sflow;

std::uint64_t added_if_known(std::uint32_t before, std::uint32_t now) {
  constexpr std::uint32_t unknown = sflow::PfcCounters::unknown;
  return before == unknown || now == unknown ? 0 : added(before, now);
}

}  // namespace

/// After a restart the agent counts anew.
void SflowTracker::forget_numbers(std::uint32_t agent) {
  agents_[agent].datagrams = {};
  const auto first = states_.lower_bound({agent, Kind::flow, 0, 0});
  states_.erase(first, states_.lower_bound({agent + 1, Kind::flow, 0, 0}));
  for (auto at = ports_.lower_bound({agent, 0}); at != ports_.end() && std::get<0>(at->first) == agent; ++at)
    at->second.any_interface = at->second.any_pfc = false;
}

void SflowTracker::see(ExportBook& book, std::uint64_t number, std::int64_t time_ns, dissect::Part payload) {
  sflow::Datagram datagram;
  if (sflow::read_datagram(payload, datagram) != sflow::End::complete) {
    ++book.found().unreadable;
    return;
  }
  const auto agent = book.agent_of(ExportProtocol::sflow, datagram.agent, datagram.sub_agent);
  if (!agent) return;
  AgentState& state = agents_[*agent];
  // A datagram that was overtaken is somewhat older.
  constexpr std::uint32_t late_ms = 10'000;
  if (state.datagrams.any && datagram.uptime_ms < state.uptime_ms &&
      state.uptime_ms - datagram.uptime_ms > late_ms) {
    ++book.agent(*agent).restarts;
    forget_numbers(*agent);
    state.uptime_ms = 0;
  }
  state.uptime_ms = std::max(state.uptime_ms, datagram.uptime_ms);
  const Placing counted = state.datagrams.count_in(datagram.sequence);
  if (counted.turn == Turn::twice) {
    ++book.agent(*agent).duplicates;
    return;
  }
  add_counted(book.agent(*agent).missing, counted);
  const ExportPlace at{*agent, number, time_ns};
  book.see_datagram(at);
  sflow::Items samples = datagram.samples();
  sflow::Item item;
  std::uint32_t cut = datagram.sample_count;
  while (samples.next(item)) {
    --cut;
    sflow::Sample sample;
    if (sflow::read_sample(item, sample) != sflow::End::complete) {
      ++book.found().unreadable;
    } else {
      see_sample(book, at, sample);
    }
  }
  if (samples.end() == sflow::End::complete) return;
  ++book.found().unreadable;
  if (samples.end() != sflow::End::cut) return;
  state.cut_away += cut;
}

void SflowTracker::see_sample(ExportBook& book, const ExportPlace& at, const sflow::Sample& sample) {
  if (sample.is_flow()) {
    see_packet(book, at, sample);
  } else if (sample.is_counters()) {
    see_counters(book, at, sample);
  } else if (sample.kind == sflow::SampleKind::discarded) {
    see_drop(book, at, sample);
  } else {
    ++book.found().other_formats;
  }
}

void SflowTracker::see_packet(ExportBook& book, const ExportPlace& at, const sflow::Sample& sample) {
  const auto place = book.source_of({at.agent, sample.source_class, sample.source_index, sample.rate});
  if (!place) return;
  ExportSource& source = book.source(*place);
  SourceState* const known = state_of(book, at, Kind::flow, sample);
  if (known == nullptr) return;
  SourceState& state = *known;
  const bool first = !state.samples.any;
  Placing counted = state.samples.count_in(sample.sequence);
  if (counted.turn == Turn::twice) return;
  // What the capture cut away was not lost on the way.
  std::uint64_t& cut = agents_[at.agent].cut_away;
  const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(cut, counted.missing));
  cut -= here;
  counted.missing -= here;
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
  const auto way = is_source(sample.input)    ? ExportBook::Way::ingress
                   : is_source(sample.output) ? ExportBook::Way::egress
                                              : ExportBook::Way::not_said;
  book.see_packet(at, *place, way, sample.output.is_index() ? sample.output.value : 0, read_records(sample));
}

void SflowTracker::see_drop(ExportBook& book, const ExportPlace& at, const sflow::Sample& sample) {
  SourceState* const known = state_of(book, at, Kind::dropped, sample);
  if (known == nullptr) return;
  SourceState& state = *known;
  const bool first = !state.samples.any;
  const Placing counted = state.samples.count_in(sample.sequence);
  if (counted.turn == Turn::twice) return;
  if (counted.turn == Turn::next) {
    if (!first) book.found().drops_suppressed += added(state.drops, sample.drops);
    state.drops = sample.drops;
  }
  const SampledPacket packet = read_records(sample);
  ExportDrop drop;
  drop.source = sample.source_index;
  drop.input = sample.input.value;
  drop.output = sample.output.value;
  drop.reason = {DropReason::List::sflow, sample.reason};
  drop.queue = packet.queue;
  book.see_drop(at, drop, packet);
}

SflowTracker::SourceState* SflowTracker::state_of(ExportBook& book, const ExportPlace& at, Kind kind,
                                                  const sflow::Sample& sample) {
  const std::tuple key{at.agent, kind, sample.source_class, sample.source_index};
  if (const auto found = states_.find(key); found != states_.end()) return &found->second;
  if (states_.size() >= states_at_most) {
    ++book.found().others_dropped;
    return nullptr;
  }
  return &states_[key];
}

SflowTracker::PortState* SflowTracker::port_of(ExportBook& book, const ExportPlace& at, std::uint32_t index) {
  const std::tuple key{at.agent, index};
  if (const auto found = ports_.find(key); found != ports_.end()) return &found->second;
  if (book.found().ports.size() >= ExportBook::sources_at_most) {
    ++book.found().others_dropped;
    return nullptr;
  }
  PortState& state = ports_[key];
  state.place = static_cast<std::uint32_t>(book.found().ports.size());
  ExportPort& port = book.found().ports.emplace_back();
  port.agent = at.agent;
  port.index = index;
  return &state;
}

void SflowTracker::see_counters(ExportBook& book, const ExportPlace& at, const sflow::Sample& sample) {
  SourceState* const numbers = state_of(book, at, Kind::counters, sample);
  if (numbers == nullptr || numbers->samples.count_in(sample.sequence).turn != Turn::next) return;
  PortState* const state = port_of(book, at, sample.source_index);
  if (state == nullptr) return;
  ExportPort& port = book.found().ports[state->place];
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

}  // namespace roce::analyze
