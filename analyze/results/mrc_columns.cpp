// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/mrc_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"

namespace roce::analyze {
namespace {

using Stream = const MrcStream*;
using StreamRef = const Stream&;

template <std::uint64_t MrcStream::*member>
std::uint64_t of_stream(StreamRef stream) {
  return stream->*member;
}
template <std::uint64_t MrcStream::*member>
constexpr Column<Stream> mrc_stream_count(std::string_view name, std::string_view heading,
                                          std::string_view help, std::uint8_t priority) {
  return count_column<Stream, of_stream<member>>(name, heading, help, priority);
}
template <MrcPlace place>
std::uint64_t mrc_lost_at(StreamRef stream) {
  return stream->lost[static_cast<std::size_t>(place)];
}
std::uint64_t lost_of(StreamRef stream) {
  return stream->losses();
}
std::uint64_t trimmed_of(StreamRef stream) {
  return stream->trimmed();
}
std::uint64_t nacks_of(StreamRef stream) {
  return stream->nacked();
}
std::string mrc_qp_text(std::uint32_t qp) {
  return fmt::format("{:#08x}", qp);
}
std::string mrc_time(std::uint64_t answers, std::int64_t ns) {
  return answers == 0 ? std::string() : duration_text(ns);
}
std::string mrc_time_exact(std::uint64_t answers, std::int64_t ns) {
  return answers == 0 ? std::string() : std::to_string(ns);
}
std::int64_t rtt_of(StreamRef stream, double fraction) {
  return static_cast<std::int64_t>(stream->rtt_ns.percentile(fraction));
}

constexpr Column<Stream> columns_of_mrc_streams[] = {
    {"stream", "stream", "number of the stream", true, 0,
     [](StreamRef s) { return static_cast<double>(s->id); },
     [](StreamRef s) { return std::to_string(s->id); }, nullptr},
    {"src", "source", "address of the sender of data", false, 0, nullptr,
     [](StreamRef s) { return address_text(s->key.src); }, nullptr},
    {"dst", "destination", "address of their receiver", false, 0, nullptr,
     [](StreamRef s) { return address_text(s->key.dst); }, nullptr},
    {"qp", "QP", "queue pair of the receiver", false, 0, nullptr,
     [](StreamRef s) { return mrc_qp_text(s->key.dst_qp); }, nullptr},
    {"answer_qp", "answers to", "queue pair of the sender, found by what SACKs name; empty: not found", false,
     1, nullptr, [](StreamRef s) { return s->answer_qp ? mrc_qp_text(*s->answer_qp) : std::string(); },
     nullptr},
    {"paths", "paths", "entropy values: UDP source ports, with IPv6 and the flow label", true, 0,
     [](StreamRef s) { return static_cast<double>(s->paths.size()); },
     [](StreamRef s) { return std::to_string(s->paths.size()); }, nullptr},
    mrc_stream_count<&MrcStream::packets>("packets", "packets", "packets with data, repeats included", 0),
    {"bytes", "bytes", "bytes of these on the wire", true, 2,
     [](StreamRef s) { return static_cast<double>(s->bytes); },
     [](StreamRef s) { return bytes_text(s->bytes); }, [](StreamRef s) { return std::to_string(s->bytes); }},
    {"payload", "payload", "bytes of messages, each once", true, 1,
     [](StreamRef s) { return static_cast<double>(s->payload); },
     [](StreamRef s) { return bytes_text(s->payload); },
     [](StreamRef s) { return std::to_string(s->payload); }},
    mrc_stream_count<&MrcStream::messages>("messages", "messages", "messages that end", 3),
    mrc_stream_count<&MrcStream::repeats>("repeats", "repeats", "packets sent again (RTX)", 0),
    mrc_stream_count<&MrcStream::needed>("needed", "needed", "repeats of what was lost", 2),
    mrc_stream_count<&MrcStream::needless>("needless", "needless", "repeats of what had arrived", 1),
    mrc_stream_count<&MrcStream::undecided>(
        "undecided", "undecided", "repeats of which the capture does not show whether they were needed", 2),
    count_column<Stream, lost_of>("lost", "lost", "packets lost, trimmed ones included", 0),
    count_column<Stream, mrc_lost_at<MrcPlace::before_capture>>("lost_before", "before",
                                                                "lost upstream of the capture point", 2),
    count_column<Stream, mrc_lost_at<MrcPlace::after_capture>>("lost_after", "behind",
                                                               "lost downstream of the capture point", 2),
    count_column<Stream, trimmed_of>("trimmed", "trimmed", "trimmed by a switch, wherever", 1),
    count_column<Stream, mrc_lost_at<MrcPlace::trimmed_last_hop>>(
        "trimmed_last_hop", "at last hop", "of these: by the last switch before the receiver", 2),
    mrc_stream_count<&MrcStream::not_captured>(
        "not_captured", "not here",
        "packets that arrived and never came by here: on a path that is not "
        "captured, or missed by the capture",
        1),
    mrc_stream_count<&MrcStream::ce>("ce", "CE", "data packets seen marked CE", 1),
    mrc_stream_count<&MrcStream::marked>("marked", "M=1", "SACKs that report a mark on a path", 2),
    mrc_stream_count<&MrcStream::retired>("retired", "M=2", "SACKs that ask to retire a path", 3),
    mrc_stream_count<&MrcStream::sacks>("sacks", "SACKs", "SACKs of the receiver", 2),
    count_column<Stream, nacks_of>("nacks", "NACKs", "NACKs of the receiver", 1),
    {"nack_reasons", "NACK reasons", "NACKs by reason", false, hidden_column, nullptr,
     [](StreamRef s) { return mrc_nacks_text(*s); }, nullptr},
    mrc_stream_count<&MrcStream::naks>("naks", "NAKs", "refusals of messages (AETH)", 3),
    mrc_stream_count<&MrcStream::probes>("probes", "probes", "probe requests", 3),
    mrc_stream_count<&MrcStream::probes_answered>("probes_answered", "answered", "of these: answered", 3),
    {"rtt_p50", "RTT p50", "from here to the receiver and back, half of the answers that name their packet",
     true, 0, [](StreamRef s) { return static_cast<double>(rtt_of(s, 0.5)); },
     [](StreamRef s) { return mrc_time(s->rtt_ns.count(), rtt_of(s, 0.5)); },
     [](StreamRef s) { return mrc_time_exact(s->rtt_ns.count(), rtt_of(s, 0.5)); }},
    {"rtt_p99", "p99", "likewise, 99 %", true, 2,
     [](StreamRef s) { return static_cast<double>(rtt_of(s, 0.99)); },
     [](StreamRef s) { return mrc_time(s->rtt_ns.count(), rtt_of(s, 0.99)); },
     [](StreamRef s) { return mrc_time_exact(s->rtt_ns.count(), rtt_of(s, 0.99)); }},
};

using PathRef = const MrcPathRow&;
template <std::uint64_t MrcPath::*member>
std::uint64_t of_path(PathRef row) {
  return row.path->*member;
}
template <std::uint64_t MrcPath::*member>
constexpr Column<MrcPathRow> mrc_path_count(std::string_view name, std::string_view heading,
                                            std::string_view help, std::uint8_t priority) {
  return count_column<MrcPathRow, of_path<member>>(name, heading, help, priority);
}
template <std::int64_t (*get)(const MrcPath&)>
constexpr Column<MrcPathRow> path_time(std::string_view name, std::string_view heading, std::string_view help,
                                       std::uint8_t priority) {
  return {name,
          heading,
          help,
          true,
          priority,
          [](PathRef r) { return static_cast<double>(get(*r.path)); },
          [](PathRef r) { return mrc_time(r.path->answers, get(*r.path)); },
          [](PathRef r) { return mrc_time_exact(r.path->answers, get(*r.path)); }};
}
std::int64_t shortest_rtt(const MrcPath& path) {
  return path.rtt_min_ns;
}
std::int64_t mean_rtt(const MrcPath& path) {
  return path.rtt_mean_ns();
}
std::int64_t longest_rtt(const MrcPath& path) {
  return path.rtt_max_ns;
}

constexpr Column<MrcPathRow> columns_of_mrc_paths[] = {
    {"stream", "stream", "number of the stream", true, 0,
     [](PathRef r) { return static_cast<double>(r.stream->id); },
     [](PathRef r) { return std::to_string(r.stream->id); }, nullptr},
    {"udp_source", "source port", "UDP source port", true, 0,
     [](PathRef r) { return static_cast<double>(r.path->udp_source); },
     [](PathRef r) { return std::to_string(r.path->udp_source); }, nullptr},
    {"flow_label", "flow label", "low 16 bits of the flow label (IPv6)", true, 1, nullptr,
     [](PathRef r) {
       return r.path->flow_label == 0 ? std::string() : fmt::format("{:#06x}", r.path->flow_label);
     },
     nullptr},
    mrc_path_count<&MrcPath::packets>("packets", "packets", "packets with data, repeats included", 0),
    {"bytes", "bytes", "bytes of these on the wire", true, 2,
     [](PathRef r) { return static_cast<double>(r.path->bytes); },
     [](PathRef r) { return bytes_text(r.path->bytes); },
     [](PathRef r) { return std::to_string(r.path->bytes); }},
    mrc_path_count<&MrcPath::repeats>("repeats", "repeats", "packets sent again on this path", 1),
    mrc_path_count<&MrcPath::lost>("lost", "lost", "seen here, or trimmed, and lost on this path", 0),
    mrc_path_count<&MrcPath::trimmed>("trimmed", "trimmed", "of these: trimmed", 0),
    mrc_path_count<&MrcPath::ce>("ce", "CE", "seen marked CE", 0),
    mrc_path_count<&MrcPath::marked>("marked", "M=1", "SACKs that report a mark on this path", 1),
    mrc_path_count<&MrcPath::retired>("retired", "M=2", "SACKs that ask to retire it", 2),
    mrc_path_count<&MrcPath::answers>("answers", "timed", "answers that name a packet of this path", 2),
    path_time<shortest_rtt>("rtt_min", "RTT min", "from here to the receiver and back, shortest", 1),
    path_time<mean_rtt>("rtt_mean", "RTT mean", "likewise, on average", 0),
    path_time<longest_rtt>("rtt_max", "RTT max", "likewise, longest", 1),
};

using LossRef = const MrcLossRow&;
const MrcStream& stream_of(LossRef row) {
  return row.mrc->streams[row.loss->stream];
}
constexpr Column<MrcLossRow> columns_of_losses[] = {
    {"stream", "stream", "number of the stream", true, 0,
     [](LossRef r) { return static_cast<double>(stream_of(r).id); },
     [](LossRef r) { return std::to_string(stream_of(r).id); }, nullptr},
    {"psn", "PSN", "of the lost packet", true, 0, [](LossRef r) { return static_cast<double>(r.loss->psn); },
     [](LossRef r) { return std::to_string(r.loss->psn); }, nullptr},
    {"place", "place", "where it was lost", false, 0, nullptr,
     [](LossRef r) { return std::string(mrc_place_name(r.loss->place)); }, nullptr},
    {"udp_source", "source port", "its path; empty: it never came here", true, 0, nullptr,
     [](LossRef r) {
       return r.loss->path ? std::to_string(stream_of(r).paths[*r.loss->path].udp_source) : std::string();
     },
     nullptr},
    {"packet", "packet", "number of the packet; of one that never came here, of its repeat", true, 0,
     [](LossRef r) { return static_cast<double>(r.loss->packet); },
     [](LossRef r) { return std::to_string(r.loss->packet); }, nullptr},
    {"time", "time", "of that packet, ns since the epoch", true, 1,
     [](LossRef r) { return static_cast<double>(r.loss->time_ns); },
     [](LossRef r) { return std::to_string(r.loss->time_ns); }, nullptr},
};

}  // namespace

std::vector<const MrcStream*> mrc_stream_rows(const Snapshot& snapshot) {
  std::vector<const MrcStream*> rows;
  if (snapshot.mrc == nullptr) return rows;
  for (const MrcStream& stream : snapshot.mrc->streams) rows.push_back(&stream);
  return rows;
}

std::vector<MrcPathRow> mrc_path_rows(const Snapshot& snapshot) {
  std::vector<MrcPathRow> rows;
  if (snapshot.mrc == nullptr) return rows;
  for (const MrcStream& stream : snapshot.mrc->streams) {
    const auto begin = static_cast<std::ptrdiff_t>(rows.size());
    for (const MrcPath& path : stream.paths) rows.push_back({&stream, &path});
    std::stable_sort(rows.begin() + begin, rows.end(), [](const MrcPathRow& a, const MrcPathRow& b) {
      return a.path->lost != b.path->lost ? a.path->lost > b.path->lost : a.path->packets > b.path->packets;
    });
  }
  return rows;
}

std::vector<MrcLossRow> mrc_loss_rows(const Snapshot& snapshot) {
  std::vector<MrcLossRow> rows;
  if (snapshot.mrc == nullptr) return rows;
  for (const MrcLoss& loss : snapshot.mrc->losses) rows.push_back({snapshot.mrc.get(), &loss});
  return rows;
}

std::span<const Column<const MrcStream*>> mrc_stream_columns() noexcept {
  return columns_of_mrc_streams;
}
std::span<const Column<MrcPathRow>> mrc_path_columns() noexcept {
  return columns_of_mrc_paths;
}
std::span<const Column<MrcLossRow>> mrc_loss_columns() noexcept {
  return columns_of_losses;
}

std::string mrc_stream_filter(const MrcStream& stream) {
  return fmt::format("roce.src == {} && roce.dst == {} && infiniband.bth.destqp == {:#x}",
                     address_text(stream.key.src), address_text(stream.key.dst), stream.key.dst_qp);
}

std::string mrc_path_filter(const MrcPathRow& row) {
  std::string filter =
      fmt::format("{} && udp.srcport == {}", mrc_stream_filter(*row.stream), row.path->udp_source);
  // Of the flow label MRC chooses the low 16 bits.
  if (row.path->flow_label != 0)
    filter += fmt::format(" && ipv6.flow & 0xffff == {:#x}", row.path->flow_label);
  return filter;
}

std::string mrc_text(const Snapshot& snapshot) {
  if (snapshot.mrc == nullptr) return {};
  const Mrc& mrc = *snapshot.mrc;
  std::size_t paths = 0;
  for (const MrcStream& stream : mrc.streams) paths = std::max(paths, stream.paths.size());
  return fmt::format("{} of MRC, {} over up to {}", plural(mrc.streams.size(), "stream", "streams"),
                     plural(mrc.packets, "packet", "packets"), plural(paths, "path", "paths"));
}

}  // namespace roce::analyze
