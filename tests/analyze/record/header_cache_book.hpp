// SPDX-License-Identifier: Apache-2.0
// Packets on their way through a Tracker as the pipeline sends them: those of a flow whose headers are
// known come as a brief with an image. In place of HeaderCache, which looks at frames, a list by record.
// For the unit test and the fuzz target; needs no test library.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyze/tracker/tracker.hpp"

namespace roce::analyze {

class ImageBook {
 public:
  /// Tracks a group of at most Tracker::group records, whose first frame is `number`.
  void track(Tracker& tracker, std::span<const PacketRecord> records, std::uint64_t number) {
    packets_.clear();
    for (std::size_t i = 0; i < records.size(); ++i) {
      packets_.push_back(brief_of(records[i], static_cast<std::uint32_t>(i)));
    }
    Tracker::Hints hints{};
    tracker.approach(packets_, records, hints);
    for (std::size_t i = 0; i < records.size(); ++i, ++number) {
      if (packets_[i].image != 0 && tracker.track_known(packets_[i], number)) {
        ++known;
        continue;
      }
      const std::uint32_t place = tracker.track(records[i], number, hints[i]);
      if (place == Tracker::no_hint) continue;
      tracker.use_image(place, ++last_image_);
      images_[records[i].key_hash] = {records[i], place, last_image_};
    }
  }

  std::uint64_t known = 0;  ///< packets that needed no record

 private:
  struct Image {
    PacketRecord like;
    std::uint32_t place = 0;
    std::uint32_t number = 0;
  };

  PacketBrief brief_of(const PacketRecord& r, std::uint32_t index) const {
    PacketBrief brief = r;
    brief.image = 0;
    brief.place = index;
    const auto found = images_.find(r.key_hash);
    if (found == images_.end() || r.common == 0) return brief;
    const PacketRecord& like = found->second.like;
    if (!(like.key == r.key) || like.look() != r.look() || like.source_mac != r.source_mac ||
        like.path != r.path || like.point != r.point) {
      return brief;
    }
    brief.image = found->second.number;
    brief.place = found->second.place;
    return brief;
  }

  std::unordered_map<std::uint64_t, Image> images_;
  std::vector<PacketBrief> packets_;
  std::uint32_t last_image_ = 0;
};

}  // namespace roce::analyze
