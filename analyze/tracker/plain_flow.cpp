// SPDX-License-Identifier: Apache-2.0
// Flows without a sequence: UD, RD and what vendors have.
#include <utility>

#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {

/// UD and what else has no sequence: counted, but not twice.
Verdict Tracker::Impl::plain(FlowState& state, const PacketRecord& record, std::uint64_t number,
                             std::uint32_t place) {
  Verdict verdict;
  if (!state.plain_flow) state.plain_flow = std::make_unique<PlainFlow>();
  settle_damaged(*state.plain_flow);
  // It may be no flow at all: see take_strays().
  const bool doubtful = record.icrc_wrong() && flows.at(place).packets == 0;
  if (doubtful) state.plain_flow->damaged = std::make_unique<Held>(Held{record, number});
  // Probes of MRC are told apart by a number behind the BTH.
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const bool probe = info.operation == dissect::Operation::probe;
  PlainFlow& flow = *state.plain_flow;
  Seen& seen = flow.seen[(record.psn ^ record.ip_id) & 7U];
  const bool same = seen.frame != 0 && seen.psn == record.psn && seen.opcode == record.opcode &&
                    flow.facts.ids_tell(record) && seen.ip_id == record.ip_id;
  const auto remember = [&] {
    seen = Seen{};
    seen.psn = record.psn;
    seen.time_ns = record.time_ns;
    seen.frame = number & Seen::last_frame;
    seen.ip_id = record.ip_id;
    seen.path = record.path;
    seen.opcode = record.opcode;
  };
  if (probe || !bears_witness(place, record)) {
    // Where longer ones pass whole, it was no mirror that cut it; and nobody sends a datagram again.
    if (record.trimmed() && !same && flows.at(place).bytes > flows.at(place).packets * record.wire) {
      verdict.trimmed = 1;
      if (record.has(PacketRecord::selected)) {
        SequenceCounts& sequence = flows.at(place).sequence_to_change();
        ++sequence.lost[static_cast<std::size_t>(Lost::trimmed)];
        // Of MRC its own findings tell.
        if (sequence.first_trimmed == 0 && info.service == dissect::Service::ud)
          sequence.first_trimmed = number;
      }
      remember();
    }
    count(place, record, number, !doubtful);
    publish(number, verdict);
    return verdict;
  }
  if (const Sighting* const elsewhere = copied(flow, state, record, number)) {
    verdict.set(Verdict::duplicate_capture);
    verdict.original = static_cast<std::uint32_t>(elsewhere->frame);
    if (record.has(PacketRecord::selected)) ++flows.at(place).sequence_to_change().duplicate_captures;
  } else if (same) {
    flow.facts.count_doubled();
    const bool by_capture = seen.path != record.path || flow.facts.doubled * 2 >= flow.facts.single;
    verdict.set(by_capture ? Verdict::duplicate_capture : Verdict::duplicate_network);
    verdict.original = static_cast<std::uint32_t>(seen.frame);
    if (record.has(PacketRecord::selected)) {
      SequenceCounts& sequence = flows.at(place).sequence_to_change();
      ++(by_capture ? sequence.duplicate_captures : sequence.duplicate_network);
    }
  } else {
    flow.facts.learn(record);
    remember();
  }
  if (!verdict.has(Verdict::duplicate_capture)) count(place, record, number, !doubtful);
  publish(number, verdict);
  return verdict;
}

/// It was a flow's first packet after all.
void Tracker::Impl::settle_damaged(PlainFlow& flow) {
  const std::unique_ptr<Held> first = std::move(flow.damaged);
  if (first != nullptr && first->record.has(PacketRecord::selected)) count_in_series(first->record);
}

}  // namespace roce::analyze
