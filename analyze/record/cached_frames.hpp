// SPDX-License-Identifier: Apache-2.0
// The shortest way: frames whose headers are those of a flow that is followed (FlowImages), and whose opcode
// is that of a common packet. What such a frame says beyond its image is copied out, and nothing else is
// looked at. Internal to the pipeline.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "analyze/record/header_cache.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/record/totals.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {

/// The last fields of a PacketBrief, as one word: parts of them are put together with `|`.
struct BriefFacts {
  std::uint16_t ip_id = 0;
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;
  std::uint8_t more = 0;
  std::uint8_t icrc = 0;
  std::uint8_t upper = 0;
  std::uint8_t common = 0;

  [[nodiscard]] std::uint64_t word() const noexcept { return std::bit_cast<std::uint64_t>(*this); }
  /// A field of `bytes` bytes, `offset` bytes from the beginning, as part of the word.
  template <std::size_t Offset, std::size_t Bytes>
  [[nodiscard, gnu::always_inline]] static std::uint64_t at(std::uint64_t value) noexcept {
    constexpr std::size_t below =
        std::endian::native == std::endian::little ? Offset : sizeof(std::uint64_t) - Offset - Bytes;
    return value << 8U * below;
  }
  [[gnu::always_inline]] static void store(std::uint64_t word, PacketBrief& brief) noexcept {
    // Into the fields from ip_id on, which are the last ones: all of them at once.
    std::memcpy(reinterpret_cast<char*>(&brief) + offsetof(PacketBrief, ip_id), &word, sizeof word);
  }
};
static_assert(sizeof(BriefFacts) == 8 &&
              offsetof(PacketBrief, ip_id) + sizeof(BriefFacts) == sizeof(PacketBrief));
static_assert(offsetof(PacketBrief, opcode) - offsetof(PacketBrief, ip_id) == offsetof(BriefFacts, opcode) &&
              offsetof(PacketBrief, flags) - offsetof(PacketBrief, ip_id) == offsetof(BriefFacts, flags) &&
              offsetof(PacketBrief, more) - offsetof(PacketBrief, ip_id) == offsetof(BriefFacts, more) &&
              offsetof(PacketBrief, icrc) - offsetof(PacketBrief, ip_id) == offsetof(BriefFacts, icrc) &&
              offsetof(PacketBrief, upper) - offsetof(PacketBrief, ip_id) == offsetof(BriefFacts, upper) &&
              offsetof(PacketBrief, common) - offsetof(PacketBrief, ip_id) == offsetof(BriefFacts, common));

/// Several threads at a time; `images` outlives it.
class KnownFrames {
 public:
  KnownFrames(const FlowImages& images, bool check_icrc) : images_(images), check_icrc_(check_icrc) {}

  /// Fills the briefs of `frames` from `begin` on, up to the first one that is not known, which is returned;
  /// frames.size() if all are. They are selected, common, and counted in `totals`. `packets`: one a frame.
  [[nodiscard]] std::size_t take(std::span<const capture::Frame> frames, std::size_t begin,
                                 PacketBrief* packets, Totals& totals) const;

 private:
  const FlowImages& images_;
  bool check_icrc_;
};

/// Lets its headers be known: of a frame of which make_record_fast() made `record`, of the flow at `place`.
/// Returns the image's number; 0 if it has none, as one that is marked CE.
[[nodiscard]] std::uint32_t put_image(FlowImages& images, const capture::Frame& frame, std::uint32_t place,
                                      const PacketRecord& record);

/// Asks for what take() and others look at first, of a frame that comes soon: it is in memory, not in the
/// cache.
inline void prefetch_headers(const capture::Frame& frame) noexcept {
  __builtin_prefetch(frame.data);
  __builtin_prefetch(frame.data + 64);  // may lie behind the frame; prefetching never faults
}
/// How many frames ahead of the one that is looked at.
inline constexpr std::size_t headers_ahead = 6;

}  // namespace roce::analyze
