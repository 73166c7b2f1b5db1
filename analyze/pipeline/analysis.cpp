// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/analysis.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "analyze/base/prefetch.hpp"
#include "analyze/exports/exported_records.hpp"
#include "analyze/pipeline/analysis_state.hpp"
#include "analyze/pipeline/batch.hpp"
#include "analyze/pipeline/dissect_stage.hpp"
#include "analyze/pipeline/interim_snapshots.hpp"
#include "analyze/pipeline/link_follower.hpp"
#include "analyze/pipeline/relay.hpp"
#include "analyze/record/cached_frames.hpp"
#include "analyze/record/fast_record.hpp"
#include "analyze/record/header_cache.hpp"
#include "analyze/record/time_order.hpp"
#include "analyze/tracker/tracker.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/mad.hpp"
#include "dissect/trailer.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {
namespace {

using dissect::Dissection;

/// The stages of a batch: read; dissect, check ICRCs and select; follow. See Relay.
class Pipeline final : private Relay::Stages {
 public:
  Pipeline(capture::CaptureSource& source, const AnalysisOptions& options, const std::stop_token& stop)
      : source_(source),
        options_(options),
        stop_(stop),
        // A filter reads the source's interfaces, which reading may change.
        relay_(options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency()),
               options.filter != nullptr, options.publish != nullptr && source.may_wait()),
        batches_(relay_.slots()),
        facts_then_(options.publish ? relay_.slots() : 0),
        stage_(options, source, images_),
        followed_(options, source.shows_copies(),
                  [this](std::uint16_t interface) { return speed_of(interface); }) {
    if (options.live) facts_.clock_steps.begin(options.clock());
    if (options.publish) interim_.emplace(options, [this] { return copy(); });
  }

  std::shared_ptr<const Snapshot> run() {
    relay_.run(*this);
    if (interim_) interim_->end();
    facts_.read(source_);
    const std::shared_ptr<Snapshot> snapshot = conclude(std::move(followed_), std::move(facts_));
    snapshot->incidents_in_progress = 0;  // they end with the capture
    return snapshot;
  }

 private:
  // Stage 1, one batch at a time.

  Relay::Filled fill(unsigned slot) override {
    Batch& batch = batches_[slot];
    const std::lock_guard lock(source_mutex_);
    do {
      batch.read.clear();
      if (stop_.stop_requested()) {
        facts_.interrupted = true;
        return Relay::Filled::ended;
      }
      const capture::Expected<std::size_t> got = source_.next_batch(batch.read, options_.epoch_frames);
      if (!got) facts_.errors.push_back(got.error());
      if (got && *got == 0) {
        facts_.interrupted = source_.stopped();
        facts_.stop_reason = source_.stop_reason();
        return Relay::Filled::ended;
      }
    } while (batch.read.frames.empty());
    if (options_.live) facts_.clock_steps.mend(batch.read.frames, frames_read_ + 1, options_.clock());
    const std::vector<capture::Frame>& frames = batch.read.frames;
    find_first_time(frames);
    batch.frames_before = frames_read_;
    batch.first_time_ns = facts_.first_time_ns;
    batch.previous_time_ns = previous_read_ns_;
    batch.interleaved = interleaved_ = interleaved_ || several_points_in_a_file();
    batch.several_points = several_points_ = several_points_ || several_points();
    frames_read_ += frames.size();
    if (frames.back().time_ns != capture::no_time) previous_read_ns_ = frames.back().time_ns;
    if (interim_) {
      facts_.read(source_);
      facts_then_[slot] = facts_;
    }
    const bool paused = frames.size() < options_.epoch_frames && source_.may_wait();
    return paused ? Relay::Filled::some : Relay::Filled::full;
  }

  /// A file with packets of several points is not ordered by time; see TimeOrder.
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

  [[nodiscard]] bool several_points() const {
    const std::vector<capture::InterfaceInfo>& interfaces = source_.interfaces();
    return std::any_of(interfaces.begin(), interfaces.end(), [&](const capture::InterfaceInfo& interface) {
      return interface.point != interfaces.front().point;
    });
  }

  void find_first_time(const std::vector<capture::Frame>& frames) {
    for (std::size_t i = 0; i < frames.size() && !facts_.any_time; ++i) {
      facts_.any_time = frames[i].time_ns != capture::no_time;
      if (facts_.any_time) facts_.first_time_ns = previous_read_ns_ = frames[i].time_ns;
    }
  }

  // Stage 2, several batches at a time.

  void work(unsigned slot) override { stage_.work(batches_[slot]); }

  // Stage 3, in order, on the calling thread.

