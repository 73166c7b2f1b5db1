// SPDX-License-Identifier: Apache-2.0
// Messages of IPFIX (RFC 7011) and NetFlow version 9 (RFC 3954). Names are Wireshark's where it has the
// field; what it lacks is under ipfix.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"
#include "dissect/headers/ipfix_names.hpp"

namespace roce::dissect {

struct IpfixMessage {
  static constexpr HeaderId id = HeaderId::ipfix_message;
  static constexpr std::string_view name = "cflow", title = "IPFIX", at = "RFC 7011, 3.1";
  static constexpr std::size_t size = 16;
  static constexpr Field version = detail::decimal_field("cflow.version", "Version", 0, 16, at);
  static constexpr Field length = detail::decimal_field("cflow.len", "Length", 16, 16, at);
  static constexpr Field time = detail::decimal_field("cflow.exporttime", "Export time (s)", 32, 32, at);
  static constexpr Field sequence = detail::decimal_field("cflow.sequence", "Flow sequence", 64, 32, at);
  static constexpr Field domain = detail::decimal_field("cflow.od_id", "Observation domain ID", 96, 32, at);
  static constexpr std::array fields{version, length, time, sequence, domain};
};

struct Netflow9Message {
  static constexpr HeaderId id = HeaderId::netflow9_message;
  static constexpr std::string_view name = "cflow", title = "NetFlow version 9", at = "RFC 3954, 5.1";
  static constexpr std::size_t size = 20;
  static constexpr Field version = detail::decimal_field("cflow.version", "Version", 0, 16, at);
  static constexpr Field count = detail::decimal_field("cflow.count", "Count", 16, 16, at);
  // Wireshark's cflow.sysuptime is in seconds.
  static constexpr Field uptime = detail::decimal_field("ipfix.sysuptime", "SysUptime (ms)", 32, 32, at);
  static constexpr Field time = detail::decimal_field("cflow.unix_secs", "Time (s)", 64, 32, at);
  static constexpr Field sequence = detail::decimal_field("cflow.sequence", "Sequence", 96, 32, at);
  static constexpr Field source = detail::decimal_field("cflow.source_id", "Source ID", 128, 32, at);
  static constexpr std::array fields{version, count, uptime, time, sequence, source};
};

/// With its records, where no template is in the same frame.
struct IpfixSet {
  static constexpr HeaderId id = HeaderId::ipfix_set;
  static constexpr std::string_view name = {}, title = "Set", at = "RFC 7011, 3.3.2";
  static constexpr std::size_t size = 4;
  static constexpr Field set =
      detail::decimal_field("cflow.flowset_id", "FlowSet ID", 0, 16, at, ipfix_set_names);
  static constexpr Field length = detail::decimal_field("cflow.flowset_length", "FlowSet length", 16, 16, at);
  static constexpr std::array fields{set, length};
};

struct IpfixTemplate {
  static constexpr HeaderId id = HeaderId::ipfix_template;
  static constexpr std::string_view name = {}, title = "Template", at = "RFC 7011, 3.4.1";
  static constexpr std::size_t size = 4;
  static constexpr Field number = detail::decimal_field("cflow.template_id", "Template ID", 0, 16, at);
  static constexpr Field count =
      detail::decimal_field("cflow.template_field_count", "Field count", 16, 16, at);
  static constexpr Field rows = detail::plain_field("ipfix.template_rows", "Rows", 32, 0, Display::bytes, at);
  static constexpr std::array fields{number, count, rows};
};

struct IpfixOptionsTemplate {
  static constexpr HeaderId id = HeaderId::ipfix_options_template;
  static constexpr std::string_view name = {}, title = "Options template", at = "RFC 7011, 3.4.2";
  static constexpr std::size_t size = 6;
  static constexpr Field number = detail::decimal_field("cflow.template_id", "Template ID", 0, 16, at);
  static constexpr Field count =
      detail::decimal_field("cflow.template_ipfix_total_field_count", "Total field count", 16, 16, at);
  static constexpr Field scopes =
      detail::decimal_field("cflow.template_ipfix_scope_field_count", "Scope field count", 32, 16, at);
  static constexpr Field rows = detail::plain_field("ipfix.template_rows", "Rows", 48, 0, Display::bytes, at);
  static constexpr std::array fields{number, count, scopes, rows};
};

struct Netflow9OptionsTemplate {
  static constexpr HeaderId id = HeaderId::netflow9_options_template;
  static constexpr std::string_view name = {}, title = "Options template", at = "RFC 3954, 6.1";
  static constexpr std::size_t size = 6;
  static constexpr Field number = detail::decimal_field("cflow.template_id", "Template ID", 0, 16, at);
  static constexpr Field scopes =
      detail::decimal_field("cflow.option_scope_length", "Option scope length", 16, 16, at);
  static constexpr Field options = detail::decimal_field("cflow.option_length", "Option length", 32, 16, at);
  static constexpr Field rows = detail::plain_field("ipfix.template_rows", "Rows", 48, 0, Display::bytes, at);
  static constexpr std::array fields{number, scopes, options, rows};
};

/// What a Broadcom switch says of a packet that it dropped, before the beginning of that packet. By one
/// public source, which was compared with two captured examples.
struct IpfixDropMirror {
  static constexpr HeaderId id = HeaderId::ipfix_drop_mirror;
  static constexpr std::string_view name = "ipfix.mirror_on_drop", title = "Mirror on drop (one source)";
  static constexpr std::string_view at = "Broadcom PSAMP format 2";
  static constexpr std::size_t size = 24;
  static constexpr Field seconds =
      detail::decimal_field("ipfix.mirror_on_drop.seconds", "Observed (s)", 0, 32, at);
  static constexpr Field nanoseconds =
      detail::decimal_field("ipfix.mirror_on_drop.nanoseconds", "Observed (ns)", 32, 32, at);
  static constexpr Field switch_id =
      detail::decimal_field("ipfix.mirror_on_drop.switch_id", "Switch ID", 64, 32, at);
  static constexpr Field egress =
      detail::decimal_field("ipfix.mirror_on_drop.egress_port", "Egress port", 96, 16, at);
  static constexpr Field ingress =
      detail::decimal_field("ipfix.mirror_on_drop.ingress_port", "Ingress port", 112, 16, at);
  static constexpr Field codes =
      detail::plain_field("ipfix.mirror_on_drop.reason", "Drop reason", 128, 16, Display::hex, at);
  static constexpr Field user =
      detail::plain_field("ipfix.mirror_on_drop.user", "User field", 144, 16, Display::hex, at);
  static constexpr Field queue = detail::plain_field("ipfix.mirror_on_drop.cos_color_prob",
                                                     "Queue, colour, probability", 160, 8, Display::hex, at);
  static constexpr Field length =
      detail::decimal_field("ipfix.mirror_on_drop.section_length", "Section length", 176, 16, at);
  static constexpr std::array fields{seconds, nanoseconds, switch_id, egress, ingress,
                                     codes,   user,        queue,     length};
};

}  // namespace roce::dissect
