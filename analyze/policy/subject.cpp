// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/subject.hpp"

namespace roce::analyze {
namespace {

MarkingSubject with_ends(const FlowKey& flow) noexcept {
  MarkingSubject subject;
  subject.src = flow.src;
  subject.dst = flow.dst;
  subject.dst_qp = flow.dst_qp;
  subject.transport = flow.transport;
  return subject;
}

}  // namespace

MarkingSubject subject_of(const PacketRecord& record) noexcept {
  MarkingSubject subject = with_ends(record.key);
  subject.traffic_class = traffic_class(record.opcode, record.key.dst_qp);
  subject.p_key = record.p_key;
  subject.marks.dscp = static_cast<std::uint8_t>(record.traffic_class >> 2U);
  subject.marks.ecn = record.traffic_class & 3U;
  subject.marks.ttl = record.ttl;
  if (record.has(PacketRecord::tagged)) {
    subject.marks.pcp = record.pcp();
    subject.marks.vlan = record.vlan_id();
  }
  return subject;
}

MarkingSubject subject_of(const FlowKey& flow, const MarkRow& row) noexcept {
  MarkingSubject subject = with_ends(flow);
  subject.traffic_class = row.traffic_class;
  subject.p_key = row.p_key;
  subject.marks = row.marks;
  return subject;
}

std::optional<MarkingSubject> subject_of(const PacketView& packet) noexcept {
  PacketRecord record;
  make_record(*packet.frame, *packet.dissection, record);
  if (!record.has(PacketRecord::valid)) return std::nullopt;
  return subject_of(record);
}

std::vector<Violation> violations_of(const PacketView& packet) {
  if (packet.policy == nullptr) return {};
  const std::optional<MarkingSubject> subject = subject_of(packet);
  return subject ? packet.policy->judge(*subject) : std::vector<Violation>();
}

}  // namespace roce::analyze