  void finish(unsigned slot) override {
    Batch& batch = batches_[slot];
    const std::vector<capture::Frame>& frames = batch.read.frames;
    std::unique_lock<std::mutex> hold;
    if (interim_) {
      hold = interim_->hold();
      std::swap(facts_now_, facts_then_[slot]);
    }
    for (const NumberedPacket& packet : batch.numbered) {
      const MirrorStep step = followed_.numbered.see(packet);
      if (step.lost) followed_.tracker.mirror_lost(packet.number);
      if (step.filled) followed_.tracker.mirror_found(step.before);
      if (step.before != 0) followed_.tracker.mirror_delayed(packet.number, step.before, step.sequence);
    }
    if (stage_.with_history()) {
      select_and_follow(batch);
    } else {
      follow(batch, {batch.packets.data(), frames.size()});
    }
    if (options_.summaries) {
      DissectStage::glance_at(batch, glances_);
      options_.summaries(batch.frames_before + 1, glances_);
    }
    if (options_.marks != nullptr) mark(batch);
    followed_.links.watch(batch, stage_);
    for (const std::uint32_t i : batch.exports)
      followed_.exports.see(batch.frames_before + i + 1, frames[i], stage_.dissect_again(batch, frames[i]));
    for (const MrcPacket& packet : batch.mrc)
      followed_.mrc.see(packet, batch.frames_before + packet.index + 1, batch.first_time_ns);
    followed_.totals.merge(batch.totals);
    followed_.outer.merge(batch.outer);
    followed_.frames += frames.size();
    if (const auto idle_before = followed_.idle.pass(followed_.frames, frames.back().time_ns)) {
      followed_.tracker.retire_idle(*idle_before);
    }
    batch.read.clear();  // releases the memory
    if (interim_) {
      interim_->followed();
      hold.unlock();
    }
    if (options_.progress) report_progress();
  }

