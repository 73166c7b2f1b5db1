// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/ipfix_tracker.hpp"

#include <algorithm>

#include "dissect/dissect.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {
namespace {

namespace ipfix = dissect::ipfix;
namespace element = dissect::ipfix::element;
using dissect::End;
using dissect::Part;
using ipfix::SetKind;

std::uint64_t hash_of_bytes(dissect::Bytes bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3U;
  return hash;
}

bool has_data(const ipfix::Message& message) noexcept {
  ipfix::Sets sets = message.sets();
  ipfix::Set set;
  while (sets.next(set)) {
    if (set.kind == SetKind::data) return true;
  }
  return false;
}

std::size_t size_of(const RecordTemplate& kept) noexcept {
  return kept.rows.size();
}

}  // namespace

ExportDatagram export_datagram(std::uint64_t number, const capture::Frame& frame,
                               const dissect::Dissection& d) {
  ExportDatagram datagram{number, frame.time_ns, {}, 0};
  datagram.port = dissect::read<dissect::Udp::srcport>(frame.data + d.layers[d.udp].offset);
  if (d.network == dissect::Dissection::none) return datagram;
  const dissect::Layer& network = d.layers[d.network];
  const std::uint8_t* const p = frame.data + network.offset;
  datagram.sender = network.id == dissect::HeaderId::ipv4
                        ? dissect::IpAddress::v4(p + dissect::Ipv4::src.first_byte())
                        : dissect::IpAddress::v6(p + dissect::Ipv6::src.first_byte());
  return datagram;
}

ExportProtocol protocol_of(const ipfix::Message& message) noexcept {
  return message.netflow9 ? ExportProtocol::netflow9 : ExportProtocol::ipfix;
}

void IpfixTracker::see(ExportBook& book, const ExportDatagram& datagram, Part payload) {
  ipfix::Message message;
  if (ipfix::read_message(payload, message) != End::complete) {
    ++book.found().unreadable;
    return;
  }
  const auto agent = book.agent_of(protocol_of(message), datagram.sender, message.domain);
  if (!agent) return;
  Stream* const stream = stream_of(book, *agent, datagram.port);
  if (stream == nullptr) return;
  if (!take_its_turn(book, *agent, *stream, message, payload)) {
    ++book.agent(*agent).duplicates;
    return;
  }
  const ExportPlace at{*agent, datagram.number, datagram.time_ns};
  book.see_datagram(at);
  Exporter& exporter = exporters_[*agent];
  std::optional<std::uint32_t> records = 0;
  ipfix::Sets sets = message.sets();
  ipfix::Set set;
  while (sets.next(set)) {
    if (set.kind == SetKind::templates || set.kind == SetKind::options_templates) {
      learn(book, exporter, set, message.netflow9);
    } else if (set.kind == SetKind::data) {
      const std::optional<std::uint32_t> more = read_data(book, at, exporter, message, set);
      records = records && more ? std::optional(*records + *more) : std::nullopt;
    }
  }
  if (sets.end() != End::complete) {
    ++book.found().unreadable;
    records.reset();
  }
  if (!message.netflow9 && records != 0U)
    count_records(book.agent(*agent), *stream, message.sequence, records);
}

const RecordTemplate* IpfixTracker::template_of(std::uint32_t agent, std::uint16_t set) const {
  const auto exporter = exporters_.find(agent);
  if (exporter == exporters_.end()) return nullptr;
  const auto found = exporter->second.templates.find(set);
  return found == exporter->second.templates.end() ? nullptr : &found->second;
}

/// Messages without data do not count.
void IpfixTracker::count_records(ExportAgent& told, Stream& stream, std::uint32_t sequence,
                                 std::optional<std::uint32_t> records) {
  stream.any = records.has_value();
  if (!records) return;
  if (!stream.late) {
    stream.expected = sequence + *records;
  } else {
    told.missing -= std::min<std::uint64_t>(told.missing, *records);
  }
}

IpfixTracker::Stream* IpfixTracker::stream_of(ExportBook& book, std::uint32_t agent, std::uint16_t port) {
  const std::tuple key{agent, port};
  if (const auto found = streams_.find(key); found != streams_.end()) return &found->second;
  if (streams_.size() >= streams_at_most) {
    ++book.found().others_dropped;
    return nullptr;
  }
  return &streams_[key];
}

/// After a restart an exporter numbers anew, and may give numbers of templates to others.
void IpfixTracker::forget(ExportAgent& told, Exporter& exporter, Stream& stream) {
  ++told.restarts;
  for (const auto& [id, kept] : exporter.templates) rows_ -= size_of(kept);
  templates_ -= exporter.templates.size();
  exporter.templates.clear();
  for (auto& [key, sampler] : exporter.samplers) sampler.counted = false;
  exporter.uptime_ms = 0;
  stream = {};
}

