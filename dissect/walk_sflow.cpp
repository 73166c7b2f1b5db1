// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/ip.hpp"
#include "dissect/headers/sflow.hpp"
#include "dissect/headers/sflow_counters.hpp"
#include "dissect/sflow.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {
namespace {

using sflow::End;
using sflow::Item;
using sflow::Items;
using sflow::Part;

/// A kind of record, and the bytes that it must have, its head included.
struct RecordKind {
  std::uint32_t format;
  HeaderId id;
  std::uint16_t size;
};
template <class Header>
consteval RecordKind record_kind(std::uint32_t format) {
  return {format, Header::id, static_cast<std::uint16_t>(Header::size)};
}

constexpr RecordKind flow_records[] = {record_kind<SflowRawHeader>(sflow::flow_record::sampled_header),
                                       record_kind<SflowSwitch>(sflow::flow_record::extended_switch),
                                       record_kind<SflowIbLrh>(sflow::flow_record::ib_lrh),
                                       record_kind<SflowIbGrh>(sflow::flow_record::ib_grh),
                                       record_kind<SflowIbBth>(sflow::flow_record::ib_bth),
                                       record_kind<SflowEgressQueue>(sflow::flow_record::egress_queue),
                                       record_kind<SflowAcl>(sflow::flow_record::acl),
                                       record_kind<SflowFunction>(sflow::flow_record::function),
                                       record_kind<SflowTransitDelay>(sflow::flow_record::transit_delay),
                                       record_kind<SflowQueueDepth>(sflow::flow_record::queue_depth),
                                       record_kind<SflowHardwareTrap>(sflow::flow_record::hardware_trap),
                                       record_kind<SflowLinuxReason>(sflow::flow_record::linux_reason),
                                       record_kind<SflowTimestamp>(sflow::flow_record::timestamp)};
constexpr RecordKind counter_records[] = {
    record_kind<SflowInterfaceCounters>(sflow::counter_record::interface),
    record_kind<SflowEthernetCounters>(sflow::counter_record::ethernet),
    record_kind<SflowPfcCounters>(sflow::counter_record::pfc)};

RecordKind kind_of_record(std::span<const RecordKind> kinds, const Item& record,
                          HeaderId otherwise) noexcept {
  for (const RecordKind& kind : kinds) {
    if (record.standard() == kind.format) return kind;
  }
  return {0, otherwise, Item::head};
}

HeaderId id_of(sflow::SampleKind kind) noexcept {
  constexpr HeaderId ids[] = {HeaderId::sflow_sample,
                              HeaderId::sflow_flow_sample,
                              HeaderId::sflow_counters_sample,
                              HeaderId::sflow_flow_sample_expanded,
                              HeaderId::sflow_counters_sample_expanded,
                              HeaderId::sflow_discarded_sample};
  return ids[static_cast<std::size_t>(kind)];
}

/// The first thing that is wrong is what ended the dissection; what can be passed is passed all the same.
void note_end(Walk& walk, End end, HeaderId id) noexcept {
  if (end == End::complete || walk.out.stop != Stop::complete) return;
  walk.out.stop = end == End::cut ? Stop::cut_by_capture : Stop::contradicts_itself;
  walk.out.stopped_at = id;
}

/// Where an item begins.
std::uint32_t start_of(const Walk& walk, const Item& item) noexcept {
  return static_cast<std::uint32_t>(item.body.captured.data() - Item::head - walk.base);
}

/// False if there is no room for another layer.
bool add(Walk& walk, HeaderId id, std::uint32_t offset, std::size_t length) noexcept {
  if (walk.out.layer_count >= max_layers_of_exports) {
    walk.out.stop = Stop::too_deep;
    walk.out.stopped_at = id;
    return false;
  }
  walk.offset = offset;
  walk.push(id, static_cast<std::uint32_t>(length));
  return true;
}

Step step_of_protocol(std::uint32_t protocol) noexcept {
  switch (protocol) {
    case sflow::SampledHeader::ethernet:
      return Step::ethernet;
    case sflow::SampledHeader::ipv4:
      return Step::ipv4;
    case sflow::SampledHeader::ipv6:
      return Step::ipv6;
    case sflow::SampledHeader::infiniband:
      return Step::lrh;
    default:
      return Step::done;
  }
}

/// The sampled frame is cut, as a rule, and none of its facts are this frame's: only its layers are taken
/// over.
bool walk_sampled(Walk& walk, const Item& record) noexcept {
  sflow::SampledHeader sampled;
  if (!sflow::read_sampled_header(record, sampled)) return true;
  const Bytes bytes = sampled.header.captured;
  const auto offset = static_cast<std::uint32_t>(bytes.data() - walk.base);
  const auto end = static_cast<std::uint32_t>(offset + bytes.size());
  const std::uint64_t wire = sampled.frame_length - std::min(sampled.stripped, sampled.frame_length);
  const std::uint64_t declared = std::max<std::uint64_t>(offset + std::min<std::uint64_t>(wire, 0xffff), end);
  Dissection inner;
  inner.reset();
  const auto whole = static_cast<std::uint32_t>(declared);
  Walk within{walk.base, offset, end, whole, whole, inner, walk.options, true};
  take_steps(within, step_of_protocol(sampled.protocol));
  for (const Layer& layer : inner.all()) {
    if (!add(walk, layer.id, layer.offset, layer.length)) return false;
    walk.out.layers[walk.out.layer_count - 1U].sampled = true;
  }
  return true;
}

bool walk_record(Walk& walk, const Item& record, bool of_counters) noexcept {
  const RecordKind kind = of_counters
                              ? kind_of_record(counter_records, record, HeaderId::sflow_counters_record)
                              : kind_of_record(flow_records, record, HeaderId::sflow_flow_record);
  if (const End end = record.body.holds(kind.size - Item::head); end != End::complete) {
    note_end(walk, end, kind.id);
    return true;
  }
  const std::size_t length = Item::head + record.body.captured.size();
  if (!add(walk, kind.id, start_of(walk, record), length)) return false;
  return kind.id != HeaderId::sflow_raw_header || walk_sampled(walk, record);
}

bool walk_sample(Walk& walk, const Item& item) noexcept {
  sflow::Sample sample;
  const HeaderId id = id_of(sflow::kind_of(item));
  if (const End end = sflow::read_sample(item, sample); end != End::complete) {
    note_end(walk, end, id);
    return true;
  }
  const bool other = sample.kind == sflow::SampleKind::other;
  const std::size_t length = other ? Item::head + item.body.captured.size() : sample.size;
  if (!add(walk, id, start_of(walk, item), length)) return false;
  Items records = sample.records();
  Item record;
  while (records.next(record)) {
    if (!walk_record(walk, record, sample.is_counters())) return false;
  }
  note_end(walk, records.end(), id);
  return true;
}

/// The bytes behind the UDP header. Those of the first fragment are cut by the network, not by a length that
/// lies.
Part payload_of(const Walk& walk) noexcept {
  const std::uint8_t* const udp = walk.base + walk.out.layers[walk.out.udp].offset;
  std::uint32_t declared = walk.declared - std::min(walk.declared, walk.offset);
  if (walk.out.has(Note::fragmented))
    declared = std::max<std::uint32_t>(declared, read<Udp::length>(udp) - std::uint32_t{Udp::size});
  return {{walk.at(), std::min(walk.left(), declared)}, declared};
}

}  // namespace

bool begins_sflow(const Walk& walk) noexcept {
  constexpr std::uint32_t first_words = 8;
  if (walk.sampled || walk.left() < first_words) return false;
  const std::uint32_t family = load_be32(walk.at() + 4);
  return load_be32(walk.at()) == sflow::version &&
         (family == sflow::address_ipv4 || family == sflow::address_ipv6);
}

Step walk_sflow(Walk& walk) noexcept {
  sflow::Datagram datagram;
  const End end = sflow::read_datagram(payload_of(walk), datagram);
  const HeaderId id = datagram.agent_is_ipv6 ? HeaderId::sflow_ipv6 : HeaderId::sflow;
  if (end != End::complete) {
    note_end(walk, end, id);
    return Step::done;
  }
  if (!add(walk, id, walk.offset, datagram.size)) return Step::done;
  Items samples = datagram.samples();
  Item item;
  while (samples.next(item)) {
    if (!walk_sample(walk, item)) return Step::done;
  }
  note_end(walk, samples.end(), id);
  return Step::done;
}

}  // namespace roce::dissect
