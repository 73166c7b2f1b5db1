// SPDX-License-Identifier: Apache-2.0
#include "gui/models/connection_sparks.hpp"

#include <algorithm>

namespace roce::gui {
namespace {

/// Maps a time to its interval of the capture.
class Parts {
 public:
  explicit Parts(const analyze::Totals& totals)
      : begin_(totals.first_time_ns),
        // Unsigned: times of crafted captures may overflow. An interval is at least a nanosecond.
        width_((static_cast<std::uint64_t>(totals.last_time_ns) - static_cast<std::uint64_t>(begin_)) /
                   ConnectionSpark::parts +
               1) {}

  [[nodiscard]] std::size_t of(std::int64_t time_ns) const noexcept {
    if (time_ns <= begin_) return 0;
    const std::uint64_t since = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(begin_);
    return static_cast<std::size_t>(std::min<std::uint64_t>(since / width_, ConnectionSpark::parts - 1));
  }

 private:
  std::int64_t begin_;
  std::uint64_t width_;
};

}  // namespace

std::shared_ptr<const ConnectionSparks> ConnectionSparks::count(
    const std::shared_ptr<const PacketStore>& store, const analyze::Snapshot& snapshot,
    const std::stop_token& stop) {
  auto all = std::make_shared<ConnectionSparks>();
  all->sparks_.resize(snapshot.connections.size());
  if (!snapshot.connections.empty())
    all->places_.resize(snapshot.connections.back().id + std::size_t{1}, none);
  for (std::uint32_t i = 0; i < snapshot.connections.size(); ++i)
    all->places_[snapshot.connections[i].id] = i;
  const Parts parts(snapshot.totals);
  capture::FrameStore::Reader reader(store->frames());
  constexpr std::uint64_t group_frames = capture::FrameStore::group_frames;
  const std::uint64_t packets = store->size();
  for (std::uint64_t first = 1; first <= packets; first += group_frames) {
    if (stop.stop_requested()) return nullptr;
    const auto times = store->frames()->times_of_group((first - 1) / group_frames);
    if (times.from == capture::no_time) continue;
    const std::size_t from = parts.of(times.from);
    const bool one_part = from == parts.of(times.to);
    const std::uint64_t end = std::min(first + group_frames, packets + 1);
    for (std::uint64_t number = first; number < end; ++number) {
      const PacketMarks marks = store->marks(number);
      const std::uint32_t connection = marks.connection_of();
      const std::uint32_t place = connection < all->places_.size() ? all->places_[connection] : none;
      if (place == none || marks.has(PacketMarks::duplicate_capture)) continue;
      std::size_t part = from;
      if (!one_part) {
        const auto frame = reader.read(number);
        if (!frame || frame->time_ns == capture::no_time) continue;  // unreadable or without a timestamp
        part = parts.of(frame->time_ns);
      }
      ConnectionSpark& spark = all->sparks_[place];
      ++spark.packets[part];
      if (marks.has(PacketMarks::retransmission)) spark.resent |= std::uint32_t{1} << part;
    }
  }
  return all;
}

}  // namespace roce::gui
