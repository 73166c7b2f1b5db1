// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/flow/flow.hpp"
#include "analyze/flow/flow_at_point.hpp"
#include "analyze/flow/mark_counts.hpp"
#include "analyze/record/packet_record.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Counts packets by flow and capture point. Bounded; not thread-safe.
class FlowPoints {
 public:
  static constexpr std::size_t default_limit = std::size_t{1} << 16U;
  explicit FlowPoints(std::size_t limit = default_limit) : limit_(limit) {}

  /// Counts a packet of any point if it is selected.
  void see(const PacketRecord& record, std::uint64_t number);
  /// The same for a packet with cached headers (PacketBrief::image); `record_of` makes its record if the
  /// entry is new here.
  template <class RecordOf>
  void see(const PacketBrief& packet, std::uint64_t number, RecordOf&& record_of) {
    if (!packet.has(PacketRecord::selected)) return;
    if (images_.empty()) images_.resize(image_count);
    Image& image = images_[packet.image % image_count];
    if (image.number != packet.image) {
      const PacketRecord record = record_of();
      image = {packet.image, entry_of(record.key, record.point), record.look()};
    }
    if (image.entry == none) {
      ++dropped_;
    } else {
      count(entries_[image.entry], image.look, packet, number);
    }
  }

  /// The result, by flow, then by point; empty if no flow was seen at more than one point. `flows` are by id;
  /// `any_left`: flows were evicted and may have been listed anew. Empty afterwards.
  [[nodiscard]] std::vector<FlowAtPoint> finish(const std::vector<Flow>& flows, bool any_left = false);
  /// Packets of flows beyond the limit.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  struct Key {
    FlowKey flow;
    std::uint32_t point = 0;
    [[nodiscard]] bool operator==(const Key&) const noexcept = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Entry {
    FlowKey flow;
    std::uint16_t point = 0;
    std::uint64_t packets = 0;
    std::uint64_t last_key = 0;  ///< key of the row that was counted last
    bool any = false;
    bool right = false;  ///< the ICRC of any packet matched
    MarkCounts marks;
  };
  struct Image {
    std::uint32_t number = 0;
    std::uint32_t entry = none;
    PacketRecord::Look look;
  };
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::size_t image_count = 4096;

  [[nodiscard]] std::uint32_t entry_of(const FlowKey& flow, std::uint32_t point);
  static void count(Entry& entry, const PacketRecord::Look& look, const PacketBrief& packet,
                    std::uint64_t number);

  std::size_t limit_;
  std::uint64_t dropped_ = 0;
  std::vector<Entry> entries_;
  tsl::robin_map<Key, std::uint32_t, Hash> places_;
  std::vector<Image> images_;  ///< empty, or image_count
};

}  // namespace roce::analyze
