// SPDX-License-Identifier: Apache-2.0
#include "analyze/analysis.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "analyze/batch.hpp"
#include "analyze/dissect_stage.hpp"
#include "analyze/fast_record.hpp"
#include "analyze/flow_images.hpp"
#include "analyze/link_watch.hpp"
#include "analyze/point_text.hpp"
#include "analyze/prefetch.hpp"
#include "analyze/relay.hpp"
#include "analyze/time_order.hpp"
#include "analyze/tracker.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {
namespace {

using dissect::Dissection;

/// The stages of a batch: read, dissect (and check ICRCs, and select), follow. See Relay.
class Pipeline final : private Relay::Stages {
 public:
  Pipeline(capture::CaptureSource& source, const AnalysisOptions& options, const std::stop_token& stop)
      : source_(source),
        options_(options),
        stop_(stop),
        // A filter looks at the source's interfaces, which reading changes.
        relay_(options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency()),
               options.filter != nullptr),
        batches_(relay_.slots()),
        stage_(options, source, images_),
        tracker_({options.flow_limit, options.verdicts, options.short_way, source.shows_copies()}),
        links_(options, [this](std::uint16_t interface) { return speed_of(interface); }) {}

  std::shared_ptr<const Snapshot> run() {
    relay_.run(*this);
    return publish();
  }

 private:
  // Stage 1, one batch at a time.

  Relay::Filled fill(unsigned slot) override {
    Batch& batch = batches_[slot];
    const std::lock_guard lock(source_mutex_);
    do {
      batch.read.clear();
      if (stop_.stop_requested()) return Relay::Filled::ended;
      const capture::Expected<std::size_t> got = source_.next_batch(batch.read, options_.epoch_frames);
      if (!got) errors_.push_back(got.error());
      if (got && *got == 0) return Relay::Filled::ended;
    } while (batch.read.frames.empty());
    const std::vector<capture::Frame>& frames = batch.read.frames;
    find_first_time(frames);
    batch.frames_before = frames_read_;
    batch.first_time_ns = first_time_ns_;
    batch.previous_time_ns = previous_read_ns_;
    batch.interleaved = interleaved_ = interleaved_ || several_points_in_a_file();
    frames_read_ += frames.size();
    if (frames.back().time_ns != capture::no_time) previous_read_ns_ = frames.back().time_ns;
    const bool paused = frames.size() < options_.epoch_frames && source_.may_wait();
    return paused ? Relay::Filled::some : Relay::Filled::full;
  }

  /// A file with packets of several points is not in order of time; see TimeOrder.
  [[nodiscard]] bool several_points_in_a_file() const {
    const std::vector<capture::InterfaceInfo>& interfaces = source_.interfaces();
    if (interfaces.size() <= source_.files().size()) return false;
    std::vector<std::optional<std::uint16_t>> points(source_.files().size());
    return std::any_of(interfaces.begin(), interfaces.end(), [&](const capture::InterfaceInfo& interface) {
      if (interface.file >= points.size()) return false;
      std::optional<std::uint16_t>& first = points[interface.file];
      if (!first) first = interface.point;
      return *first != interface.point;
    });
  }

  void find_first_time(const std::vector<capture::Frame>& frames) {
    for (std::size_t i = 0; i < frames.size() && !any_time_; ++i) {
      any_time_ = frames[i].time_ns != capture::no_time;
      if (any_time_) first_time_ns_ = previous_read_ns_ = frames[i].time_ns;
    }
  }

  // Stage 2, several batches at a time.

  void work(unsigned slot) override { stage_.work(batches_[slot]); }

  // Stage 3, in order, on the calling thread.

  void finish(unsigned slot) override {
    Batch& batch = batches_[slot];
    const std::vector<capture::Frame>& frames = batch.read.frames;
    if (stage_.with_history()) {
      select_and_follow(batch);
    } else {
      follow(batch, {batch.packets.data(), frames.size()});
    }
    links_.watch(batch, stage_);
    totals_.merge(batch.totals);
    frames_ += frames.size();
    batch.read.clear();  // lets go of the memory
    if (options_.progress) {
      const std::lock_guard lock(source_mutex_);
      options_.progress(source_, frames_);
    }
  }

