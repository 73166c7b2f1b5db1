// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/packet_words.hpp"

#include <string_view>

#include "analyze/base/units.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/filter/field_extract.hpp"
#include "analyze/link/pauses.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "dissect/cm.hpp"
#include "dissect/dissect.hpp"
#include "dissect/header_table.hpp"
#include "dissect/headers/cm.hpp"
#include "dissect/headers/cm_service.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/mac_control.hpp"
#include "dissect/headers/nvme.hpp"

namespace roce::analyze {
namespace {

using dissect::Field;
using dissect::HeaderId;
using dissect::Layer;
using dissect::read;

/// Service ID, IBTA A11.2: prefix, IP protocol, port.
void append_service(std::string& out, std::uint64_t service_id) {
  if (service_id >> 24U != dissect::ip_cm_service_prefix) {
    out += " service ";
    append_hex_number(out, service_id, 16);
    return;
  }
  const std::uint64_t protocol = (service_id >> 16U) & 0xffU;
  const auto port = static_cast<std::uint16_t>(service_id & 0xffffU);
  const std::string_view name = dissect::name_of(dissect::ip_proto_names, protocol);
  out += " to ";
  if (name.empty()) {
    out += "port space ";
    append_hex_number(out, protocol, 2);
  } else {
    out += name;
  }
  out += " port ";
  append_decimal(out, port);
  if (const std::string_view service = dissect::service_name_of(service_id); !service.empty()) {
    out += " (";
    out += service;
    out += ')';
  }
}

void append_qpn(std::string& out, std::uint64_t qpn) {
  out += "  QPN ";
  append_hex_number(out, qpn, 6);
}
void append_psn(std::string& out, std::uint64_t psn) {
  out += "  PSN ";
  append_decimal(out, psn);
}

void append_named(std::string& out, const Field& field, const std::uint8_t* p) {
  const std::uint64_t value = dissect::read_bits(field, p);
  const std::string_view name = dissect::name_of(field.names, value);
  out += ' ';
  if (name.empty()) {
    append_decimal(out, value);
  } else {
    out += name;
  }
}

void req(std::string& out, const std::uint8_t* p) {
  out += "REQ";
  append_named(out, dissect::CmReq::transport, p);
  append_service(out, read<dissect::CmReq::service_id>(p));
  append_qpn(out, read<dissect::CmReq::qpn>(p));
  append_psn(out, read<dissect::CmReq::starting_psn>(p));
}
void rep(std::string& out, const std::uint8_t* p) {
  out += "REP";
  append_qpn(out, read<dissect::CmRep::qpn>(p));
  append_psn(out, read<dissect::CmRep::starting_psn>(p));
}
void rej(std::string& out, const std::uint8_t* p) {
  out += "REJ of";
  append_named(out, dissect::CmRej::message, p);
  out += ':';
  append_named(out, dissect::CmRej::reason, p);
}
void mra(std::string& out, const std::uint8_t* p) {
  out += "MRA of";
  append_named(out, dissect::CmMra::message, p);
}
void dreq(std::string& out, const std::uint8_t* p) {
  out += "DREQ";
  append_qpn(out, read<dissect::CmDreq::remote_qpn>(p));
}
void sidr_req(std::string& out, const std::uint8_t* p) {
  out += "SIDR_REQ";
  append_service(out, read<dissect::CmSidrReq::service_id>(p));
}
void sidr_rep(std::string& out, const std::uint8_t* p) {
  out += "SIDR_REP";
  append_named(out, dissect::CmSidrRep::status, p);
  if (read<dissect::CmSidrRep::status>(p) == 0) append_qpn(out, read<dissect::CmSidrRep::qpn>(p));
}

struct CmWords {
  HeaderId id;
  void (*append)(std::string& out, const std::uint8_t* header);
};
constexpr CmWords cm_words[] = {
    {HeaderId::cm_req, req},
    {HeaderId::cm_mra, mra},
    {HeaderId::cm_rej, rej},
    {HeaderId::cm_rep, rep},
    {HeaderId::cm_rtu, [](std::string& out, const std::uint8_t*) { out += "RTU"; }},
    {HeaderId::cm_dreq, dreq},
    {HeaderId::cm_drep, [](std::string& out, const std::uint8_t*) { out += "DREP"; }},
    {HeaderId::cm_sidr_req, sidr_req},
    {HeaderId::cm_sidr_rep, sidr_rep},
    {HeaderId::cm_lap, [](std::string& out, const std::uint8_t*) { out += "LAP"; }},
    {HeaderId::cm_apr, [](std::string& out, const std::uint8_t*) { out += "APR"; }},
    {HeaderId::cm_unknown, [](std::string& out, const std::uint8_t*) { out += "message of unknown kind"; }},
};

/// The text field of that name in a layer, if it has one.
void append_text_field(std::string& out, const PacketView& packet, const Layer& layer,
                       dissect::Display display) {
  for (const Field& field : dissect::header_info(layer.id).fields) {
    if (field.display != display) continue;
    const auto value = read_value(field, packet.frame->data + layer.offset, layer.length);
    if (!value || value->text.empty()) continue;
    out += ' ';
    append_printable(out, value->text);
    return;
  }
}

void append_ports(std::string& out, const std::uint8_t* p) {
  out += ' ';
  append_decimal(out, dissect::load_be16(p));
  out += " \xe2\x86\x92 ";
  append_decimal(out, dissect::load_be16(p + 2));
}

void append_name_or_number(std::string& out, std::span<const dissect::ValueName> names, std::uint64_t value,
                           std::string_view kind, unsigned hex_digits) {
  const std::string_view name = dissect::name_of(names, value);
  if (!name.empty()) {
    out += name;
    return;
  }
  out += kind;
  out += ' ';
  if (hex_digits != 0) {
    append_hex_number(out, value, hex_digits);
  } else {
    append_decimal(out, value);
  }
}

struct NoteText {
  dissect::Note note;
  std::string_view text;
};
constexpr NoteText note_texts[] = {
    {dissect::Note::short_roce_datagram, "too short for RoCE"},
    {dissect::Note::only_source_port, "from the RoCE port, not to it"},
    {dissect::Note::fragmented, "IP fragment"},
    {dissect::Note::cut_on_the_way, "truncated before it was captured"},
    {dissect::Note::udp_length_mismatch, "UDP length exceeds the IP length"},
    {dissect::Note::transport_version, "transport version is not 0"},
    {dissect::Note::cut_before_bth, "truncated before the BTH"},
};

/// "[Trimmed to 128 bytes by the network, was 1082]": both as on the wire here, without frame check.
void append_trimmed(std::string& out, const PacketView& packet) {
  const dissect::Dissection& d = *packet.dissection;
  if (!d.has(dissect::Note::trimmed)) return;
  out += "  [Trimmed to ";
  append_decimal(out, packet.frame->wire);
  out += " bytes by the network";
  if (d.declared_end > packet.frame->wire) {
    out += ", was ";
    append_decimal(out, d.declared_end);
  }
  out += ']';
}

void append_note(std::string& out, std::string_view text, std::string_view where = {}) {
  out += "  [";
  out += text;
  if (!where.empty()) {
    out += " in ";
    out += where;
  }
  out += ']';
}

}  // namespace

void append_cm_words(std::string& out, const PacketView& packet) {
  for (const Layer& layer : packet.dissection->all()) {
    for (const CmWords& row : cm_words) {
      if (row.id == layer.id) row.append(out, packet.frame->data + layer.offset);
    }
  }
}

void append_upper_words(std::string& out, const PacketView& packet) {
  std::string_view protocol;
  for (const Layer& layer : packet.dissection->all()) {
    if (layer.id < HeaderId::nvme_rdma_request) continue;
    if (const std::string_view name = upper_layer_name(layer.id); name != protocol) {
      protocol = name;
      out += "  ";
      out += name;
    }
    if (layer.id == HeaderId::nvme_completion) {
      const std::uint8_t* p = packet.frame->data + layer.offset;
      const std::uint64_t code = dissect::read_bits(dissect::NvmeCompletion::status_code, p);
      out += " completion";
      if (code != 0 || dissect::read_bits(dissect::NvmeCompletion::status_type, p) != 0) {
        append_named(out, dissect::NvmeCompletion::status_type, p);
        out += " error ";
        append_hex_number(out, code, 2);
      }
      continue;
    }
    // The first field whose value has a name describes the header.
    for (const Field& field : dissect::header_info(layer.id).fields) {
      if (field.names.empty() || field.bits == 1) continue;
      const auto value = read_value(field, packet.frame->data + layer.offset, layer.length);
      if (!value || value->text.empty()) continue;
      out += ' ';
      out += value->text;
      break;
    }
  }
}

namespace {

/// " (335.5 µs)" if the link speed is known.
void append_pause_time(std::string& out, const PacketView& packet, unsigned quanta) {
  const std::uint64_t speed = packet.interface != nullptr ? packet.interface->speed_bps : 0;
  if (speed == 0 || quanta == 0) return;
  out += " (";
  out += duration_text(quanta_to_ns(static_cast<std::uint16_t>(quanta), speed));
  out += ')';
}

}  // namespace

void append_mac_control_words(std::string& out, const PacketView& packet) {
  if (const std::uint8_t* p = find_header(packet, HeaderId::mac_pause)) {
    const unsigned quanta = read<dissect::MacPause::pause_time>(p);
    out += "PAUSE ";
    append_decimal(out, quanta);
    out += quanta == 0 ? " quanta (XON)" : " quanta";
    append_pause_time(out, packet, quanta);
  } else if (const std::uint8_t* pfc = find_header(packet, HeaderId::mac_pfc)) {
    out += "PFC";
    bool first = true;
    for (unsigned priority = 0; priority < 8; ++priority) {
      if ((unsigned{dissect::MacPfc::priorities(pfc)} >> priority & 1U) == 0) continue;
      out += first ? " priority " : ", ";
      first = false;
      append_decimal(out, priority);
      out += ": ";
      const unsigned quanta = dissect::MacPfc::quanta(pfc, priority);
      if (quanta == 0) {
        out += "XON";
      } else {
        append_decimal(out, quanta);
        append_pause_time(out, packet, quanta);
      }
    }
    if (first) out += " without a priority";
  } else if (const std::uint8_t* other = find_header(packet, HeaderId::mac_control)) {
    out += "MAC control ";
    append_name_or_number(out, dissect::mac_control_opcode_names, read<dissect::MacControl::opcode>(other),
                          "opcode", 4);
  }
}

void append_lldp_words(std::string& out, const PacketView& packet) {
  bool lldp = false, dcbx = false;
  const std::size_t begin = out.size();
  for (const Layer& layer : packet.dissection->all()) {
    if (layer.id < HeaderId::lldp_chassis_id || layer.id > HeaderId::lldp_end) continue;
    lldp = true;
    if (layer.id == HeaderId::lldp_system_name || layer.id == HeaderId::lldp_port_id ||
        layer.id == HeaderId::lldp_port_description)
      append_text_field(out, packet, layer, dissect::Display::text);
    dcbx = dcbx ||
           (layer.id >= HeaderId::lldp_dcbx_ets_configuration && layer.id < HeaderId::lldp_organisational);
  }
  if (!lldp) return;
  out.insert(begin, "LLDP");
  if (dcbx) out += ", DCBX";
}

void append_unknown_words(std::string& out, const PacketView& packet) {
  const std::optional<Undissected> rest = undissected(packet);
  if (!rest) return;
  const dissect::Dissection& d = *packet.dissection;
  const Layer& last = d.layers[d.layer_count - 1U];
  switch (rest->kind) {
    case UnknownNumber::udp_port:
      out += "UDP";
      append_ports(out, packet.frame->data + last.offset);
      break;
    case UnknownNumber::ip_protocol: {
      append_name_or_number(out, dissect::ip_proto_names, rest->number, "IP protocol", 0);
      constexpr std::size_t ports_size = 4;
      if (rest->number == dissect::ip_proto_tcp && rest->bytes.size() >= ports_size)
        append_ports(out, rest->bytes.data());
      break;
    }
    case UnknownNumber::ethertype:
      append_name_or_number(out, dissect::ethertype_names, rest->number, "ethertype", 4);
      break;
    case UnknownNumber::llc_length:
      out += "IEEE 802.2 LLC";
      break;
    case UnknownNumber::other:
      out += dissect::header_info(last.id).title;
      break;
  }
}

void append_dissection_notes(std::string& out, const PacketView& packet) {
  const dissect::Dissection& d = *packet.dissection;
  append_trimmed(out, packet);
  const bool where = d.stop == dissect::Stop::cut_by_capture || d.stop == dissect::Stop::contradicts_itself;
  if (d.stop != dissect::Stop::complete && d.stop != dissect::Stop::unknown_protocol &&
      d.stop != dissect::Stop::fragment && d.stop != dissect::Stop::trimmed) {
    const bool known = where && d.stopped_at < HeaderId::count_;
    append_note(out, dissect::stop_name(d.stop), known ? dissect::header_info(d.stopped_at).title : "");
  }
  for (const NoteText& row : note_texts) {
    if (d.has(row.note)) append_note(out, row.text);
  }
}

}  // namespace roce::analyze