  void mark(const Batch& batch) {
    const std::vector<capture::Frame>& frames = batch.read.frames;
    const std::lock_guard hold(options_.marks->mutex());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const PacketBrief& packet = batch.packets[i];
      if (packet.image != 0) {
        options_.marks->see_alike(packet, batch.first_time_ns,
                                  [&] { return stage_.record_of(frames[i], packet); });
      } else if (packet.place != Tracker::no_hint) {
        options_.marks->see(batch.records[packet.place], batch.first_time_ns);
      }
    }
  }

  void report_progress() {
    std::unique_lock lock(source_mutex_, std::defer_lock);
    // A source that waits for frames keeps it locked.
    if (!interim_) {
      lock.lock();
    } else if (!lock.try_lock()) {
      return;
    }
    options_.progress(source_, followed_.frames);
  }

  /// Copies the current state for an interim snapshot.
  InterimSnapshots::Conclude copy() {
    struct Copy {
      AnalysisState followed;
      SourceFacts facts;
    };
    auto copy = std::make_shared<Copy>(Copy{followed_, facts_now_});
    return [copy]() -> std::shared_ptr<const Snapshot> {
      std::shared_ptr<Snapshot> snapshot = conclude(std::move(copy->followed), std::move(copy->facts));
      snapshot->final = false;
      return snapshot;
    };
  }

  /// Follows the packets of a dissected and selected batch in order.
  void follow(Batch& batch, std::span<const PacketBrief> packets) {
    const bool order = batch.interleaved;
    for (std::size_t begin = 0; begin < packets.size(); begin += Tracker::group) {
      const std::size_t end = std::min(begin + Tracker::group, packets.size());
      Tracker::Hints hints;
      // They were written on another core.
      for (std::size_t i = end; i < std::min(end + Tracker::group, packets.size()); ++i) {
        prefetch(&packets[i]);
      }
      if (!order) followed_.tracker.approach(packets.subspan(begin, end - begin), batch.records, hints);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t number = batch.frames_before + i + 1;
        const capture::Frame& frame = batch.read.frames[i];
        if (packets[i].image != 0) {
          if (batch.several_points) {
            followed_.points.see(packets[i], number, [&] { return stage_.record_of(frame, packets[i]); });
          }
          if (!followed_.tracker.track_known(packets[i], number)) {
            followed_.tracker.track(stage_.record_of(frame, packets[i]), number, hints[i - begin]);
          }
          continue;
        }
        if (packets[i].place == Tracker::no_hint) continue;
        const PacketRecord& record = batch.records[packets[i].place];
        if (record.key.dst_qp <= dissect::gsi_qpn) [[unlikely]] {
          // Only CM messages, which are few, are dissected again.
          learn(number, frame, stage_.dissect_again(batch, frame));
        }
        if (batch.several_points) followed_.points.see(record, number);
        if (order) {
          followed_.order.push(record, number);
          followed_.follow_ordered(false);
          continue;
        }
        const std::uint32_t place = followed_.tracker.track(record, number, hints[i - begin]);
        if (place == Tracker::no_hint || !stage_.wants_images()) continue;
        if (const std::uint32_t image = put_image(images_, frame, place, record); image != 0) {
          followed_.tracker.use_image(place, image);
        }
      }
    }
  }

  std::uint64_t speed_of(std::uint16_t interface) {
    const auto of = [interface](const std::vector<capture::InterfaceInfo>& interfaces) {
      return interface < interfaces.size() ? interfaces[interface].speed_bps : 0;
    };
    if (interim_) return of(facts_now_.interfaces);
    const std::lock_guard lock(source_mutex_);
    return of(source_.interfaces());
  }

  void learn(std::uint64_t number, const capture::Frame& frame, const Dissection& d) {
    if (d.mad == Dissection::none) return;
    ++followed_
          .mad_classes[dissect::read<dissect::Mad::management_class>(frame.data + d.layers[d.mad].offset)];
    if (options_.check_icrc && followed_.tracker.shows_damage({frame.data, frame.captured}, d)) return;
    if (const CmExchange* made = followed_.managers.learn(number, frame, d)) {
      followed_.tracker.connected(*made, followed_.managers.index_of(*made));
    }
  }

  /// A filter on flow numbers or upper layers depends on all packets before: so packets are filtered in order
  /// on one thread.
  void select_and_follow(Batch& batch) {
    const std::vector<capture::Frame>& frames = batch.read.frames;
    const bool order = batch.interleaved;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      Dissection& d = stage_.dissect_again(batch, frames[i]);
      const dissect::Bytes bytes{frames[i].data, frames[i].captured};
      const std::uint64_t number = batch.frames_before + i + 1;
      learn(number, frames[i], d);
      dissect::dissect_ulp(bytes, d, followed_.managers.ulp_of(bytes, d));
      if (frames[i].time_ns != capture::no_time)
        dissect::dissect_trailer(bytes, frames[i].wire, frames[i].time_ns, d);
      batch.exported = {};
      if (d.is_ipfix()) batch.exported = exported_.read(number, frames[i], d, options_.dissecting);
      PacketRecord none;
      const std::uint32_t place = batch.packets[i].place;
      PacketRecord& record = place == Tracker::no_hint ? none : batch.records[place];
      const bool valid = record.has(PacketRecord::valid);
      std::optional<std::uint64_t> flow;
      if (valid) flow = followed_.tracker.flow_id(record);
      if (options_.times.contains(frames[i].time_ns, batch.first_time_ns)) {
        stage_.count_if_selected(batch, i, record, flow);
      }
      if (valid && batch.several_points) followed_.points.see(record, number);
      if (valid && order) {
        followed_.order.push(record, number);
        followed_.follow_ordered(false);
      } else if (valid) {
        followed_.tracker.track(record, number);
      }
    }
  }

  capture::CaptureSource& source_;
  const AnalysisOptions& options_;
  const std::stop_token& stop_;
  Relay relay_;
  std::vector<Batch> batches_;           ///< by slot
  std::vector<SourceFacts> facts_then_;  ///< by slot, only with `publish`: after its batch was read
  HeaderCache images_;                   ///< put() in stage 3, find() in stage 2
  DissectStage stage_;

  std::mutex source_mutex_;  ///< protects source_ and the state of stage 1:
  SourceFacts facts_;
  std::uint64_t frames_read_ = 0;
  std::int64_t previous_read_ns_ = 0;
  bool interleaved_ = false;
  bool several_points_ = false;

  // State of stage 3:
  AnalysisState followed_;
  std::vector<PacketSummary> glances_;
  ExportedRecords exported_;                 ///< only with a filter
  SourceFacts facts_now_;                    ///< only with `publish`
  std::optional<InterimSnapshots> interim_;  ///< last: its thread copies the others
};

}  // namespace

AnalysisOptions live_analysis() {
  AnalysisOptions options;
  options.live = true;
  options.idle_limit = std::chrono::minutes(5);
  options.flow_limit = 32 * std::size_t{1024};
  options.exchange_limit = 8 * std::size_t{1024};
  return options;
}

std::shared_ptr<const Snapshot> analyze(capture::CaptureSource& source, const AnalysisOptions& options,
                                        const std::stop_token& stop) {
  return Pipeline(source, options, stop).run();
}

}  // namespace roce::analyze
