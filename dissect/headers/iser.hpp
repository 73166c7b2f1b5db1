// SPDX-License-Identifier: Apache-2.0
// iSCSI extensions for RDMA (RFC 7145) and the iSCSI basic header segment (RFC 7143, 11).
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

inline constexpr std::uint8_t iser_control = 1, iser_hello = 2, iser_hello_reply = 3;

inline constexpr ValueName iser_opcode_names[] = {
    {1, "iSCSI control-type PDU"}, {2, "Hello"}, {3, "HelloReply"}};
/// RFC 7143, 11.2.1.2; bit 5 set = from the target.
inline constexpr ValueName iscsi_opcode_names[] = {{0x00, "NOP-Out"},
                                                   {0x01, "SCSI Command"},
                                                   {0x02, "Task Management Request"},
                                                   {0x03, "Login Request"},
                                                   {0x04, "Text Request"},
                                                   {0x05, "SCSI Data-Out"},
                                                   {0x06, "Logout Request"},
                                                   {0x10, "SNACK Request"},
                                                   {0x20, "NOP-In"},
                                                   {0x21, "SCSI Response"},
                                                   {0x22, "Task Management Response"},
                                                   {0x23, "Login Response"},
                                                   {0x24, "Text Response"},
                                                   {0x25, "SCSI Data-In"},
                                                   {0x26, "Logout Response"},
                                                   {0x31, "Ready To Transfer"},
                                                   {0x32, "Asynchronous Message"},
                                                   {0x3f, "Reject"}};

/// RFC 7145, 9.2 to 9.4, with 64-bit base offsets as over InfiniBand (IBTA A12).
struct Iser {
  static constexpr HeaderId id = HeaderId::iser;
  static constexpr std::string_view name = "iser", title = "iSCSI Extensions for RDMA";
  static constexpr std::size_t size = 28;
  static constexpr std::string_view at = "RFC 7145, 9.3";
  template <std::uint8_t Opcode>
  static constexpr bool is(const std::uint8_t* p) noexcept {
    return p[0] >> 4U == Opcode;
  }
  static constexpr auto is_control = is<iser_control>;
  static constexpr Field flags = detail::hex_field("iser.flags", "Flags", 0, 8, 8, at);
  static constexpr Field opcode =
      detail::hex_field("iser.flags.opcode", "Opcode", 0, 4, 8, at, iser_opcode_names);
  static constexpr Field write_valid =
      detail::plain_field("iser.flags.wsv", "Write STag valid", 4, 1, Display::boolean, at, {}, is_control);
  static constexpr Field read_valid =
      detail::plain_field("iser.flags.rsv", "Read STag valid", 5, 1, Display::boolean, at, {}, is_control);
  static constexpr Field rejected = detail::plain_field("iser.flags.rej", "Rejected", 7, 1, Display::boolean,
                                                        "RFC 7145, 9.5", {}, is<iser_hello_reply>);
  static constexpr Field ird =
      detail::hex_field("iser.ird", "iSER-IRD", 16, 16, 16, "RFC 7145, 9.4", {}, is<iser_hello>);
  static constexpr Field ord =
      detail::hex_field("iser.ord", "iSER-ORD", 16, 16, 16, "RFC 7145, 9.5", {}, is<iser_hello_reply>);
  static constexpr Field write_stag =
      detail::hex_field("iser.write_stag", "Write STag", 32, 32, 32, at, {}, is_control);
  static constexpr Field write_offset =
      detail::hex_field("iser.write_base_offset", "Write Base Offset", 64, 64, 64, at, {}, is_control);
  static constexpr Field read_stag =
      detail::hex_field("iser.read_stag", "Read STag", 128, 32, 32, at, {}, is_control);
  static constexpr Field read_offset =
      detail::hex_field("iser.read_base_offset", "Read Base Offset", 160, 64, 64, at, {}, is_control);
  static constexpr std::array fields{flags, opcode,     write_valid,  read_valid, rejected,   ird,
                                     ord,   write_stag, write_offset, read_stag,  read_offset};
};

/// The basic header segment; additional header segments follow within the layer.
struct Iscsi {
  static constexpr HeaderId id = HeaderId::iscsi;
  static constexpr std::string_view name = "iscsi", title = "iSCSI";
  static constexpr std::size_t size = 48;
  static constexpr std::string_view at = "RFC 7143, 11.2";
  static constexpr std::uint8_t opcode_of(const std::uint8_t* p) noexcept { return p[0] & 0x3fU; }
  template <std::uint8_t... Opcode>
  static constexpr bool is(const std::uint8_t* p) noexcept {
    return ((opcode_of(p) == Opcode) || ...);
  }
  static constexpr bool is_login(const std::uint8_t* p) noexcept { return is<0x03, 0x23>(p); }
  static constexpr bool is_not_login(const std::uint8_t* p) noexcept { return !is_login(p); }
  static constexpr bool has_immediate_bit(const std::uint8_t* p) noexcept {
    return (p[0] & 0x20U) == 0 && !is<0x03, 0x05, 0x10>(p);
  }
  static constexpr bool has_transfer_tag(const std::uint8_t* p) noexcept {
    return is<0x00, 0x20, 0x04, 0x24, 0x05, 0x25, 0x31>(p);
  }
  static constexpr bool has_command_number(const std::uint8_t* p) noexcept {
    return is<0x00, 0x01, 0x02, 0x03, 0x04, 0x06>(p);
  }
  static constexpr bool is_request(const std::uint8_t* p) noexcept { return (p[0] & 0x20U) == 0; }
  static constexpr bool is_response(const std::uint8_t* p) noexcept { return !is_request(p); }
  static constexpr auto is_command = is<0x01>;
  static constexpr auto is_scsi_response = is<0x21>;

