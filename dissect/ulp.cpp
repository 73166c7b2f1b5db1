// SPDX-License-Identifier: Apache-2.0
#include "dissect/ulp.hpp"

#include <algorithm>

#include "dissect/cm.hpp"
#include "dissect/enum_names.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/iser.hpp"
#include "dissect/headers/nvme.hpp"
#include "dissect/headers/rpc_rdma.hpp"
#include "dissect/headers/smb_direct.hpp"
#include "dissect/opcode.hpp"

namespace roce::dissect {
namespace {

/// The bytes that a message begins with, and the layers found in them so far.
class Cursor {
 public:
  /// `whole`: the message ends with `bytes`; otherwise it continues in other packets.
  Cursor(Bytes bytes, bool whole) noexcept : bytes_(bytes), whole_(whole) {}

  [[nodiscard]] const std::uint8_t* at() const noexcept { return bytes_.data() + offset_; }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - offset_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] bool whole() const noexcept { return whole_; }
  [[nodiscard]] bool at_end() const noexcept { return left() == 0; }

  /// Advances past `length` bytes of header `id`. Returns its first byte, or nullptr if they are missing.
  const std::uint8_t* take(HeaderId id, std::size_t length) noexcept {
    const std::uint8_t* p = cover(id, length);
    if (p != nullptr) offset_ += length;
    return p;
  }
  /// take() without advancing, for a layer that contains the following ones.
  const std::uint8_t* cover(HeaderId id, std::size_t length) noexcept {
    if (length > left() || count_ == layers_.size()) return nullptr;
    layers_[count_++] = {id, 0, static_cast<std::uint16_t>(std::min<std::size_t>(length, 0xffff)),
                         static_cast<std::uint32_t>(offset_)};
    return at();
  }
  template <class Header>
  const std::uint8_t* take() noexcept {
    return take(Header::id, Header::size);
  }
  /// Advances past bytes that belong to no header.
  bool skip(std::size_t length) noexcept {
    if (length > left()) return false;
    offset_ += length;
    return true;
  }

  /// Appends the layers to a dissection; the bytes begin at offset `base` of its frame.
  void publish(Dissection& out, std::uint32_t base) const noexcept {
    for (std::size_t i = 0; i < count_ && out.layer_count < max_layers; ++i) {
      Layer layer = layers_[i];
      layer.offset += base;
      out.layers[out.layer_count++] = layer;
    }
  }

 private:
  Bytes bytes_;
  bool whole_;
  std::size_t offset_ = 0;
  std::array<Layer, max_layers> layers_;
  std::size_t count_ = 0;
};

// Each walk_* returns whether the bytes, as far as captured, are of that protocol. `certain` demands that
// they could not be anything else.

bool walk_nvme(Cursor& cursor) noexcept {
  // A response capsule is one completion; a command capsule at least one submission queue entry.
  if (cursor.size() == NvmeCompletion::size) return cursor.take<NvmeCompletion>() != nullptr;
  if (cursor.size() < NvmeEntry::size) return false;
  return cursor.take(*cursor.at() == nvme_opcode_fabrics ? NvmeFabricsCommand::id : NvmeCommand::id,
                     NvmeEntry::size) != nullptr;
}

/// RFC 7145, 9.3: bits and fields of an iSER control header that contradict each other.
bool iser_is_consistent(const std::uint8_t* p) noexcept {
  const bool write = read<Iser::write_valid>(p) != 0, read_ = read<Iser::read_valid>(p) != 0;
  if ((p[0] & 0x03U) != 0 || p[1] != 0 || p[2] != 0 || p[3] != 0) return false;
  if (!write && (read<Iser::write_stag>(p) != 0 || read<Iser::write_offset>(p) != 0)) return false;
  return read_ || (read<Iser::read_stag>(p) == 0 && read<Iser::read_offset>(p) == 0);
}

bool walk_iser(Cursor& cursor, bool& certain) noexcept {
  const std::uint8_t* p = cursor.take<Iser>();
  if (p == nullptr) return false;
  const std::uint8_t opcode = read<Iser::opcode>(p);
  if (opcode == iser_hello || opcode == iser_hello_reply) return true;
  if (opcode != iser_control) return false;
  if (cursor.left() < Iscsi::size) return true;
  const std::uint8_t* bhs = cursor.at();
  const std::size_t header_size = Iscsi::size + read<Iscsi::ahs_length>(bhs) * std::size_t{4};
  if (name_of(iscsi_opcode_names, read<Iscsi::opcode>(bhs)).empty()) return false;
  if (cursor.take(HeaderId::iscsi, std::min(header_size, cursor.left())) == nullptr) return false;
  // Data and up to three pad bytes fill the message; the header of a final or login PDU is never all zeros.
  const std::size_t data = read<Iscsi::data_length>(bhs);
  const bool fills = cursor.whole() && cursor.left() >= data && cursor.left() - data < 4;
  certain = iser_is_consistent(p) && fills && ((bhs[1] & 0x80U) != 0 || Iscsi::is_login(bhs));
  return true;
}

/// XDR's optional data: whether another item follows (1) or not (0). False for anything else.
bool read_mark(Cursor& cursor, bool& follows) noexcept {
  if (cursor.left() < 4) return false;
  const std::uint32_t mark = load_be32(cursor.at());
  follows = mark != 0;
  return mark <= 1;
}

bool walk_segments(Cursor& cursor, std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (cursor.take<RpcRdmaSegment>() == nullptr) return false;
  }
  return true;
}

