// SPDX-License-Identifier: Apache-2.0
// NVMe over Fabrics on RDMA: NVM Express Base Specification 2.0, NVMe over RDMA Transport
// Specification 1.0. All numbers are little-endian.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

inline constexpr std::uint8_t nvme_opcode_fabrics = 0x7f;
// Fabrics command types, NVMe Base 2.0, figure 376.
inline constexpr std::uint8_t nvme_fabrics_property_set = 0x00, nvme_fabrics_connect = 0x01,
                              nvme_fabrics_property_get = 0x04, nvme_fabrics_authentication_send = 0x05,
                              nvme_fabrics_authentication_receive = 0x06, nvme_fabrics_disconnect = 0x08;

inline constexpr ValueName nvme_fabrics_names[] = {
    {0x00, "Property Set"},           {0x01, "Connect"},
    {0x04, "Property Get"},           {0x05, "Authentication Send"},
    {0x06, "Authentication Receive"}, {0x08, "Disconnect"}};
/// NVMe Base 2.0, figure 117.
inline constexpr ValueName nvme_sgl_type_names[] = {{0, "data block"},       {1, "bit bucket"},
                                                    {2, "segment"},          {3, "last segment"},
                                                    {4, "keyed data block"}, {5, "transport data block"}};
inline constexpr ValueName nvme_status_type_names[] = {{0, "generic"},
                                                       {1, "command specific"},
                                                       {2, "media and data integrity"},
                                                       {3, "path related"},
                                                       {7, "vendor specific"}};
/// NVMe over RDMA 1.0, figure 14: status in the private data of a REJ.
inline constexpr ValueName nvme_rdma_reject_names[] = {{1, "invalid private data length"},
                                                       {2, "invalid RECFMT"},
                                                       {3, "invalid QID"},
                                                       {4, "invalid HSQSIZE"},
                                                       {5, "invalid HRQSIZE"},
                                                       {6, "no resources"},
                                                       {7, "invalid IRD"},
                                                       {8, "invalid ORD"},
                                                       {9, "invalid CNTLID"}};

namespace detail {
constexpr Field little_endian(Field field) {
  field.little_endian = true;
  return field;
}
}  // namespace detail

/// NVMe over RDMA 1.0, 3.2.1: private data of a REQ, after that of the IP CM.
struct NvmeRdmaRequest {
  static constexpr HeaderId id = HeaderId::nvme_rdma_request;
  static constexpr std::string_view name = "nvme-rdma", title = "NVMe/RDMA Connection Request";
  static constexpr std::size_t size = 32;
  static constexpr std::string_view at = "NVMe/RDMA 1.0, 3.2.1";
  static constexpr Field format =
      detail::little_endian(detail::decimal_field("nvme-rdma.cm.req.recfmt", "Record Format", 0, 16, at));
  static constexpr Field queue =
      detail::little_endian(detail::decimal_field("nvme-rdma.cm.req.qid", "Queue ID", 16, 16, at));
  static constexpr Field receive_size = detail::little_endian(
      detail::decimal_field("nvme-rdma.cm.req.hrqsize", "Host Receive Queue Size", 32, 16, at));
  static constexpr Field send_size = detail::little_endian(
      detail::decimal_field("nvme-rdma.cm.req.hsqsize", "Host Send Queue Size, less one", 48, 16, at));
  static constexpr Field controller =
      detail::little_endian(detail::hex_field("nvme-rdma.cm.req.cntlid", "Controller ID", 64, 16, 16, at));
  static constexpr Field reserved =
      detail::plain_field("nvme-rdma.cm.req.reserved", "Reserved", 80, 176, Display::bytes, {});
  static constexpr std::array fields{format, queue, receive_size, send_size, controller, reserved};
};