bool IpfixTracker::take_its_turn(ExportBook& book, std::uint32_t agent, Stream& stream,
                                 const ipfix::Message& message, Part payload) {
  ExportAgent& told = book.agent(agent);
  Exporter& exporter = exporters_[agent];
  if (message.netflow9) {
    constexpr std::uint32_t late_ms = 10'000;  // a datagram that was overtaken is somewhat older
    if (message.uptime_ms < exporter.uptime_ms && exporter.uptime_ms - message.uptime_ms > late_ms)
      forget(told, exporter, stream);
    exporter.uptime_ms = std::max(exporter.uptime_ms, message.uptime_ms);
    const Placing placed = stream.datagrams.count_in(message.sequence);
    if (placed.turn == Turn::twice) return false;
    add_counted(told.missing, placed);
    return true;
  }
  // Messages with nothing but templates do not count up, and come again as they are.
  if (!has_data(message)) return true;
  const std::uint64_t hash = hash_of_bytes(payload.captured);
  if (std::find(stream.seen.begin(), stream.seen.end(), hash) != stream.seen.end()) return false;
  constexpr std::int32_t furthest_ahead = 1 << 24, furthest_behind = 1 << 16;
  const auto ahead = static_cast<std::int32_t>(message.sequence - stream.expected);
  if (stream.any && (ahead > furthest_ahead || ahead < -furthest_behind)) forget(told, exporter, stream);
  if (!stream.any) {
    stream.expected = message.sequence;
  } else if (ahead > 0) {
    told.missing += static_cast<std::uint32_t>(ahead);
  }
  stream.late = stream.any && ahead < 0;
  stream.any = true;
  stream.seen[stream.seen_at++ % stream.seen.size()] = hash;
  return true;
}

bool IpfixTracker::erase_template(Exporter& exporter, std::uint16_t id) {
  const auto found = exporter.templates.find(id);
  if (found == exporter.templates.end()) return false;
  rows_ -= size_of(found->second);
  --templates_;
  exporter.templates.erase(found);
  return true;
}

void IpfixTracker::learn(ExportBook& book, Exporter& exporter, const ipfix::Set& set, bool netflow9) {
  const bool options = set.kind == SetKind::options_templates;
  ipfix::Templates templates(set, netflow9);
  ipfix::Template each;
  while (templates.next(each)) {
    if (each.count == 0) {
      std::vector<std::uint16_t> withdrawn{each.id};
      if (each.id == set.id) {
        for (const auto& [id, kept] : exporter.templates) {
          if (kept.options == options) withdrawn.push_back(id);
        }
      }
      for (const std::uint16_t id : withdrawn)
        book.found().templates_changed += erase_template(exporter, id) ? 1U : 0U;
      continue;
    }
    const auto known = exporter.templates.find(each.id);
    const std::size_t held = known == exporter.templates.end() ? 0 : size_of(known->second);
    const bool room = held != 0 || templates_ < templates_at_most;
    std::optional<RecordTemplate> kept =
        keep_template(each, options, netflow9, room ? rows_at_most - (rows_ - held) : 0);
    if (known != exporter.templates.end()) {
      if (kept && *kept == known->second) continue;
      ++book.found().templates_changed;
      (void)erase_template(exporter, each.id);
    }
    if (!kept) {
      ++book.found().others_dropped;
      continue;
    }
    rows_ += size_of(*kept);
    ++templates_;
    exporter.templates.emplace(each.id, std::move(*kept));
  }
  if (templates.end() != End::complete) ++book.found().unreadable;
}

std::optional<std::uint32_t> IpfixTracker::read_data(ExportBook& book, const ExportPlace& at,
                                                     Exporter& exporter, const ipfix::Message& message,
                                                     const ipfix::Set& set) {
  const auto found = exporter.templates.find(set.id);
  if (found == exporter.templates.end()) {
    ipfix::DropMirror mirrored;
    if (ipfix::read_drop_mirror(message, set, mirrored) != End::complete) {
      ++book.found().sets_without_template;
      return std::nullopt;
    }
    SampledPacket packet;
    read_packet(mirrored.section.captured, 0, dissect::link_ethernet, packet);
    ExportDrop drop;
    drop.input = mirrored.ingress;
    drop.output = mirrored.egress;
    drop.reason = {DropReason::List::mirror_on_drop, mirrored.reason()};
    book.see_drop(at, drop, packet);
    return 1;
  }
  const RecordTemplate& by = found->second;
  Part rest = set.body;
  std::uint32_t records = 0;
  while (rest.declared >= by.least) {
    ExportRecord record;
    if (take_record(by, rest, record) != End::complete) {
      ++book.found().unreadable;
      return std::nullopt;
    }
    ++records;
    if (by.options) {
      see_options(book, at, exporter, record);
    } else {
      see_record(book, at, exporter, record);
    }
  }
  return records;
}

IpfixTracker::SamplerKey IpfixTracker::key_of(const ExportRecord& record) {
  constexpr std::pair<Slot, std::uint16_t> names[] = {{Slot::selection_sequence, element::selection_sequence},
                                                      {Slot::selector, element::selector},
                                                      {Slot::sampler_id, element::sampler_id}};
  for (const auto& [slot, named_by] : names) {
    if (record.get(slot)) return {named_by, record.number(slot)};
  }
  return {};
}