/// Read list, write list, reply chunk: RFC 8166, 4.3. The number of layers bounds every loop.
bool walk_chunk_lists(Cursor& cursor, bool& any) noexcept {
  bool follows = false;
  for (;;) {
    if (!read_mark(cursor, follows)) return false;
    if (!follows) break;
    any = true;
    if (cursor.take<RpcRdmaReadSegment>() == nullptr) return false;
  }
  (void)cursor.skip(4);
  for (;;) {
    if (!read_mark(cursor, follows)) return false;
    if (!follows) break;
    any = true;
    const std::uint8_t* p = cursor.take<RpcRdmaWriteChunk>();
    if (p == nullptr || !walk_segments(cursor, read<RpcRdmaWriteChunk::segments>(p))) return false;
  }
  (void)cursor.skip(4);
  if (!read_mark(cursor, follows)) return false;
  if (!follows) return cursor.skip(4);
  any = true;
  const std::uint8_t* p = cursor.take<RpcRdmaReplyChunk>();
  return p != nullptr && walk_segments(cursor, read<RpcRdmaReplyChunk::segments>(p));
}

bool walk_rpc_message(Cursor& cursor, std::uint32_t xid, bool& certain) noexcept {
  constexpr std::size_t until_type = 8;
  if (cursor.left() < until_type) return true;
  if (read<RpcCall::xid>(cursor.at()) != xid) return true;
  switch (read<RpcCall::type>(cursor.at())) {
    case rpc_message_call: {
      const std::uint8_t* p = cursor.take<RpcCall>();
      certain = p != nullptr && read<RpcCall::version>(p) == rpc_version;
      break;
    }
    case rpc_message_reply: {
      const std::uint8_t* p = cursor.take<RpcReply>();
      certain = p != nullptr && read<RpcReply::state>(p) <= 1;
      break;
    }
    default:
      break;
  }
  return true;
}

