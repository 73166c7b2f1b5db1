// SPDX-License-Identifier: Apache-2.0
#include "analyze/trace/range_series.hpp"

#include <algorithm>

#include "analyze/record/packet_record.hpp"
#include "analyze/trace/traced_packet.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

std::int64_t RangeSeries::width_for(std::int64_t length_ns, std::int64_t parts) noexcept {
  const std::int64_t most = std::clamp<std::int64_t>(parts, 1, static_cast<std::int64_t>(Series::limit));
  std::int64_t width = std::max<std::int64_t>(1, length_ns / most);
  // The last one may begin before the end only.
  while ((length_ns + width - 1) / width > static_cast<std::int64_t>(Series::limit)) ++width;
  return width;
}

RangeSeries::RangeSeries(std::int64_t from_ns, std::int64_t to_ns, std::int64_t width_ns, bool check_icrc,
                         const dissect::Options& dissecting)
    : series_(from_ns, width_ns),
      from_ns_(from_ns),
      to_ns_(to_ns),
      check_icrc_(check_icrc),
      dissecting_(dissecting) {}

void RangeSeries::see(const capture::Frame& frame, const Verdict* verdict) {
  if (frame.time_ns == capture::no_time || frame.time_ns < from_ns_ || frame.time_ns >= to_ns_) return;
  if (verdict != nullptr && verdict->has(Verdict::duplicate_capture)) return;
  dissect::dissect({frame.data, frame.captured}, frame.wire, frame.link_type, dissection_, dissecting_);
  PacketRecord record;
  make_record(frame, dissection_, record);
  if (!record.has(PacketRecord::valid)) return;
  Series::Bucket& bucket = series_.at(frame.time_ns);
  if (verdict == nullptr || verdict->connection == Verdict::no_connection) {
    ++bucket.packets;
    bucket.bytes += record.wire;
    return;
  }
  const bool damaged = check_icrc_ && is_damaged(frame, dissection_);
  count_traced(bucket, record, traced_kind(record, dissect::opcode_info(record.opcode)), *verdict, damaged);
  bucket.lost += lost_of_own(*verdict) + lost_of_other(*verdict);
  if (verdict->has(Verdict::in_flight_known))
    bucket.in_flight_max = std::max(bucket.in_flight_max, verdict->in_flight);
}

}  // namespace roce::analyze
