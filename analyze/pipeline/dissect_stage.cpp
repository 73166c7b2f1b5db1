// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/dissect_stage.hpp"

#include <vector>

#include "analyze/link/link_view.hpp"
#include "analyze/record/common_packet.hpp"
#include "analyze/tracker/tracker.hpp"
#include "dissect/aeth.hpp"
#include "dissect/gid.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/icrc.hpp"
#include "dissect/ip_checksum.hpp"

namespace roce::analyze {

using dissect::Dissection;
using dissect::IcrcResult;

namespace {

/// Checks the IPv4 header checksum, which the receiver checks before the ICRC.
void check_header(const capture::Frame& frame, dissect::HeaderId network, std::size_t offset,
                  PacketBrief& packet) {
  if (network != dissect::HeaderId::ipv4 || !packet.has(PacketRecord::valid) || packet.trimmed()) return;
  if (dissect::ipv4_checksum_right({frame.data + offset, frame.captured - offset})) [[likely]]
    return;
  packet.more = static_cast<std::uint8_t>(packet.more | PacketRecord::bad_header);
}

/// What the stamps say of their clock. Each of several capture points has its own.
void look_at_stamps(Batch& batch) {
  constexpr std::int64_t step_ns = 1'000'000'000;
  std::int64_t before = batch.frames_before != 0 ? batch.previous_time_ns : capture::no_time;
  std::uint64_t equal = 0, back = 0;
  for (const capture::Frame& frame : batch.read.frames) {
    if (frame.time_ns <= before) {
      equal += frame.time_ns == before && before != capture::no_time ? 1 : 0;
      back += before > frame.time_ns && frame.time_ns > 0 && before - frame.time_ns > step_ns ? 1 : 0;
    }
    before = frame.time_ns;
  }
  batch.totals.equal_stamps = equal;
  batch.totals.stepped_back = batch.several_points ? 0 : back;
}

}  // namespace

DissectStage::DissectStage(const AnalysisOptions& options, const capture::CaptureSource& source,
                           const HeaderCache& images)
    : options_(options),
      source_(source),
      known_(images, options.check_icrc),
      with_history_(options.filter != nullptr && options.filter->needs_history()),
      any_bound_(options.times.from.has_value() || options.times.to.has_value()) {
  dissect_options_ = options.dissecting;
  fast_ = options.filter == nullptr && fast_way_exists(dissect_options_);
  images_wanted_ = fast_ && !any_bound_ && options.short_way;
}

void DissectStage::work(Batch& batch) const {
  const std::vector<capture::Frame>& frames = batch.read.frames;
  if (batch.packets.size() < frames.size()) batch.packets.resize(frames.size());
  batch.records.clear();
  batch.controls.clear();
  batch.exports.clear();
  batch.mrc.clear();
  batch.numbered.clear();
  batch.totals = Totals{};
  batch.outer = OuterCounts{};
  look_at_stamps(batch);
  if (options_.filter != nullptr) batch.comments = capture::BatchComments(batch.read);
  const bool images = images_wanted_ && !batch.interleaved;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (images) i = known_.take(frames, i, batch.packets.data(), batch.totals);
    if (i == frames.size()) break;
    if (i + headers_ahead < frames.size()) prefetch_headers(frames[i + headers_ahead]);
    PacketBrief& packet = batch.packets[i];
    packet.image = 0;
    packet.place = static_cast<std::uint32_t>(batch.records.size());
    batch.records.emplace_back();
    if (!fast_ || !dissect_fast(batch, i)) dissect_one(batch, i);
    if (batch.records.back().has(PacketRecord::valid)) continue;
    batch.records.pop_back();
    packet.place = Tracker::no_hint;
  }
  batch.totals.settle();
}

/// Fast path for the common frame, if its dissection is not needed.
bool DissectStage::dissect_fast(Batch& batch, std::size_t i) const {
  const capture::Frame& frame = batch.read.frames[i];
  PacketRecord& record = batch.records.back();
  FastFrame facts;
  if (!make_record_fast(frame, record, facts)) return false;
  if (any_bound_ && !options_.times.contains(frame.time_ns, batch.first_time_ns)) return true;
  const IcrcResult icrc = finish_packet(frame, facts, record);
  count_fast(batch, i, record, facts, icrc);
  return true;
}