bool walk_rpc_rdma(Cursor& cursor, bool& certain) noexcept {
  constexpr std::size_t versions_size = 8;  // lowest and highest, after a version error
  const std::uint8_t* p = cursor.take<RpcRdma>();
  if (p == nullptr || read<RpcRdma::version>(p) != rpc_rdma_version) return false;
  const std::uint32_t type = read<RpcRdma::type>(p);
  bool any = false;
  switch (type) {
    case rdma_msgp:
      if (!cursor.skip(8)) return true;  // alignment and threshold
      [[fallthrough]];
    case rdma_msg:
    case rdma_nomsg:
      if (!walk_chunk_lists(cursor, any)) return true;
      if (type != rdma_nomsg) return walk_rpc_message(cursor, read<RpcRdma::xid>(p), certain);
      certain = any && cursor.whole() && cursor.at_end();
      return true;
    case rdma_done:
      return true;
    case rdma_error:
      if (cursor.left() >= RpcRdmaError::size)
        (void)cursor.take(HeaderId::rpc_rdma_error,
                          std::min(cursor.left(), RpcRdmaError::size + versions_size));
      return true;
    default:
      return false;
  }
}

bool is_negotiate_request(const Cursor& cursor) noexcept {
  const std::uint8_t* p = cursor.at();
  using Request = SmbDirectNegotiateRequest;
  return cursor.size() == Request::size && read<Request::min_version>(p) == smb_direct_version &&
         read<Request::max_version>(p) == smb_direct_version && load_be16(p + 4) == 0 &&
         read<Request::credits_requested>(p) > 0 && read<Request::preferred_send>(p) >= smb_direct_min_size &&
         read<Request::max_receive>(p) >= smb_direct_min_size &&
         read<Request::max_fragmented>(p) >= smb_direct_min_fragmented;
}

bool is_negotiate_response(const Cursor& cursor) noexcept {
  const std::uint8_t* p = cursor.at();
  using Response = SmbDirectNegotiateResponse;
  return cursor.size() == Response::size && read<Response::min_version>(p) == smb_direct_version &&
         read<Response::max_version>(p) == smb_direct_version &&
         read<Response::negotiated>(p) == smb_direct_version && load_be16(p + 6) == 0 &&
         (read<Response::status>(p) != 0 || (read<Response::preferred_send>(p) >= smb_direct_min_size &&
                                             read<Response::max_receive>(p) >= smb_direct_min_size &&
                                             read<Response::max_fragmented>(p) >= smb_direct_min_fragmented));
}

bool walk_smb_direct(Cursor& cursor, bool& certain) noexcept {
  if (cursor.size() < SmbDirectData::size) return false;
  certain = cursor.whole();
  if (is_negotiate_request(cursor)) {
    return cursor.cover(HeaderId::smb_direct, cursor.left()) != nullptr &&
           cursor.take<SmbDirectNegotiateRequest>() != nullptr;
  }
  if (is_negotiate_response(cursor)) {
    return cursor.cover(HeaderId::smb_direct, cursor.left()) != nullptr &&
           cursor.take<SmbDirectNegotiateResponse>() != nullptr;
  }
  certain = false;
  const std::uint8_t* p = cursor.at();
  const std::uint64_t data_length = read<SmbDirectData::data_length>(p);
  const std::uint64_t data_end = read<SmbDirectData::data_offset>(p) + data_length;
  if (load_be16(p + 6) != 0 || (cursor.whole() && data_length != 0 && data_end > cursor.size())) return false;
  return cursor.cover(HeaderId::smb_direct, cursor.left()) != nullptr &&
         cursor.take<SmbDirectData>() != nullptr;
}

bool walk_as(Ulp ulp, Cursor& cursor, bool& certain) noexcept {
  switch (ulp) {
    case Ulp::nvme_of:
      return walk_nvme(cursor);
    case Ulp::iser:
      return walk_iser(cursor, certain);
    case Ulp::nfs_rdma:
      return walk_rpc_rdma(cursor, certain);
    case Ulp::smb_direct:
      return walk_smb_direct(cursor, certain);
    default:
      return false;
  }
}

Ulp recognise_bytes(Bytes payload, bool whole) noexcept {
  for (const Ulp ulp : {Ulp::nfs_rdma, Ulp::iser, Ulp::smb_direct}) {
    Cursor cursor(payload, whole);
    bool certain = false;
    if (walk_as(ulp, cursor, certain) && certain) return ulp;
  }
  return Ulp::none;
}

