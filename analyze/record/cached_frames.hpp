// SPDX-License-Identifier: Apache-2.0
// The fastest path, for frames whose headers match the cached headers of a flow (HeaderCache) and whose
// opcode is that of a common packet: only the fields that differ from packet to packet are read. Internal to
// the pipeline.
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

/// The last fields of a PacketBrief as one word, so that it can be assembled with `|`.
struct BriefFacts {
  std::uint16_t ip_id = 0;
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;
  std::uint8_t more = 0;
  std::uint8_t icrc = 0;
  std::uint8_t upper = 0;
  std::uint8_t common = 0;

  [[nodiscard]] std::uint64_t word() const noexcept { return std::bit_cast<std::uint64_t>(*this); }
  /// A field of `Bytes` bytes at byte offset `Offset`, as part of the word.
  template <std::size_t Offset, std::size_t Bytes>
  [[nodiscard, gnu::always_inline]] static std::uint64_t at(std::uint64_t value) noexcept {
    constexpr std::size_t below =
        std::endian::native == std::endian::little ? Offset : sizeof(std::uint64_t) - Offset - Bytes;
    return value << 8U * below;
  }
  [[gnu::always_inline]] static void store(std::uint64_t word, PacketBrief& brief) noexcept {
    // Writes ip_id and all fields after it at once.
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

/// Thread-safe. `images` must outlive it.
class CachedFrames {
 public:
  CachedFrames(const HeaderCache& images, bool check_icrc) : images_(images), check_icrc_(check_icrc) {}

  /// Fills the briefs of `frames` from `begin` up to the first frame without cached headers. Returns that
  /// frame's index, or frames.size(). The frames taken are selected, common, and counted in `totals`.
  /// `packets` has one element per frame.
  [[nodiscard]] std::size_t take(std::span<const capture::Frame> frames, std::size_t begin,
                                 PacketBrief* packets, Totals& totals) const;

 private:
  const HeaderCache& images_;
  bool check_icrc_;
};

/// Caches the headers of a frame, of which make_record_fast() made `record`, for the flow at `place`. Returns
/// the number of the cache entry; 0 if it is not cached, as for CE-marked frames.
[[nodiscard]] std::uint32_t put_image(HeaderCache& images, const capture::Frame& frame, std::uint32_t place,
                                      const PacketRecord& record);

/// Prefetches the headers of a frame that will be processed soon.
inline void prefetch_headers(const capture::Frame& frame) noexcept {
  __builtin_prefetch(frame.data);
  __builtin_prefetch(frame.data + 64);  // may be beyond the frame; prefetching never faults
}
/// How many frames ahead prefetch_headers() is called.
inline constexpr std::size_t headers_ahead = 6;

}  // namespace roce::analyze
