// SPDX-License-Identifier: Apache-2.0
#include "analyze/trace/traced_packet.hpp"

#include "dissect/aeth.hpp"
#include "dissect/icrc.hpp"
#include "dissect/ip_checksum.hpp"

namespace roce::analyze {

using Kind = TracePoint::Kind;

Kind traced_kind(const PacketRecord& record, const dissect::OpcodeInfo& info) noexcept {
  if (info.operation == dissect::Operation::cnp) return Kind::cnp;
  if (info.request) return Kind::request;
  if (!info.response) return Kind::other;
  if (info.operation != dissect::Operation::acknowledge) return Kind::response;
  if (!record.has(PacketRecord::has_aeth)) return Kind::cut_answer;
  switch (dissect::aeth_kind(static_cast<std::uint8_t>(record.aeth >> 24U))) {
    case dissect::AethKind::rnr_nak:
      return Kind::rnr_nak;
    case dissect::AethKind::nak:
      return Kind::nak;
    default:
      return Kind::acknowledge;
  }
}

bool is_damaged(const capture::Frame& frame, const dissect::Dissection& dissection) {
  const dissect::Bytes bytes{frame.data, frame.captured};
  if (dissect::check_icrc(bytes, dissection).status == dissect::CrcStatus::mismatch) return true;
  if (dissection.network == dissect::Dissection::none) return false;
  const dissect::Layer& network = dissection.layers[dissection.network];
  return network.id == dissect::HeaderId::ipv4 &&
         !dissect::ipv4_checksum_right({frame.data + network.offset, frame.captured - network.offset});
}

void count_traced(Series::Bucket& bucket, const PacketRecord& record, Kind kind, const Verdict& verdict,
                  bool damaged) noexcept {
  // What a packet carries is new if it had not been captured before: lost upstream, it comes by as a repeat
  // only.
  const bool again = verdict.has(Verdict::duplicate_network) ||
                     (verdict.has(Verdict::retransmission) && verdict.original != 0);
  ++bucket.packets;
  bucket.bytes += record.wire;
  if (!again && !damaged) bucket.goodput_bytes += record.payload;
  bucket.retransmitted += verdict.has(Verdict::retransmission) ? 1U : 0U;
  bucket.ce += marked_ce(record) ? 1U : 0U;
  bucket.cnps += kind == Kind::cnp ? 1U : 0U;
  bucket.naks += kind == Kind::nak && !damaged ? 1U : 0U;
  bucket.rnr_naks += kind == Kind::rnr_nak && !damaged ? 1U : 0U;
}

}  // namespace roce::analyze