  static constexpr Field opcode =
      detail::hex_field("iscsi.opcode", "Opcode", 2, 6, 8, at, iscsi_opcode_names);
  static constexpr Field flags = detail::hex_field("iscsi.flags", "Flags", 8, 8, 8, at, {}, is_not_login);
  static constexpr Field ahs_length =
      detail::decimal_field("iscsi.totalahslength", "Total AHS Length (words)", 32, 8, at);
  static constexpr Field data_length =
      detail::decimal_field("iscsi.datasegmentlength", "Data Segment Length", 40, 24, at);
  static constexpr Field lun =
      detail::plain_field("iscsi.lun", "Logical Unit Number", 64, 64, Display::bytes, at, {}, is_not_login);
  static constexpr Field task_tag =
      detail::hex_field("iscsi.initiatortasktag", "Initiator Task Tag", 128, 32, 32, at);
  static constexpr Field transfer_tag = detail::hex_field("iscsi.targettransfertag", "Target Transfer Tag",
                                                          160, 32, 32, at, {}, has_transfer_tag);
  static constexpr Field expected_length =
      detail::decimal_field("iscsi.scsicommand.expecteddatatransferlength", "Expected Data Transfer Length",
                            160, 32, "RFC 7143, 11.3", {}, is_command);
  static constexpr Field command_number =
      detail::decimal_field("iscsi.cmdsn", "CmdSN", 192, 32, at, {}, has_command_number);
  static constexpr Field expected_status_number =
      detail::decimal_field("iscsi.expstatsn", "ExpStatSN", 224, 32, at, {}, is_request);
  static constexpr Field status_number =
      detail::decimal_field("iscsi.statsn", "StatSN", 192, 32, at, {}, is_response);
  static constexpr Field expected_command_number =
      detail::decimal_field("iscsi.expcmdsn", "ExpCmdSN", 224, 32, at, {}, is_response);
  static constexpr Field max_command_number =
      detail::decimal_field("iscsi.maxcmdsn", "MaxCmdSN", 256, 32, at, {}, is_response);
  static constexpr Field cdb =
      detail::plain_field("iscsi.scsicommand.cdb", "SCSI Command Descriptor Block", 256, 128, Display::bytes,
                          "RFC 7143, 11.3", {}, is_command);
  static constexpr Field response = detail::hex_field("iscsi.scsiresponse.response", "Response", 16, 8, 8,
                                                      "RFC 7143, 11.4", {}, is_scsi_response);
  static constexpr Field status = detail::hex_field("iscsi.scsiresponse.status", "Status", 24, 8, 8,
                                                    "RFC 7143, 11.4", {}, is_scsi_response);
  static constexpr Field login_status =
      detail::hex_field("iscsi.login.status", "Status", 288, 16, 16, "RFC 7143, 11.13", {}, is<0x23>);
  static constexpr std::array fields{
      opcode,
      detail::plain_field("iscsi.I", "Immediate", 1, 1, Display::boolean, at, {}, has_immediate_bit),
      flags,
      detail::plain_field("iscsi.scsicommand.F", "Final", 8, 1, Display::boolean, "RFC 7143, 11.3", {},
                          is_command),
      detail::plain_field("iscsi.scsicommand.R", "Read", 9, 1, Display::boolean, "RFC 7143, 11.3", {},
                          is_command),
      detail::plain_field("iscsi.scsicommand.W", "Write", 10, 1, Display::boolean, "RFC 7143, 11.3", {},
                          is_command),
      detail::hex_field("iscsi.scsicommand.attr", "Attribute", 13, 3, 8, "RFC 7143, 11.3", {}, is_command),
      detail::plain_field("iscsi.login.T", "Transit", 8, 1, Display::boolean, "RFC 7143, 11.12", {},
                          is_login),
      detail::plain_field("iscsi.login.C", "Continue", 9, 1, Display::boolean, "RFC 7143, 11.12", {},
                          is_login),
      detail::hex_field("iscsi.login.csg", "Current Stage", 12, 2, 8, "RFC 7143, 11.12", {}, is_login),
      detail::hex_field("iscsi.login.nsg", "Next Stage", 14, 2, 8, "RFC 7143, 11.12", {}, is_login),
      response,
      status,
      ahs_length,
      data_length,
      lun,
      detail::plain_field("iscsi.isid", "ISID", 64, 48, Display::bytes, "RFC 7143, 11.12", {}, is_login),
      detail::hex_field("iscsi.tsih", "TSIH", 112, 16, 16, "RFC 7143, 11.12", {}, is_login),
      task_tag,
      transfer_tag,
      expected_length,
      detail::hex_field("iscsi.cid", "CID", 160, 16, 16, "RFC 7143, 11.12", {}, is<0x03>),
      command_number,
      expected_status_number,
      status_number,
      expected_command_number,
      max_command_number,
      login_status,
      cdb};
};

}  // namespace roce::dissect
