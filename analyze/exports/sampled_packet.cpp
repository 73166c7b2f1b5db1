// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/sampled_packet.hpp"

#include <algorithm>

#include "dissect/dissect.hpp"

namespace roce::analyze {
namespace {

using dissect::sflow::Item;
using dissect::sflow::SampledHeader;
namespace records = dissect::sflow::flow_record;

std::optional<std::uint16_t> link_type_of(std::uint32_t protocol) {
  switch (protocol) {
    case SampledHeader::ethernet:
      return dissect::link_ethernet;
    case SampledHeader::ipv4:
      return dissect::link_ipv4;
    case SampledHeader::ipv6:
      return dissect::link_ipv6;
    case SampledHeader::infiniband:
      return dissect::link_infiniband;
    default:
      return std::nullopt;
  }
}

void read_header(const Item& record, SampledPacket& out) {
  SampledHeader header;
  if (!dissect::sflow::read_sampled_header(record, header)) return;
  out.header = true;
  out.length = header.frame_length;
  const std::optional<std::uint16_t> link_type = link_type_of(header.protocol);
  const std::uint32_t wire = header.frame_length - std::min(header.stripped, header.frame_length);
  if (link_type) read_packet(header.header.captured, std::max(wire, 1U), *link_type, out);
}

}  // namespace

void read_packet(dissect::Bytes bytes, std::uint32_t wire, std::uint16_t link_type, SampledPacket& out) {
  constexpr std::uint32_t longest = 0xffff;
  capture::Frame frame;
  frame.data = bytes.data();
  frame.captured = static_cast<std::uint32_t>(bytes.size());
  frame.wire = std::max(frame.captured, wire == 0 ? longest : std::min(wire, longest));
  frame.link_type = link_type;
  dissect::Dissection d;
  dissect::dissect(bytes, frame.wire, link_type, d);
  if (wire == 0) frame.wire = out.length = std::max(frame.captured, std::min(d.declared_end, longest));
  out.dissected = d.layer_count != 0;
  make_record(frame, d, out.packet);
}

SampledPacket read_records(const dissect::sflow::Sample& sample) {
  SampledPacket out;
  dissect::sflow::Items items = sample.records();
  Item record;
  while (items.next(record)) {
    switch (record.standard().value_or(0)) {
      case records::sampled_header:
        if (!out.header) read_header(record, out);
        break;
      case records::egress_queue:
        out.queue = record.word(0);
        break;
      case records::transit_delay:
        out.delay_ns = record.word(0);
        break;
      case records::queue_depth:
        out.depth = record.word(0);
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace roce::analyze