/// NVMe over RDMA 1.0, 3.2.2: private data of a REP.
struct NvmeRdmaReply {
  static constexpr HeaderId id = HeaderId::nvme_rdma_reply;
  static constexpr std::string_view name = "nvme-rdma", title = "NVMe/RDMA Connection Reply";
  static constexpr std::size_t size = 32;
  static constexpr std::string_view at = "NVMe/RDMA 1.0, 3.2.2";
  static constexpr Field format =
      detail::little_endian(detail::decimal_field("nvme-rdma.cm.rsp.recfmt", "Record Format", 0, 16, at));
  static constexpr Field receive_size = detail::little_endian(
      detail::decimal_field("nvme-rdma.cm.rsp.crqsize", "Controller Receive Queue Size", 16, 16, at));
  static constexpr Field reserved =
      detail::plain_field("nvme-rdma.cm.rsp.reserved", "Reserved", 32, 224, Display::bytes, {});
  static constexpr std::array fields{format, receive_size, reserved};
};

/// NVMe over RDMA 1.0, 3.2.3: private data of a REJ.
struct NvmeRdmaReject {
  static constexpr HeaderId id = HeaderId::nvme_rdma_reject;
  static constexpr std::string_view name = "nvme-rdma", title = "NVMe/RDMA Connection Reject";
  static constexpr std::size_t size = 4;
  static constexpr std::string_view at = "NVMe/RDMA 1.0, 3.2.3";
  static constexpr Field format =
      detail::little_endian(detail::decimal_field("nvme-rdma.cm.rej.recfmt", "Record Format", 0, 16, at));
  static constexpr Field status = detail::little_endian(
      detail::hex_field("nvme-rdma.cm.rej.status", "Status", 16, 16, 16, at, nvme_rdma_reject_names));
  static constexpr std::array fields{format, status};
};

/// Fields common to all 64-byte submission queue entries: NVMe Base 2.0, figures 87 and 117.
struct NvmeEntry {
  static constexpr std::size_t size = 64;
  static constexpr std::string_view at = "NVMe Base 2.0, figure 117";
  static constexpr std::uint8_t keyed = 4;
  static constexpr bool is_keyed(const std::uint8_t* p) noexcept { return p[39] >> 4U == keyed; }
  static constexpr bool is_not_keyed(const std::uint8_t* p) noexcept { return !is_keyed(p); }
  static constexpr Field command_id = detail::little_endian(
      detail::hex_field("nvme.cmd.cid", "Command ID", 16, 16, 16, "NVMe Base 2.0, figure 87"));
  static constexpr Field sgl_address =
      detail::little_endian(detail::hex_field("nvme.cmd.sgl1.addr", "SGL Address", 192, 64, 64, at));
  static constexpr Field sgl_length = detail::little_endian(
      detail::decimal_field("nvme.cmd.sgl1.len", "SGL Length", 256, 32, at, {}, is_not_keyed));
  static constexpr Field sgl_reserved =
      detail::plain_field("nvme.cmd.sgl1.rsvd", "Reserved", 288, 24, Display::bytes, {}, {}, is_not_keyed);
  static constexpr Field sgl_keyed_length = detail::little_endian(
      detail::decimal_field("nvme.cmd.sgl1.len", "SGL Length", 256, 24, at, {}, is_keyed));
  /// The R_Key of the host's buffer.
  static constexpr Field sgl_key =
      detail::little_endian(detail::hex_field("nvme.cmd.sgl1.key", "SGL Key", 280, 32, 32, at, {}, is_keyed));
  static constexpr Field sgl_type =
      detail::hex_field("nvme.cmd.sgl.type", "SGL Type", 312, 4, 8, at, nvme_sgl_type_names);
  static constexpr Field sgl_subtype =
      detail::hex_field("nvme.cmd.sgl.subtype", "SGL Subtype", 316, 4, 8, at);
};

