// SPDX-License-Identifier: Apache-2.0
#include "analyze/analysis.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "analyze/packet_record.hpp"
#include "analyze/service_map.hpp"
#include "analyze/workers.hpp"
#include "dissect/dissect.hpp"
#include "dissect/gid.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {
namespace {

using dissect::Dissection;
using dissect::IcrcResult;

/// One thread's share: what it counted in this epoch. Kept apart until the bytes are known to have
/// been real (a mapped file may shrink under our hands).
struct Share {
  Totals totals;
  Dissection dissection;
};

/// Frames between asking for a frame's headers and dissecting it: they come from memory, not cache.
constexpr std::size_t ahead = 6;

void prefetch_headers(const capture::Frame& frame) noexcept {
  __builtin_prefetch(frame.data);
  __builtin_prefetch(frame.data + 64);  // may lie behind the frame; prefetching never faults
}

/// The phases of an epoch over one batch of frames: dissect in parallel, then track in order.
class Pipeline {
 public:
  Pipeline(capture::CaptureSource& source, const AnalysisOptions& options)
      : source_(source),
        options_(options),
        workers_(options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency())),
        shares_(workers_.count()),
        flows_(options.flow_limit),
        with_history_(options.filter != nullptr && options.filter->needs_history()) {
    dissect_options_.roce_ip_protocol = options.roce_ip_protocol;
  }

  std::shared_ptr<const Snapshot> run(const std::stop_token& stop) {
    std::vector<capture::Error> errors;
    capture::FrameBatch batch;
    while (!stop.stop_requested()) {
      batch.clear();
      const capture::Expected<std::size_t> got = source_.next_batch(batch, options_.epoch_frames);
      if (!got) errors.push_back(got.error());
      if (got && *got == 0) break;
      if (!batch.frames.empty()) epoch(batch);
      if (options_.progress) options_.progress(source_, frames_);
    }
    return publish(std::move(errors));
  }

 private:
  void epoch(capture::FrameBatch& batch) {
    const std::vector<capture::Frame>& frames = batch.frames;
    records_.resize(std::max(records_.size(), frames.size()));
    find_first_time(frames);
    do {
      dissect_all(frames, frames.size());
    } while (source_.drop_vanished(batch) != 0);  // a file shrank: once more, without what is gone

    if (with_history_) {
      select_with_history(frames);
    } else {
      learn_services(frames);
    }
    flows_.add_all({records_.data(), frames.size()});
    for (Share& share : shares_) totals_.merge(share.totals);
    frames_ += frames.size();
    if (!frames.empty() && frames.back().time_ns != capture::no_time)
      previous_time_ns_ = frames.back().time_ns;
  }

  void find_first_time(const std::vector<capture::Frame>& frames) {
    for (std::size_t i = 0; i < frames.size() && !any_time_; ++i) {
      any_time_ = frames[i].time_ns != capture::no_time;
      if (any_time_) first_time_ns_ = previous_time_ns_ = frames[i].time_ns;
    }
  }

  void dissect_all(const std::vector<capture::Frame>& frames, std::size_t count) {
    for (Share& share : shares_) share.totals = Totals{};
    const std::size_t threads = count < 1024 ? 1 : workers_.count();
    const auto work = [&](unsigned thread) {
      if (thread >= threads) return;
      const std::size_t end = count * (thread + 1) / threads;
      for (std::size_t i = count * thread / threads; i < end; ++i) {
        if (i + ahead < end) prefetch_headers(frames[i + ahead]);
        dissect_one(frames, i, shares_[thread]);
      }
    };
    if (threads == 1) {
      work(0);
    } else {
      workers_.run(work);
    }
  }

  void dissect_one(const std::vector<capture::Frame>& frames, std::size_t i, Share& share) {
    const capture::Frame& frame = frames[i];
    const dissect::Bytes bytes{frame.data, frame.captured};
    Dissection& d = share.dissection;
    dissect::dissect(bytes, frame.wire, frame.link_type, d, dissect_options_);
    // Also of what is not selected: it has its place in the numbering of flows.
    make_record(frame, d, records_[i]);
    if (with_history_ || !options_.times.contains(frame.time_ns, first_time_ns_)) return;
    count_if_selected(frames, i, d, share.totals, std::nullopt);
  }

  /// Counts one packet unless the filter rejects it.
  void count_if_selected(const std::vector<capture::Frame>& frames, std::size_t i, const Dissection& d,
                         Totals& totals, std::optional<std::uint64_t> flow) {
    const capture::Frame& frame = frames[i];
    const dissect::Bytes bytes{frame.data, frame.captured};
    const bool filter_wants_icrc = options_.filter != nullptr && options_.filter->needs_icrc();
    IcrcResult icrc;
    if (options_.check_icrc || filter_wants_icrc) icrc = dissect::check_icrc(bytes, d);
    if (options_.filter != nullptr && !passes(frames, i, d, icrc, flow)) return;

    PacketRecord& record = records_[i];
    record.flags = static_cast<std::uint8_t>(record.flags | PacketRecord::selected);
    record.icrc =
        static_cast<std::uint8_t>(options_.check_icrc ? icrc.status : dissect::CrcStatus::not_checkable);
    totals.count(frames_ + i + 1, frame, d, options_.check_icrc ? &icrc : nullptr);
    if (dissect::gid_disagrees(bytes, d)) totals.diagnostics.add(DiagnosticId::gid_disagrees);
    if (options_.check_icrc && d.transport == dissect::Transport::native_ib &&
        dissect::check_vcrc(bytes, d).status == dissect::CrcStatus::mismatch) {
      totals.diagnostics.add(DiagnosticId::vcrc_mismatch);
    }
  }