/// Completes a packet of a fast path. The packet is selected.
IcrcResult DissectStage::finish_packet(const capture::Frame& frame, const FastFrame& facts,
                                       PacketBrief& packet) const {
  packet.flags = static_cast<std::uint8_t>(packet.flags | PacketRecord::selected);
  IcrcResult icrc;
  if (options_.check_icrc) {
    if (!facts.cut) icrc = dissect::check_icrc_at({frame.data, frame.captured}, facts.icrc_place);
    packet.icrc = static_cast<std::uint8_t>(icrc.status);
    check_header(frame, facts.icrc_place.network_id, facts.icrc_place.network, packet);
  }
  packet.common = static_cast<std::uint8_t>(common_of(packet, facts.marks.traffic_class));
  return icrc;
}

void DissectStage::count_fast(Batch& batch, std::size_t i, const PacketBrief& packet, const FastFrame& facts,
                              const IcrcResult& icrc) const {
  batch.totals.count_fast(batch.frames_before + i + 1, batch.read.frames[i], packet.opcode, facts.marks,
                          facts.cut, options_.check_icrc ? &icrc : nullptr);
  if (packet.has(PacketRecord::bad_header)) batch.totals.diagnostics.add(DiagnosticId::ip_checksum);
}

void DissectStage::glance_at(const Batch& batch, std::vector<PacketSummary>& summaries) {
  constexpr unsigned congested = 3;
  summaries.assign(batch.read.frames.size(), PacketSummary{});
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const PacketBrief& packet = batch.packets[i];
    PacketSummary& summary = summaries[i];
    if (packet.image != 0) {  // only common packets have one: not CE-marked, not damaged, no NAK
      summary = {packet.opcode, PacketSummary::transport};
      continue;
    }
    if (packet.place == Tracker::no_hint) continue;
    const PacketRecord& r = batch.records[packet.place];
    unsigned bits = PacketSummary::transport;
    if ((r.traffic_class & 3U) == congested) bits |= PacketSummary::ce;
    if (r.icrc_wrong()) bits |= PacketSummary::icrc_wrong;
    if (r.key.dst_qp <= dissect::gsi_qpn) bits |= PacketSummary::management;
    if (r.has(PacketRecord::has_aeth)) {
      const dissect::AethKind kind = dissect::aeth_kind(static_cast<std::uint8_t>(r.aeth >> 24U));
      if (kind == dissect::AethKind::nak) bits |= PacketSummary::nak;
      if (kind == dissect::AethKind::rnr_nak) bits |= PacketSummary::rnr_nak;
    }
    summary = {r.opcode, static_cast<std::uint8_t>(bits)};
  }
  for (const std::uint32_t i : batch.controls) {
    summaries[i].bits = static_cast<std::uint8_t>(summaries[i].bits | PacketSummary::link_control);
  }
  for (const std::uint32_t i : batch.exports) {
    summaries[i].bits = static_cast<std::uint8_t>(summaries[i].bits | PacketSummary::exported);
  }
}

PacketRecord DissectStage::record_of(const capture::Frame& frame, const PacketBrief& packet) const {
  PacketRecord record;
  FastFrame facts;
  if (!make_record_fast(frame, record, facts)) return record;
  record.flags = packet.flags;
  record.icrc = packet.icrc;
  record.common = packet.common;
  return record;
}

void DissectStage::dissect_one(Batch& batch, std::size_t i) const {
  const capture::Frame& frame = batch.read.frames[i];
  const Dissection& d = dissect_again(batch, frame);
  // Packets that are not selected count for the numbering of flows too.
  make_record(frame, d, batch.records.back());
  // Of all packets, selected or not: those that are left out are no gaps.
  note_numbered(batch.frames_before + i + 1, frame, d, batch.numbered);
  if (with_history_ || !options_.times.contains(frame.time_ns, batch.first_time_ns)) return;
  count_if_selected(batch, i, batch.records.back(), std::nullopt);
}

