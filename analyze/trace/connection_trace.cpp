// SPDX-License-Identifier: Apache-2.0
#include "analyze/trace/connection_trace.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/record/packet_record.hpp"
#include "analyze/trace/traced_operations.hpp"
#include "analyze/trace/traced_packet.hpp"
#include "analyze/trace/traced_pauses.hpp"
#include "dissect/dissect.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using Kind = TracePoint::Kind;

/// A bounded sample of a stream: every `stride`-th item, where `stride` doubles when the limit is reached.
/// The selection depends only on the stream.
template <class Item>
class Thinned {
 public:
  explicit Thinned(std::size_t limit) : limit_(std::max<std::size_t>(limit, 2)) {}

  void add(const Item& item) {
    if (seen_++ % stride_ != 0) return;
    if (items_.size() == limit_) {
      stride_ *= 2;
      std::size_t place = 0;
      std::erase_if(items_, [&place](const Item&) { return place++ % 2 != 0; });
      if ((seen_ - 1) % stride_ != 0) return;
    }
    items_.push_back(item);
  }
  [[nodiscard]] std::uint32_t stride() const noexcept { return stride_; }
  [[nodiscard]] std::vector<Item>& items() noexcept { return items_; }

 private:
  std::size_t limit_;
  std::uint64_t seen_ = 0;
  std::uint32_t stride_ = 1;
  std::vector<Item> items_;
};

class Tracing {
 public:
  Tracing(capture::CaptureSource& source, const VerdictOf& verdict_of, const TraceOptions& options)
      : source_(source),
        verdict_of_(verdict_of),
        options_(options),
        // Half of the limit for either kind, so that neither displaces the other.
        plain_(options.limit / 2),
        remarkable_(options.limit / 2),
        operations_(options.limit),
        pauses_(options.pause_limit) {
    trace_.connection = options.connection;
  }

  ConnectionTrace run(const std::stop_token& stop) {
    constexpr std::size_t batch_frames = 4096;
    capture::FrameBatch batch;
    for (;;) {
      batch.clear();
      const auto got = source_.next_batch(batch, batch_frames);
      for (const capture::Frame& frame : batch.frames) use(frame);
      if (options_.progress) options_.progress(source_, number_);
      trace_.stopped = stop.stop_requested();
      if (trace_.stopped || (got && *got == 0)) break;
    }
    finish();
    return std::move(trace_);
  }

 private:
  void use(const capture::Frame& frame) {
    ++number_;
    if (frame.time_ns != capture::no_time) last_ns_ = std::max(last_ns_, frame.time_ns);
    const Verdict* const verdict = verdict_of_(number_);
    if (verdict != nullptr && verdict->connection == options_.connection) {
      add(frame, *verdict);
    } else if (TracedPauses::may_be_one(frame)) {
      dissect(frame);
      pauses_.see(number_, frame, dissection_, speed_of(frame));
    }
  }

  void dissect(const capture::Frame& frame) {
    dissect::dissect({frame.data, frame.captured}, frame.wire, frame.link_type, dissection_,
                     options_.dissecting);
  }

  [[nodiscard]] std::uint64_t speed_of(const capture::Frame& frame) const {
    const auto& interfaces = source_.interfaces();
    if (options_.link_speed_bps != 0) return options_.link_speed_bps;
    return frame.interface < interfaces.size() ? interfaces[frame.interface].speed_bps : 0;
  }