/// A command other than a Fabrics command, NVMe Base 2.0, figure 87. The meaning of opcode and dwords 10-15
/// depends on the queue (admin or I/O), which a single packet does not show.
struct NvmeCommand : NvmeEntry {
  static constexpr HeaderId id = HeaderId::nvme_command;
  static constexpr std::string_view name = "nvme", title = "NVMe Command";
  static constexpr std::string_view at = "NVMe Base 2.0, figure 87";
  static constexpr Field opcode = detail::hex_field("nvme.cmd.opc", "Opcode", 0, 8, 8, at);
  static constexpr Field psdt = detail::hex_field("nvme.cmd.psdt", "PRP or SGL", 8, 2, 8, at);
  static constexpr Field reserved0 = detail::hex_field("nvme.cmd.rsvd", "Reserved", 10, 4, 8, {});
  static constexpr Field fused = detail::hex_field("nvme.cmd.fuse_op", "Fused Operation", 14, 2, 8, at);
  static constexpr Field namespace_id =
      detail::little_endian(detail::hex_field("nvme.cmd.nsid", "Namespace ID", 32, 32, 32, at));
  static constexpr Field reserved1 =
      detail::plain_field("nvme.cmd.rsvd1", "Reserved", 64, 64, Display::bytes, {});
  static constexpr Field metadata =
      detail::little_endian(detail::hex_field("nvme.cmd.mptr", "Metadata Pointer", 128, 64, 64, at));
  static constexpr std::array fields{
      opcode,
      fused,
      reserved0,
      psdt,
      command_id,
      namespace_id,
      reserved1,
      metadata,
      sgl_address,
      sgl_length,
      sgl_reserved,
      sgl_keyed_length,
      sgl_key,
      sgl_type,
      sgl_subtype,
      detail::little_endian(detail::hex_field("nvme.cmd.dword10", "Command Dword 10", 320, 32, 32, at)),
      detail::little_endian(detail::hex_field("nvme.cmd.dword11", "Command Dword 11", 352, 32, 32, at)),
      detail::little_endian(detail::hex_field("nvme.cmd.dword12", "Command Dword 12", 384, 32, 32, at)),
      detail::little_endian(detail::hex_field("nvme.cmd.dword13", "Command Dword 13", 416, 32, 32, at)),
      detail::little_endian(detail::hex_field("nvme.cmd.dword14", "Command Dword 14", 448, 32, 32, at)),
      detail::little_endian(detail::hex_field("nvme.cmd.dword15", "Command Dword 15", 480, 32, 32, at))};
};

/// A command of opcode 0x7f, NVMe Base 2.0, 6.
struct NvmeFabricsCommand : NvmeEntry {
  static constexpr HeaderId id = HeaderId::nvme_fabrics_command;
  static constexpr std::string_view name = "nvme", title = "NVMe Fabrics Command";
  static constexpr std::string_view at = "NVMe Base 2.0, 6.1";
  template <std::uint8_t Type>
  static constexpr bool is(const std::uint8_t* p) noexcept {
    return p[4] == Type;
  }
  static constexpr bool is_property(const std::uint8_t* p) noexcept {
    return is<nvme_fabrics_property_set>(p) || is<nvme_fabrics_property_get>(p);
  }
  static constexpr auto is_connect = is<nvme_fabrics_connect>;
  static constexpr Field opcode =
      detail::plain_field("nvme.fabrics.cmd.opc", "Opcode", 0, 8, Display::bytes, at);
  static constexpr Field reserved0 = detail::hex_field("nvme.fabrics.cmd.rsvd", "Reserved", 8, 8, 8, {});
  static constexpr Field fabrics_command_id =
      detail::little_endian(detail::hex_field("nvme.fabrics.cmd.cid", "Command Identifier", 16, 16, 16, at));
  static constexpr Field type =
      detail::hex_field("nvme.fabrics.cmd.fctype", "Fabrics Command Type", 32, 8, 8, at, nvme_fabrics_names);
  static constexpr Field format = detail::little_endian(detail::decimal_field(
      "nvme.fabrics.cmd.connect.recfmt", "Record Format", 320, 16, "NVMe Base 2.0, 6.3", {}, is_connect));
  static constexpr Field queue = detail::little_endian(detail::decimal_field(
      "nvme.fabrics.cmd.connect.qid", "Queue ID", 336, 16, "NVMe Base 2.0, 6.3", {}, is_connect));
  static constexpr Field queue_size = detail::little_endian(
      detail::decimal_field("nvme.fabrics.cmd.connect.sqsize", "Submission Queue Size, less one", 352, 16,
                            "NVMe Base 2.0, 6.3", {}, is_connect));
  static constexpr Field attributes =
      detail::hex_field("nvme.fabrics.cmd.connect.cattr", "Connect Attributes", 368, 8, 8,
                        "NVMe Base 2.0, 6.3", {}, is_connect);
  static constexpr Field keep_alive =
      detail::little_endian(detail::decimal_field("nvme.fabrics.cmd.connect.kato", "Keep Alive Timeout (ms)",
                                                  384, 32, "NVMe Base 2.0, 6.3", {}, is_connect));
  static constexpr Field property_size =
      detail::hex_field("nvme.fabrics.cmd.prop_get_set.attrib.size", "Property Size", 325, 3, 8,
                        "NVMe Base 2.0, 6.4", {}, is_property);
  static constexpr Field property_offset =
      detail::little_endian(detail::hex_field("nvme.fabrics.cmd.prop_get_set.offset", "Property Offset", 352,
                                              32, 32, "NVMe Base 2.0, 6.4", {}, is_property));
  static constexpr Field property_value =
      detail::plain_field("nvme.fabrics.prop_get_set.data", "Property Data", 384, 64, Display::bytes,
                          "NVMe Base 2.0, 6.5", {}, is<nvme_fabrics_property_set>);
  static constexpr Field disconnect_format =
      detail::little_endian(detail::decimal_field("nvme.fabrics.cmd.disconnect.recfmt", "Record Format", 320,
                                                  16, "NVMe Base 2.0, 6.2", {}, is<nvme_fabrics_disconnect>));
  static constexpr std::array fields{opcode,        reserved0,       fabrics_command_id, type,
                                     sgl_address,   sgl_length,      sgl_reserved,       sgl_keyed_length,
                                     sgl_key,       sgl_type,        sgl_subtype,        format,
                                     queue,         queue_size,      attributes,         keep_alive,
                                     property_size, property_offset, property_value,     disconnect_format};
};

