// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/address_text.hpp"
#include "analyze/mrc/mrc.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "dissect/headers/mrc.hpp"

namespace roce::analyze {
namespace {

void write_mrc_path(JsonWriter& json, const MrcPath& path) {
  json.begin_object().field("udp_source", path.udp_source).field("flow_label", path.flow_label);
  json.field("packets", path.packets).field("bytes", path.bytes).field("repeats", path.repeats);
  json.field("lost", path.lost).field("trimmed", path.trimmed).field("ce", path.ce);
  json.field("marked", path.marked).field("retired", path.retired).field("answers", path.answers);
  if (path.answers == 0) {
    json.null_field("rtt_ns").end_object();
    return;
  }
  json.key("rtt_ns").begin_object().field("min", path.rtt_min_ns).field("mean", path.rtt_mean_ns());
  json.field("max", path.rtt_max_ns).end_object().end_object();
}

void write_mrc_losses(JsonWriter& json, const MrcStream& stream) {
  json.key("lost").begin_object();
  for (std::size_t i = 0; i < mrc_place_count; ++i)
    json.field(mrc_place_name(static_cast<MrcPlace>(i)), stream.lost[i]);
  json.end_object();
}

void write_mrc_nacks(JsonWriter& json, const MrcStream& stream) {
  json.key("nacks").begin_object();
  for (std::size_t i = 0; i < stream.nacks.size(); ++i) {
    if (stream.nacks[i] == 0) continue;
    json.field(i < mrc_reasons.size() ? dissect::name_of(dissect::mrc_nack_reason_names, mrc_reasons[i])
                                      : std::string_view{"another reason"},
               stream.nacks[i]);
  }
  json.end_object();
}

void write_mrc_stream(JsonWriter& json, const MrcStream& stream) {
  json.begin_object().field("id", stream.id);
  json.field("src", address_text(stream.key.src)).field("dst", address_text(stream.key.dst));
  json.field("dst_qp", stream.key.dst_qp);
  write_optional(json, "answer_qp", stream.answer_qp);
  json.field("first_packet", stream.first_packet);
  write_time(json, "first_time", stream.first_ns);
  write_time(json, "last_time", stream.last_ns);
  json.field("packets", stream.packets).field("bytes", stream.bytes).field("payload_bytes", stream.payload);
  json.field("messages", stream.messages).field("repeats", stream.repeats).field("needed", stream.needed);
  json.field("needless", stream.needless).field("undecided", stream.undecided);
  write_mrc_losses(json, stream);
  json.field("not_captured", stream.not_captured).field("refused", stream.refused);
  json.field("copies", stream.copies)
      .field("damaged", stream.damaged)
      .field("reordered", stream.reordered)
      .field("restarts", stream.restarts);
  json.field("sacks", stream.sacks);
  write_mrc_nacks(json, stream);
  json.key("refusals").begin_array();
  for (const MrcRefusal& each : stream.refusals) {
    json.begin_object().field("by", each.text()).field("fatal", each.fatal());
    json.field("count", each.seen.count).field("first_packet", each.seen.packets.front()).end_object();
  }
  json.end_array().field("unanswered", stream.unanswered.count);
  json.field("acks", stream.acks).field("naks", stream.naks);
  json.field("probes", stream.probes).field("probes_answered", stream.probes_answered);
  json.field("ce", stream.ce).field("marked", stream.marked).field("retired", stream.retired);
  write_optional(json, "window_min", stream.window_min);
  write_optional(json, "window_max", stream.window_max);
  json.field("out_of_order_max", stream.out_of_order_max);
  write_quantiles(json, "rtt_ns", stream.rtt_ns);
  json.key("paths").begin_array();
  for (const MrcPath& path : stream.paths) write_mrc_path(json, path);
  json.end_array().field("packets_of_more_paths", stream.paths_dropped).end_object();
}

void write_mrc_loss(JsonWriter& json, const Mrc& mrc, const MrcLoss& loss) {
  const MrcStream& stream = mrc.streams[loss.stream];
  json.begin_object().field("stream", stream.id).field("psn", loss.psn);
  json.field("place", mrc_place_name(loss.place));
  if (loss.path) {
    json.field("udp_source", stream.paths[*loss.path].udp_source);
    json.field("flow_label", stream.paths[*loss.path].flow_label);
  } else {
    json.null_field("udp_source").null_field("flow_label");
  }
  json.field("packet", loss.packet);
  write_time(json, "time", loss.time_ns);
  json.end_object();
}

}  // namespace

void write_mrc(JsonWriter& json, const Snapshot& snapshot, const ReportSink& sink) {
  if (snapshot.mrc == nullptr) {
    json.null_field("mrc");
    return;
  }
  const Mrc& mrc = *snapshot.mrc;
  json.key("mrc").begin_object().field("packets", mrc.packets).field("unknown", mrc.unknown);
  json.field("endpoint_requests", mrc.endpoint_requests).field("endpoint_responses", mrc.endpoint_responses);
  json.field("unmatched", mrc.unmatched).field("packets_of_more_streams", mrc.dropped);
  json.key("streams").begin_array();
  for (const MrcStream& stream : mrc.streams) {
    write_mrc_stream(json, stream);
    sink.step();
  }
  json.end_array().key("losses").begin_array();
  for (const MrcLoss& loss : mrc.losses) {
    write_mrc_loss(json, mrc, loss);
    sink.step();
  }
  json.end_array().field("losses_not_listed", mrc.losses_dropped).end_object();
}

}  // namespace roce::analyze
