// SPDX-License-Identifier: Apache-2.0
#include "analyze/analysis.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "analyze/dcbx.hpp"
#include "analyze/fast_record.hpp"
#include "analyze/flow_images.hpp"
#include "analyze/link_view.hpp"
#include "analyze/packet_common.hpp"
#include "analyze/packet_record.hpp"
#include "analyze/pause_tracker.hpp"
#include "analyze/point_text.hpp"
#include "analyze/policy_links.hpp"
#include "analyze/prefetch.hpp"
#include "analyze/relay.hpp"
#include "analyze/time_order.hpp"
#include "analyze/tracker.hpp"
#include "dissect/dissect.hpp"
#include "dissect/gid.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/ip_checksum.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {
namespace {

using dissect::Dissection;
using dissect::IcrcResult;

/// Frames between asking for a frame's headers and dissecting it: they come from memory, not cache.
constexpr std::size_t ahead = 6;

void prefetch_headers(const capture::Frame& frame) noexcept {
  __builtin_prefetch(frame.data);
  __builtin_prefetch(frame.data + 64);  // may lie behind the frame; prefetching never faults
}

/// Some frames on their way through the pipeline, with all that is known of them so far.
struct Batch {
  capture::FrameBatch read;
  /// One a frame; may be longer. One without an image has its `place` in `records`, or none.
  std::vector<PacketBrief> packets;
  std::vector<PacketRecord> records;
  std::vector<std::uint32_t> controls;  ///< frames of MAC control and LLDP, ascending
  /// Of this batch alone: batches are worked on at the same time.
  Totals totals;
  Dissection dissection;
  // What stands before it.
  std::uint64_t frames_before = 0;
  std::int64_t first_time_ns = 0;
  std::int64_t previous_time_ns = 0;
  bool interleaved = false;  ///< it needs TimeOrder
};

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
        tracker_({options.flow_limit, options.verdicts, options.short_way, source.shows_copies()}),
        pauses_(pause_options(options)),
        with_history_(options.filter != nullptr && options.filter->needs_history()),
        any_bound_(options.times.from.has_value() || options.times.to.has_value()) {
    dissect_options_.roce_ip_protocol = options.roce_ip_protocol;
    fast_ = options.filter == nullptr && fast_way_exists(dissect_options_);
    images_wanted_ = fast_ && !any_bound_ && options.short_way;
  }

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

  void work(unsigned slot) override { dissect_all(batches_[slot]); }