  void add(const capture::Frame& frame, const Verdict& verdict) {
    dissect(frame);
    PacketRecord r;
    make_record(frame, dissection_, r);
    if (!r.has(PacketRecord::valid)) return;  // the file has changed
    const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
    TracePoint point;
    point.time_ns = r.time_ns;
    point.packet = number_;
    point.bytes = r.payload;
    point.wire = r.wire;
    point.opcode = r.opcode;
    point.syndrome = static_cast<std::uint8_t>(r.aeth >> 24U);
    point.kind = traced_kind(r, info);
    point.verdict = verdict;
    const std::pair<TracePoint::Mark, bool> marks[] = {
        {TracePoint::b_to_a, verdict.has(Verdict::b_to_a)},
        {TracePoint::ce, marked_ce(r)},
        {TracePoint::damaged, options_.check_icrc && is_damaged(frame, dissection_)},
        {TracePoint::lost_behind, verdict.has(Verdict::lost_between_points)},
        {TracePoint::ack_requested, r.has(PacketRecord::ack_requested)},
        {TracePoint::starts_message, info.starts_message()},
        {TracePoint::ends_message, info.ends_message()},
        {TracePoint::no_psn, point.kind == Kind::cnp || point.kind == Kind::other}};
    for (const auto& [mark, there] : marks) {
      if (there) point.set(mark);
    }
    if (r.time_ns == capture::no_time) trace_.timed = false;
    priorities_ |= 1U << options_.priorities.priority_of(
                       static_cast<std::uint8_t>(r.traffic_class >> 2U),
                       r.has(PacketRecord::tagged) ? std::optional(r.pcp()) : std::nullopt);
    if (!point.has(TracePoint::no_psn)) place(point, r);
    ++trace_.packets;
    count(point, r);
    if (point.remarkable()) {
      remarkable_.add(point);
    } else {
      plain_.add(point);
    }
  }

  /// Sets PSN and message of the point.
  void place(TracePoint& point, const PacketRecord& r) {
    if (point.kind == Kind::request &&
        dissect::opcode_info(r.opcode).operation == dissect::Operation::read_request && options_.pmtu != 0 &&
        r.has(PacketRecord::has_reth)) {
      // As many PSNs as responses, IBTA 9.7.5.2.1.
      point.psns = (r.dma_length - (r.dma_length != 0 ? 1U : 0U)) / options_.pmtu + 1U;
      // A length above the maximum of a message (IBTA 9.7.7) is invalid.
      constexpr std::uint32_t longest = 1U << 31U;
      if (r.dma_length > longest) point.psns = 1;
    }
    TracedMessages& messages = messages_[point.space()];
    // The PSN of a damaged packet may be wrong: it must not move the window.
    point.psn = messages.place(r.psn, point.psns, !point.has(TracePoint::damaged));
    if (point.kind == Kind::request) {
      messages.request(point);
    } else {
      completed_.clear();
      messages.answer(point, completed_);
      for (const TracedOperation& operation : completed_) operations_.add(operation);
    }
  }

  void count(const TracePoint& point, const PacketRecord& r) {
    if (point.is_copy() || point.time_ns == capture::no_time) return;
    const Verdict& v = point.verdict;
    Series::Bucket& bucket = trace_.sent[point.side()].at(point.time_ns);
    count_traced(bucket, r, point.kind, v, point.has(TracePoint::damaged));
    bucket.lost += lost_of_own(v);
    if (const std::uint64_t other = lost_of_other(v); other != 0)
      trace_.sent[point.side() ^ 1U].at(point.time_ns).lost += other;
    hold_in_flight(point);
  }

  /// What is outstanding stays so until an answer: buckets in which nothing was captured hold it, too.
  void hold_in_flight(const TracePoint& point) {
    Series& series = trace_.sent[point.space()];
    PsnsInFlight& in_flight = in_flight_[point.space()];
    const auto raise = [&series](std::int64_t time_ns, std::uint32_t psns) {
      std::uint32_t& most = series.at(time_ns).in_flight_max;
      most = std::max(most, psns);
    };
    if (in_flight.psns() != 0) {
      for (std::int64_t t = in_flight.since_ns(); t < point.time_ns; t += series.width_ns())
        raise(t, in_flight.psns());
      raise(point.time_ns, in_flight.psns());
    }
    in_flight.see(point);
    if (in_flight.psns() != 0) raise(point.time_ns, in_flight.psns());
  }

  void finish() {
    trace_.frames = number_;
    trace_.stride = plain_.stride();
    trace_.remarkable_stride = remarkable_.stride();
    trace_.points = std::move(plain_.items());
    trace_.points.insert(trace_.points.end(), remarkable_.items().begin(), remarkable_.items().end());
    remarkable_.items() = {};
    const bool timed = trace_.timed;
    std::sort(trace_.points.begin(), trace_.points.end(), [timed](const TracePoint& a, const TracePoint& b) {
      return timed && a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.packet < b.packet;
    });
    for (TracedMessages& messages : messages_) {
      completed_.clear();
      messages.finish(completed_);
      for (const TracedOperation& operation : completed_) operations_.add(operation);
    }
    trace_.operation_stride = operations_.stride();
    trace_.operations = std::move(operations_.items());
    std::stable_sort(trace_.operations.begin(), trace_.operations.end(),
                     [](const TracedOperation& a, const TracedOperation& b) { return a.answer < b.answer; });
    trace_.pauses = pauses_.finish(priorities_ | 1U << TracedPause::all_priorities, last_ns_);
    trace_.pauses_left_out = pauses_.left_out();
    mark_lost();
  }