  void follow_ordered(bool all) {
    TimeOrder::Waiting next;
    while (order_.pop(next, all)) tracker_.track(next.record, next.number);
  }

  /// Follows the packets of a settled batch in order.
  void follow(Batch& batch, std::span<const PacketBrief> packets) {
    const bool order = batch.interleaved;
    for (std::size_t begin = 0; begin < packets.size(); begin += Tracker::group) {
      const std::size_t end = std::min(begin + Tracker::group, packets.size());
      Tracker::Hints hints;
      // They were written on another core.
      for (std::size_t i = end; i < std::min(end + Tracker::group, packets.size()); ++i) {
        prefetch(&packets[i]);
      }
      if (!order) tracker_.approach(packets.subspan(begin, end - begin), batch.records, hints);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t number = batch.frames_before + i + 1;
        const capture::Frame& frame = batch.read.frames[i];
        if (packets[i].image != 0) {
          if (!tracker_.track_known(packets[i], number)) {
            tracker_.track(stage_.record_of(frame, packets[i]), number, hints[i - begin]);
          }
          continue;
        }
        if (packets[i].place == Tracker::no_hint) continue;
        const PacketRecord& record = batch.records[packets[i].place];
        if (record.key.dst_qp <= dissect::gsi_qpn) [[unlikely]] {
          // CM messages are few: only they are dissected again.
          learn(number, frame, stage_.dissect_again(batch, frame));
        }
        if (order) {
          order_.push(record, number);
          follow_ordered(false);
          continue;
        }
        const std::uint32_t place = tracker_.track(record, number, hints[i - begin]);
        if (place == Tracker::no_hint || !stage_.wants_images()) continue;
        if (const std::uint32_t image = put_image(images_, frame, place, record.path); image != 0) {
          tracker_.use_image(place, image);
        }
      }
    }
  }

  std::uint64_t speed_of(std::uint16_t interface) {
    const std::lock_guard lock(source_mutex_);
    const std::vector<capture::InterfaceInfo>& interfaces = source_.interfaces();
    return interface < interfaces.size() ? interfaces[interface].speed_bps : 0;
  }

  void learn(std::uint64_t number, const capture::Frame& frame, const Dissection& d) {
    if (const CmExchange* made = managers_.learn(number, frame, d)) {
      tracker_.connected(*made, managers_.index_of(*made));
    }
  }

  /// A filter on flow numbers or upper layers asks for all packets before the one it judges: the
  /// packets are taken in order, by one thread.
  void select_and_follow(Batch& batch) {
    const std::vector<capture::Frame>& frames = batch.read.frames;
    const bool order = batch.interleaved;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      Dissection& d = stage_.dissect_again(batch, frames[i]);
      const dissect::Bytes bytes{frames[i].data, frames[i].captured};
      const std::uint64_t number = batch.frames_before + i + 1;
      learn(number, frames[i], d);
      dissect::dissect_ulp(bytes, d, managers_.ulp_of(bytes, d));
      PacketRecord none;
      const std::uint32_t place = batch.packets[i].place;
      PacketRecord& record = place == Tracker::no_hint ? none : batch.records[place];
      std::optional<std::uint64_t> flow;
      if (record.has(PacketRecord::valid)) flow = tracker_.flow_id(record);
      if (options_.times.contains(frames[i].time_ns, batch.first_time_ns)) {
        stage_.count_if_selected(batch, i, record, flow);
      }
      if (flow && order) {
        order_.push(record, number);
        follow_ordered(false);
      } else if (flow) {
        tracker_.track(record, number);
      }
    }
  }

  std::shared_ptr<const Snapshot> publish() {
    auto snapshot = std::make_shared<Snapshot>();
    follow_ordered(true);
    Tracker::Result followed =
        tracker_.finish(totals_.any_time ? std::optional(totals_.last_time_ns) : std::nullopt);
    totals_.diagnostics.add(DiagnosticId::flows_evicted, followed.departed.flows);
    const std::vector<std::string> clocks =
        clock_texts(followed.clocks, source_.files(), source_.interfaces());
    const std::vector<std::string> copies =
        copy_texts(followed.connections, source_.files(), source_.interfaces());
    totals_.diagnostics.add(DiagnosticId::several_points, copies.size());
    totals_.diagnostics.add(DiagnosticId::clocks_differ, clocks.size());
    for (Connection& connection : followed.connections) {
      connection.split =
          connection.split && of_several_files(source_.files(), source_.interfaces(), connection.points);
      if (connection.split) totals_.diagnostics.add(DiagnosticId::order_by_clocks);
    }
    snapshot->clocks = std::move(followed.clocks);
    snapshot->icrc_checked = options_.check_icrc;
    snapshot->frames_read = frames_;
    if (any_time_) snapshot->first_read_ns = first_time_ns_;
    snapshot->skipped_packets = source_.statistics().skipped;
    snapshot->filter = options_.filter_text;
    snapshot->same_packets = options_.same_packets;
    snapshot->files = source_.files();
    snapshot->interfaces = source_.interfaces();
    snapshot->evicted_flows = followed.departed.flows;
    snapshot->evicted_packets = followed.departed.packets;
    snapshot->departed = followed.departed;
    snapshot->flows = std::move(followed.flows);
    for (Flow& flow : snapshot->flows) {
      const dissect::Ulp agreed = managers_.ulp_of(flow.key.dst, flow.key.dst_qp);
      if (agreed != dissect::Ulp::none) flow.upper = agreed;
    }
    snapshot->connections = std::move(followed.connections);
    for (Connection& connection : snapshot->connections) {
      if (connection.cm) connection.cm = managers_.place_of(*connection.cm);
    }
    snapshot->exchanges = managers_.take_exchanges();
    for (Connection& connection : snapshot->connections) {
      if (connection.cm && connection.state != Connection::State::failed &&
          snapshot->exchanges[*connection.cm].state == CmExchange::State::disconnected) {
        connection.state = Connection::State::closed;
      }
    }
    snapshot->series = std::move(followed.series);
    links_.publish(*snapshot, totals_);
    snapshot->markings = MarkingMatrix::of(snapshot->flows);
    snapshot->congestion = std::move(followed.congestion);
    sum_up(snapshot->congestion, snapshot->flows, snapshot->connections);
    snapshot->diagnostics = list_diagnostics(totals_.diagnostics, source_.statistics(), errors_);
    for (Diagnostic& diagnostic : snapshot->diagnostics) {
      if (diagnostic.id == "clocks_differ") diagnostic.details = clocks;
      if (diagnostic.id == "several_points") diagnostic.details = copies;
    }
    snapshot->errors = std::move(errors_);
    snapshot->totals = std::move(totals_);
    if (options_.policy) {
      snapshot->policy = options_.policy;
      snapshot->breaches = find_breaches(*options_.policy, snapshot->flows, snapshot->markings);
    }
    find_all(*snapshot);
    return snapshot;
  }

  capture::CaptureSource& source_;
  const AnalysisOptions& options_;
  const std::stop_token& stop_;
  Relay relay_;
  std::vector<Batch> batches_;  ///< by slot
  FlowImages images_;           ///< put() in stage 3, find() in stage 2
  DissectStage stage_;

  std::mutex source_mutex_;  ///< for source_ and all of stage 1:
  std::vector<capture::Error> errors_;
  std::uint64_t frames_read_ = 0;
  bool any_time_ = false;
  std::int64_t first_time_ns_ = 0;
  std::int64_t previous_read_ns_ = 0;
  bool interleaved_ = false;

  // Of stage 3:
  Tracker tracker_;
  CmTracker managers_;
  TimeOrder order_;
  LinkWatch links_;
  Totals totals_;
  std::uint64_t frames_ = 0;
};

}  // namespace

std::shared_ptr<const Snapshot> analyze(capture::CaptureSource& source, const AnalysisOptions& options,
                                        const std::stop_token& stop) {
  return Pipeline(source, options, stop).run();
}

}  // namespace roce::analyze
