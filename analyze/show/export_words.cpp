// SPDX-License-Identifier: Apache-2.0
// A datagram that a switch exports in the line of a packet.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/show/packet_words.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ipfix.hpp"
#include "dissect/headers/sflow.hpp"
#include "dissect/ipfix.hpp"
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

/// The exported packet.
void append_exported(std::string& out, const std::uint8_t* bth) {
  out += "  ";
  out += dissect::opcode_name(read<dissect::Bth::opcode>(bth));
  out += " QP ";
  append_hex_number(out, read<dissect::Bth::destqp>(bth), 6);
  out += "  PSN ";
  append_decimal(out, read<dissect::Bth::psn>(bth));
}

/// "IPFIX of domain 9, 1 template, 3 sets of data", "IPFIX of domain 9, 1 dropped: no buffer ...  RC ...".
void append_ipfix_words(std::string& out, const PacketView& packet) {
  const dissect::Dissection& d = *packet.dissection;
  std::uint64_t templates = 0, sets = 0, packets = 0;
  const std::uint8_t *bth = nullptr, *drop = nullptr;
  for (const Layer& layer : d.all().subspan(d.udp + std::size_t{1})) {
    const std::uint8_t* const p = packet.frame->data + layer.offset;
    if (layer.id == HeaderId::ipfix_template || layer.id == HeaderId::ipfix_options_template ||
        layer.id == HeaderId::netflow9_options_template)
      ++templates;
    if (layer.id == HeaderId::ipfix_set &&
        read<dissect::IpfixSet::set>(p) >= dissect::ipfix::Set::first_of_data)
      ++sets;
    if (layer.id == HeaderId::ipfix_drop_mirror) drop = p;
    if (layer.id == HeaderId::bth && packets++ == 0) bth = p;
  }
  const Layer& head = d.layers[d.udp + 1U];
  const std::uint8_t* const p = packet.frame->data + head.offset;
  const bool netflow = head.id == HeaderId::netflow9_message;
  out += netflow ? "NetFlow 9 of source " : "IPFIX of domain ";
  append_decimal(
      out, netflow ? read<dissect::Netflow9Message::source>(p) : read<dissect::IpfixMessage::domain>(p));
  append_count(out, templates, templates == 1 ? " template" : " templates");
  if (drop == nullptr) {
    append_count(out, sets, sets == 1 ? " set of data" : " sets of data");
    if (bth == nullptr) return;
    append_exported(out, bth);
    if (packets > 1) out += " ...";
    return;
  }
  out += ", 1 dropped at port ";
  append_decimal(out, read<dissect::IpfixDropMirror::egress>(drop));
  out += ", reason ";
  append_hex_number(out, read<dissect::IpfixDropMirror::codes>(drop), 4);
  if (bth != nullptr) append_exported(out, bth);
}

}  // namespace

void append_export_words(std::string& out, const PacketView& packet) {
  const dissect::Dissection& d = *packet.dissection;
  if (d.is_ipfix()) return append_ipfix_words(out, packet);
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
  append_exported(out, told.bth);
  if (told.packets + told.discarded > 1) out += " ...";
}

}  // namespace roce::analyze
