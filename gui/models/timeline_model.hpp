// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "analyze/base/series.hpp"
#include "analyze/results/snapshot.hpp"
#include "gui/models/background_call.hpp"
#include "gui/models/packet_store.hpp"
#include "gui/models/time_span.hpp"

namespace roce::gui {

/// What the timeline shows: the series of the whole capture, and where that is too coarse for what is looked
/// at, the same counted again from the packets, in intervals down to microseconds, on another thread. GUI
/// thread only.
class TimelineModel : public QObject {
  Q_OBJECT

 public:
  /// Packets that are read again at most: as many take a second or two.
  static constexpr std::uint64_t most_packets = std::uint64_t{1} << 21U;
  /// The shortest time that can be looked at, in nanoseconds.
  static constexpr std::int64_t shortest_ns = 10'000;

  explicit TimelineModel(QObject* parent = nullptr);
  ~TimelineModel() override;
  TimelineModel(const TimelineModel&) = delete;
  TimelineModel& operator=(const TimelineModel&) = delete;

  /// Of the whole capture; null: none. `packets` may be null, then nothing is counted again.
  void show(std::shared_ptr<const analyze::Snapshot> snapshot, std::shared_ptr<const PacketStore> packets,
            bool check_icrc = true);
  /// What is looked at, with so many places (pixels) for its intervals.
  void set_view(const TimeSpan& view, int places);

  [[nodiscard]] const std::shared_ptr<const analyze::Snapshot>& snapshot() const noexcept {
    return snapshot_;
  }
  /// From the first to the last packet of the capture; nullopt: there is none with a time.
  [[nodiscard]] std::optional<TimeSpan> whole() const noexcept;
  [[nodiscard]] const TimeSpan& view() const noexcept { return view_; }
  /// The finest there is that covers the view. Only if snapshot() is not null.
  [[nodiscard]] const analyze::Series& series() const noexcept;
  /// Whether finer intervals are being counted.
  [[nodiscard]] bool is_working() const noexcept { return working_; }

  /// Incidents within a range of time, by start, as indices of Snapshot::incidents.
  [[nodiscard]] std::vector<std::size_t> incidents_in(const TimeSpan& range) const;
  /// The incident of those that is nearest to a time, at most `reach_ns` away; nullopt: none.
  [[nodiscard]] std::optional<std::size_t> incident_at(std::int64_t time_ns, std::int64_t reach_ns) const;

  /// Counts the packets of that range in intervals of that width (ns); nullopt: stopped, or more than `most`
  /// packets would have to be read. Any thread.
  [[nodiscard]] static std::optional<analyze::Series> count(const PacketStore& packets, const TimeSpan& range,
                                                            std::int64_t width_ns, bool check_icrc,
                                                            const std::stop_token& stop,
                                                            std::uint64_t most = most_packets);

 Q_SIGNALS:
  void changed();  ///< snapshot() or series()

 private:
  void refine();
  void forget_fine();

  std::shared_ptr<const analyze::Snapshot> snapshot_;
  std::shared_ptr<const PacketStore> packets_;
  bool check_icrc_ = true;
  TimeSpan view_;
  int places_ = 0;
  std::optional<analyze::Series> fine_;
  TimeSpan fine_range_;
  TimeSpan working_range_;
  std::int64_t working_width_ = 0;
  bool working_ = false;
  std::stop_source stop_;
  BackgroundCall counting_{*this};
};

}  // namespace roce::gui