/// A completion queue entry, the only content of a response capsule: NVMe Base 2.0, figure 90.
struct NvmeCompletion {
  static constexpr HeaderId id = HeaderId::nvme_completion;
  static constexpr std::string_view name = "nvme", title = "NVMe Completion";
  static constexpr std::size_t size = 16;
  static constexpr std::string_view at = "NVMe Base 2.0, figure 90";
  static constexpr Field dword0 =
      detail::little_endian(detail::hex_field("nvme.cqe.dword0", "Dword 0", 0, 32, 32, at));
  static constexpr Field dword1 =
      detail::little_endian(detail::hex_field("nvme.cqe.dword1", "Dword 1", 32, 32, 32, at));
  static constexpr Field head =
      detail::little_endian(detail::hex_field("nvme.cqe.sqhd", "SQ Head Pointer", 64, 16, 16, at));
  static constexpr Field queue =
      detail::little_endian(detail::hex_field("nvme.cqe.sqid", "SQ Identifier", 80, 16, 16, at));
  static constexpr Field command_id =
      detail::little_endian(detail::hex_field("nvme.cqe.cid", "Command Identifier", 96, 16, 16, at));
  static constexpr Field status =
      detail::little_endian(detail::hex_field("nvme.cqe.status", "Status Field", 112, 16, 16, at));
  // Positions as drawn from bit 15 to bit 0 of the swapped word.
  static constexpr Field reserved =
      detail::hex_field("nvme.cqe.status.rsvd", "Reserved (phase tag in memory)", 119, 1, 16, at);
  static constexpr Field status_code =
      detail::little_endian(detail::hex_field("nvme.cqe.status.sc", "Status Code", 119, 8, 16, at));
  static constexpr Field status_type =
      detail::hex_field("nvme.cqe.status.sct", "Status Code Type", 124, 3, 16, at, nvme_status_type_names);
  static constexpr Field retry_delay =
      detail::hex_field("nvme.cqe.status.crd", "Command Retry Delay", 122, 2, 16, at);
  static constexpr Field more = detail::flag_field("nvme.cqe.status.m", "More", 121, at);
  static constexpr Field do_not_retry = detail::flag_field("nvme.cqe.status.dnr", "Do Not Retry", 120, at);
  static constexpr std::array fields{dword0,      dword1,      head,     queue,
                                     command_id,  status,      reserved, status_code,
                                     status_type, retry_delay, more,     do_not_retry};
};

}  // namespace roce::dissect