  /// Marks the transmissions that were lost downstream of the capture point: a response, or a request for
  /// another response, proves the loss of the peer's last transmission of that PSN before it.
  void mark_lost() {
    using Transmission = std::tuple<unsigned, bool, std::int64_t>;  // sender, answer, PSN
    struct Hash {
      std::size_t operator()(const Transmission& t) const noexcept {
        return static_cast<std::size_t>(std::get<2>(t)) * 4 + std::get<0>(t) * 2 + (std::get<1>(t) ? 1 : 0);
      }
    };
    constexpr std::size_t none = ~std::size_t{0};
    std::unordered_map<Transmission, std::size_t, Hash> latest;
    const auto shows = [](const TracePoint& p) {
      return p.verdict.lost_after > p.verdict.lost_itself() && !p.has(TracePoint::no_psn);
    };
    const auto named = [](const TracePoint& p) { return Transmission(p.side() ^ 1U, !p.answers(), p.psn); };
    for (const TracePoint& point : trace_.points) {
      if (shows(point)) latest.emplace(named(point), none);
    }
    if (latest.empty()) return;
    for (std::size_t i = 0; i < trace_.points.size(); ++i) {
      TracePoint& point = trace_.points[i];
      if (point.has(TracePoint::no_psn) || point.is_copy()) continue;
      if (shows(point)) {
        if (const std::size_t lost = latest[named(point)]; lost != none)
          trace_.points[lost].set(TracePoint::lost_behind);
      }
      const auto sent = latest.find({point.side(), point.answers(), point.psn});
      if (sent != latest.end()) sent->second = i;
    }
  }

  capture::CaptureSource& source_;
  const VerdictOf& verdict_of_;
  const TraceOptions& options_;
  dissect::Dissection dissection_;
  Thinned<TracePoint> plain_, remarkable_;
  Thinned<TracedOperation> operations_;
  std::vector<TracedOperation> completed_;
  TracedPauses pauses_;
  std::array<TracedMessages, 2> messages_{TracedMessages(0), TracedMessages(1)};
  ConnectionTrace trace_;
  std::array<PsnsInFlight, 2> in_flight_;  ///< by the side of the requests
  std::uint32_t priorities_ = 0;
  std::uint64_t number_ = 0;
  std::int64_t last_ns_ = capture::no_time;
};

}  // namespace

bool TracePoint::remarkable() const noexcept {
  constexpr unsigned flags = Verdict::retransmission | Verdict::spurious | Verdict::duplicate_network |
                             Verdict::out_of_order | Verdict::ack_unseen | Verdict::illegal_sequence |
                             Verdict::wrong_length | Verdict::msn_backwards | Verdict::lost_between_points |
                             Verdict::time_backwards;
  return (verdict.flags & flags) != 0 || verdict.gap != 0 || verdict.any_lost() ||
         (marks & (ce | damaged | lost_behind)) != 0 || kind == Kind::nak || kind == Kind::rnr_nak ||
         kind == Kind::cnp || kind == Kind::other;
}

ConnectionTrace trace_connection(capture::CaptureSource& source, VerdictStore& verdicts,
                                 const TraceOptions& options, const std::stop_token& stop) {
  ConnectionTrace trace = trace_connection(
      source, VerdictOf([&verdicts](std::uint64_t number) { return verdicts.find(number); }), options, stop);
  trace.without_verdict = verdicts.lost();
  return trace;
}

ConnectionTrace trace_connection(capture::CaptureSource& source, const VerdictOf& verdict_of,
                                 const TraceOptions& options, const std::stop_token& stop) {
  return Tracing(source, verdict_of, options).run(stop);
}

}  // namespace roce::analyze
