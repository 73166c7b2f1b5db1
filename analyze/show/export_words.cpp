// SPDX-License-Identifier: Apache-2.0
// A datagram of sFlow in the line of a packet.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/show/packet_words.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/sflow.hpp"
#include "dissect/opcode.hpp"
#include "dissect/sflow.hpp"

namespace roce::analyze {
namespace {

using dissect::HeaderId;
using dissect::Layer;
using dissect::read;

/// What a datagram says, as far as a line has room for it.
struct Told {
  std::uint64_t packets = 0, counters = 0, discarded = 0, others = 0;
  std::uint32_t rate = 0;                ///< of the first sample of a packet
  const std::uint8_t* reason = nullptr;  ///< the first discarded sample
  const std::uint8_t* bth = nullptr;     ///< of the first exported RoCE packet

  void see(const Layer& layer, const std::uint8_t* p) {
    switch (layer.id) {
      case HeaderId::sflow_flow_sample:
      case HeaderId::sflow_flow_sample_expanded:
        if (packets++ == 0)
          rate = layer.id == HeaderId::sflow_flow_sample ? read<dissect::SflowFlowSample::rate>(p)
                                                         : read<dissect::SflowFlowSampleExpanded::rate>(p);
        break;
      case HeaderId::sflow_counters_sample:
      case HeaderId::sflow_counters_sample_expanded:
        ++counters;
        break;
      case HeaderId::sflow_discarded_sample:
        if (discarded++ == 0) reason = p;
        break;
      case HeaderId::sflow_sample:
        ++others;
        break;
      case HeaderId::bth:
        if (bth == nullptr) bth = p;
        break;
      default:
        break;
    }
  }
};

void append_count(std::string& out, std::uint64_t count, std::string_view what) {
  if (count == 0) return;
  out += ", ";
  append_decimal(out, count);
  out += what;
}

}  // namespace

void append_sflow_words(std::string& out, const PacketView& packet) {
  const dissect::Dissection& d = *packet.dissection;
  if (!d.is_sflow()) return;
  Told told;
  for (const Layer& layer : d.all().subspan(d.udp + std::size_t{1}))
    told.see(layer, packet.frame->data + layer.offset);
  const Layer& head = d.layers[d.udp + 1U];
  const std::uint8_t* const agent = packet.frame->data + head.offset + 8;
  out += "sFlow of ";
  append_address(out,
                 head.id == HeaderId::sflow ? dissect::IpAddress::v4(agent) : dissect::IpAddress::v6(agent));
  append_count(out, told.packets, " sampled");
  if (told.packets != 0) {
    out += ", 1 in ";
    append_decimal(out, told.rate);
  }
  append_count(out, told.discarded, " dropped");
  if (told.reason != nullptr) {
    const std::uint32_t reason = read<dissect::SflowDiscardedSample::reason>(told.reason);
    const std::string_view name = dissect::sflow::drop_reason_name(reason);
    out += ": ";
    if (name.empty()) {
      out += "reason ";
      append_decimal(out, reason);
    } else {
      out += name;
    }
  }
  append_count(out, told.counters, " of counters");
  append_count(out, told.others, " of other formats");
  if (told.bth == nullptr) return;
  out += "  ";
  out += dissect::opcode_name(read<dissect::Bth::opcode>(told.bth));
  out += " QP ";
  append_hex_number(out, read<dissect::Bth::destqp>(told.bth), 6);
  out += "  PSN ";
  append_decimal(out, read<dissect::Bth::psn>(told.bth));
  if (told.packets + told.discarded > 1) out += " ...";
}

}  // namespace roce::analyze
