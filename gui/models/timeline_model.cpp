// SPDX-License-Identifier: Apache-2.0
#include "gui/models/timeline_model.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <utility>

#include "analyze/trace/range_series.hpp"
#include "capture/files/frame_store.hpp"

namespace roce::gui {
namespace {

bool covers(const TimeSpan& range, const TimeSpan& view) {
  return range.from <= view.from && range.to >= view.to;
}

}  // namespace

TimelineModel::TimelineModel(QObject* parent) : QObject(parent) {}

TimelineModel::~TimelineModel() {
  stop_.request_stop();
}

void TimelineModel::forget_fine() {
  stop_.request_stop();
  counting_.cancel();
  working_ = false;
  fine_.reset();
}

void TimelineModel::show(std::shared_ptr<const analyze::Snapshot> snapshot,
                         std::shared_ptr<const PacketStore> packets, bool check_icrc) {
  if (snapshot == snapshot_ && packets == packets_) return refine();
  forget_fine();
  snapshot_ = std::move(snapshot);
  packets_ = std::move(packets);
  check_icrc_ = check_icrc;
  Q_EMIT changed();
  refine();
}

void TimelineModel::set_view(const TimeSpan& view, int places) {
  if (view == view_ && places == places_) return;
  view_ = view;
  places_ = places;
  refine();
}

std::optional<TimeSpan> TimelineModel::whole() const noexcept {
  if (!snapshot_ || !snapshot_->totals.any_time) return std::nullopt;
  const analyze::Totals& totals = snapshot_->totals;
  return TimeSpan{totals.first_time_ns, std::max(totals.first_time_ns, totals.last_time_ns)};
}

const analyze::Series& TimelineModel::series() const noexcept {
  return fine_ && covers(fine_range_, view_) && fine_->width_ns() < snapshot_->series.width_ns()
             ? *fine_
             : snapshot_->series;
}

void TimelineModel::refine() {
  if (!snapshot_ || !packets_ || !packets_->analysed() || places_ <= 0 || !whole()) return;
  const std::int64_t length = std::max<std::int64_t>(1, view_.to - view_.from);
  const std::int64_t wanted = analyze::RangeSeries::width_for(length, places_);
  const auto fine_enough = [&](std::int64_t width) { return width / 2 <= wanted; };
  if (fine_enough(series().width_ns())) return;
  if (working_ && covers(working_range_, view_) && fine_enough(working_width_)) return;
  // Half as much on either side, so that moving does not show coarse intervals at once.
  const TimeSpan all = *whole();
  const TimeSpan range{std::max(all.from, view_.from - length / 2),
                       std::min(all.to + 1, view_.to + length / 2)};
  if (range.from >= range.to) return;
  const std::int64_t width =
      analyze::RangeSeries::width_for(range.to - range.from, std::int64_t{2} * places_);
  stop_.request_stop();
  stop_ = std::stop_source();
  working_ = true;
  working_range_ = range;
  working_width_ = width;
  counting_.run([this, packets = packets_, range, width, icrc = check_icrc_,
                 stop = stop_.get_token()]() -> std::function<void()> {
    std::optional<analyze::Series> made;
    try {
      made = count(*packets, range, width, icrc, stop);
    } catch (const std::bad_alloc&) {
      // The coarse intervals stay.
    }
    return [this, range, made = std::move(made)]() mutable {
      working_ = false;
      if (!made) return;
      fine_ = std::move(made);
      fine_range_ = range;
      Q_EMIT changed();
    };
  });
}

std::optional<analyze::Series> TimelineModel::count(const PacketStore& packets, const TimeSpan& range,
                                                    std::int64_t width_ns, bool check_icrc,
                                                    const std::stop_token& stop, std::uint64_t most) {
  constexpr std::uint64_t group_frames = capture::FrameStore::group_frames;
  const std::uint64_t size = packets.size();
  const std::uint64_t groups = (size + group_frames - 1) / group_frames;
  const auto is_within = [&](std::uint64_t group) {
    const auto times = packets.frames()->times_of_group(group);
    return times.from != capture::no_time && times.from < range.to && times.to >= range.from;
  };
  std::uint64_t wanted = 0;
  for (std::uint64_t group = 0; group < groups; ++group) wanted += is_within(group) ? group_frames : 0;
  if (wanted > most) return std::nullopt;
  analyze::RangeSeries counted(range.from, range.to, width_ns, check_icrc, packets.dissecting());
  capture::FrameStore::Reader reader(packets.frames());
  std::array<std::optional<analyze::Verdict>, group_frames> verdicts;
  for (std::uint64_t group = 0; group < groups; ++group) {
    if (!is_within(group)) continue;
    if (stop.stop_requested()) return std::nullopt;
    const std::uint64_t first = group * group_frames + 1;
    const std::uint64_t end = std::min(first + group_frames, size + 1);
    packets.verdicts(first, std::span(verdicts).first(end - first));
    for (std::uint64_t number = first; number < end; ++number) {
      const auto frame = reader.read(number);
      if (!frame) continue;  // the file has changed; its cell in the list says so
      const auto& verdict = verdicts[number - first];
      counted.see(*frame, verdict ? &*verdict : nullptr);
    }
  }
  return counted.series();
}

std::vector<std::size_t> TimelineModel::incidents_in(const TimeSpan& range) const {
  std::vector<std::size_t> found;
  if (!snapshot_) return found;
  for (std::size_t i = 0; i < snapshot_->incidents.size(); ++i) {
    const std::int64_t start = snapshot_->incidents[i].start_ns;
    if (start != capture::no_time && start >= range.from && start <= range.to) found.push_back(i);
  }
  return found;
}

std::optional<std::size_t> TimelineModel::incident_at(std::int64_t time_ns, std::int64_t reach_ns) const {
  std::optional<std::size_t> nearest;
  std::int64_t least = 0;
  for (const std::size_t i : incidents_in({time_ns - reach_ns, time_ns + reach_ns})) {
    const std::int64_t away = std::abs(snapshot_->incidents[i].start_ns - time_ns);
    if (nearest && away >= least) continue;
    nearest = i;
    least = away;
  }
  return nearest;
}

}  // namespace roce::gui