Dissection& DissectStage::dissect_again(Batch& batch, const capture::Frame& frame) const {
  dissect::dissect({frame.data, frame.captured}, frame.wire, frame.link_type, batch.dissection,
                   dissect_options_);
  return batch.dissection;
}

void DissectStage::count_if_selected(Batch& batch, std::size_t i, PacketRecord& record,
                                     std::optional<std::uint64_t> flow) const {
  const capture::Frame& frame = batch.read.frames[i];
  const Dissection& d = batch.dissection;
  const dissect::Bytes bytes{frame.data, frame.captured};
  const bool filter_wants_icrc = options_.filter != nullptr && options_.filter->needs_icrc();
  IcrcResult icrc;
  if (options_.check_icrc || filter_wants_icrc) icrc = dissect::check_icrc(bytes, d);
  if (record.icrc < PacketRecord::trimmed_away) {
    record.icrc =
        static_cast<std::uint8_t>(options_.check_icrc ? icrc.status : dissect::CrcStatus::not_checkable);
  }
  if (options_.filter != nullptr && !passes(batch, i, icrc, flow)) {
    record.more = static_cast<std::uint8_t>(record.more | PacketRecord::left_out);
    return;
  }

  Totals& totals = batch.totals;
  if (options_.check_icrc && d.network != Dissection::none) {
    const dissect::Layer& network = d.layers[d.network];
    check_header(frame, network.id, network.offset, record);
    if (record.has(PacketRecord::bad_header)) totals.diagnostics.add(DiagnosticId::ip_checksum);
  }
  record.flags = static_cast<std::uint8_t>(record.flags | PacketRecord::selected);
  record.common = static_cast<std::uint8_t>(common_of(record));
  totals.count(batch.frames_before + i + 1, frame, d, record, options_.check_icrc ? &icrc : nullptr);
  if (d.tunnels != 0 && record.has(PacketRecord::valid) && !record.has(PacketRecord::other_version))
    batch.outer.count(batch.frames_before + i + 1, frame, d, record);
  if (MrcPacket mrc; make_mrc_packet(frame, d, record, mrc)) [[unlikely]] {
    mrc.index = static_cast<std::uint32_t>(i);
    batch.mrc.push_back(mrc);
  }
  if (!record.has(PacketRecord::valid)) {
    if (link_control_of(d) != LinkControl::none) batch.controls.push_back(static_cast<std::uint32_t>(i));
    if (d.is_export()) batch.exports.push_back(static_cast<std::uint32_t>(i));
  }
  if (dissect::gid_disagrees(bytes, d)) totals.diagnostics.add(DiagnosticId::gid_disagrees);
  if (options_.check_icrc && d.transport == dissect::Transport::native_ib &&
      dissect::check_vcrc(bytes, d).status == dissect::CrcStatus::mismatch) {
    totals.diagnostics.add(DiagnosticId::vcrc_mismatch);
  }
}

bool DissectStage::passes(const Batch& batch, std::size_t i, const IcrcResult& icrc,
                          std::optional<std::uint64_t> flow) const {
  const std::vector<capture::Frame>& frames = batch.read.frames;
  PacketView view;
  view.number = batch.frames_before + i + 1;
  view.frame = &frames[i];
  const std::size_t interface = frames[i].interface;
  view.interface = interface < source_.interfaces().size() ? &source_.interfaces()[interface] : nullptr;
  view.dissection = &batch.dissection;
  view.exported = batch.exported;
  view.first_time_ns = batch.first_time_ns;
  view.previous_time_ns = i > 0 ? frames[i - 1].time_ns : batch.previous_time_ns;
  view.icrc = icrc;
  view.flow = flow;
  view.policy = options_.policy.get();
  view.comments = batch.comments.of(frames[i]);
  if (options_.known != nullptr) view.verdict = options_.known->find(view.number);
  return options_.filter->matches(view);
}

}  // namespace roce::analyze
