// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/ip.hpp"
#include "dissect/headers/sflow.hpp"
#include "dissect/headers/sflow_counters.hpp"
#include "dissect/sflow.hpp"
#include "dissect/walk_export.hpp"

namespace roce::dissect {
namespace {

using sflow::Item;
using sflow::Items;

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

/// Where an item begins.
std::uint32_t start_of(const Walk& walk, const Item& item) noexcept {
  return static_cast<std::uint32_t>(item.body.captured.data() - Item::head - walk.base);
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

bool walk_sampled(Walk& walk, const Item& record) noexcept {
  sflow::SampledHeader sampled;
  if (!sflow::read_sampled_header(record, sampled)) return true;
  const std::uint32_t wire = sampled.frame_length - std::min(sampled.stripped, sampled.frame_length);
  return walk_exported(walk, sampled.header.captured, wire, step_of_protocol(sampled.protocol));
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
  if (!add_export(walk, kind.id, start_of(walk, record), length)) return false;
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
  if (!add_export(walk, id, start_of(walk, item), length)) return false;
  Items records = sample.records();
  Item record;
  while (records.next(record)) {
    if (!walk_record(walk, record, sample.is_counters())) return false;
  }
  note_end(walk, records.end(), id);
  return true;
}

}  // namespace

bool begins_sflow(const Walk& walk) noexcept {
  constexpr std::uint32_t first_words = 8;
  if (walk.sampled || walk.left() < first_words) return false;
  const std::uint32_t family = load_be32(walk.at() + 4);
  return load_be32(walk.at()) == sflow::version &&
         (family == sflow::address_ipv4 || family == sflow::address_ipv6);
}

/// A collector may listen on another port: then all lengths of the datagram have to fit.
bool resembles_sflow(const Walk& walk) noexcept {
  sflow::Datagram datagram;
  if (!begins_sflow(walk) || sflow::read_datagram(udp_payload(walk), datagram) != End::complete ||
      datagram.sample_count == 0)
    return false;
  std::size_t bytes = datagram.size;
  sflow::Items samples = datagram.samples();
  for (sflow::Item item; samples.next(item);)
    bytes += sflow::Item::head + ((item.body.declared + 3) & ~std::size_t{3});
  return samples.end() == End::complete && bytes == udp_payload(walk).declared;
}

Step walk_sflow(Walk& walk) noexcept {
  sflow::Datagram datagram;
  const End end = sflow::read_datagram(udp_payload(walk), datagram);
  const HeaderId id = datagram.agent_is_ipv6 ? HeaderId::sflow_ipv6 : HeaderId::sflow;
  if (end != End::complete) {
    note_end(walk, end, id);
    return Step::done;
  }
  if (!add_export(walk, id, walk.offset, datagram.size)) return Step::done;
  Items samples = datagram.samples();
  Item item;
  while (samples.next(item)) {
    if (!walk_sample(walk, item)) return Step::done;
  }
  note_end(walk, samples.end(), id);
  return Step::done;
}

}  // namespace roce::dissect
