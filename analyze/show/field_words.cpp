// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/field_words.hpp"

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/value_format.hpp"
#include "dissect/aeth.hpp"
#include "dissect/gid.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {
namespace {

void syndrome(std::string& out, std::uint64_t value, dissect::Bytes) {
  out += dissect::syndrome_text(static_cast<std::uint8_t>(value));
}

void credit_code(std::string& out, std::uint64_t value, dissect::Bytes) {
  if (const auto credits = dissect::credits(static_cast<std::uint8_t>(value))) {
    append_decimal(out, *credits);
    out += " credits";
  } else {
    out += "credits are not used";
  }
}

void rnr_timer(std::string& out, std::uint64_t value, dissect::Bytes) {
  append_decimal(out, dissect::rnr_timer_ns(static_cast<std::uint8_t>(value)) / 1000);
  out += " us";
}

void p_key(std::string& out, std::uint64_t value, dissect::Bytes) {
  constexpr std::uint64_t default_key = 0x7fff, full_member = 0x8000;
  append_hex_number(out, value, 4);
  if ((value & default_key) == default_key) out += ", default partition";
  out += (value & full_member) != 0 ? ", full member" : ", limited member";
}

void queue_pair(std::string& out, std::uint64_t value, dissect::Bytes) {
  if (value == dissect::smi_qpn) out += "subnet management";
  if (value == dissect::gsi_qpn) out += "general services";
}

void gid(std::string& out, std::uint64_t, dissect::Bytes bytes) {
  if (bytes.size() != 16) return;
  const dissect::IpAddress address = dissect::IpAddress::v6(bytes.data());
  const dissect::GidMeaning meaning = dissect::meaning_of(address);
  switch (meaning.kind) {
    case dissect::GidKind::ipv4_mapped:
      out += "RoCE GID of ";
      append_address(out, address);
      return;
    case dissect::GidKind::link_local_mac:
      out += "link-local, made from ";
      append_mac(out, meaning.mac.bytes.data());
      return;
    case dissect::GidKind::link_local_vlan:
      out += "link-local, made from ";
      append_mac(out, meaning.mac.bytes.data());
      out += " in VLAN ";
      append_decimal(out, meaning.vlan);
      return;
    default:
      return;
  }
}

struct Meaning {
  std::string_view field;
  void (*append)(std::string& out, std::uint64_t value, dissect::Bytes bytes);
};
constexpr Meaning meanings[] = {
    {dissect::Aeth::syndrome.name, syndrome}, {dissect::Aeth::credit_count.name, credit_code},
    {dissect::Aeth::timer.name, rnr_timer},   {dissect::Bth::p_key.name, p_key},
    {dissect::Bth::destqp.name, queue_pair},  {dissect::Deth::srcqp.name, queue_pair},
    {dissect::Grh::sgid.name, gid},           {dissect::Grh::dgid.name, gid},
    {dissect::Ipv6::src.name, gid},           {dissect::Ipv6::dst.name, gid},
    {"infiniband.cm.req.prim_localgid", gid}, {"infiniband.cm.req.prim_remotegid", gid},
};

}  // namespace

void append_field_meaning(std::string& out, const dissect::Field& field, std::uint64_t value,
                          dissect::Bytes bytes) {
  const auto* const row = std::find_if(std::begin(meanings), std::end(meanings),
                                       [&](const Meaning& m) { return m.field == field.name; });
  if (row == std::end(meanings)) return;
  const std::size_t begin = out.size();
  out += " [";
  row->append(out, value, bytes);
  if (out.size() == begin + 2) {
    out.resize(begin);  // no explanation for this value
  } else {
    out += ']';
  }
}

}  // namespace roce::analyze
