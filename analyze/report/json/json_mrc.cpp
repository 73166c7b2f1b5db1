// SPDX-License-Identifier: Apache-2.0
#include "analyze/mrc/mrc.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "dissect/headers/mrc.hpp"

namespace roce::analyze {
namespace {

const JsonObject<MrcPath>& mrc_rtt_object() {
  static const auto object = [] {
    JsonObject<MrcPath> o("mrc_path_rtt");
    o.key("min", "the shortest", &MrcPath::rtt_min_ns).in("ns");
    o.key("mean", "their mean", &MrcPath::rtt_mean_ns).in("ns");
    o.key("max", "the longest", &MrcPath::rtt_max_ns).in("ns");
    return o;
  }();
  return object;
}

const JsonObject<MrcPath>& mrc_path_object() {
  static const auto object = [] {
    JsonObject<MrcPath> o("mrc_path");
    o.key("udp_source", "UDP source port", &MrcPath::udp_source);
    o.key("flow_label", "low 16 bits of the flow label", &MrcPath::flow_label);
    o.key("packets", "packets", &MrcPath::packets);
    o.key("bytes", "bytes on the wire", &MrcPath::bytes);
    o.key("repeats", "packets that are repeats", &MrcPath::repeats);
    o.key("lost", "packets that were lost on it", &MrcPath::lost);
    o.key("trimmed", "packets that a switch trimmed on it", &MrcPath::trimmed);
    o.key("ce", "packets marked CE", &MrcPath::ce);
    o.key("marked", "answers with M = 1", &MrcPath::marked);
    o.key("retired", "answers with M = 2", &MrcPath::retired);
    o.key("answers", "answers that name it", &MrcPath::answers);
    o.object("rtt_ns", "from here to the receiver and back; null without answers", mrc_rtt_object(),
             [](const MrcPath& path) { return path.answers == 0 ? nullptr : &path; });
    return o;
  }();
  return object;
}

const JsonObject<MrcStream>& mrc_lost_object() {
  static const auto object = [] {
    JsonObject<MrcStream> o("mrc_lost");
    for (std::size_t i = 0; i < mrc_place_count; ++i) {
      o.key(std::string(mrc_place_name(static_cast<MrcPlace>(i))), "packets lost there",
            [i](const MrcStream& stream) { return stream.lost[i]; });
    }
    return o;
  }();
  return object;
}

JsonMap<std::uint64_t> mrc_nacks_of(const MrcStream& stream) {
  JsonMap<std::uint64_t> map;
  for (std::size_t i = 0; i < stream.nacks.size(); ++i) {
    if (stream.nacks[i] == 0) continue;
    map.entries.emplace_back(i < mrc_reasons.size()
                                 ? dissect::name_of(dissect::mrc_nack_reason_names, mrc_reasons[i])
                                 : std::string_view{"another reason"},
                             stream.nacks[i]);
  }
  return map;
}

const JsonObject<MrcRefusal>& mrc_refusal_object() {
  using R = const MrcRefusal&;
  static const auto object = [] {
    JsonObject<MrcRefusal> o("mrc_refusal");
    o.key("by", "NAK or NACK, and its reason", [](R r) { return r.text(); });
    o.key("fatal", "it ends the connection", [](R r) { return r.fatal(); });
    o.key("count", "how often", [](R r) { return r.seen.count; });
    o.key("first_packet", "number of the first", [](R r) { return r.seen.packets.front(); });
    return o;
  }();
  return object;
}

const JsonObject<MrcStream>& mrc_stream_object() {
  using S = const MrcStream&;
  static const auto object = [] {
    JsonObject<MrcStream> o("mrc_stream");
    o.key("id", "from 0", &MrcStream::id);
    o.key("src", "source address", [](S s) { return address_text(s.key.src); });
    o.key("dst", "destination address", [](S s) { return address_text(s.key.dst); });
    o.key("dst_qp", "destination queue pair", [](S s) { return s.key.dst_qp; });
    o.key("answer_qp", "queue pair that its SACKs go to; null: not found", &MrcStream::answer_qp);
    o.key("first_packet", "number of its first packet", &MrcStream::first_packet);
    o.key("first_time", "time of its first packet", [](S s) { return json_time(s.first_ns); });
    o.key("last_time", "time of its last packet", [](S s) { return json_time(s.last_ns); });
    o.key("packets", "packets", &MrcStream::packets);
    o.key("bytes", "bytes on the wire", &MrcStream::bytes);
    o.key("payload_bytes", "payload, each packet once", &MrcStream::payload);
    o.key("messages", "messages", &MrcStream::messages);
    o.key("repeats", "packets that are repeats (RTX)", &MrcStream::repeats);
    o.key("needed", "repeats of what was missing", &MrcStream::needed);
    o.key("needless", "repeats of what had arrived", &MrcStream::needless);
    o.key("undecided", "repeats of which it cannot be told", &MrcStream::undecided);
    o.object("lost", "packets lost, by place", mrc_lost_object(), std::identity());
    o.key("not_captured", "packets that arrived and never came by here", &MrcStream::not_captured);
    o.key("refused", "packets that the receiver refused", &MrcStream::refused);
    o.key("copies", "packets shown once more by the capture; in no other count", &MrcStream::copies);
    o.key("damaged", "damaged packets", &MrcStream::damaged);
    o.key("reordered", "packets that came late", &MrcStream::reordered);
    o.key("restarts", "times that the stream began anew", &MrcStream::restarts);
    o.key("sacks", "SACKs", &MrcStream::sacks);
    o.key("nacks", "NACKs by reason", mrc_nacks_of);
    o.list(
        "refusals", "requests that were refused", mrc_refusal_object(),
        [](S s) -> const auto& { return s.refusals; });
    o.key("unanswered", "packets sent three times and more after its last answer",
          [](S s) { return s.unanswered.count; });
    o.key("acks", "ACKs", &MrcStream::acks);
    o.key("naks", "NAKs", &MrcStream::naks);
    o.key("probes", "probes of paths", &MrcStream::probes);
    o.key("probes_answered", "probes that were answered", &MrcStream::probes_answered);
    o.key("ce", "packets marked CE", &MrcStream::ce);
    o.key("marked", "answers with M = 1", &MrcStream::marked);
    o.key("retired", "answers with M = 2", &MrcStream::retired);
    o.key("window_min", "smallest window; null: not told", &MrcStream::window_min).in("packets");
    o.key("window_max", "largest window; null: not told", &MrcStream::window_max).in("packets");
    o.key("out_of_order_max", "most packets that the receiver holds out of order",
          &MrcStream::out_of_order_max);
    o.object(
        "rtt_ns", "from here to the receiver and back, by SACKs that name their packet and path",
        quantiles_object(), [](S s) -> const auto& { return s.rtt_ns; });
    o.list(
        "paths", "by entropy value", mrc_path_object(), [](S s) -> const auto& { return s.paths; });
    o.key("packets_of_more_paths", "packets of paths beyond the limit", &MrcStream::paths_dropped);
    return o;
  }();
  return object;
}

/// MRC of a report, which is handed on in pieces.
struct MrcPage {
  const Mrc& mrc;
  const ReportSink& sink;
  void step() const { sink.step(); }
};

struct MrcLossIn {
  const Mrc& mrc;
  const MrcLoss& loss;
  [[nodiscard]] const MrcStream& stream() const { return mrc.streams[loss.stream]; }
  /// null: it never came by
  [[nodiscard]] const MrcPath* path() const { return loss.path ? &stream().paths[*loss.path] : nullptr; }
};

const JsonObject<MrcLossIn>& mrc_loss_object() {
  using L = const MrcLossIn&;
  static const auto object = [] {
    JsonObject<MrcLossIn> o("mrc_loss");
    o.key("stream", "id of the stream", [](L l) { return l.stream().id; });
    o.key("psn", "its PSN", [](L l) { return l.loss.psn; });
    o.key("place", "where it was lost", [](L l) { return mrc_place_name(l.loss.place); });
    o.key("udp_source", "its UDP source port; null: it never came by",
          [](L l) { return l.path() ? std::optional(l.path()->udp_source) : std::nullopt; });
    o.key("flow_label", "low 16 bits of its flow label; null: it never came by",
          [](L l) { return l.path() ? std::optional(l.path()->flow_label) : std::nullopt; });
    o.key("packet", "number of the packet, or of its repeat", [](L l) { return l.loss.packet; });
    o.key("time", "its time", [](L l) { return json_time(l.loss.time_ns); });
    return o;
  }();
  return object;
}

const JsonObject<MrcPage>& mrc_object() {
  using M = const MrcPage&;
  static const auto object = [] {
    JsonObject<MrcPage> o("mrc");
    o.key("packets", "packets of MRC", [](M m) { return m.mrc.packets; });
    o.key("unknown", "packets with opcodes that nothing is known of", [](M m) { return m.mrc.unknown; });
    o.key("endpoint_requests", "requests of endpoints", [](M m) { return m.mrc.endpoint_requests; });
    o.key("endpoint_responses", "responses to these", [](M m) { return m.mrc.endpoint_responses; });
    o.key("unmatched", "answers whose data were not found", [](M m) { return m.mrc.unmatched; });
    o.key("packets_of_more_streams", "packets of streams beyond the limit",
          [](M m) { return m.mrc.dropped; });
    o.list(
        "streams", "data of one direction to one queue pair, whatever the path", mrc_stream_object(),
        [](M m) -> const auto& { return m.mrc.streams; });
    o.list("losses", "each loss, at most 65536", mrc_loss_object(), [](M m) {
      std::vector<MrcLossIn> all;
      all.reserve(m.mrc.losses.size());
      for (const MrcLoss& loss : m.mrc.losses) all.push_back({m.mrc, loss});
      return all;
    });
    o.key("losses_not_listed", "losses beyond the limit", [](M m) { return m.mrc.losses_dropped; });
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<ReportPage>& mrc_keys() {
  static const auto object = [] {
    JsonObject<ReportPage> o("mrc_page");
    o.object("mrc", "streams of MRC; null without", mrc_object(), [](const ReportPage& page) {
      return page.s.mrc != nullptr ? std::optional(MrcPage{*page.s.mrc, page.sink}) : std::nullopt;
    });
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
