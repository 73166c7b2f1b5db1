// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/point_reader.hpp"

#include <algorithm>

#include "analyze/record/fast_record.hpp"
#include "analyze/record/outer_marks.hpp"
#include "dissect/bytes.hpp"
#include "dissect/dissect.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/ip_checksum.hpp"

namespace roce::analyze {
namespace {

using dissect::CrcStatus;
using dissect::HeaderId;

std::uint64_t mix(std::uint64_t h, std::uint64_t word) noexcept {
  h = (h ^ word) * 0x9e3779b97f4a7c15U;
  return h ^ h >> 32U;
}

std::uint64_t sign_of(const PacketRecord& r) noexcept {
  std::uint64_t h = mix(r.psn, std::uint64_t{r.opcode} << 32U | r.payload);
  h = mix(h, r.has(PacketRecord::has_ip_id) ? std::uint64_t{r.ip_id} + 1 : 0);
  h = (r.key_hash ^ h) * 0x9e3779b97f4a7c15U;
  return h ^ h >> 31U;
}

/// Limited to 1970 to 2043, so that no sum of three differences overflows; other timestamps are invalid.
std::int64_t time_of(const capture::Frame& frame) noexcept {
  return std::clamp<std::int64_t>(frame.time_ns, 0, PacketBrief::latest_ns / 2);
}

}  // namespace

ReaderOptions reader_options(const CompareOptions& options) noexcept {
  return {options.check_icrc, options.dissecting, options.filter, options.times};
}

bool PointReader::make(const capture::Frame& frame, PointPacket& packet) {
  PacketRecord record;
  FastFrame facts;
  const dissect::Options& options = options_.dissecting;
  const dissect::Bytes bytes{frame.data, frame.captured};
  dissect::IcrcResult icrc;
  HeaderId network_id;
  std::uint32_t network;
  packet.flags = 0;
  if (options_.filter == nullptr && fast_way_exists(options) && make_record_fast(frame, record, facts)) {
    network_id = facts.icrc_place.network_id;
    network = facts.icrc_place.network;
    if (!facts.cut) {
      if (options_.check_icrc) icrc = dissect::check_icrc_at(bytes, facts.icrc_place);
      packet.icrc = dissect::load_be32(frame.data + facts.icrc_place.icrc);
      packet.flags |= PointPacket::icrc_known;
    }
  } else {
    dissect::dissect(bytes, frame.wire, frame.link_type, dissection_, options);
    make_record(frame, dissection_, record);
    if (!record.has(PacketRecord::valid)) return false;
    // CE outside of a tunnel is CE inside as soon as it is taken out (RFC 6040, 4.2).
    constexpr auto ce = static_cast<std::uint8_t>(dissect::Ecn::ce);
    const auto outer = outer_marks(frame.data, dissection_);
    if (outer && outer->ecn() == ce && (record.traffic_class & ce) != 0)
      record.traffic_class = static_cast<std::uint8_t>(record.traffic_class | ce);
    network_id = dissection_.layers[dissection_.network].id;
    network = dissection_.layers[dissection_.network].offset;
    const bool filter_wants_icrc = options_.filter != nullptr && options_.filter->needs_icrc();
    if (options_.check_icrc || filter_wants_icrc) icrc = dissect::check_icrc(bytes, dissection_);
    if (options_.filter != nullptr && !passes(frame, icrc)) return false;
    if (!options_.check_icrc) icrc = {};
    if (record.trimmed()) packet.flags |= PointPacket::trimmed;
    if (record.icrc == PacketRecord::cut_away) packet.flags |= PointPacket::cut;
    if (dissection_.icrc != dissect::Dissection::none) {
      packet.icrc = dissect::load_be32(frame.data + dissection_.layers[dissection_.icrc].offset);
      packet.flags |= PointPacket::icrc_known;
    }
  }
  // Who trims need not renew it.
  const bool trimmed = (packet.flags & PointPacket::trimmed) != 0;
  const bool bad_header = options_.check_icrc && network_id == HeaderId::ipv4 && !trimmed &&
                          !dissect::ipv4_checksum_right({frame.data + network, frame.captured - network});
  if (icrc.status == CrcStatus::mismatch || bad_header) {
    packet.flags |= PointPacket::damaged;
    ++damaged_;
  }
  if (record.has(PacketRecord::has_ip_id) && record.ip_id != 0) packet.flags |= PointPacket::numbered;
  if (record.has(PacketRecord::tagged)) packet.flags |= PointPacket::tagged;
  packet.key = record.key;
  packet.sign = sign_of(record);
  packet.extended = 0;
  if (record.has(PacketRecord::has_aeth)) {
    packet.extended = record.aeth;
    packet.flags |= PointPacket::extended_known;
  } else if (record.has(PacketRecord::has_reth)) {
    packet.extended = static_cast<std::uint32_t>(mix(record.dma_length, record.r_key));
    packet.flags |= PointPacket::extended_known;
  }
  packet.psn = record.psn;
  packet.port = record.has(PacketRecord::has_ports) ? record.udp_source : 0;
  packet.path = record.path;
  packet.vlan = record.vlan_id();
  packet.traffic_class = record.traffic_class;
  packet.pcp = record.pcp();
  packet.ttl = record.ttl;
  packet.opcode = record.opcode;
  return true;
}

bool PointReader::passes(const capture::Frame& frame, dissect::IcrcResult icrc) const {
  PacketView view;
  view.number = frames_;
  view.frame = &frame;
  const std::size_t interface = frame.interface;
  view.interface = interface < source_.interfaces().size() ? &source_.interfaces()[interface] : nullptr;
  view.dissection = &dissection_;
  view.first_time_ns = file_begins_ns_.value_or(frame.time_ns);
  view.previous_time_ns = previous_time_ns_;
  view.icrc = icrc;
  view.comments = comments_.of(frame);
  return options_.filter->matches(view);
}

bool PointReader::read() {
  while (!ended_) {
    batch_.clear();
    const capture::Expected<std::size_t> got = source_.next_batch(batch_, batch_frames);
    if (!got) errors_.push_back(got.error());
    if (got && *got == 0) ended_ = true;
    if (batch_.frames.empty()) continue;
    comments_ = capture::BatchComments(batch_);
    for (const capture::Frame& frame : batch_.frames) {
      ++frames_;
      if (!file_begins_ns_ && frame.time_ns != capture::no_time) file_begins_ns_ = frame.time_ns;
      previous_time_ns_ = frames_ > 1 ? last_frame_ns_ : frame.time_ns;
      last_frame_ns_ = frame.time_ns;
      if (!options_.times.contains(frame.time_ns, file_begins_ns_.value_or(0))) continue;
      if (frame.time_ns == capture::no_time) {
        timeless_ = true;
      } else {
        const std::int64_t time = time_of(frame);
        if (!any_time_) first_time_ns_ = last_time_ns_ = time;
        any_time_ = true;
        first_time_ns_ = std::min(first_time_ns_, time);
        last_time_ns_ = std::max(last_time_ns_, time);
      }
      PointPacket packet;
      if (!make(frame, packet)) continue;
      packet.number = frames_;
      packet.time_ns = frame.time_ns == capture::no_time ? last_time_ns_ : time_of(frame);
      ++packets_;
      ahead_.push_back(packet);
    }
    return true;
  }
  return false;
}

const PointPacket* PointReader::head() {
  while (ahead_.empty()) {
    if (!read()) return nullptr;
  }
  return &ahead_.front();
}

const std::deque<PointPacket>& PointReader::look_ahead(std::size_t limit) {
  while (ahead_.size() < limit && read()) {
  }
  return ahead_;
}

}  // namespace roce::analyze