  bool passes(const std::vector<capture::Frame>& frames, std::size_t i, const Dissection& d,
              const IcrcResult& icrc, std::optional<std::uint64_t> flow) const {
    PacketView view;
    view.number = frames_ + i + 1;
    view.frame = &frames[i];
    const std::size_t interface = frames[i].interface;
    view.interface = interface < source_.interfaces().size() ? &source_.interfaces()[interface] : nullptr;
    view.dissection = &d;
    view.first_time_ns = first_time_ns_;
    view.previous_time_ns = i > 0 ? frames[i - 1].time_ns : previous_time_ns_;
    view.icrc = icrc;
    view.flow = flow;
    return options_.filter->matches(view);
  }

  /// A filter on flow numbers or upper layers asks for all packets before the one it judges: the
  /// packets are taken in order, by one thread.
  void select_with_history(const std::vector<capture::Frame>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      Dissection& d = dissect_again(frames[i]);
      const dissect::Bytes bytes{frames[i].data, frames[i].captured};
      services_.learn(bytes, d);
      dissect::dissect_ulp(bytes, d, services_.of(bytes, d));
      std::optional<std::uint64_t> flow;
      if (records_[i].has(PacketRecord::valid)) flow = flows_.id_of(records_[i]);
      if (options_.times.contains(frames[i].time_ns, first_time_ns_)) {
        count_if_selected(frames, i, d, shares_[0].totals, flow);
      }
    }
  }

  /// CM messages are few: only they are dissected again, in order.
  void learn_services(const std::vector<capture::Frame>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (!records_[i].has(PacketRecord::valid) || records_[i].key.dst_qp > dissect::gsi_qpn) continue;
      services_.learn({frames[i].data, frames[i].captured}, dissect_again(frames[i]));
    }
  }

  Dissection& dissect_again(const capture::Frame& frame) {
    Dissection& d = shares_[0].dissection;
    dissect::dissect({frame.data, frame.captured}, frame.wire, frame.link_type, d, dissect_options_);
    return d;
  }

  std::shared_ptr<const Snapshot> publish(std::vector<capture::Error> errors) {
    auto snapshot = std::make_shared<Snapshot>();
    totals_.diagnostics.add(DiagnosticId::flows_evicted, flows_.evicted_flows());
    snapshot->icrc_checked = options_.check_icrc;
    snapshot->frames_read = frames_;
    snapshot->filter = options_.filter_text;
    snapshot->files = source_.files();
    snapshot->interfaces = source_.interfaces();
    snapshot->evicted_flows = flows_.evicted_flows();
    snapshot->evicted_packets = flows_.evicted_packets();
    snapshot->flows = flows_.take_sorted();
    for (Flow& flow : snapshot->flows) {
      const dissect::Ulp agreed = services_.of(flow.key.dst, flow.key.dst_qp);
      if (agreed != dissect::Ulp::none) flow.upper = agreed;
    }
    snapshot->diagnostics = list_diagnostics(totals_.diagnostics, source_.statistics(), errors);
    snapshot->errors = std::move(errors);
    snapshot->totals = std::move(totals_);
    return snapshot;
  }

  capture::CaptureSource& source_;
  const AnalysisOptions& options_;
  dissect::Options dissect_options_;
  Workers workers_;
  std::vector<Share> shares_;
  std::vector<PacketRecord> records_;
  FlowTable flows_;
  ServiceMap services_;
  const bool with_history_;  ///< the filter judges a packet by those before it
  Totals totals_;
  std::uint64_t frames_ = 0;
  bool any_time_ = false;
  std::int64_t first_time_ns_ = 0;
  std::int64_t previous_time_ns_ = 0;
};

}  // namespace

std::shared_ptr<const Snapshot> analyze(capture::CaptureSource& source, const AnalysisOptions& options,
                                        const std::stop_token& stop) {
  return Pipeline(source, options).run(stop);
}

std::optional<std::uint64_t> Snapshot::dropped() const noexcept {
  std::optional<std::uint64_t> sum;
  for (const capture::InterfaceInfo& interface : interfaces) {
    // What packets say of drops before them matters only where no statistics block says more.
    std::optional<std::uint64_t> told_by_packets;
    if (!interface.dropped_by_interface && !interface.dropped_by_kernel &&
        interface.dropped_before_packets != 0) {
      told_by_packets = interface.dropped_before_packets;
    }
    for (const auto& part : {interface.dropped_by_interface, interface.dropped_by_kernel, told_by_packets}) {
      if (!part) continue;
      const std::uint64_t before = sum.value_or(0);
      sum = before + *part < before ? std::numeric_limits<std::uint64_t>::max() : before + *part;
    }
  }
  return sum;
}

}  // namespace roce::analyze