/// That of its sampler; of a selection sequence, of all its selectors together; else that of the exporter.
SamplingRate IpfixTracker::rate_of(const Exporter& exporter, const SamplerKey& key) {
  const auto rate_told = [&](const SamplerKey& of) {
    const auto found = exporter.samplers.find(of);
    return found == exporter.samplers.end() ? SamplingRate{} : found->second.rate;
  };
  if (const SamplingRate own = rate_told(key); own.known()) return own;
  const auto found = exporter.samplers.find(key);
  if (found == exporter.samplers.end() || found->second.selectors.empty()) return rate_told({});
  std::uint64_t packets = 1, per = 1;
  for (const std::uint32_t selector : found->second.selectors) {
    const SamplingRate each = rate_told({element::selector, selector});
    if (!each.known()) return {};
    const SamplingRate product = sampling_rate(packets * each.packets, per * each.per);
    packets = product.packets;
    per = product.per;
  }
  return {static_cast<std::uint32_t>(packets), static_cast<std::uint32_t>(per)};
}

void IpfixTracker::see_options(ExportBook& book, const ExportPlace& at, Exporter& exporter,
                               const ExportRecord& record) {
  const SamplingRate rate = record.rate();
  const auto observed = record.get(Slot::observed), selected = record.get(Slot::selected);
  const SamplerKey key = key_of(record);
  const bool sequence = key.first == element::selection_sequence && record.selector_count != 0;
  if (!rate.known() && !(observed && selected) && !sequence) return;
  auto found = exporter.samplers.find(key);
  if (found == exporter.samplers.end()) {
    if (samplers_ >= samplers_at_most) {
      ++book.found().others_dropped;
      return;
    }
    ++samplers_;
    found = exporter.samplers.try_emplace(key).first;
  }
  Sampler& sampler = found->second;
  if (rate.known()) {
    const bool first = !sampler.rate.known();
    sampler.rate = rate;
    if (first) rate_what_waits(book, at, exporter);
  }
  if (sequence)
    sampler.selectors.assign(record.selectors.begin(),
                             record.selectors.begin() + static_cast<std::ptrdiff_t>(record.selector_count));
  if (!observed || !selected) return;
  const SamplingRate now = rate_of(exporter, key);
  if (!now.known()) {
    sampler.rate = sampling_rate(*observed, *selected);
  } else if (sampler.counted) {
    const auto place = book.find_source({at.agent, key.first, key.second, now.packets, now.per});
    const std::uint64_t passed = added(sampler.observed, *observed),
                        taken = added(sampler.selected, *selected);
    if (place && passed >= taken && taken != 0) {
      book.source(*place).pool += passed;
      book.source(*place).pooled += taken;
    }
  }
  sampler.counted = true;
  sampler.observed = *observed;
  sampler.selected = *selected;
}

void IpfixTracker::rate_what_waits(ExportBook& book, const ExportPlace& at, Exporter& exporter) {
  std::erase_if(exporter.unrated, [&](const SamplerKey& key) {
    const SamplingRate rate = rate_of(exporter, key);
    return rate.known() && book.source_of({at.agent, key.first, key.second, rate.packets, rate.per});
  });
}

void IpfixTracker::see_record(ExportBook& book, const ExportPlace& at, Exporter& exporter,
                              const ExportRecord& record) {
  if (record.section == Slot::passed) {
    ++book.found().flow_records;
    book.found().roce_flow_records += record.of_roce() ? 1U : 0U;
    return;
  }
  const SampledPacket packet = record.packet();
  const std::uint64_t status = record.get(Slot::forwarding_status).value_or(0);
  if (ipfix::says_dropped(status) && status <= 0xff) {
    ExportDrop drop;
    drop.input = record.number(Slot::ingress);
    drop.output = record.number(Slot::egress);
    drop.reason = {DropReason::List::forwarding_status, static_cast<std::uint32_t>(status)};
    book.see_drop(at, drop, packet);
    return;
  }
  const SamplerKey key = key_of(record);
  const SamplingRate own = record.rate();
  const SamplingRate rate = own.known() ? own : rate_of(exporter, key);
  const auto place = book.source_of({at.agent, key.first, key.second, rate.packets, rate.per});
  if (!place) return;
  if (!rate.known() && exporter.unrated.size() < unrated_at_most) exporter.unrated.insert(key);
  const auto direction = record.get(Slot::direction);
  const auto way = !direction                              ? ExportBook::Way::not_said
                   : *direction == ipfix::egress_direction ? ExportBook::Way::egress
                                                           : ExportBook::Way::ingress;
  book.see_packet(at, *place, way, record.number(Slot::egress), packet);
}

void IpfixTracker::finish(ExportBook& book) const {
  const std::vector<ExportSource> sources = book.found().sources;
  for (const ExportSource& source : sources) {
    const auto exporter = exporters_.find(source.agent);
    if (source.rate != 0 || exporter == exporters_.end()) continue;
    const SamplingRate rate =
        rate_of(exporter->second, {static_cast<std::uint16_t>(source.source_class), source.index});
    if (rate.known())
      (void)book.source_of({source.agent, source.source_class, source.index, rate.packets, rate.per});
  }
}

}  // namespace roce::analyze
