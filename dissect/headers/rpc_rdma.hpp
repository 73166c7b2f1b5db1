// SPDX-License-Identifier: Apache-2.0
// RPC-over-RDMA version 1 (RFC 8166) and the beginning of the RPC message in it (RFC 5531).
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

inline constexpr std::uint32_t rpc_rdma_version = 1, rpc_version = 2;
// RFC 8166, 4.2.4.
inline constexpr std::uint32_t rdma_msg = 0, rdma_nomsg = 1, rdma_msgp = 2, rdma_done = 3, rdma_error = 4;
inline constexpr std::uint32_t rdma_error_version = 1, rdma_error_chunk = 2;
inline constexpr std::uint32_t rpc_message_call = 0, rpc_message_reply = 1;

inline constexpr ValueName rpc_rdma_type_names[] = {
    {0, "RDMA_MSG"}, {1, "RDMA_NOMSG"}, {2, "RDMA_MSGP"}, {3, "RDMA_DONE"}, {4, "RDMA_ERROR"}};
inline constexpr ValueName rpc_rdma_error_names[] = {{1, "version"}, {2, "chunk"}};
inline constexpr ValueName rpc_message_names[] = {{0, "call"}, {1, "reply"}};
inline constexpr ValueName rpc_program_names[] = {
    {100003, "NFS"}, {100005, "MOUNT"}, {400122, "NFS callback"}};
inline constexpr ValueName rpc_reply_names[] = {{0, "accepted"}, {1, "denied"}};

/// RFC 8166, 4.2; the chunk lists follow.
struct RpcRdma {
  static constexpr HeaderId id = HeaderId::rpc_rdma;
  static constexpr std::string_view name = "rpcordma", title = "RPC over RDMA";
  static constexpr std::size_t size = 16;
  static constexpr Field xid = detail::hex_field("rpcordma.xid", "XID", 0, 32, 32, "RFC 8166, 4.2.1");
  static constexpr Field version =
      detail::decimal_field("rpcordma.version", "Version", 32, 32, "RFC 8166, 4.2.2");
  static constexpr Field credits =
      detail::decimal_field("rpcordma.flow_control", "Credits", 64, 32, "RFC 8166, 4.2.3");
  static constexpr Field type = detail::decimal_field("rpcordma.msg_type", "Message Type", 96, 32,
                                                      "RFC 8166, 4.2.4", rpc_rdma_type_names);
  static constexpr std::array fields{xid, version, credits, type};
};

/// An entry of the read list: the flag that it follows, its position in the message, and the memory.
struct RpcRdmaReadSegment {
  static constexpr HeaderId id = HeaderId::rpc_rdma_read_segment;
  static constexpr std::string_view name = {}, title = "Read Segment";
  static constexpr std::size_t size = 24;
  static constexpr std::string_view at = "RFC 8166, 4.3.1";
  static constexpr Field position = detail::decimal_field("rpcordma.position", "Position in XDR", 32, 32, at);
  static constexpr Field handle = detail::hex_field("rpcordma.rdma_handle", "RDMA Handle", 64, 32, 32, at);
  static constexpr Field length = detail::decimal_field("rpcordma.rdma_length", "RDMA Length", 96, 32, at);
  static constexpr Field offset = detail::hex_field("rpcordma.rdma_offset", "RDMA Offset", 128, 64, 64, at);
  static constexpr std::array fields{position, handle, length, offset};
};

/// The head of a write chunk or of the reply chunk; its segments follow.
template <HeaderId Id>
struct RpcRdmaChunk {
  static constexpr HeaderId id = Id;
  static constexpr std::string_view name = {}, title = Id == HeaderId::rpc_rdma_reply_chunk ? "Reply Chunk"
                                                                                            : "Write Chunk";
  static constexpr std::size_t size = 8;
  static constexpr Field segments =
      detail::decimal_field("rpcordma.segment_count", "Segment Count", 32, 32,
                            Id == HeaderId::rpc_rdma_reply_chunk ? "RFC 8166, 4.3.3" : "RFC 8166, 4.3.2");
  static constexpr std::array fields{segments};
};
using RpcRdmaWriteChunk = RpcRdmaChunk<HeaderId::rpc_rdma_write_chunk>;
using RpcRdmaReplyChunk = RpcRdmaChunk<HeaderId::rpc_rdma_reply_chunk>;

struct RpcRdmaSegment {
  static constexpr HeaderId id = HeaderId::rpc_rdma_segment;
  static constexpr std::string_view name = {}, title = "Segment";
  static constexpr std::size_t size = 16;
  static constexpr std::string_view at = "RFC 8166, 3.4.2";
  static constexpr Field handle = detail::hex_field("rpcordma.rdma_handle", "RDMA Handle", 0, 32, 32, at);
  static constexpr Field length = detail::decimal_field("rpcordma.rdma_length", "RDMA Length", 32, 32, at);
  static constexpr Field offset = detail::hex_field("rpcordma.rdma_offset", "RDMA Offset", 64, 64, 64, at);
  static constexpr std::array fields{handle, length, offset};
};

/// RFC 8166, 4.5. For a version error the range of versions follows.
struct RpcRdmaError {
  static constexpr HeaderId id = HeaderId::rpc_rdma_error;
  static constexpr std::string_view name = {}, title = "RPC over RDMA Error";
  static constexpr std::size_t size = 4;
  static constexpr Field code =
      detail::decimal_field("rpcordma.errcode", "Error Code", 0, 32, "RFC 8166, 4.5", rpc_rdma_error_names);
  static constexpr std::array fields{code};
};

/// RFC 5531, 9.
struct RpcCall {
  static constexpr HeaderId id = HeaderId::rpc_call;
  static constexpr std::string_view name = "rpc", title = "Remote Procedure Call";
  static constexpr std::size_t size = 24;
  static constexpr std::string_view at = "RFC 5531, 9";
  static constexpr Field xid = detail::hex_field("rpc.xid", "XID", 0, 32, 32, at);
  static constexpr Field type =
      detail::decimal_field("rpc.msgtyp", "Message Type", 32, 32, at, rpc_message_names);
  static constexpr Field version = detail::decimal_field("rpc.version", "RPC Version", 64, 32, at);
  static constexpr Field program =
      detail::decimal_field("rpc.program", "Program", 96, 32, at, rpc_program_names);
  static constexpr Field program_version =
      detail::decimal_field("rpc.programversion", "Program Version", 128, 32, at);
  static constexpr Field procedure = detail::decimal_field("rpc.procedure", "Procedure", 160, 32, at);
  static constexpr std::array fields{xid, type, version, program, program_version, procedure};
};

struct RpcReply {
  static constexpr HeaderId id = HeaderId::rpc_reply;
  static constexpr std::string_view name = "rpc", title = "Remote Procedure Reply";
  static constexpr std::size_t size = 12;
  static constexpr Field state =
      detail::decimal_field("rpc.replystat", "Reply State", 64, 32, RpcCall::at, rpc_reply_names);
  static constexpr std::array fields{RpcCall::xid, RpcCall::type, state};
};

}  // namespace roce::dissect