Ulp dissect_private_data(Bytes frame, Dissection& dissection, Ulp hint) noexcept {
  const std::optional<CmMessage> message = decode_cm(frame, dissection);
  if (!message || !message->whole) return Ulp::none;
  if (message->kind == CmKind::req) hint = ulp_of_service(message->service_id);
  if (hint != Ulp::nvme_of || message->private_offset > frame.size()) return Ulp::none;
  const Bytes data =
      frame.subspan(message->private_offset,
                    std::min<std::size_t>(message->private_length, frame.size() - message->private_offset));
  Cursor cursor(data, true);
  const std::uint8_t* p = nullptr;
  switch (message->kind) {
    case CmKind::req:
      p = cursor.take<NvmeRdmaRequest>();
      break;
    case CmKind::rep:
      p = cursor.take<NvmeRdmaReply>();
      break;
    case CmKind::rej:
      if (message->reject_reason == cm_reject_consumer) p = cursor.take<NvmeRdmaReject>();
      break;
    default:
      break;
  }
  if (p == nullptr) return Ulp::none;
  cursor.publish(dissection, message->private_offset);
  return Ulp::nvme_of;
}

}  // namespace

std::string_view ulp_name(Ulp ulp) noexcept {
  using enum Ulp;
  static constexpr EnumNames<Ulp, 5> names(
      {{none, ""}, {nvme_of, "NVMe-oF"}, {iser, "iSER"}, {nfs_rdma, "NFS/RDMA"}, {smb_direct, "SMB Direct"}});
  return names[ulp];
}

Ulp ulp_of_service(std::uint64_t service_id) noexcept {
  const std::string_view name = service_name_of(service_id);
  if (name.empty()) return Ulp::none;
  for (const Ulp ulp : {Ulp::nvme_of, Ulp::iser, Ulp::nfs_rdma, Ulp::smb_direct}) {
    if (ulp_name(ulp) == name) return ulp;
  }
  return Ulp::none;
}

Ulp recognise(Bytes payload) noexcept {
  return recognise_bytes(payload, true);
}

Ulp dissect_ulp(Bytes frame, Dissection& dissection, Ulp hint) noexcept {
  if (dissection.mad != Dissection::none) return dissect_private_data(frame, dissection, hint);
  if (dissection.bth >= dissection.layer_count) return Ulp::none;
  const Layer& bth = dissection.layers[dissection.bth];
  if (std::size_t{bth.offset} + Bth::size > frame.size()) return Ulp::none;
  const std::uint8_t* p = frame.data() + bth.offset;
  const OpcodeInfo& info = opcode_info(read<Bth::opcode>(p));
  const bool reliable = info.service == Service::rc || info.service == Service::xrc;
  if (!reliable || info.operation != Operation::send || !info.starts_message()) return Ulp::none;

  const std::uint32_t pad = read<Bth::padcnt>(p);
  // A first fragment declares more than it has.
  const std::size_t end = std::min<std::size_t>(frame.size(), dissection.declared_end);
  if (dissection.payload_length <= pad || dissection.payload_offset >= end) return Ulp::none;
  const std::size_t declared = dissection.payload_length - pad;
  const std::size_t there = std::min<std::size_t>(declared, end - dissection.payload_offset);
  const Bytes payload = frame.subspan(dissection.payload_offset, there);
  const bool whole = there == declared && info.ends_message();

  if (hint == Ulp::none) hint = recognise_bytes(payload, whole);
  // A completion is recognised by the length of its capsule, which a truncated payload does not have.
  if (hint == Ulp::nvme_of && declared != NvmeCompletion::size && declared < NvmeEntry::size)
    return Ulp::none;
  if (hint == Ulp::nvme_of && declared > NvmeCompletion::size && there == NvmeCompletion::size)
    return Ulp::none;
  Cursor cursor(payload, whole);
  bool certain = false;
  if (!walk_as(hint, cursor, certain)) return Ulp::none;
  cursor.publish(dissection, dissection.payload_offset);
  return hint;
}

}  // namespace roce::dissect