  void dissect_all(Batch& batch) {
    const std::vector<capture::Frame>& frames = batch.read.frames;
    if (batch.packets.size() < frames.size()) batch.packets.resize(frames.size());
    batch.records.clear();
    batch.controls.clear();
    batch.totals = Totals{};
    const bool images = images_wanted_ && !batch.interleaved;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (i + ahead < frames.size()) prefetch_headers(frames[i + ahead]);
      if (images && dissect_known(batch, i)) continue;
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

  /// The common packet of a flow whose headers are known.
  bool dissect_known(Batch& batch, std::size_t i) {
    const capture::Frame& frame = batch.read.frames[i];
    PacketBrief& packet = batch.packets[i];
    FastFrame facts;
    if (!make_brief_fast(frame, images_, packet, facts)) return false;
    const IcrcResult icrc = finish_packet(frame, facts, packet);
    if (packet.common == 0) return false;
    count_fast(batch, i, packet, facts, icrc);
    return true;
  }

  /// The common frame, where nothing asks for its dissection.
  bool dissect_fast(Batch& batch, std::size_t i) {
    const capture::Frame& frame = batch.read.frames[i];
    PacketRecord& record = batch.records.back();
    FastFrame facts;
    if (!make_record_fast(frame, record, facts)) return false;
    if (any_bound_ && !options_.times.contains(frame.time_ns, batch.first_time_ns)) return true;
    const IcrcResult icrc = finish_packet(frame, facts, record);
    count_fast(batch, i, record, facts, icrc);
    return true;
  }

  /// What the short ways leave out. The packet is selected.
  IcrcResult finish_packet(const capture::Frame& frame, const FastFrame& facts, PacketBrief& packet) const {
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

  void count_fast(Batch& batch, std::size_t i, const PacketBrief& packet, const FastFrame& facts,
                  const IcrcResult& icrc) const {
    batch.totals.count_fast(batch.frames_before + i + 1, batch.read.frames[i], packet.opcode, facts.marks,
                            facts.cut, options_.check_icrc ? &icrc : nullptr);
    if (packet.has(PacketRecord::bad_header)) batch.totals.diagnostics.add(DiagnosticId::ip_checksum);
  }

  /// The whole record of a frame with an image.
  PacketRecord record_of(const capture::Frame& frame, const PacketBrief& packet) const {
    PacketRecord record;
    FastFrame facts;
    if (!make_record_fast(frame, record, facts)) return record;
    record.flags = packet.flags;
    record.icrc = packet.icrc;
    record.common = packet.common;
    return record;
  }

  /// Of a packet that has an ICRC: what the IP layer of its receiver checks first.
  static void check_header(const capture::Frame& frame, dissect::HeaderId network, std::size_t offset,
                           PacketBrief& packet) {
    if (network != dissect::HeaderId::ipv4 || !packet.has(PacketRecord::valid)) return;
    if (dissect::ipv4_checksum_right({frame.data + offset, frame.captured - offset})) [[likely]]
      return;
    packet.more = static_cast<std::uint8_t>(packet.more | PacketRecord::bad_header);
  }

  void dissect_one(Batch& batch, std::size_t i) {
    const capture::Frame& frame = batch.read.frames[i];
    const Dissection& d = dissect_again(batch, frame);
    // Also of what is not selected: it has its place in the numbering of flows.
    make_record(frame, d, batch.records.back());
    if (with_history_ || !options_.times.contains(frame.time_ns, batch.first_time_ns)) return;
    count_if_selected(batch, i, batch.records.back(), std::nullopt);
  }

  Dissection& dissect_again(Batch& batch, const capture::Frame& frame) const {
    dissect::dissect({frame.data, frame.captured}, frame.wire, frame.link_type, batch.dissection,
                     dissect_options_);
    return batch.dissection;
  }

  /// Counts the packet that is in batch.dissection unless the filter rejects it.
  void count_if_selected(Batch& batch, std::size_t i, PacketRecord& record,
                         std::optional<std::uint64_t> flow) const {
    const capture::Frame& frame = batch.read.frames[i];
    const Dissection& d = batch.dissection;
    const dissect::Bytes bytes{frame.data, frame.captured};
    const bool filter_wants_icrc = options_.filter != nullptr && options_.filter->needs_icrc();
    IcrcResult icrc;
    if (options_.check_icrc || filter_wants_icrc) icrc = dissect::check_icrc(bytes, d);
    record.icrc =
        static_cast<std::uint8_t>(options_.check_icrc ? icrc.status : dissect::CrcStatus::not_checkable);
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
    if (!record.has(PacketRecord::valid) && link_control_of(d) != LinkControl::none)
      batch.controls.push_back(static_cast<std::uint32_t>(i));
    if (dissect::gid_disagrees(bytes, d)) totals.diagnostics.add(DiagnosticId::gid_disagrees);
    if (options_.check_icrc && d.transport == dissect::Transport::native_ib &&
        dissect::check_vcrc(bytes, d).status == dissect::CrcStatus::mismatch) {
      totals.diagnostics.add(DiagnosticId::vcrc_mismatch);
    }
  }

  bool passes(const Batch& batch, std::size_t i, const IcrcResult& icrc,
              std::optional<std::uint64_t> flow) const {
    const std::vector<capture::Frame>& frames = batch.read.frames;
    PacketView view;
    view.number = batch.frames_before + i + 1;
    view.frame = &frames[i];
    const std::size_t interface = frames[i].interface;
    view.interface = interface < source_.interfaces().size() ? &source_.interfaces()[interface] : nullptr;
    view.dissection = &batch.dissection;
    view.first_time_ns = batch.first_time_ns;
    view.previous_time_ns = i > 0 ? frames[i - 1].time_ns : batch.previous_time_ns;
    view.icrc = icrc;
    view.flow = flow;
    view.policy = options_.policy.get();
    if (options_.known != nullptr) view.verdict = options_.known->find(view.number);
    return options_.filter->matches(view);
  }

  // Stage 3, in order, on the calling thread.

  void finish(unsigned slot) override {
    Batch& batch = batches_[slot];
    const std::vector<capture::Frame>& frames = batch.read.frames;
    if (with_history_) {
      select_and_follow(batch);
    } else {
      follow(batch, {batch.packets.data(), frames.size()});
    }
    watch_links(batch);
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
            tracker_.track(record_of(frame, packets[i]), number, hints[i - begin]);
          }
          continue;
        }
        if (packets[i].place == Tracker::no_hint) continue;
        const PacketRecord& record = batch.records[packets[i].place];
        if (record.key.dst_qp <= dissect::gsi_qpn) [[unlikely]] {
          // CM messages are few: only they are dissected again.
          learn(number, frame, dissect_again(batch, frame));
        }
        if (order) {
          order_.push(record, number);
          follow_ordered(false);
          continue;
        }
        const std::uint32_t place = tracker_.track(record, number, hints[i - begin]);
        if (place == Tracker::no_hint || !images_wanted_) continue;
        if (const std::uint32_t image = put_image(images_, frame, place, record.path); image != 0) {
          tracker_.use_image(place, image);
        }
      }
    }
  }

  /// A policy knows best which priority a packet takes.
  static PriorityMap priorities_of(const AnalysisOptions& options) {
    return options.policy ? priority_map_of(options.policy->model()) : options.priorities;
  }

  static PauseOptions pause_options(const AnalysisOptions& options) {
    PauseOptions pauses;
    pauses.link_speed_bps = options.link_speed_bps;
    pauses.storm_ns = options.pause_storm_ns;
    pauses.priorities = priorities_of(options);
    return pauses;
  }

  /// What ports tell each other, and what comes while they have paused somebody. A point's frames are in
  /// its order, and points do not mix, so this needs no TimeOrder.
  void watch_links(Batch& batch) {
    const std::vector<capture::Frame>& frames = batch.read.frames;
    std::size_t next = 0;
    const auto control_at = [&] {
      return next < batch.controls.size() ? batch.controls[next] : frames.size();
    };
    for (std::size_t i = pauses_.pausing() ? 0 : control_at(); i < frames.size();) {
      if (i == control_at()) {
        see_control(batch, i);
        ++next;
      } else if (pauses_.watches(frames[i].time_ns) && is_selected_transport(batch, i)) {
        std::optional<LinkView> link = link_view_fast(frames[i]);
        if (!link) link = link_view(frames[i].data, dissect_again(batch, frames[i]));
        if (link) pauses_.see_packet(batch.frames_before + i + 1, frames[i], *link);
      }
      i = pauses_.pausing() ? i + 1 : std::max(i + 1, control_at());
    }
  }

  void see_control(Batch& batch, std::size_t i) {
    const capture::Frame& frame = batch.read.frames[i];
    const std::uint64_t number = batch.frames_before + i + 1;
    const Dissection& d = dissect_again(batch, frame);
    if (link_control_of(d) == LinkControl::lldp) {
      links_.see(number, frame, d);
      if (const auto link = link_view(frame.data, d)) pauses_.see_end(frame.point, link->src);
      return;
    }
    std::uint64_t speed = 0;
    // Interfaces beyond the last number share it, and reading on changes what it says.
    constexpr std::uint16_t shared = 0xffff;
    if (frame.interface != shared) {
      const std::lock_guard lock(source_mutex_);
      const std::vector<capture::InterfaceInfo>& interfaces = source_.interfaces();
      if (frame.interface < interfaces.size()) speed = interfaces[frame.interface].speed_bps;
    }
    pauses_.see(number, frame, d, speed);
  }

  static bool is_selected_transport(const Batch& batch, std::size_t i) {
    const PacketBrief& packet = batch.packets[i];
    if (packet.image != 0) return packet.has(PacketRecord::selected);
    return packet.place != Tracker::no_hint && batch.records[packet.place].has(PacketRecord::selected);
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
      Dissection& d = dissect_again(batch, frames[i]);
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
        count_if_selected(batch, i, record, flow);
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
    totals_.diagnostics.add(DiagnosticId::flows_evicted, followed.evicted_flows);
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
    snapshot->evicted_flows = followed.evicted_flows;
    snapshot->evicted_packets = followed.evicted_packets;
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
    snapshot->pauses = pauses_.finish(totals_.any_time ? std::optional(totals_.last_time_ns) : std::nullopt);
    snapshot->dcbx = links_.finish();
    snapshot->priorities = priorities_of(options_);
    totals_.diagnostics.add(DiagnosticId::link_ports,
                            snapshot->pauses.dropped_frames + snapshot->dcbx.dropped_frames);
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
  dissect::Options dissect_options_;
  Relay relay_;
  std::vector<Batch> batches_;  ///< by slot
  bool fast_ = false;
  bool images_wanted_ = false;
  FlowImages images_;  ///< put() in stage 3, find() in stage 2

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
  PauseTracker pauses_;
  DcbxTracker links_;
  const bool with_history_;  ///< the filter judges a packet by those before it
  const bool any_bound_;     ///< --from or --to
  Totals totals_;
  std::uint64_t frames_ = 0;
};

}  // namespace

std::shared_ptr<const Snapshot> analyze(capture::CaptureSource& source, const AnalysisOptions& options,
                                        const std::stop_token& stop) {
  return Pipeline(source, options, stop).run();
}

}  // namespace roce::analyze
